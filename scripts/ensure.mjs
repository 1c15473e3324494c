// Makes a fresh clone runnable without being asked: installs the dependencies, builds dist and compiles the tests, each only
// when needed.
import { createHash } from 'node:crypto'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runQuietly, SetupProblem } from './child.mjs'
import { withLock } from './setup-lock.mjs'

export const projectRoot = dirname(dirname(fileURLToPath(import.meta.url)))

/** An install over a slow line takes minutes; longer than this something hangs. */
const lockWaitMs = 15 * 60_000
const isTypeScript = (path) => /\.[cm]?tsx?$/.test(path)

/** What is compiled, from what, into which folder. Raise a recipe's number when it changes: every outcome is made again. */
const service = {
  recipe: 'posthorn build 5',
  folder: 'dist',
  rootDir: 'src',
  // One file for all commands but those that are loaded alone, and what they share: a start took 0.6 s longer with a thousand of them (docs/decisions/0030). Types are npm run check's to judge.
  commands: (root, into) => [
    [
      ...binOf(root, 'esbuild', 'esbuild'),
      // The second runs in threads, which are started from a file of their own.
      ...['src/cli/posthorn.ts', 'src/render/render-thread.ts'].filter((entry) => existsSync(join(root, entry))),
      ...['--bundle', '--platform=node', '--format=esm', '--target=node20', '--sourcemap', '--log-level=warning'],
      ...packagesApart(root).map((name) => `--external:${name}`),
      // Beside the commands: files are found by where the code that asks for them is.
      ...['--splitting', '--chunk-names=cli/[name]-[hash]'],
      '--outbase=src',
      `--outdir=${into}`,
    ],
    ...(existsSync(join(root, 'inbox')) ? inboxCommands(root, join(into, 'inbox')) : []),
  ],
  saying: 'Building …',
  failing: 'The build failed',
  sources: (root) =>
    ['src', 'inbox'].flatMap((folder) => below(root, folder)).filter((path) => !path.endsWith('.test.ts')),
  copied: (path) => path.startsWith('src') && !isTypeScript(path),
}
/** What tests import of the dashboard, which is a package of its own. */
const testedOfDashboard = ['dashboard/src/pages/workflows/blocks.ts']
const tests = {
  recipe: 'posthorn tests 1',
  folder: '.tests',
  rootDir: '.',
  commands: (root, into) => [[...binOf(root, 'typescript', 'tsc'), '-p', 'tsconfig.tests.json', '--outDir', into]],
  saying: 'Compiling the tests …',
  failing: 'Compiling the tests failed',
  sources: (root) =>
    ['src', 'test', 'bench', 'soak', 'fuzz', 'scripts']
      .flatMap((folder) => below(root, folder))
      .filter((path) => isTypeScript(path) || path.startsWith('src'))
      .concat(testedOfDashboard.filter((path) => existsSync(join(root, path)))),
  // The TypeScript too: a test may hand a file beside it to a child that runs it through tsx.
  copied: (path) => /^(?:src|test)\b/.test(path),
}

// On stderr: the stdout of a command may be read by a program.
const sayOnStderr = (line) => process.stderr.write(`${line}\n`)
const lockOf = (root) => join(root, '.posthorn-setup.lock')
const stampOf = (root) => join(root, 'node_modules', '.posthorn-installed')

/** False in an image that ships dist only: there is nothing to install for, and nothing to build. */
export const hasSources = (root = projectRoot) => existsSync(join(root, 'src'))

/** Installs what package-lock.json names unless it is there already; true when it installed. */
export async function ensureInstalled(root = projectRoot, { run = runQuietly, say = sayOnStderr } = {}) {
  if (isInstalled(root)) return false
  return withLock(lockOf(root), { waitMs: lockWaitMs, say }, async () => {
    if (isInstalled(root)) return false
    await install(root, run, say)
    return true
  })
}

/** Builds dist unless it was built from these very sources; true when it built. */
export const ensureBuilt = (root, tools) => ensureCompiled(service, root, tools)

/** Compiles sources and tests into .tests unless it was made from these very files; true when it compiled. */
export const ensureTestsCompiled = (root, tools) => ensureCompiled(tests, root, tools)

export async function ensureCompiled(outcome, root = projectRoot, { run = runQuietly, say = sayOnStderr } = {}) {
  if (!hasSources(root) || isCompiled(root, outcome, sourcesOf(root, outcome))) return false
  return withLock(lockOf(root), { waitMs: lockWaitMs, say }, async () => {
    const sources = sourcesOf(root, outcome)
    if (isCompiled(root, outcome, sources)) return false
    say(outcome.saying)
    await compile(root, outcome, sources, run)
    return true
  })
}

