// Puts another cluster in the place of the embedded PostgreSQL's: prepared beside it, and exchanged by renaming.
import { randomBytes } from 'node:crypto'
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../world/log.ts'
import { findPackage, prepareBinaries } from './embedded-binaries.ts'
import { finishRestore, restoredName, syncDirectory, versionOf } from './embedded-cluster.ts'
import { codeOf, EmbeddedPostgresError } from './embedded-error.ts'
import { takeHold } from './embedded-holder.ts'
import { chooseHome, type Home, makeHome, shortNameOf, stateDirectories } from './embedded-home.ts'
import { type Identity, makeDirectories, makePrivateDirectory } from './embedded-identity.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts'
import { stopLeftover } from './embedded-postmaster.ts'

export interface ReplaceOptions {
  readonly dataDirectory: string
  readonly stateHome?: string | undefined
  readonly log: Log
  /** Whether existing data may be replaced; it is moved aside, not deleted. */
  readonly replaces: boolean
}

/** The data directory, held against every other process, with an empty cluster directory beside the present one. */
export interface Replacement {
  readonly identity: Identity
  readonly postgresMajor: number
  /** Where the new cluster goes. */
  readonly cluster: string
  /** Starts PostgreSQL on the new cluster, where it is: no one else reaches it. */
  start(): Promise<EmbeddedPostgres>
  /** The new cluster takes the place of the present one. Returns where that is now; undefined if there was none. */
  commit(now: Date): Promise<string | undefined>
  /** Lets go of the data directory, and removes what was not committed. */
  release(): Promise<void>
}

const asidePrefix = 'restore.new-'

export async function prepareReplacement(options: ReplaceOptions): Promise<Replacement> {
  const { log, stateHome } = options
  const elsewhere = stateDirectories(stateHome)
  const home = await chooseHome(options.dataDirectory, undefined, elsewhere)
  const source = await findPackage(`${process.platform}-${process.arch}`, undefined)
  if (!options.replaces && (await hasData(home))) {
    throw new EmbeddedPostgresError(
      `There is a database in ${home.dataDirectory} already, and it stays as it is. ` +
        'Choose another data directory with POSTHORN_DATA_DIR, or use --replace: the present database is then moved aside.',
    )
  }
  await makeHome(home)
  const binaries = await prepareBinaries(source, home.identity, [...elsewhere, home.dataDirectory])
  const socketName = await shortNameOf(home.socketDirectory)
  const holding = await takeHold(
    { path: home.socketDirectory, shortName: socketName },
    home.identity,
    home.dataDirectory,
  )
  const aside = join(home.dataDirectory, `${asidePrefix}${randomBytes(4).toString('hex')}`)
  const release = async (): Promise<void> => {
    await rm(aside, { recursive: true, force: true })
    holding.release()
  }
  try {
    await stopLeftover({ home, binaries, socketName, settings: {} })
    if (!(await hasDatabase(home.cluster))) await finishRestore(home)
    for (const leftover of await leftoversIn(home)) {
      await stopLeftover({ home: homeIn(leftover, home), binaries, socketName: join(leftover, 'socket'), settings: {} })
      await rm(leftover, { recursive: true, force: true })
    }
    await makeDirectories(aside, home.identity.switches ? 0o711 : 0o700)
    const { cluster } = homeIn(aside, home)
    await makePrivateDirectory(cluster, home.identity)
    return {
      identity: home.identity,
      postgresMajor: binaries.major,
      cluster,
      start: () => startEmbeddedPostgres({ dataDirectory: aside, log, stateHome }),
      commit: (now) => exchange(home, cluster, now),
      release,
    }
  } catch (error) {
    await release()
    throw error
  }
}

const homeIn = (dataDirectory: string, { identity }: Home): Home => ({
  dataDirectory,
  cluster: join(dataDirectory, 'postgres'),
  socketDirectory: join(dataDirectory, 'socket'),
  identity,
  moved: false,
})

/** A restore that was killed leaves these; and a complete cluster that was not needed, if it was killed at its very end. */
async function leftoversIn({ dataDirectory, cluster }: Home): Promise<string[]> {
  const names = (await readdir(dataDirectory)).filter((name) => name.startsWith(asidePrefix))
  if (await hasDatabase(cluster)) names.push(restoredName)
  return names.map((name) => join(dataDirectory, name))
}

/**
 * Three renames, and the data is whole after each of them. After the first the present database is still in place; after the
 * second there is none, and the next start does the third.
 */
async function exchange(home: Home, cluster: string, now: Date): Promise<string | undefined> {
  const restored = join(home.dataDirectory, restoredName)
  await rename(cluster, restored)
  await syncDirectory(home.dataDirectory)
  const replaced = join(home.dataDirectory, `postgres.replaced-${now.toISOString().replace(/[-:]|\.\d+/g, '')}`)
  const hadData = await rename(home.cluster, replaced).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT') return false
      throw error
    },
  )
  await rename(restored, home.cluster)
  await syncDirectory(home.dataDirectory)
  return hadData ? replaced : undefined
}

const hasDatabase = async (cluster: string): Promise<boolean> => (await versionOf(cluster)) !== undefined

const hasData = async ({ dataDirectory, cluster }: Home): Promise<boolean> =>
  (await hasDatabase(cluster)) || (await hasDatabase(join(dataDirectory, restoredName)))
