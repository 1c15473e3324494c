// The words of the code and of the guides: plain English, without the habits of another language.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blank } from './rules/code-only.ts'
import { readProjectFile, readSources, reported, sample } from './rules/sources.ts'
import type { Exemption } from './rules/words.ts'
import { oddWords } from './rules/words.ts'

const exemptions: readonly Exemption[] = [
  { path: 'docs/decisions/0003-', word: 'nobody', reason: 'the system user of that name' },
  { path: 'src/db/embedded/', word: 'nobody', reason: 'the system user of that name' },
  { path: 'docs/operating.md', word: 'nobody', reason: 'the system user of that name' },
  { path: 'docs/troubleshooting.md', word: 'nobody', reason: 'the system user of that name' },
  { path: 'docs/workflows.md', word: 'seat', reason: 'an example about seats of a plan' },
]

test('src, docs and README use plain words', () => {
  const files = new Map([
    ...readSources(['src'], ['.ts']),
    ...readSources(['docs'], ['.md']),
    ['README.md', readProjectFile('README.md')] as const,
  ])
  assert.deepEqual(reported(oddWords(files, exemptions)), [])
})

const testExemptions: readonly Exemption[] = [
  { path: 'test/tidy/rules/words.ts', reason: 'the list itself' },
  { path: 'test/tidy/words.test.ts', reason: 'its examples' },
  { path: 'test/docs/words.test.ts', reason: 'the list of the guides, and its examples' },
  ...['bench/service.ts', 'test/db/embedded-', 'test/support/', 'test/upgrade/'].map((path) => ({
    path,
    word: 'nobody',
    reason: 'the system user of that name',
  })),
  { path: 'test/api/', word: 'seats', reason: 'a field of examples' },
]

test('tests, benchmarks and scripts use plain words too: in names, comments and sentences', () => {
  const sources = readSources(['test', 'bench', 'fuzz', 'soak', 'scripts'], ['.ts', '.mjs'])
  const prose = new Map([...sources].map(([file, text]) => [file, blank(text).prose]))
  assert.deepEqual(reported(oddWords(prose, testExemptions)), [])
})

test('a banned word is found in a comment, a string and a name, with what to write instead', () => {
  const files = sample({
    'src/a.ts': "// Who is told.\nconst nobodyKnows = 'Mend it'\n",
    'src/b.ts': 'const symbol = Symbol.for(`behold`)\nconst isTheirs = amend(Ghosts)\n',
    'docs/c.md': 'It was called off.',
  })
  assert.deepEqual(reported(oddWords(files, [])), [
    'src/a.ts:1 says "told": write notified, reported or returned',
    'src/a.ts:2 says "nobody": write no one, or what is missing',
    'src/a.ts:2 says "mend": write fix',
    'docs/c.md:1 says "called off": write cancelled',
  ])
})

test('an exemption is for its path and its word', () => {
  const files = sample({ 'src/db/a.ts': '// nobody, somebody', 'src/run/a.ts': '// nobody' })
  const exempt = [{ path: 'src/db/', word: 'nobody', reason: 'the user' }]
  assert.equal(oddWords(files, exempt).length, 2)
  assert.equal(oddWords(files, [{ path: 'src/', reason: 'all' }]).length, 0)
})