/** The command line that runs a program of an installed package: a script through this Node, anything else as it is. */
export function binOf(root, packageName, binName) {
  const folder = join(root, 'node_modules', packageName)
  let bin
  try {
    bin = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).bin
  } catch {
    throw new SetupProblem(`${packageName} is not installed; run: npm ci --ignore-scripts --include=dev`)
  }
  const file = join(folder, typeof bin === 'string' ? bin : bin[binName])
  const isScript = /\.[cm]?js$/.test(file) || /^#!.*\bnode\b/.test(startOf(file, 128))
  return isScript ? [process.execPath, file] : [file]
}

/** What pages load: the element as a script, and the client as a module. */
function inboxCommands(root, into) {
  const common = ['--bundle', '--minify', '--target=es2022', '--charset=utf8', '--log-level=warning']
  return [
    ['element', 'element.ts', 'iife', 'inbox.js'],
    ['client', 'index.ts', 'esm', 'client.js'],
  ].map(([folder, file, format, name]) => [
    ...binOf(root, 'esbuild', 'esbuild'),
    join('inbox', folder, file),
    ...[...common, `--format=${format}`, `--outfile=${join(into, name)}`],
  ])
}

/** Packages that stay what they are: all but the one that comes in hundreds of files of which few are used. */
function packagesApart(root) {
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => name !== 'typebox')
}

function isInstalled(root) {
  const lockText = readOr(join(root, 'package-lock.json'))
  if (lockText === undefined) throw new SetupProblem(`${join(root, 'package-lock.json')} is missing or unreadable.`)
  const stamp = stampFor(lockText)
  const found = readOr(stampOf(root))
  if (found === stamp) return true
  // Files of another platform or Node are never right, whatever npm's own record says.
  if (found !== undefined && found.split('\n')[1] !== stamp.split('\n')[1]) return false
  if (!agreesWithLock(root, lockText)) return false
  writeStamp(root, stamp)
  return true
}

async function install(root, run, say) {
  say('Installing dependencies (npm ci) …')
  // npm's own record goes with our stamp: until npm gets to it, it would tell another command that all is installed.
  for (const record of [stampOf(root), join(root, 'node_modules', '.package-lock.json')])
    rmSync(record, { force: true })
  const [command, ...npm] = npmCommand()
  // Both groups are named because NODE_ENV=production or a user's own npm settings would leave out the compiler, or the
  // embedded database. Install scripts are off: none is needed, and none can then do harm.
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--include=dev', '--include=optional']
  // Read before npm runs: when the file changes meanwhile, the next start has to notice.
  const stamp = stampFor(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const result = await run(command, [...npm, ...args], { cwd: root })
  if (result.error !== undefined) {
    throw new SetupProblem(`Installing the dependencies failed: npm could not be started (${result.error.message}).`)
  }
  if (result.code !== 0) {
    throw new SetupProblem(
      `${result.output.trimEnd()}\n\nInstalling the dependencies failed: npm ci ended with ${result.signal ?? `code ${result.code}`}; ` +
        `what it said is above.\nTo run it manually, in ${root}: npm ${args.join(' ')}`,
    )
  }
  writeStamp(root, stamp)
}

export function npmCommand() {
  // Set inside `npm start`; under yarn or pnpm it names those instead, which do not know `ci`.
  const running = process.env.npm_execpath
  if (running !== undefined && /^npm-cli\.[cm]?js$/.test(basename(running))) return [process.execPath, running]
  return ['npm']
}

function stampFor(lockText) {
  const runtime = `node${process.versions.node.split('.')[0]} ${process.platform}-${process.arch} ${libc() ?? '-'}`
  return `${createHash('sha256').update(lockText).digest('hex')}\n${runtime}\n`
}

function writeStamp(root, stamp) {
  try {
    writeFileSync(stampOf(root), stamp)
  } catch {
    // A read-only checkout works all the same; it only pays the longer comparison at every start.
  }
}

/** Whether a developer's own npm install left what the lock file names; extra packages do no harm. */
function agreesWithLock(root, lockText) {
  const recordText = readOr(join(root, 'node_modules', '.package-lock.json'))
  if (recordText === undefined) return false
  const wanted = packagesOf(lockText)
  const present = packagesOf(recordText)
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '' || !isWantedHere(entry)) return true
    const found = present[path]
    if (found === undefined || found.version !== entry.version || found.integrity !== entry.integrity) return false
    return existsSync(join(root, path, 'package.json'))
  })
}

