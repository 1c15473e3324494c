// npm run docs: writes the generated documents (docs/openapi.json and the like) again.
import './node-version.mjs'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { runScript, runToEnd, SetupProblem } from './child.mjs'
import { ensureInstalled, projectRoot } from './ensure.mjs'

const generator = 'scripts/generate-docs.ts'

await runScript(async () => {
  if (!existsSync(join(projectRoot, generator))) throw new SetupProblem(`${generator} is missing: nothing to generate.`)
  await ensureInstalled()
  return await runToEnd(process.execPath, ['--import', 'tsx', generator, ...process.argv.slice(2)], {
    cwd: projectRoot,
  })
})
