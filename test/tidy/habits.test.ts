// Habits of the code that no compiler checks.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  barrels,
  consoleUses,
  defaultExports,
  leftovers,
  loneTests,
  statementsElsewhere,
  variableReads,
} from './rules/habits.ts'
import type { Breach, Sources } from './rules/sources.ts'
import { readSources, reported, sample } from './rules/sources.ts'

const source = readSources(['src'], ['.ts'])
const everything = readSources(['src', 'test', 'scripts', 'bench', 'soak', 'fuzz'], ['.ts', '.mjs'])

interface Habit {
  readonly says: string
  readonly breaches: (sources: Sources) => Breach[]
  readonly over: Sources
  readonly refused: readonly (readonly [file: string, text: string])[]
  readonly allowed: readonly (readonly [file: string, text: string])[]
}

const habits: readonly Habit[] = [
  {
    says: 'only the command line and main read process.env',
    breaches: variableReads,
    over: source,
    refused: [
      ['src/db/a.ts', 'const a = process.env.PORT'],
      ['src/db/a.ts', "const a = process['env']"],
      ['src/db/a.ts', 'const { env } = process'],
      ['src/db/a.ts', "import { env } from 'node:process'"],
    ],
    allowed: [
      ['src/cli/posthorn.ts', 'readConfig(process.env)'],
      ['src/main.ts', 'process.env'],
      ['src/db/a.ts', '// process.env is not for us\nprocess.pid'],
    ],
  },
  {
    says: 'nothing in src prints to the console',
    breaches: consoleUses,
    over: source,
    refused: [['src/a.ts', 'console.log(1)']],
    allowed: [['src/a.ts', "// console.log\nconst text = 'console.log'"]],
  },
  {
    says: 'run, commit and simulate hold no statements',
    breaches: statementsElsewhere,
    over: source,
    refused: [
      ['src/run/a.ts', 'db.rows(sql`select 1`)'],
      ['src/simulate/a.ts', 'const a = sql`select 1`'],
    ],
    allowed: [
      ['src/store/a.ts', 'sql`select 1`'],
      ['src/run/a.ts', '// sql`select 1`'],
    ],
  },
  {
    says: 'nothing in src is exported by default',
    breaches: defaultExports,
    over: source,
    refused: [
      ['src/a.ts', 'export default function a() {}'],
      ['src/a.ts', 'export { a as default }'],
    ],
    allowed: [['src/a.ts', 'export const a = { default: 1 }']],
  },
  {
    says: 'no test keeps the others from running',
    breaches: loneTests,
    over: everything,
    refused: [
      ['test/a.test.ts', "test.only('a', () => {})"],
      ['test/a.test.ts', "describe.only('a', () => {})"],
      ['test/a.test.ts', "test('a', { only: true }, () => {})"],
    ],
    allowed: [['test/a.test.ts', "test('test.only is refused', () => {})"]],
  },
  {
    says: 'nothing is left to do in a comment',
    breaches: leftovers,
    over: everything,
    refused: [['src/a.ts', `// ${'TO'}${'DO'}: fix this`]],
    allowed: [['src/a.ts', '// What is to do is done.']],
  },
  {
    says: 'there are no barrels',
    breaches: barrels,
    over: everything,
    refused: [['src/domain/index.ts', '']],
    allowed: [['src/db/index-page.ts', '']],
  },
]

for (const { says, breaches, over, refused, allowed } of habits) {
  test(says, () => {
    assert.deepEqual(reported(breaches(over)), [])
  })

  test(`${says}: the rule can tell`, () => {
    for (const [file, text] of refused) assert.equal(breaches(sample({ [file]: text })).length, 1, text)
    for (const [file, text] of allowed) assert.deepEqual(breaches(sample({ [file]: text })), [], text)
  })
}
