// Joins the embedded PostgreSQL that a running service holds, so that a command can work beside it.
import { stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { silentLog } from '../../world/log.ts'
import type { Connection } from '../connect.ts'
import { connect } from '../connect.ts'
import { sql } from '../sql.ts'
import { databaseUser } from './embedded-cluster.ts'
import { codeOf, EmbeddedPostgresError } from './embedded-error.ts'
import { isHeld } from './embedded-holder.ts'
import { chooseHome, shortNameOf, stateDirectories } from './embedded-home.ts'
import { databaseName, socketPort } from './embedded-server.ts'

export interface JoinOptions {
  readonly dataDirectory: string
  /** How long a holder that is still starting may take. */
  readonly waitMs?: number
  readonly stateHome?: string | undefined
}

/** The first start of all runs initdb, and one after a crash replays the log. */
const defaultWaitMs = 60_000
const pauseMs = 100

/** Where to connect, or `undefined` if no process holds the data directory: then the caller may start it. */
export async function joinEmbeddedPostgres(options: JoinOptions): Promise<Connection | undefined> {
  const { cluster, dataDirectory, socketDirectory } = await chooseHome(
    options.dataDirectory,
    undefined,
    stateDirectories(options.stateHome),
  )
  const shortName = await shortNameOf(socketDirectory)
  const connection = { host: shortName, port: socketPort, user: databaseUser, database: databaseName }
  const deadline = performance.now() + (options.waitMs ?? defaultWaitMs)
  while (await isHeldAt({ path: socketDirectory, shortName })) {
    if ((await servedDirectory(connection)) === cluster) return connection
    if (performance.now() > deadline) {
      throw new EmbeddedPostgresError(
        `A running Posthorn holds ${dataDirectory}, but its database does not respond. See the log of that service.`,
      )
    }
    await sleep(pauseMs)
  }
  return undefined
}

/** Whether a database was ever created for this data directory. */
export async function hasCluster({ dataDirectory, stateHome }: JoinOptions): Promise<boolean> {
  const { cluster } = await chooseHome(dataDirectory, undefined, stateDirectories(stateHome))
  return stat(cluster).then(
    () => true,
    () => false,
  )
}

async function isHeldAt(directory: { path: string; shortName: string }): Promise<boolean> {
  try {
    return await isHeld(directory)
  } catch (error) {
    // Nothing was ever started here.
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

/** Whose data is served at the socket; `undefined` while there is no response. */
async function servedDirectory(connection: Connection): Promise<string | undefined> {
  const db = connect(connection, { poolSize: 1, statementTimeoutMs: 5_000, lockTimeoutMs: 5_000, log: silentLog })
  try {
    const row = await db.row<{ directory: string }>(sql`select current_setting('data_directory') as directory`)
    return row?.directory
  } catch {
    return undefined
  } finally {
    await db.close()
  }
}
