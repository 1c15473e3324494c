// npm test: every test file, or those whose path contains an argument, against one database cluster for the whole run.
// --changed: only those that a change since main can affect. Other options (such as --test-name-pattern=…) go to Node's runner.
// In a run of every file, up to three that failed are run once more, alone, and named at the end.
import './node-version.mjs'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { affectedTests, changedFiles, readCode } from './changed-tests.mjs'
import { isInterrupted, runScript, runToEnd, SetupProblem, unlessInterrupted } from './child.mjs'
import { ensureBuilt, ensureInstalled, ensureTestsCompiled, projectRoot } from './ensure.mjs'
import { ensureDashboardBuilt, ensureDashboardInstalled, hasDashboard } from './ensure-dashboard.mjs'
import { filesToRunAgain, unheardFiles } from './test-again.mjs'
import { compiled, startCluster, stopCluster, testEnvironment } from './test-cluster.mjs'
import { planOf } from './test-plan.mjs'

/** Node counts a whole process as one test too, so this bounds the slowest group of files, not only the slowest test. */
const testTimeoutMs = 20 * 60_000
/** One more than there are processors: of the tests that start services one nearly always waits. */
const processesAtOnce = availableParallelism() + 1

await runScript(async () => {
  const args = process.argv.slice(2)
  const options = args.filter((arg) => arg.startsWith('-') && arg !== '--changed')
  const filters = args.filter((arg) => !arg.startsWith('-'))
  const files = args.includes('--changed') ? changedTests(filters) : testFiles(filters)
  if (files.length === 0) {
    throw new SetupProblem(
      `No test file's path contains ${filters.map((filter) => `"${filter}"`).join(' or ') || '".test.ts"'}.`,
    )
  }
  await ensureInstalled()
  await ensureBuilt()
  await ensureTestsCompiled()
  if (hasDashboard() && files.some((file) => /^test\/(?:dashboard|package)\//.test(file))) {
    await ensureDashboardInstalled(projectRoot, { whole: true })
    await ensureDashboardBuilt()
  }
  const textOf = (path) => readFileSync(join(projectRoot, path), 'utf8')
  const batches = mkdtempSync(join(tmpdir(), 'posthorn-batches-'))
  const plan = planOf(files, textOf, processesAtOnce)
  const processes = new Map(plan.map((paths, index) => [entryOf(batches, paths, index), paths]))
  const cluster = startCluster()
  try {
    const address = await unlessInterrupted(cluster.ready)
    const exitCode = await runProcesses(batches, [...processes.keys()], { options, address })
    const report = existsSync(reportIn(batches)) ? readFileSync(reportIn(batches), 'utf8') : ''
    // Options such as a pattern of names leave files out.
    const unheard = exitCode === 0 && options.length === 0 ? unheardFiles(report, processes) : []
    if (unheard.length > 0) {
      console.error(`\nA process ended without a word about these files:\n${unheard.join('\n')}`)
      return 1
    }
    // Whatever is not a failed test is not the machine's.
    if (exitCode !== 1 || args.length > 0 || isInterrupted()) return exitCode
    const again = filesToRunAgain(report, processes, textOf)
    if (again.length === 0) return exitCode
    console.log(`\nRun once more, one after the other:\n${again.join('\n')}\n`)
    const entries = again.map((path, index) => entryOf(batches, [path], plan.length + index))
    const secondExitCode = await runProcesses(batches, entries, { options, address, atOnce: 1 })
    if (secondExitCode === 0) console.log(`\nFailed at first and passed when run alone:\n${again.join('\n')}`)
    return secondExitCode
  } finally {
    await stopCluster(cluster)
    rmSync(batches, { recursive: true, force: true })
  }
})

function reportIn(folder) {
  return join(folder, 'report.txt')
}

function runProcesses(folder, entries, { options, address, atOnce = processesAtOnce }) {
  const reporterUrl = pathToFileURL(join(projectRoot, 'scripts', 'test-again.mjs')).href
  const reporters = [
    ['spec', 'stdout'],
    [reporterUrl, reportIn(folder)],
  ].flatMap(([name, destination]) => [`--test-reporter=${name}`, `--test-reporter-destination=${destination}`])
  const runner = ['--test', ...reporters, `--test-concurrency=${atOnce}`, `--test-timeout=${testTimeoutMs}`]
  return runToEnd(process.execPath, ['--enable-source-maps', ...runner, ...options, ...entries], {
    cwd: projectRoot,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...testEnvironment(), POSTHORN_TEST_CLUSTER: address },
  })
}

function testFiles(filters) {
  const found = ['src', 'test'].flatMap((folder) => testFilesBelow(folder)).sort()
  return found.filter((path) => filters.length === 0 || filters.some((filter) => path.includes(filter)))
}

function changedTests(filters) {
  const changed = changedFiles(projectRoot)
  const affected = new Set(affectedTests(readCode(projectRoot), changed))
  const files = testFiles(filters).filter((path) => affected.has(path))
  console.log(`${changed.length} changed files can affect ${files.length} test files.`)
  return files
}

/** What Node's test runner is given for a process: a file written for this run that names the test files. */
function entryOf(folder, paths, index) {
  const files = paths.map((path) => ({ name: path, url: pathToFileURL(join(projectRoot, compiled(path))).href }))
  const batchUrl = pathToFileURL(join(projectRoot, 'scripts', 'test-batch.mjs')).href
  const path = join(folder, `${String(index).padStart(3, '0')}.mjs`)
  writeFileSync(
    path,
    `import { runBatch } from '${batchUrl}'\n\nawait runBatch(${JSON.stringify(files, undefined, 2)})\n`,
  )
  return path
}

function testFilesBelow(folder) {
  if (!existsSync(join(projectRoot, folder))) return []
  return readdirSync(join(projectRoot, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return testFilesBelow(path)
    return entry.name.endsWith('.test.ts') ? [path] : []
  })
}
