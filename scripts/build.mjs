// npm run build: compiles src into dist when it is not already the outcome of these very sources.
import './node-version.mjs'
import { runScript } from './child.mjs'
import { ensureBuilt, ensureInstalled } from './ensure.mjs'
import { ensureDashboardBuilt } from './ensure-dashboard.mjs'

await runScript(async () => {
  await ensureInstalled()
  const startedAt = performance.now()
  const built = await ensureBuilt()
  console.log(built ? `Built dist in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.` : 'dist is up to date.')
  await ensureDashboardBuilt()
})
