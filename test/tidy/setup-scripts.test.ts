// The scripts that install and build by themselves: only when needed, once, and with a clear word when it fails.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { projectRoot as repository } from '../support/project-root.ts'

interface Result {
  readonly code: number
  readonly output: string
}
interface Tools {
  readonly run?: (command: string, args: readonly string[], options: { cwd: string }) => Promise<Result>
  readonly say: (line: string) => void
}
interface Ensure {
  ensureInstalled(root: string, tools: Tools): Promise<boolean>
  ensureBuilt(root: string, tools: Tools): Promise<boolean>
  ensureTestsCompiled(root: string, tools: Tools): Promise<boolean>
}

const ensurePath = join(repository, 'scripts', 'ensure.mjs')
// Imported by address: the script is plain JavaScript, and a declaration file would only repeat the lines above.
const { ensureInstalled, ensureBuilt, ensureTestsCompiled }: Ensure = await import(pathToFileURL(ensurePath).href)

const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const lockFor = (version: string) =>
  JSON.stringify({
    lockfileVersion: 3,
    packages: {
      '': { name: 'fake' },
      'node_modules/needed': { version },
      'node_modules/elsewhere': { version, optional: true, os: ['none'] },
      'node_modules/here': { version, optional: true, os: [process.platform], cpu: [process.arch] },
    },
  })

/** A project small enough to be built in half a second; the compiler is the repository's own. */
function fakeProject(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'posthorn-setup-')))
  folders.push(root)
  const files = {
    'package.json': '{ "name": "fake", "type": "module" }',
    'package-lock.json': lockFor('1.0.0'),
    'tsconfig.json':
      '{ "compilerOptions": { "module": "nodenext", "target": "es2023", "lib": ["es2023"], "types": [], "strict": true, "skipLibCheck": true } }',
    'tsconfig.tests.json':
      '{ "extends": "./tsconfig.json", "compilerOptions": { "noCheck": true, "rootDir": ".", "sourceMap": true }, "include": ["src", "test"] }',
    'src/cli/posthorn.ts': "export { one } from '../one.ts'\n",
    'src/one.ts': 'export const one: number = 1\n',
    'src/deep/two.ts': 'export const two: number = 2\n',
    'src/deep/two.test.ts': 'export const tested: number = 2\n',
    'src/db/migrations/0001-first.sql': 'select 1;\n',
    'test/three.test.ts': 'export const three: number = 3\n',
    'test/golden.txt': 'three\n',
  }
  for (const [path, text] of Object.entries(files)) put(root, path, text)
  return root
}

