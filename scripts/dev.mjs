// npm run dev: runs the service from its sources and restarts it when one changes.
import './node-version.mjs'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { exitCodeOf, isInterrupted, runScript, sleep, startChild, stopChild } from './child.mjs'
import { binOf, ensureInstalled, filesBelow, projectRoot } from './ensure.mjs'
import { ensureDashboardInstalled, hasDashboard } from './ensure-dashboard.mjs'

/** Looking at 400 files takes about 5 ms. */
const pollMs = 400
/** How long the service may drain before a restart. */
const stopMs = 15_000
const src = join(projectRoot, 'src')

await runScript(async () => {
  await ensureInstalled()
  const pages = await startPages()
  for (;;) {
    const exitCode = await runUntilChange()
    if (exitCode !== undefined) {
      if (pages !== undefined) await stopChild(pages, stopMs)
      return exitCode
    }
    console.error('A source changed: restarting …')
  }
})

/** The exit code when we were asked to end, undefined when a source changed. */
async function runUntilChange() {
  const before = snapshot()
  const args = ['--enable-source-maps', '--import', 'tsx', 'scripts/dev-entry.mjs', 'start', ...process.argv.slice(2)]
  const service = startChild(process.execPath, args, { cwd: projectRoot, stdio: ['ignore', 'inherit', 'inherit'] })
  let running = true
  service.ended.then((result) => {
    running = false
    const stays = !isInterrupted() && snapshot() === before
    if (stays) console.error(`The service ended (${exitCodeOf(result)}); it starts again when a source changes.`)
  })
  while (snapshot() === before) {
    if (isInterrupted()) return exitCodeOf(await service.ended)
    await sleep(pollMs)
  }
  await settled()
  if (running) await stopChild(service, stopMs)
  return isInterrupted() ? exitCodeOf(await service.ended) : undefined
}

/** Waits until a look finds nothing new: an editor saves several files, a checkout replaces hundreds. */
async function settled() {
  for (let before; before !== snapshot(); await sleep(pollMs)) before = snapshot()
}

// Not `node --watch`: on Node 20, 22 and 24 it restarts once for a file that is saved by renaming, as many editors do, and
// then never again; and it does not see the .sql files.
function snapshot() {
  return filesBelow(src)
    .filter((path) => !path.endsWith('.test.ts'))
    .map((path) => {
      const found = statSync(join(src, path), { throwIfNoEntry: false })
      return `${path} ${found?.mtimeMs} ${found?.size}`
    })
    .join('\n')
}

/** The dashboard from its sources, on a port of its own (5173): it reloads by itself, and passes calls on to the service. */
async function startPages() {
  if (!hasDashboard() || process.env.POSTHORN_DASHBOARD === 'off') return undefined
  await ensureDashboardInstalled()
  const cwd = join(projectRoot, 'dashboard')
  const [file, ...args] = binOf(cwd, 'vite', 'vite')
  const env = { POSTHORN_URL: `http://localhost:${process.env.PORT || 3000}`, ...process.env }
  return startChild(file, args, { cwd, env, stdio: ['ignore', 'inherit', 'inherit'] })
}
