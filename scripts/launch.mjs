// Installs and builds where there are sources, then hands the command line to the built service.
import cluster from 'node:cluster'
import { existsSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runScript, SetupProblem } from './child.mjs'
import { ensureBuilt, ensureInstalled, hasSources } from './ensure.mjs'
import { ensureDashboardBuilt } from './ensure-dashboard.mjs'

const built = new URL('../dist/cli/posthorn.js', import.meta.url)

/**
 * What `npm start` gives to Node (docs/decisions/0045): here it is set while the process runs, as `npx` passes no flags on.
 * The size of the nursery cannot be set any more then; it is Node's default.
 */
export const memoryFlags = ['--heap-growing-percent=60', '--no-allocation-site-pretenuring']

/** Those that were not given, neither so nor otherwise. */
export const missingFlags = (given) => memoryFlags.filter((flag) => !given.some((one) => nameOf(one) === nameOf(flag)))

const nameOf = (flag) => flag.replace(/^--(no-)?/, '').replace(/=.*/, '')

export async function launch(argv) {
  let main
  if (argv[0] === 'start') for (const flag of missingFlags(process.execArgv)) setFlagsFromString(flag)
  await runScript(async () => {
    // One of several processes is what its parent is: that has looked already.
    if (hasSources() && !(cluster.isWorker && existsSync(built))) {
      await ensureInstalled()
      await ensureBuilt()
      if (argv[0] === 'start' && process.env.POSTHORN_DASHBOARD !== 'off') await buildDashboard()
    }
    if (!existsSync(built))
      throw new SetupProblem(
        'There is neither a built service (dist) nor its sources (src). Packages are made by npm run pack.',
      )
    main = (await import(built)).main
  })
  // Outside runScript: the exit code from here on is the command's own.
  if (main !== undefined) await main(argv)
}

/** The API works without its pages: a failure here is said, and the service starts. */
async function buildDashboard() {
  try {
    await ensureDashboardBuilt()
  } catch (error) {
    if (!(error instanceof SetupProblem)) throw error
    process.stderr.write(`${error.message}\nThe service starts without its dashboard; \`npm run build\` tries again.\n`)
  }
}
