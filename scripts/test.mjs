// npm test: every test file, or those whose path contains an argument, against one database cluster for the whole run.
// Options (such as --test-name-pattern=…) go to Node's test runner.
import './node-version.mjs'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { runScript, runToEnd, SetupProblem, startChild, stopChild, unlessInterrupted, within } from './child.mjs'
import { ensureBuilt, ensureInstalled, ensureTestsCompiled, projectRoot } from './ensure.mjs'
import { ensureDashboardBuilt, ensureDashboardInstalled, hasDashboard } from './ensure-dashboard.mjs'

/** Node counts a whole file as one test too, so this bounds the slowest file, not only the slowest test. */
const testTimeoutMs = 5 * 60_000
/** initdb takes a second or two; a loaded machine may need a minute. */
const clusterStartMs = 90_000
const clusterStopMs = 15_000
const concurrency = 2
const clusterMain = 'test/support/cluster-main.ts'

await runScript(async () => {
  const args = process.argv.slice(2)
  const options = args.filter((arg) => arg.startsWith('-'))
  const filters = args.filter((arg) => !arg.startsWith('-'))
  const files = testFiles(filters)
  if (files.length === 0) {
    throw new SetupProblem(
      `No test file's path contains ${filters.map((filter) => `"${filter}"`).join(' or ') || '".test.ts"'}.`,
    )
  }
  await ensureInstalled()
  await ensureBuilt()
  await ensureTestsCompiled()
  if (hasDashboard() && files.some((file) => file.startsWith('test/dashboard/'))) {
    await ensureDashboardInstalled(projectRoot, { whole: true })
    await ensureDashboardBuilt()
  }
  const cluster = startCluster()
  try {
    const address = await unlessInterrupted(cluster.ready)
    const runner = [
      '--test',
      '--test-reporter=spec',
      `--test-concurrency=${concurrency}`,
      `--test-timeout=${testTimeoutMs}`,
    ]
    return await runToEnd(process.execPath, ['--enable-source-maps', ...runner, ...options, ...files.map(compiled)], {
      cwd: projectRoot,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...testEnvironment(), POSTHORN_TEST_CLUSTER: address },
    })
  } finally {
    await stopCluster(cluster)
  }
})

function testFiles(filters) {
  const found = ['src', 'test'].flatMap((folder) => testFilesBelow(folder)).sort()
  return found.filter((path) => filters.length === 0 || filters.some((filter) => path.includes(filter)))
}

/** Where ensureTestsCompiled put it. The sources are what is listed, so nothing runs of which there is no source. */
function compiled(path) {
  return `.tests/${path.replace(/\.ts$/, '.js')}`
}

function testFilesBelow(folder) {
  if (!existsSync(join(projectRoot, folder))) return []
  return readdirSync(join(projectRoot, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return testFilesBelow(path)
    return entry.name.endsWith('.test.ts') ? [path] : []
  })
}

// Started from within a test, the runner would take itself for a child of that run and print for machines only.
function testEnvironment() {
  const { NODE_TEST_CONTEXT: _context, ...environment } = process.env
  return environment
}

/** Shielded from our signals: the tests have to end before the database they use. */
function startCluster() {
  if (!existsSync(join(projectRoot, clusterMain))) throw new SetupProblem(`${clusterMain} is missing.`)
  const cluster = startChild(process.execPath, ['--enable-source-maps', compiled(clusterMain)], {
    shielded: true,
    cwd: projectRoot,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  cluster.child.stdin.on('error', () => {})
  return { ...cluster, ready: clusterReady(cluster) }
}

async function clusterReady({ child, ended }) {
  let text = ''
  const firstLine = new Promise((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
      if (text.includes('\n')) resolve()
    })
  })
  const answered = await within(clusterStartMs, Promise.race([firstLine, ended]))
  if (!answered) throw new SetupProblem(`The test database did not start within ${clusterStartMs / 1000} s.`)
  if (!text.includes('\n')) throw new SetupProblem('The test database did not start; what it said is above.')
  return text.slice(0, text.indexOf('\n'))
}

async function stopCluster({ child, ended }) {
  child.stdin.end()
  if (!(await within(clusterStopMs, ended))) await stopChild({ child, ended }, clusterStopMs)
}
