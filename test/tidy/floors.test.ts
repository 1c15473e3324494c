// The floors of src: who may import whom.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { floorBreaches, importsOf } from './rules/floors.ts'
import { readSources, reported, sample } from './rules/sources.ts'

test('every file imports from its own room or a lower floor', () => {
  const sources = readSources(['src'], ['.ts'])
  assert.ok(sources.size > 50)
  assert.deepEqual(reported(floorBreaches(sources)), [])
})

test('a lower floor, the own room and its sub-folders, packages and node are allowed', () => {
  const sources = sample({
    'src/http/routes/x.ts':
      "import { a } from '../route.ts'\nimport b from 'fastify'\nimport { c } from '../../domain/problem.ts'",
    'src/store/people/x.ts':
      "import { a } from '../events/a.ts'\nimport type { B } from '../../domain/people/b.ts'\nimport { c } from '../../db/c.ts'",
    'src/domain/x.ts': "import { createHash } from 'node:crypto'\nimport type { Y } from './y.ts'",
    'src/world/world.ts': "import type { Sealer } from '../domain/sealed.ts'",
    'src/cli/start.ts': "import { start } from '../main.ts'",
    'src/read/page.test.ts': "import { createFakeWorld } from '../../test/support/fake-world.ts'",
    'src/config.ts': '',
  })
  assert.deepEqual(reported(floorBreaches(sources)), [])
})

const refused: Readonly<Record<string, [file: string, text: string]>> = {
  'an import upwards': ['src/store/x.ts', "import { a } from '../manage/a.ts'"],
  'an import sideways': ['src/manage/x.ts', "import { a } from '../read/a.ts'"],
  'an import upwards from a sub-folder': ['src/store/people/x.ts', "import { a } from '../../manage/people/a.ts'"],
  'an import sideways into a sub-folder of the same name': [
    'src/manage/people/x.ts',
    "import { a } from '../../read/people/a.ts'",
  ],
  'a type import upwards': ['src/read/x.ts', "import type { A } from '../http/route.ts'"],
  'an import over several lines': ['src/db/x.ts', "import {\n  a,\n  b,\n} from '../store/a.ts'"],
  'an export from above': ['src/db/x.ts', "export { a } from '../store/a.ts'"],
  'a star export from above': ['src/db/x.ts', "export * from '../store/a.ts'"],
  'a bare import upwards': ['src/db/x.ts', "import '../store/a.ts'"],
  'a dynamic import upwards': ['src/db/x.ts', "const a = await import('../store/a.ts')"],
  'a dynamic import by template': ['src/db/x.ts', 'const a = await import(`../store/a.ts`)'],
  'a type taken by import() from above': ['src/db/x.ts', "type A = import('../store/a.ts').A"],
  'a computed import': ['src/db/x.ts', 'const a = await import(name)'],
  'a package in domain': ['src/domain/x.ts', "import { Type } from 'typebox'"],
  'config in domain': ['src/domain/x.ts', "import { settings } from '../config.ts'"],
  'world in domain': ['src/domain/x.ts', "import type { World } from '../world/world.ts'"],
  'main importing the command line': ['src/main.ts', "import { main } from './cli/posthorn.ts'"],
  'something outside src': ['src/http/x.ts', "import { a } from '../../scripts/a.ts'"],
  'a fake outside a test': ['src/http/x.ts', "import { a } from '../../test/support/app.ts'"],
  'a room without a floor': ['src/utils/x.ts', "import { a } from '../domain/a.ts'"],
}
for (const [name, [file, text]] of Object.entries(refused)) {
  test(`the rule refuses ${name}`, () => {
    assert.equal(floorBreaches(sample({ [file]: text })).length, 1)
  })
}

test('what looks like an import in a comment or a string is none', () => {
  const text = [
    "// import { a } from '../http/a.ts'",
    'const text = "import { a } from \'../http/a.ts\'"',
    "const bytes = Buffer.from('../http/a.ts')",
    "const statement = sql`select a from 'b'`",
  ].join('\n')
  assert.deepEqual(importsOf(text), [])
})
