// npm run fuzz: generated requests against the built service; arguments go to fuzz/main.ts.
import './node-version.mjs'
import { runScript, runToEnd } from './child.mjs'
import { ensureBuilt, ensureInstalled, projectRoot } from './ensure.mjs'

await runScript(async () => {
  await ensureInstalled()
  await ensureBuilt()
  const args = ['--import', 'tsx', 'fuzz/main.ts', ...process.argv.slice(2)]
  return await runToEnd(process.execPath, args, { cwd: projectRoot })
})
