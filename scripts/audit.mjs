// npm run audit: asks the registry for known weaknesses of what is locked, and names those that .ci/exceptions.json does not
// list. Not a part of CI: the registry of some networks does not answer it.
import './node-version.mjs'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runQuietly, runScript, SetupProblem } from './child.mjs'
import { projectRoot } from './ensure.mjs'
import { unlistedAdvisories } from './supply-chain.mjs'

await runScript(async () => {
  const exceptions = JSON.parse(readFileSync(join(projectRoot, '.ci', 'exceptions.json'), 'utf8'))
  const { output, error } = await runQuietly('npm', ['audit', '--json', ...process.argv.slice(2)], { cwd: projectRoot })
  const audit = error === undefined ? readAudit(output) : undefined
  if (audit?.vulnerabilities === undefined) {
    throw new SetupProblem(
      `The registry did not say what is known of these packages:\n${String(error ?? audit?.message ?? output).trim()}`,
    )
  }
  const found = unlistedAdvisories(audit, exceptions)
  for (const line of found) console.log(line)
  console.log(`${found.length} weaknesses that are not listed in .ci/exceptions.json`)
  return found.length === 0 ? 0 : 1
})

/** Warnings of npm may stand before it. */
function readAudit(output) {
  try {
    return JSON.parse(output.slice(output.indexOf('{')))
  } catch {
    return undefined
  }
}