function packagesOf(text) {
  try {
    return JSON.parse(text).packages ?? {}
  } catch (error) {
    throw new SetupProblem(
      `A lock file of npm is damaged (${error.message}); remove node_modules and fix package-lock.json.`,
    )
  }
}

/** npm skips an optional package made for another platform; one bound to no platform may hang on a skipped one. */
function isWantedHere(entry) {
  if (!entry.optional) return true
  if (entry.os === undefined && entry.cpu === undefined) return false
  return allows(entry.os, process.platform) && allows(entry.cpu, process.arch) && allows(entry.libc, libc())
}

function allows(list, value) {
  if (list === undefined || value === undefined) return true
  const names = [list].flat()
  if (names.includes(`!${value}`)) return false
  return names.includes(value) || names.every((name) => name.startsWith('!'))
}

/** Which C library this Node was linked with: the loader's name stands at the start of the executable. */
function libc() {
  if (process.platform !== 'linux') return undefined
  return startOf(process.execPath, 4096).includes('/ld-musl-') ? 'musl' : 'glibc'
}

/** What goes into an outcome: relative paths, sorted, and one hash over all that decides what comes of it. */
function sourcesOf(root, outcome) {
  const files = outcome.sources(root)
  const configs = readdirSync(root).filter((name) => /^tsconfig.*\.json$/.test(name))
  const hash = createHash('sha256').update(outcome.recipe)
  for (const path of [...files, ...configs.sort(), 'package-lock.json']) {
    const content = readFileSync(join(root, path))
    // The length keeps the end of one file and the beginning of the next apart.
    hash.update(`\n${path} ${content.length}\n`).update(content)
  }
  return { files, hash: hash.digest('hex') }
}

const below = (root, folder) =>
  existsSync(join(root, folder)) ? filesBelow(join(root, folder)).map((path) => join(folder, path)) : []

/** Relative paths of all files below a folder, sorted. */
export function filesBelow(folder, prefix = '') {
  const found = []
  for (const entry of readdirSync(join(folder, prefix), { withFileTypes: true })) {
    // Dot files are an editor's or the system's, never part of the service.
    if (entry.name.startsWith('.')) continue
    const path = join(prefix, entry.name)
    if (entry.isDirectory()) found.push(...filesBelow(folder, path))
    else found.push(path)
  }
  return found.sort()
}

const isCompiled = (root, { folder }, sources) => readOr(join(root, folder, '.built')) === sources.hash

async function compile(root, outcome, sources, run) {
  // Beside the outcome, not below node_modules: source maps hold relative paths, and a rename must not cross file systems.
  const name = outcome.folder.replace('.', '')
  const next = join(root, `.${name}-next`)
  const old = join(root, `.${name}-old`)
  const made = join(root, outcome.folder)
  // Left by a compilation that was killed: we hold the lock, so no one is at work in them.
  for (const folder of [next, old]) rmSync(folder, { recursive: true, force: true })
  mkdirSync(next)
  try {
    for (const [command, ...args] of outcome.commands(root, next)) {
      const result = await run(command, args, { cwd: root })
      if (result.code === 0) continue
      const reason = result.error?.message ?? result.signal ?? `the compiler ended with code ${result.code}`
      throw new SetupProblem(
        `${(result.output ?? '').trimEnd()}\n\n${outcome.failing} (${reason}); ${outcome.folder} is as it was before.`,
      )
    }
    for (const path of sources.files) {
      if (outcome.copied(path)) cpSync(join(root, path), join(next, relative(outcome.rootDir, path)))
    }
    writeFileSync(join(next, '.built'), sources.hash)
    if (existsSync(made)) renameSync(made, old)
    renameSync(next, made)
  } finally {
    // It is gone only when the second rename failed: then the old one is better than none.
    if (!existsSync(made) && existsSync(old)) renameSync(old, made)
    for (const folder of [next, old]) rmSync(folder, { recursive: true, force: true })
  }
}

function readOr(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function startOf(path, length) {
  const buffer = Buffer.alloc(length)
  const file = openSync(path, 'r')
  try {
    return buffer.toString('latin1', 0, readSync(file, buffer, 0, length, 0))
  } finally {
    closeSync(file)
  }
}
