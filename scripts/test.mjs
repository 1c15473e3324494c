// npm test: every test file, or those whose path contains an argument, against one database cluster for the whole run.
// --changed: only those that a change since main can affect. Other options (such as --test-name-pattern=…) go to Node's runner.
import './node-version.mjs'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { affectedTests, changedFiles, readCode } from './changed-tests.mjs'
import { runScript, runToEnd, SetupProblem, unlessInterrupted } from './child.mjs'
import { ensureBuilt, ensureInstalled, ensureTestsCompiled, projectRoot } from './ensure.mjs'
import { ensureDashboardBuilt, ensureDashboardInstalled, hasDashboard } from './ensure-dashboard.mjs'
import { compiled, startCluster, stopCluster, testEnvironment } from './test-cluster.mjs'
import { planOf } from './test-plan.mjs'

/** Node counts a whole process as one test too, so this bounds the slowest group of files, not only the slowest test. */
const testTimeoutMs = 10 * 60_000
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
  const processes = planOf(files, textOf, processesAtOnce).map((paths, index) => entryOf(batches, paths, index))
  const cluster = startCluster()
  try {
    const address = await unlessInterrupted(cluster.ready)
    const runner = [
      '--test',
      '--test-reporter=spec',
      `--test-concurrency=${processesAtOnce}`,
      `--test-timeout=${testTimeoutMs}`,
    ]
    return await runToEnd(process.execPath, ['--enable-source-maps', ...runner, ...options, ...processes], {
      cwd: projectRoot,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...testEnvironment(), POSTHORN_TEST_CLUSTER: address },
    })
  } finally {
    await stopCluster(cluster)
    rmSync(batches, { recursive: true, force: true })
  }
})

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
