// Where the embedded PostgreSQL keeps its data and its socket: in the requested data directory, or where its user can
// enter.
import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import { lstat, readdir, readlink, realpath, rm, stat, symlink } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { codeOf, EmbeddedPostgresError, unusableDirectory } from './embedded-error.ts'
import {
  chooseIdentity,
  type Identity,
  makeDirectories,
  makePrivateDirectory,
  mayUse,
  toEnter,
  weAreRoot,
} from './embedded-identity.ts'

export interface Home {
  readonly dataDirectory: string
  /** PostgreSQL's own data directory. */
  readonly cluster: string
  readonly socketDirectory: string
  readonly identity: Identity
  /** Not in the requested place. */
  readonly moved: boolean
}

/** `sun_path` holds 108 bytes on Linux and 104 on macOS, one of them the final zero. */
const socketPathBytesMax = process.platform === 'darwin' ? 103 : 107
/** The longest name we put beside `.s.PGSQL.5432`. */
const socketNameBytesMax = 20
/** Constant, unlike os.tmpdir(): two starts with another TMPDIR must name the socket alike. */
const aliasParent = '/tmp'
const aliasNamesMax = 10

/** Where data and binaries go when PostgreSQL's user cannot enter the project, best first. */
export function stateDirectories(stateHome: string | undefined): string[] {
  const system = '/var/lib/posthorn'
  return stateHome ? [join(resolve(stateHome), 'posthorn'), system] : [system]
}

export async function chooseHome(
  requested: string,
  runAs: { uid: number; gid: number } | undefined,
  elsewhere: readonly string[],
): Promise<Home> {
  const wanted = await canonical(requested)
  const moved = await Promise.all(elsewhere.map((state) => canonical(join(state, projectName(wanted)))))
  const places = weAreRoot() ? [wanted, ...moved] : [wanted]
  const homeAt = (dataDirectory: string, identity: Identity): Home => ({
    dataDirectory,
    cluster: join(dataDirectory, 'postgres'),
    socketDirectory: join(dataDirectory, 'socket'),
    identity,
    moved: dataDirectory !== wanted,
  })
  // Existing data takes precedence over every rule below: a permission changed later must never make us start an empty
  // database.
  for (const place of places) {
    const cluster = await findCluster(place)
    if (!cluster) continue
    const identity = await chooseIdentity(runAs, cluster)
    if (await mayUse(identity, place, toEnter)) return homeAt(place, identity)
    throw new EmbeddedPostgresError(
      `The data in ${cluster.path} cannot be reached by user ${identity.uid}, who owns it. ` +
        'Allow that user to enter every directory on the path (chmod o+x), or move the data.',
    )
  }
  const identity = await chooseIdentity(runAs, undefined)
  for (const place of places) {
    if (await mayUse(identity, await nearestExisting(place), toEnter)) return homeAt(place, identity)
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL runs as user ${identity.uid}, who cannot enter any of ${places.join(', ')}. ` +
      'Choose another data directory, or set DATABASE_URL to a PostgreSQL server of your own.',
  )
}

async function findCluster(dataDirectory: string): Promise<{ path: string; owner: Stats } | undefined> {
  const found = await findClusterAt(join(dataDirectory, 'postgres'))
  // A restore that was killed between two renames: embedded-cluster.ts does the second.
  return found ?? findClusterAt(join(dataDirectory, 'postgres.restored'))
}

async function findClusterAt(path: string): Promise<{ path: string; owner: Stats } | undefined> {
  const owner = await stat(path).catch(absent)
  if (!owner) return undefined
  const entries = await readdir(path).catch((error: unknown) => {
    // Not accessible to us, so it belongs to another user; the caller says which.
    if (codeOf(error) === 'EACCES') return ['PG_VERSION']
    throw error
  })
  if (entries.length === 0) return undefined
  if (entries.includes('PG_VERSION')) return { path, owner }
  throw new EmbeddedPostgresError(`${path} is not empty and holds no PostgreSQL data. Move it away and start again.`)
}

/** Creates what is missing. Existing directories keep their permissions. */
export async function makeHome(home: Home): Promise<void> {
  const { dataDirectory, identity } = home
  try {
    await makeDirectories(dataDirectory, identity.switches ? 0o711 : 0o700)
    await makePrivateDirectory(home.socketDirectory, identity)
  } catch (error) {
    if (error instanceof EmbeddedPostgresError || codeOf(error) === undefined) throw error
    const known = await unusableDirectory(dataDirectory, error)
    if (known !== undefined) throw known
    throw new EmbeddedPostgresError(
      `Cannot create the data directory ${dataDirectory}: ${(error as Error).message}. ` +
        'Choose a writable directory, or set DATABASE_URL to a PostgreSQL server of your own.',
      { cause: error },
    )
  }
}

/**
 * The name under which the socket directory is used. A path too long for a socket gets a short link in /tmp: only the
 * name is there, the sockets stay in the data directory, so losing or changing the link does no harm.
 */
export async function shortNameOf(socketDirectory: string): Promise<string> {
  const bytes = Buffer.byteLength(socketDirectory) + 1 + socketNameBytesMax
  // PostgreSQL reads the setting as a list, in which commas and quotes mean something.
  if (bytes <= socketPathBytesMax && !/[,"]/.test(socketDirectory)) return socketDirectory
  const us = process.geteuid?.() ?? 0
  for (let attempt = 0; attempt < aliasNamesMax; attempt++) {
    const alias = join(aliasParent, `posthorn-${us}-${hashOf(socketDirectory)}${attempt === 0 ? '' : `-${attempt}`}`)
    if (await pointAlias(alias, socketDirectory, us)) return alias
  }
  throw new EmbeddedPostgresError(
    `The path of ${socketDirectory} is too long for a socket, and its short names in ${aliasParent} are taken by other users. ` +
      'Choose a data directory with a shorter path.',
  )
}

/** False if the name belongs to another user, who could point it at a server of their own. */
async function pointAlias(alias: string, target: string, us: number): Promise<boolean> {
  const found = await lstat(alias).catch(absent)
  if (found) {
    if (found.uid !== us || !found.isSymbolicLink()) return false
    if ((await readlink(alias)) === target) return true
    await rm(alias, { force: true })
  }
  await symlink(target, alias).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
  const made = await lstat(alias).catch(absent)
  return made !== undefined && made.uid === us && made.isSymbolicLink() && (await readlink(alias)) === target
}

/** Recognisable for a person, and never the same for two projects. */
function projectName(dataDirectory: string): string {
  const name = basename(dirname(dataDirectory)).replace(/[^A-Za-z0-9_-]/g, '')
  return `${name || 'project'}-${hashOf(dataDirectory)}`
}

function hashOf(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 12)
}

/** The path without links, also when its end does not exist yet: two names of one directory must mean one database. */
async function canonical(path: string): Promise<string> {
  const absolute = resolve(path)
  const existing = await nearestExisting(absolute)
  return join(await realpath(existing), relative(existing, absolute))
}

async function nearestExisting(path: string): Promise<string> {
  for (let candidate = path; ; candidate = dirname(candidate)) {
    if ((await stat(candidate).catch(absent)) || candidate === dirname(candidate)) return candidate
  }
}

function absent(error: unknown): undefined {
  if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined
  throw error
}
