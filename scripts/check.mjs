// npm run check: formatting, lint and types; all of them are run and reported, whichever fails. `-- --fix` fixes what it can.
import './node-version.mjs'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { runQuietly, runScript } from './child.mjs'
import { binOf, ensureInstalled, projectRoot } from './ensure.mjs'
import { ensureDashboardInstalled, hasDashboard } from './ensure-dashboard.mjs'
import { ensureClientGenerated } from './ensure-library.mjs'

const colours = process.stdout.isTTY === true

await runScript(async () => {
  await ensureInstalled()
  const fix = process.argv.includes('--fix')
  const biomeArgs = ['check', '.', '--max-diagnostics=200', `--colors=${colours ? 'force' : 'off'}`]
  const checks = [
    {
      name: 'biome',
      command: [...binOf(projectRoot, '@biomejs/biome', 'biome'), ...biomeArgs, ...(fix ? ['--write'] : [])],
    },
    {
      name: 'types',
      command: [...binOf(projectRoot, 'typescript', 'tsc'), '-p', 'tsconfig.json', '--pretty', String(colours)],
    },
    {
      name: 'types of the inbox',
      command: [...binOf(projectRoot, 'typescript', 'tsc'), '-p', 'inbox/tsconfig.json', '--pretty', String(colours)],
    },
  ]
  if (hasDashboard()) {
    checks.push(await dashboardCheck())
    await ensureClientGenerated()
    checks.push({
      name: 'types of the client',
      command: [...binOf(projectRoot, 'typescript', 'tsc'), '-p', 'client/tsconfig.json', '--pretty', String(colours)],
    })
  }
  // With --fix one after the other, since the compiler has to read what was fixed.
  const results = []
  if (fix) for (const check of checks) results.push(await timed(check))
  else results.push(...(await Promise.all(checks.map(timed))))
  for (const { output } of results) if (output.trim() !== '') console.log(output.trimEnd())
  for (const { name, passed, seconds } of results) console.log(`${passed ? '✔' : '✖'} ${name} (${seconds} s)`)
  return results.every(({ passed }) => passed) ? 0 : 1
})

/** The dashboard has a compiler of its own: what makes types of our OpenAPI document does not know the newest one. */
async function dashboardCheck() {
  const cwd = join(projectRoot, 'dashboard')
  await ensureDashboardInstalled(projectRoot, { whole: true })
  const document = join(projectRoot, 'docs', 'openapi.json')
  const types = join(cwd, 'src', 'api-types.ts')
  const madeAt = statSync(types, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (madeAt < statSync(document).mtimeMs) {
    const [file, ...args] = binOf(cwd, 'openapi-typescript', 'openapi-typescript')
    const { code, output } = await runQuietly(file, [...args, document, '-o', types], { cwd })
    if (code !== 0) console.log(output)
  }
  return {
    name: 'types of the dashboard',
    cwd,
    command: [...binOf(cwd, 'typescript', 'tsc'), '-p', 'tsconfig.json', '--pretty', String(colours)],
  }
}

async function timed({ name, command, cwd = projectRoot }) {
  const startedAt = performance.now()
  const [file, ...args] = command
  const { code, output, error } = await runQuietly(file, args, { cwd })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  return { name, passed: code === 0, seconds, output: error === undefined ? output : String(error) }
}
