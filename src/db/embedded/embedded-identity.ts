// Who the embedded PostgreSQL runs as, and which paths that user can reach. PostgreSQL refuses root, so root lends it another user.
import { constants, type Stats } from 'node:fs'
import { access, chmod, lchown, lstat, mkdir, readFile, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf, EmbeddedPostgresError } from './embedded-error.ts'

export interface Identity {
  readonly uid: number
  readonly gid: number
  /** We are root and start PostgreSQL as another user. */
  readonly switches: boolean
}

/** Permission bits as in a mode's last digit. */
export const toRead = constants.R_OK
export const toEnter = constants.X_OK

const nobodyFallback = 65534

export function weAreRoot(): boolean {
  return process.geteuid?.() === 0
}

/** An existing cluster keeps its owner: PostgreSQL refuses to serve files of another user. */
export async function chooseIdentity(
  runAs: { uid: number; gid: number } | undefined,
  cluster: { path: string; owner: Stats } | undefined,
): Promise<Identity> {
  const uid = process.geteuid?.() ?? nobodyFallback
  if (!weAreRoot()) {
    if (cluster && cluster.owner.uid !== uid) {
      throw new EmbeddedPostgresError(
        `The data in ${cluster.path} belongs to user ${cluster.owner.uid}, but Posthorn runs as user ${uid}. ` +
          'Start it as that user or as root, or choose another data directory.',
      )
    }
    return { uid, gid: process.getegid?.() ?? nobodyFallback, switches: false }
  }
  if (runAs?.uid === 0) throw new EmbeddedPostgresError('PostgreSQL refuses to run as root: choose another user.')
  if (!cluster) return { ...(runAs ?? (await nobodyUser())), switches: true }
  const { owner, path } = cluster
  if (owner.uid === 0 || (runAs && runAs.uid !== owner.uid)) {
    const wanted = runAs ?? (await nobodyUser())
    throw new EmbeddedPostgresError(
      `The data in ${path} belongs to user ${owner.uid}, but PostgreSQL would run as user ${wanted.uid}. ` +
        `Change the owner with: chown -R ${wanted.uid}:${wanted.gid} ${path}`,
    )
  }
  return { uid: owner.uid, gid: runAs?.gid ?? owner.gid, switches: true }
}

async function nobodyUser(): Promise<{ uid: number; gid: number }> {
  const users = await readFile('/etc/passwd', 'utf8').catch(() => '')
  const [, uid, gid] = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(users) ?? []
  if (uid === undefined || gid === undefined) return { uid: nobodyFallback, gid: nobodyFallback }
  // macOS writes the user `nobody` as -2; the kernel means the unsigned number.
  return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }
}

/**
 * Whether this user can reach the path and use it in this way. For another user the mode bits are read; no access list
 * can loosen them for us, since a child that switches user keeps no supplementary groups.
 */
export async function mayUse(identity: Identity, path: string, wanted: number): Promise<boolean> {
  try {
    if (!identity.switches) {
      await access(path, wanted)
      return true
    }
    const real = await realpath(path)
    for (let directory = dirname(real); ; directory = dirname(directory)) {
      if (!allows(await stat(directory), identity, toEnter)) return false
      if (directory === dirname(directory)) break
    }
    return allows(await stat(real), identity, wanted)
  } catch (error) {
    if (['ENOENT', 'EACCES', 'ENOTDIR', 'EROFS', 'EPERM'].includes(codeOf(error) ?? '')) return false
    throw error
  }
}

function allows(stats: Stats, identity: Identity, wanted: number): boolean {
  const shift = stats.uid === identity.uid ? 6 : stats.gid === identity.gid ? 3 : 0
  return ((stats.mode >> shift) & wanted) === wanted
}

/** Creates what is missing on the path, with exactly this mode. Existing directories keep theirs. */
export async function makeDirectories(path: string, mode: number): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode })
  if (first === undefined) return
  // The caller's umask may have taken the bit that lets PostgreSQL's user pass.
  for (let made = path; ; made = dirname(made)) {
    await chmod(made, mode)
    if (made === first) return
  }
}

/** A directory only for PostgreSQL's user. One that a killed start left unfinished is completed. */
export async function makePrivateDirectory(path: string, identity: Identity): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
  const stats = await lstat(path)
  // lchown, as everywhere: the owner of the parent must not make us change the target of a link.
  if (!stats.isDirectory()) throw new EmbeddedPostgresError(`${path} is not a directory. Remove it and start again.`)
  if (identity.switches && stats.uid === 0) await lchown(path, identity.uid, identity.gid)
  else if (stats.uid !== identity.uid) {
    throw new EmbeddedPostgresError(
      `${path} belongs to user ${stats.uid}, but PostgreSQL runs as user ${identity.uid}. Remove it or choose another data directory.`,
    )
  }
}
