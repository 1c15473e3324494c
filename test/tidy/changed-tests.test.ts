// `npm test -- --changed`: the tests that a change can affect, found by who imports what.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { projectRoot } from '../support/project-root.ts'

interface ChangedTests {
  affectedTests(texts: ReadonlyMap<string, string>, changed: readonly string[]): string[]
  changedFiles(root: string): string[]
  readCode(root: string): Map<string, string>
}
const script = pathToFileURL(join(projectRoot, 'scripts', 'changed-tests.mjs')).href
const { affectedTests, changedFiles, readCode }: ChangedTests = await import(script)

const project = {
  'src/domain/a.ts': 'export const a = 1',
  'src/domain/a.test.ts': "import { a } from './a.ts'",
  'src/store/b.ts': "import { a } from '../domain/a.ts'",
  'src/db/migrate.ts': 'export const migrate = 1',
  'src/cli/posthorn.ts': "const late = () => import('../store/b.ts')",
  'test/support/database.ts': "import { migrate } from '../../src/db/migrate.ts'",
  'test/support/service.ts': "spawn('node', ['scripts/posthorn.mjs'])",
  'test/api/b.test.ts': "import { b } from '../../src/store/b.ts'",
  'test/api/c.test.ts': "import { c } from '../support/database.ts'",
  'test/fault/d.test.ts': "import { start } from '../support/service.ts'",
  'test/docs/guides.test.ts': '',
  'test/providers/e.test.ts': '',
  'test/tidy/f.test.ts': '',
  'scripts/posthorn.mjs': "import './launch.mjs'",
}
const always = 'test/tidy/f.test.ts'
const affected = (...changed: string[]): string[] => affectedTests(new Map(Object.entries(project)), changed)

test('whatever imports a changed file is run, through any number of files, and so is the built service', () => {
  assert.deepEqual(affected('src/domain/a.ts'), [
    'src/domain/a.test.ts',
    'test/api/b.test.ts',
    'test/fault/d.test.ts',
    always,
  ])
  assert.deepEqual(affected('src/store/b.ts'), ['test/api/b.test.ts', 'test/fault/d.test.ts', always])
})

test('a changed test is run, and one that nothing connects with the change is not', () => {
  assert.deepEqual(affected('test/api/b.test.ts'), ['test/api/b.test.ts', always])
  assert.deepEqual(affected('test/support/service.ts'), ['test/fault/d.test.ts', always])
})

test('what reads the whole project is always run', () => {
  assert.deepEqual(affected(), [always])
})

test('a migration affects whatever has a database', () => {
  assert.deepEqual(affected('src/db/migrations/0001-a.sql'), ['test/api/c.test.ts', always])
})

test('a file that is gone affects whatever still names it', () => {
  const texts = new Map(Object.entries(project).filter(([path]) => path !== 'src/domain/a.ts'))
  assert.ok(affectedTests(texts, ['src/domain/a.ts']).includes('test/api/b.test.ts'))
})

test('a document affects the tests of the documents, and a golden file the tests beside it', () => {
  assert.deepEqual(affected('docs/operating.md'), ['test/docs/guides.test.ts', always])
  assert.deepEqual(affected('README.md'), ['test/docs/guides.test.ts', always])
  assert.deepEqual(affected('test/providers/golden/e.json'), ['test/providers/e.test.ts', always])
})

test('what decides how everything is compiled affects everything', () => {
  const all = Object.keys(project).filter((path) => path.endsWith('.test.ts'))
  for (const path of ['package-lock.json', 'tsconfig.tests.json', 'scripts/test.mjs']) {
    assert.deepEqual(affected(path), all.sort())
  }
})

test('in this project a scripted mail server affects few tests, and the database nearly all that have one', () => {
  const texts = readCode(projectRoot)
  const tests = [...texts.keys()].filter((path) => path.endsWith('.test.ts'))
  const ofScript = affectedTests(texts, ['test/support/smtp-script.ts'])
  assert.ok(ofScript.length < tests.length / 5, `${ofScript.length} of ${tests.length}`)
  const ofDatabase = new Set(affectedTests(texts, ['src/db/connect.ts']))
  const left = tests.filter(
    (path) => /^test\/(?:api|flow|store|fault|db|upgrade)\//.test(path) && !ofDatabase.has(path),
  )
  assert.ok(left.length <= 10, left.join('\n'))
})

test('what has changed is what differs from main, committed or not, with files that are new or gone', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'posthorn-changed-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.org', ...args], {
      cwd: root,
      stdio: 'ignore',
    })
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  git('init', '-b', 'main')
  for (const path of ['src/a.ts', 'src/b.ts', 'src/c.ts', 'src/d.ts']) put(path, '1')
  git('add', '.')
  git('commit', '-m', 'first')
  git('checkout', '-b', 'other')
  put('src/a.ts', '2')
  git('commit', '-am', 'second')
  put('src/b.ts', '2')
  rmSync(join(root, 'src/c.ts'))
  put('src/new.ts', '1')
  assert.deepEqual(changedFiles(root), ['src/a.ts', 'src/b.ts', 'src/c.ts', 'src/new.ts'])
  assert.throws(() => changedFiles(tmpdir()), /asks git/)
})
