// How test files share processes: each is run once, with hooks of its own, and those that need it run alone.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { projectRoot } from '../support/project-root.ts'

type TextOf = (path: string) => string
interface TestPlan {
  planOf(paths: readonly string[], textOf: TextOf, processesAtOnce: number): string[][]
}
const scriptUrl = (name: string): string => pathToFileURL(join(projectRoot, 'scripts', name)).href
const { planOf }: TestPlan = await import(scriptUrl('test-plan.mjs'))
interface TestAgain {
  unheardFiles(report: string, processes: ReadonlyMap<string, readonly string[]>): string[]
  filesToRunAgain(report: string, processes: ReadonlyMap<string, readonly string[]>, textOf: TextOf): string[]
}
const { filesToRunAgain, unheardFiles }: TestAgain = await import(scriptUrl('test-again.mjs'))

const noText = (): string => ''
const many = (folder: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${folder}/${String(index).padStart(3, '0')}.test.ts`)

test('every file is run once, and no process has more than twelve', () => {
  const paths = [...many('src/domain', 100), ...many('test/api', 50), ...many('test/fault', 9)]
  const plan = planOf(paths, noText, 3)
  assert.deepEqual(plan.flat().sort(), [...paths].sort())
  assert.equal(Math.max(...plan.map((files) => files.length)), 12)
})

test('files that start processes run alone, and so does one that asks for it; they are spread over the run', () => {
  const asks = 'test/api/003.test.ts'
  const textOf: TextOf = (path) => (path === asks ? '// About.\n// Runs in a process of its own: it counts.\n' : '')
  const plan = planOf([...many('test/api', 101), ...many('test/fault', 4), ...many('test/docs', 3)], textOf, 3)
  const alone = plan.flatMap((files, index) => (files.length === 1 ? [{ path: files[0] ?? '', index }] : []))
  assert.deepEqual(alone.map(({ path }) => path).sort(), [asks, ...many('test/docs', 3), ...many('test/fault', 4)])
  assert.ok(alone.every(({ index }, place) => place === 0 || index - (alone[place - 1]?.index ?? 0) <= 3))
})

test('a handful of files is shared out among the processes that run at once', () => {
  assert.deepEqual(
    planOf(many('test/api', 6), noText, 3).map((files) => files.length),
    [2, 2, 2],
  )
  assert.deepEqual(planOf(many('test/api', 1), noText, 3), [many('test/api', 1)])
  assert.deepEqual(planOf([], noText, 3), [])
})

/** Runs test files of these texts in one process; what it printed, how it ended, and what the files wrote down. */
function ran(t: TestContext, files: Readonly<Record<string, string>>, reporter = 'tap') {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-batch-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const notes = join(folder, 'notes')
  writeFileSync(notes, '')
  const start = `import { appendFileSync } from 'node:fs'
    import { after, before, beforeEach, describe, test } from 'node:test'
    const note = (text) => appendFileSync(${JSON.stringify(notes)}, text + ' ')\n`
  const listed = Object.entries(files).map(([name, text]) => {
    const path = join(folder, `${name}.mjs`)
    writeFileSync(path, start + text)
    return { name, url: pathToFileURL(path).href }
  })
  const main = join(folder, 'main.mjs')
  writeFileSync(
    main,
    `import { runBatch } from '${scriptUrl('test-batch.mjs')}'\nawait runBatch(${JSON.stringify(listed)})`,
  )
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env
  const { status, stdout } = spawnSync(process.execPath, [`--test-reporter=${reporter}`, main], {
    env,
    encoding: 'utf8',
  })
  return { status, stdout, notes: readFileSync(notes, 'utf8').trim() }
}

test('the hooks of a file run around its own tests, and no test begins before all files are loaded', (t) => {
  const hooked = (name: string) => `
    before(() => note('${name}:before'))
    beforeEach(() => note('${name}:each'))
    after(() => note('${name}:after'))
    test('first', () => note('${name}:1'))
    await Promise.resolve()
    describe('inner', () => test('second', () => note('${name}:2')))
    note('${name}:loaded')`
  const { status, stdout, notes } = ran(t, { a: hooked('a'), b: hooked('b') })
  assert.equal(status, 0, stdout)
  const order = (name: string) => ['before', 'each', '1', 'each', '2', 'after'].map((what) => `${name}:${what}`)
  assert.equal(notes, ['a:loaded', 'b:loaded', ...order('a'), ...order('b')].join(' '))
  assert.match(stdout, /# Subtest: a\n {4}# Subtest: first/)
})

test('a test that fails, a file that cannot be loaded and one that throws late fail the run, and the others are run', (t) => {
  const good = "test('good', () => note('ran'))"
  for (const bad of [
    "test('bad', () => { throw new Error('no') })",
    "import './missing.mjs'",
    "throw new Error('no')",
    "test('late', async () => { await Promise.resolve(); null.x })",
    "before(() => { throw new Error('no') }); test('x', () => {})",
  ]) {
    const { status, stdout, notes } = ran(t, { bad, good })
    assert.equal(status, 1, `${bad}\n${stdout}`)
    assert.match(notes, /ran/, `${bad}\n${stdout}`)
    assert.match(stdout, /not ok \d+ - bad/, bad)
  }
})

test('a few files that failed may try again, or those of a process that ended; none if one of them kills or randomises', () => {
  const processes = new Map([
    ['/batches/000.mjs', ['test/api/a.test.ts', 'test/api/b.test.ts']],
    ['/batches/001.mjs', many('test/db', 4)],
    ['/batches/002.mjs', ['test/fault/c.test.ts', 'test/flow/random.test.ts']],
  ])
  const textOf: TextOf = (path) => (path === 'test/flow/random.test.ts' ? 'const seed = fuzzSeed()' : '')
  const all = [...processes.values()].flat()
  const again = (...failed: string[]) => {
    const passed = all.filter((path) => !failed.some((name) => (processes.get(name) ?? [name]).includes(path)))
    const lines = [...passed.map((path) => `pass ${path}`), ...failed.map((name) => `fail ${name}`), 'end']
    return filesToRunAgain(`${lines.join('\n')}\n`, processes, textOf)
  }
  assert.deepEqual(again('test/api/b.test.ts', 'test/api/b.test.ts'), ['test/api/b.test.ts'])
  assert.deepEqual(again('/batches/000.mjs'), ['test/api/a.test.ts', 'test/api/b.test.ts'])
  assert.deepEqual(again('test/api/b.test.ts', 'test/fault/c.test.ts'), [])
  assert.deepEqual(again('test/flow/random.test.ts'), [])
  assert.deepEqual(again('/batches/001.mjs'), [])
  assert.deepEqual(again('a test that no file has'), [])
  assert.deepEqual(again(), [])
})

test('nothing tries again unless every file was reported: a process may end without a word about the rest of its files', () => {
  const processes = new Map([['/batches/000.mjs', ['test/api/a.test.ts', 'test/api/b.test.ts']]])
  const again = (report: string) => filesToRunAgain(report, processes, noText)
  assert.deepEqual(again('fail test/api/a.test.ts\nend\n'), [])
  assert.deepEqual(again('fail test/api/a.test.ts\npass test/api/b.test.ts\n'), [])
  assert.deepEqual(again('fail test/api/a.test.ts\npass test/api/b.test.ts\nend\n'), ['test/api/a.test.ts'])
})

test('a process that ends with 0 before its time is found by the files that were not heard of', () => {
  const processes = new Map([
    ['/batches/000.mjs', ['test/api/a.test.ts', 'test/api/b.test.ts']],
    ['/batches/001.mjs', ['test/db/c.test.ts']],
  ])
  const unheard = (report: string) => unheardFiles(report, processes)
  assert.deepEqual(unheard('pass /batches/000.mjs\npass test/db/c.test.ts\nend\n'), [
    'test/api/a.test.ts',
    'test/api/b.test.ts',
  ])
  const all = [...processes.values()].flat()
  assert.deepEqual(unheard(`${all.map((path) => `pass ${path}\n`).join('')}end\n`), [])
})

test('files are written down by name with what became of them, and no test in them', (t) => {
  const files = {
    bad: "test('bad', () => { throw new Error('no') })",
    good: "test('good', () => {})",
    worse: "throw new Error('no')",
  }
  assert.equal(ran(t, files, scriptUrl('test-again.mjs')).stdout, 'fail bad\npass good\nfail worse\nend\n')
})
