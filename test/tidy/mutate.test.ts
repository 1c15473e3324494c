// The mistakes that `npm run mutate` makes: in programs and in SQL, never in comments, texts or imports.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { projectRoot } from '../support/project-root.ts'

interface Mutant {
  readonly operator: string
  readonly start: number
  readonly end: number
  readonly was: string
  readonly is: string
}
interface Operators {
  mutantsOf(text: string): Mutant[]
}
const script = pathToFileURL(join(projectRoot, 'scripts', 'mutate-operators.mjs')).href
const { mutantsOf }: Operators = await import(script)

/** The text with each mistake in it. */
const mutated = (text: string): string[] =>
  mutantsOf(text).map(({ start, end, is }) => text.slice(0, start) + is + text.slice(end))

test('comparisons, conditions, numbers and waits of a program are changed, one at a time', () => {
  assert.deepEqual(mutated('a < b'), ['a <= b'])
  assert.deepEqual(mutated('a === b && c'), ['a !== b && c', 'a === b || c'])
  assert.deepEqual(mutated('const wait = 5;'), ['const wait = 6;'])
  assert.deepEqual(mutated('await save(tx)'), ['save(tx)'])
  assert.deepEqual(mutated('f(true)'), ['f(false)'])
})

test('a guard loses its end, and a return that is none stays', () => {
  assert.deepEqual(mutated('    if (a)\n        return b;\n    return c;'), ['    if (a)\n        ;\n    return c;'])
})

test('a condition of a statement is taken out, with what is filled in, and a lock as well', () => {
  const filled = (name: string): string => `$\{${name}}`
  const [id, lease] = [filled('id'), filled('lease(a)')]
  const begin = 'sql `update jobs set a = b\n    where '
  assert.deepEqual(mutated(`${begin}id = ${id} and lease = ${lease} for update\``), [
    `${begin}id = ${id}  for update\``,
    `${begin}true and lease = ${lease} for update\``,
    `${begin}id = ${id} and lease = ${lease}\``,
  ])
})

test('comments, texts and imports are left alone', () => {
  const text = "import { a } from './a < b.js';\n// a < b\n/** a === b */\nconst text = 'a && b';"
  assert.deepEqual(mutated(text), [])
})
