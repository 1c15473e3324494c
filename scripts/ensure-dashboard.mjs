// Builds the dashboard when its sources changed: installs what the build needs, bundles, compresses, and puts it in place at once.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { runQuietly, SetupProblem } from './child.mjs'
import { binOf, filesBelow, npmCommand, projectRoot } from './ensure.mjs'
import { withLock } from './setup-lock.mjs'

/** Raise the number when the recipe changes: every outcome is made again. */
const recipe = 'posthorn dashboard 1'
const lockWaitMs = 15 * 60_000
/** A compressed copy that saves less is not worth a file. */
const worthSaving = 0.9
const sayOnStderr = (line) => process.stderr.write(`${line}\n`)
const folderOf = (root) => join(root, 'dashboard')

/** False in an image that contains only the built files. */
export const hasDashboard = (root = projectRoot) => existsSync(join(folderOf(root), 'package.json'))

/** `whole`: with what checks and tests need beside the build. True when it installed. */
export async function ensureDashboardInstalled(
  root = projectRoot,
  { whole = false, run = runQuietly, say = sayOnStderr } = {},
) {
  const folder = folderOf(root)
  const stampPath = join(folder, 'node_modules', '.posthorn-installed')
  const lockHash = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex')
  const runtime = `${process.platform}-${process.arch}`
  const found = existsSync(stampPath) ? readFileSync(stampPath, 'utf8') : ''
  const has = (kind) => found === `${lockHash} ${runtime} ${kind}`
  if (has('whole') || (!whole && has('build'))) return false
  say(`Installing what the dashboard ${whole ? 'and its checks need' : 'is built with'} (npm ci) …`)
  const [command, ...npm] = npmCommand()
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--include=optional']
  const result = await run(command, [...npm, ...args, whole ? '--include=dev' : '--omit=dev'], { cwd: folder })
  if (result.code !== 0) {
    throw new SetupProblem(
      `${(result.output ?? '').trimEnd()}\n\nInstalling in ${folder} failed: ${result.error?.message ?? 'what npm said is above'}.`,
    )
  }
  writeFileSync(stampPath, `${lockHash} ${runtime} ${whole ? 'whole' : 'build'}`)
  return true
}

/** True when it built. */
export async function ensureDashboardBuilt(root = projectRoot, { run = runQuietly, say = sayOnStderr } = {}) {
  if (!hasDashboard(root) || isBuilt(root)) return false
  return withLock(join(root, '.posthorn-setup.lock'), { waitMs: lockWaitMs, say }, async () => {
    if (isBuilt(root)) return false
    const startedAt = performance.now()
    await ensureDashboardInstalled(root, { run, say })
    say('Building the dashboard …')
    await build(root, run)
    say(
      `The dashboard is built (${((performance.now() - startedAt) / 1000).toFixed(1)} s); it is built again only when it changes.`,
    )
    return true
  })
}

/** What decides what comes of a build. */
function hashOf(root) {
  const folder = folderOf(root)
  const hash = createHash('sha256').update(recipe)
  const sources = filesBelow(join(folder, 'src')).filter((path) => path !== 'api-types.ts')
  for (const path of [...sources.map((one) => join('src', one)), 'index.html', 'vite.config.ts', 'package-lock.json']) {
    const content = readFileSync(join(folder, path))
    hash.update(`\n${path} ${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

function isBuilt(root) {
  const stamp = join(folderOf(root), 'dist', '.built')
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hashOf(root)
}

async function build(root, run) {
  const folder = folderOf(root)
  const next = join(folder, '.dist-next')
  const hash = hashOf(root)
  rmSync(next, { recursive: true, force: true })
  mkdirSync(next)
  const [command, ...args] = binOf(folder, 'vite', 'vite')
  const result = await run(
    command,
    [...args, 'build', '--outDir', '.dist-next', '--emptyOutDir', '--logLevel', 'warn'],
    {
      cwd: folder,
    },
  )
  if (result.code !== 0) throw new SetupProblem(`${(result.output ?? '').trimEnd()}\n\nBuilding the dashboard failed.`)
  compress(join(next, 'assets'))
  writeFileSync(join(next, '.built'), hash)
  rmSync(join(folder, 'dist'), { recursive: true, force: true })
  renameSync(next, join(folder, 'dist'))
}

function compress(folder) {
  for (const name of readdirSync(folder).filter((one) => /\.(?:js|css|svg)$/.test(one))) {
    const path = join(folder, name)
    const plain = readFileSync(path)
    const br = brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })
    const gz = gzipSync(plain, { level: 9 })
    if (br.length < plain.length * worthSaving) writeFileSync(`${path}.br`, br)
    if (gz.length < plain.length * worthSaving) writeFileSync(`${path}.gz`, gz)
  }
}
