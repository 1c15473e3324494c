// npm run pack: builds everything and makes the npm package. `-- --to FOLDER` puts it there. A plain `npm pack` runs it with
// --build-only first.
import './node-version.mjs'
import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runQuietly, runScript, SetupProblem } from './child.mjs'
import { ensureBuilt, ensureInstalled, npmCommand, projectRoot } from './ensure.mjs'
import { ensureDashboardBuilt } from './ensure-dashboard.mjs'
import { ensureLibraryBuilt } from './ensure-library.mjs'

/** Everything the package holds, each part only when its sources changed. */
export async function buildAll() {
  await ensureInstalled()
  await ensureBuilt()
  await ensureDashboardBuilt()
  await ensureLibraryBuilt()
}

/** The path of the package. */
export async function pack(folder = projectRoot) {
  const [command, ...npm] = npmCommand()
  // Without scripts: the build is done, and npm would run it again.
  const args = ['pack', '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', folder]
  const { code, output, error } = await runQuietly(command, [...npm, ...args], { cwd: projectRoot })
  if (code !== 0) throw new SetupProblem(`${output ?? ''}\nnpm pack failed${error === undefined ? '' : `: ${error}`}.`)
  // npm may say something else before its JSON.
  const [{ filename }] = JSON.parse(output.slice(output.search(/^\[/m)))
  return join(folder, filename)
}

async function main() {
  await buildAll()
  if (process.argv.includes('--build-only')) return
  const to = process.argv.indexOf('--to')
  const path = await pack(to === -1 ? projectRoot : resolve(process.argv[to + 1] ?? '.'))
  process.stderr.write(`Packed ${(statSync(path).size / 1e6).toFixed(1)} MB.\n`)
  console.log(path)
}

if (process.argv[1] === import.meta.filename) await runScript(main)
