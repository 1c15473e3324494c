// No circles among the files of src and of the dashboard.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { circlesIn } from './rules/circles.ts'
import { readSources, sample } from './rules/sources.ts'

test('no files of src or the dashboard import each other in a circle, also not by a type', () => {
  const sources = readSources(['src', 'dashboard/src'], ['.ts', '.tsx'])
  assert.ok(sources.size > 500)
  assert.deepEqual(circlesIn(sources), [])
})

test('a circle of two, of three and through a type is found; a diamond is none', () => {
  const two = sample({ 'src/a.ts': "import './b.ts'", 'src/b.ts': "import type { A } from './a.ts'" })
  assert.deepEqual(circlesIn(two), [['src/a.ts', 'src/b.ts']])
  const three = sample({
    'src/x/a.ts': "import '../y/b.ts'",
    'src/y/b.ts': "export { c } from './c.ts'",
    'src/y/c.ts': "import '../x/a.ts'",
  })
  assert.deepEqual(circlesIn(three), [['src/x/a.ts', 'src/y/b.ts', 'src/y/c.ts']])
  const diamond = sample({
    'src/a.ts': "import './b.ts'\nimport './c.ts'",
    'src/b.ts': "import './d.ts'",
    'src/c.ts': "import './d.ts'",
    'src/d.ts': '',
  })
  assert.deepEqual(circlesIn(diamond), [])
})