function put(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

/** What npm leaves behind after installing the lock file on this platform. */
function putInstalled(root: string, version: string): void {
  const { packages } = JSON.parse(lockFor(version))
  delete packages['node_modules/elsewhere']
  put(root, 'node_modules/.package-lock.json', JSON.stringify({ packages }))
  for (const name of ['needed', 'here']) put(root, `node_modules/${name}/package.json`, '{}')
}

function withCompiler(root: string): string {
  mkdirSync(join(root, 'node_modules'), { recursive: true })
  for (const name of ['esbuild', 'typescript']) {
    symlinkSync(join(repository, 'node_modules', name), join(root, 'node_modules', name))
  }
  return root
}

/** An npm that counts its calls and does what the test says. */
function fakeNpm(answer: Result = { code: 0, output: '' }) {
  const said: string[] = []
  const calls: string[] = []
  const run = async (command: string, args: readonly string[], { cwd }: { cwd: string }) => {
    calls.push([command, ...args].join(' '))
    if (answer.code === 0) mkdirSync(join(cwd, 'node_modules'), { recursive: true })
    return answer
  }
  return { calls, said, tools: { run, say: (line: string) => said.push(line) } }
}

const stampOf = (root: string) => join(root, 'node_modules', '.posthorn-installed')

test('a fresh clone is installed once, and then there is nothing to do or to say', async () => {
  const root = fakeProject()
  const npm = fakeNpm()
  assert.equal(await ensureInstalled(root, npm.tools), true)
  assert.deepEqual(npm.said, ['Installing dependencies (npm ci) …'])
  assert.match(npm.calls[0] ?? '', / ?ci --ignore-scripts --no-audit --no-fund/)
  assert.equal(await ensureInstalled(root, npm.tools), false)
  assert.equal(npm.calls.length, 1)
  assert.equal(npm.said.length, 1)
})

test('a changed lock file is installed again', async () => {
  const root = fakeProject()
  const npm = fakeNpm()
  await ensureInstalled(root, npm.tools)
  put(root, 'package-lock.json', lockFor('1.0.1'))
  assert.equal(await ensureInstalled(root, npm.tools), true)
  assert.equal(npm.calls.length, 2)
})

test('while npm runs, nothing reports another command that all is installed', async () => {
  const root = fakeProject()
  putInstalled(root, '1.0.0')
  put(root, 'package-lock.json', lockFor('1.0.1'))
  const records: boolean[] = []
  const run = async () => {
    records.push(existsSync(join(root, 'node_modules', '.package-lock.json')), existsSync(stampOf(root)))
    return { code: 1, output: 'interrupted' }
  }
  await assert.rejects(ensureInstalled(root, { run, say: () => {} }))
  assert.deepEqual(records, [false, false])
})

test('what a developer installed manually is left alone, even beside our stamp for an older lock file', async () => {
  const root = fakeProject()
  const npm = fakeNpm()
  putInstalled(root, '1.0.0')
  assert.equal(await ensureInstalled(root, npm.tools), false)
  assert.ok(existsSync(stampOf(root)))
  put(root, 'package-lock.json', lockFor('1.0.1'))
  putInstalled(root, '1.0.1')
  assert.equal(await ensureInstalled(root, npm.tools), false)
  assert.deepEqual([npm.calls, npm.said], [[], []])
})

test('a missing package, an old version, another Node or another platform is installed again', async () => {
  const spoilers: ((root: string) => void)[] = [
    (root) => rmSync(join(root, 'node_modules/needed'), { recursive: true }),
    (root) => rmSync(join(root, 'node_modules/here'), { recursive: true }),
    (root) => putInstalled(root, '0.9.0'),
    (root) => put(root, 'node_modules/.posthorn-installed', 'hash\nnode1 plan9-pdp11 -\n'),
  ]
  for (const spoil of spoilers) {
    const root = fakeProject()
    const npm = fakeNpm()
    putInstalled(root, '1.0.0')
    spoil(root)
    assert.equal(await ensureInstalled(root, npm.tools), true, spoil.toString())
  }
})

test('a failed install says what npm said and leaves neither stamp nor lock', async () => {
  const root = fakeProject()
  const npm = fakeNpm({ code: 7, output: 'npm error the network is down\n' })
  await assert.rejects(ensureInstalled(root, npm.tools), (error: Error) => {
    assert.match(
      error.message,
      /the network is down[\s\S]*Installing the dependencies failed: npm ci ended with code 7/,
    )
    return true
  })
  assert.equal(existsSync(stampOf(root)), false)
  assert.deepEqual(
    readdirSync(root).filter((name) => name.startsWith('.')),
    [],
  )
})

test('two processes that start together install once', async () => {
  const root = fakeProject()
  const program = `
    import { appendFileSync, mkdirSync } from 'node:fs'
    import { ensureInstalled } from ${JSON.stringify(ensurePath)}
    const run = async () => {
      appendFileSync('calls', 'x')
      await new Promise((resolve) => setTimeout(resolve, 500))
      mkdirSync('node_modules', { recursive: true })
      return { code: 0, output: '' }
    }
    await ensureInstalled(process.cwd(), { run, say: () => {} })`
  const codes = await Promise.all([1, 2, 3].map(() => runNode(program, root)))
  assert.deepEqual(codes, [0, 0, 0])
  assert.equal(readFileSync(join(root, 'calls'), 'utf8'), 'x')
})

test('the lock of a process that was killed is taken over', async () => {
  const root = fakeProject()
  const npm = fakeNpm()
  const dead = spawn(process.execPath, ['-e', '0'])
  await new Promise((resolve) => dead.once('exit', resolve))
  put(root, '.posthorn-setup.lock', String(dead.pid))
  assert.equal(await ensureInstalled(root, npm.tools), true)
})

test('dist follows src: built when stale, without what has gone, and untouched when nothing changed', async () => {
  const root = withCompiler(fakeProject())
  const said: string[] = []
  const tools = { say: (line: string) => said.push(line) }
  const dist = () => readdirSync(join(root, 'dist'), { recursive: true }).map(String)
  assert.equal(await ensureBuilt(root, tools), true)
  assert.ok(dist().includes('db/migrations/0001-first.sql'))
  assert.ok(!dist().some((path) => path.includes('.test.')))

  const builtOnce = statSync(join(root, 'dist'))
  assert.equal(await ensureBuilt(root, tools), false)
  assert.equal(statSync(join(root, 'dist')).ino, builtOnce.ino, 'it is the same folder, not one that was built again')
  put(root, 'src/deep/two.test.ts', 'export const tested: number = 3\n')
  assert.equal(await ensureBuilt(root, tools), false)

  put(root, 'src/one.ts', 'export const one: number = 11\n')
  rmSync(join(root, 'src/db/migrations/0001-first.sql'))
  assert.equal(await ensureBuilt(root, tools), true)
  assert.match(readFileSync(join(root, 'dist/cli/posthorn.js'), 'utf8'), /11/)
  assert.ok(!dist().includes('db/migrations/0001-first.sql'))
  assert.deepEqual(said, ['Building …', 'Building …'])
})

test('a build that fails says why and leaves dist as it was', async () => {
  const root = withCompiler(fakeProject())
  const tools = { say: () => {} }
  await ensureBuilt(root, tools)
  put(root, 'src/one.ts', 'export const one = (\n')
  await assert.rejects(ensureBuilt(root, tools), /src\/one\.ts[\s\S]*The build failed/)
  assert.match(readFileSync(join(root, 'dist/cli/posthorn.js'), 'utf8'), /1/)
  assert.deepEqual(
    readdirSync(root).filter((name) => name.startsWith('.')),
    [],
  )
})

test('the compiled tests follow src and test: made when stale, without what has gone, and else untouched', async () => {
  const root = withCompiler(fakeProject())
  const said: string[] = []
  const tools = { say: (line: string) => said.push(line) }
  const compiled = () => readdirSync(join(root, '.tests'), { recursive: true }).map(String)
  assert.equal(await ensureTestsCompiled(root, tools), true)
  for (const path of ['src/deep/two.test.js', 'test/three.test.js.map', 'src/db/migrations/0001-first.sql'])
    assert.ok(compiled().includes(path), path)
  // What a test reads or writes of the project lies in one place only.
  assert.ok(!compiled().includes('test/golden.txt'))
  assert.equal(await ensureTestsCompiled(root, tools), false)

  rmSync(join(root, 'src/deep/two.test.ts'))
  put(root, 'test/three.test.ts', 'export const three: number = 33\n')
  assert.equal(await ensureTestsCompiled(root, tools), true)
  assert.match(readFileSync(join(root, '.tests/test/three.test.js'), 'utf8'), /33/)
  assert.deepEqual(
    compiled().filter((path) => path.includes('two.test.')),
    [],
  )
  assert.deepEqual(said, ['Compiling the tests …', 'Compiling the tests …'])
})

test('a test that cannot be compiled is reported with its file, and the compiled tests stay as they were', async () => {
  const root = withCompiler(fakeProject())
  const tools = { say: () => {} }
  await ensureTestsCompiled(root, tools)
  put(root, 'test/three.test.ts', 'export const three = (\n')
  const failure = /test\/three\.test\.ts[\s\S]*Compiling the tests failed/
  await assert.rejects(ensureTestsCompiled(root, tools), failure)
  await assert.rejects(ensureTestsCompiled(root, tools), failure)
  assert.match(readFileSync(join(root, '.tests/test/three.test.js'), 'utf8'), /3/)
  assert.deepEqual(
    readdirSync(root).filter((name) => name.startsWith('.')),
    ['.tests'],
  )
})

test('the lock file names no address to fetch from, so that any registry or mirror will do', () => {
  const { packages } = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8'))
  const addressed = Object.keys(packages).filter((path) => /^https?:/.test(packages[path].resolved ?? ''))
  assert.deepEqual(addressed, [])
})

test('no file names a registry host', (t) => {
  if (!existsSync(join(repository, '.git'))) return t.skip('not a git checkout')
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: repository,
  })
  // In two parts, or this file would name them.
  const hosts = ['npmjs', 'yarnpkg', 'npmmirror'].map((name) => `registry.${name}`).concat(`npm.pkg.${'github'}`)
  const naming = [...new Set(listed.toString().split('\0'))].filter((path) => {
    if (path === '' || !existsSync(join(repository, path))) return false
    const text = readFileSync(join(repository, path), 'latin1')
    return (
      hosts.some((host) => text.includes(host)) || (path.endsWith('.npmrc') && /^\s*(@\S+:)?registry\s*=/m.test(text))
    )
  })
  assert.deepEqual(naming, [])
})

function runNode(program: string, cwd: string): Promise<number | null> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { cwd, stdio: 'inherit' })
  return new Promise((resolve) => child.once('exit', resolve))
}

test('npx posthorn start gets the memory flags of npm start, unless they were given', async () => {
  const { memoryFlags, missingFlags }: { memoryFlags: string[]; missingFlags(given: readonly string[]): string[] } =
    await import(pathToFileURL(join(repository, 'scripts', 'launch.mjs')).href)
  const { start } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')).scripts
  // The nursery has its size from the beginning: with npx it stays at Node's 16 MB.
  const flags = start.split(' ').filter((word: string) => word.startsWith('--') && !word.includes('semi-space'))
  assert.deepEqual(memoryFlags, flags)
  assert.match(start, /--max-semi-space-size=32 /)
  assert.deepEqual(missingFlags([]), flags)
  assert.deepEqual(missingFlags(['--inspect', '--heap-growing-percent=30']), ['--no-allocation-site-pretenuring'])
  assert.deepEqual(missingFlags(['--allocation-site-pretenuring']), ['--heap-growing-percent=60'])
})
