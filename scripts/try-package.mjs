// npm run try-package -- 20.19.0 22 24: makes the package and uses it in an empty folder with each of these versions of Node.
import './node-version.mjs'
import { runScript, runToEnd } from './child.mjs'
import { projectRoot } from './ensure.mjs'
import { buildAll } from './pack.mjs'

await runScript(async () => {
  await buildAll()
  const args = ['--import', 'tsx', 'test/package/nodes.ts', ...process.argv.slice(2)]
  return await runToEnd(process.execPath, args, { cwd: projectRoot })
})
