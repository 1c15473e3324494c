// The database cluster of a test run, and where the compiled tests are.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SetupProblem, startChild, stopChild, within } from './child.mjs'
import { projectRoot } from './ensure.mjs'

/** initdb takes a second or two; a loaded machine may need a minute. */
const clusterStartMs = 90_000
const clusterStopMs = 15_000
const clusterMain = 'test/support/cluster-main.ts'

/** Where ensureTestsCompiled put it. The sources are what is listed, so nothing runs of which there is no source. */
export function compiled(path) {
  return `.tests/${path.replace(/\.ts$/, '.js')}`
}

// Started from within a test, the runner would take itself for a child of that run and print for machines only.
export function testEnvironment() {
  const { NODE_TEST_CONTEXT: _context, ...environment } = process.env
  return environment
}

/** Shielded from our signals: the tests have to end before the database they use. */
export function startCluster() {
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

export async function stopCluster({ child, ended }) {
  child.stdin.end()
  if (!(await within(clusterStopMs, ended))) await stopChild({ child, ended }, clusterStopMs)
}
