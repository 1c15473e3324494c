// The files of the embedded PostgreSQL: created once by initdb, completely or not at all, and refused if another major
// version wrote them.
import { randomBytes } from 'node:crypto'
import { open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Binaries } from './embedded-binaries.ts'
import { codeOf, EmbeddedPostgresError } from './embedded-error.ts'
import type { Home } from './embedded-home.ts'
import { makePrivateDirectory } from './embedded-identity.ts'
import { runToEnd } from './embedded-process.ts'

export const databaseUser = 'posthorn'

/** It takes one second; a slow disk may take many. */
const initdbTimeoutMs = 180_000
const unfinishedPrefix = 'postgres.new-'
/** A complete cluster that a restore puts in place: see embedded-replace.ts. */
export const restoredName = 'postgres.restored'

/** Throws when the data was written by another major version; touches nothing. */
export async function refuseOtherMajor(home: Home, major: number): Promise<void> {
  const version = await versionOf(home.cluster)
  if (version === undefined || version === major) return
  throw new EmbeddedPostgresError(
    `The data in ${home.cluster} was written by PostgreSQL ${version}, and this version of Posthorn includes PostgreSQL ${major}. ` +
      `Run \`posthorn export\` with the version of Posthorn that wrote it, move ${home.cluster} away, and run \`posthorn import\` with this version. ` +
      'Or set DATABASE_URL to a PostgreSQL server of your own.',
  )
}

export async function versionOf(cluster: string): Promise<number | undefined> {
  try {
    return Number.parseInt(await readFile(join(cluster, 'PG_VERSION'), 'utf8'), 10)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** True when initdb ran now. Only for the holder of the data directory. */
export async function ensureCluster(home: Home, binaries: Binaries, sync: boolean): Promise<boolean> {
  await removeUnfinished(home.dataDirectory)
  if ((await versionOf(home.cluster)) !== undefined) return false
  if (await finishRestore(home)) return false
  const aside = join(home.dataDirectory, `${unfinishedPrefix}${randomBytes(4).toString('hex')}`)
  await makePrivateDirectory(aside, home.identity)
  try {
    await runInitdb(home, binaries, aside, sync)
    await rename(aside, home.cluster)
  } catch (error) {
    await rm(aside, { recursive: true, force: true })
    throw error
  }
  if (sync) await syncDirectory(home.dataDirectory)
  return true
}

/** A restore was killed after it had moved the previous data aside: what it restored is complete, and takes its place. */
export async function finishRestore(home: Home): Promise<boolean> {
  const restored = join(home.dataDirectory, restoredName)
  if ((await versionOf(restored)) === undefined) return false
  await rename(restored, home.cluster)
  await syncDirectory(home.dataDirectory)
  return true
}

async function runInitdb(home: Home, binaries: Binaries, directory: string, sync: boolean): Promise<void> {
  const parameters = [
    `--pgdata=${directory}`,
    `--username=${databaseUser}`,
    // Whoever reaches the socket has passed a directory of mode 0700; nothing listens on the network.
    '--auth-local=trust',
    '--auth-host=reject',
    // Order by code point, the same on every machine and with indexes that serve LIKE; letters as in Unicode.
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--data-checksums',
    '--no-instructions',
    ...(sync ? [] : ['--no-sync']),
  ]
  const { code, output } = await runToEnd(binaries.initdb, parameters, home.identity, initdbTimeoutMs)
  if (code === 0) return
  throw new EmbeddedPostgresError(
    `initdb could not create the database in ${home.dataDirectory} ` +
      `(${code === null ? `ended after ${initdbTimeoutMs / 1000} s at most` : `exit code ${code}`}):\n${output.trim()}\n` +
      'Fix the problem, or set DATABASE_URL to a PostgreSQL server of your own.',
  )
}

/**
 * A killed start leaves these. An initdb that outlived it loses its directory and gives up; what it still wrote is
 * removed next time.
 */
async function removeUnfinished(dataDirectory: string): Promise<void> {
  for (const name of (await readdir(dataDirectory)).filter((entry) => entry.startsWith(unfinishedPrefix))) {
    await rm(join(dataDirectory, name), { recursive: true, force: true }).catch(() => undefined)
  }
}

/** Makes the rename outlive a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}
