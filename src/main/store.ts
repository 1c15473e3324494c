// The database and the world: what the service and every command depend on.
import { join, resolve } from 'node:path'
import type { Config } from '../config.ts'
import type { Wait } from '../db/await-database.ts'
import { awaitDatabase, UnusableDatabase } from '../db/await-database.ts'
import type { Connection, Database } from '../db/connect.ts'
import { connect } from '../db/connect.ts'
import { hasCluster, joinEmbeddedPostgres } from '../db/embedded/embedded-join.ts'
import { startEmbeddedPostgres } from '../db/embedded/embedded-postgres.ts'
import { migrate, migrationTimeoutMs, readMigrations } from '../db/migrate.ts'
import type { Pools } from '../db/pools.ts'
import { openOnePool, openPools } from '../db/pools.ts'
import { isSameDatabase } from '../db/same-database.ts'
import { createSealer } from '../domain/operate/sealed.ts'
import { StartError } from '../manage/operate/first-start.ts'
import { findSealForm, isInstalled, isMigrated } from '../store/operate/installation.ts'
import { makeKeyFile, readKeyFile } from '../world/key-file.ts'
import type { Log } from '../world/log.ts'
import { createOtlpExport, stopWithinMs } from '../world/otlp-export.ts'
import { readOutboundSettings } from '../world/outbound/outbound-settings.ts'
import { createWorld } from '../world/real-world.ts'
import type { Tracer } from '../world/tracer.ts'
import { createTracer } from '../world/tracer.ts'
import type { World } from '../world/world.ts'
import { createJudgingThreads, createRenderThreads } from './render-threads.ts'

export interface Store {
  readonly db: Database
  readonly pools: Pools
  readonly world: World
  /** Where statements go. */
  readonly connection: Connection
  readonly pooler: Config['databasePooler']
  /**
   * Where a session is exclusively ours: bypassing the pooler, if there is one. Undefined if there is no way around it.
   */
  readonly direct: Connection | undefined
  /** Closes the connections; a database that was started here goes on. */
  disconnect(): Promise<void>
  /** Closes the connections, and stops the database if it was started here. */
  close(): Promise<void>
}

export interface OpenOptions {
  /**
   * `hold`: the service, alone on its data directory. `join`: a command, which also works while the service runs. A
   * connection: one process of several, whose parent holds the database.
   */
  readonly embedded: 'hold' | 'join' | Connection
  /** A database without an installation is not touched: for commands that must not create one. */
  readonly mustExist?: true
  /** Ends the wait for a database that does not answer. */
  readonly signal?: AbortSignal | undefined
}

/** The database and the world: what every command needs. */
export async function openStore(config: Config, log: Log, options: OpenOptions): Promise<Store> {
  const dataDirectory = resolve(config.dataDirectory)
  const outbound = await readOutboundSettings(config).catch((error: Error) => {
    throw new StartError(error.message)
  })
  const { connection, stop } = await openServer(config, dataDirectory, log, options)
  let pools: Pools | undefined
  let disconnected: Promise<void> | undefined
  const disconnect = (): Promise<void> => {
    disconnected ??= pools?.close() ?? Promise.resolve()
    return disconnected
  }
  const close = async (): Promise<void> => {
    await disconnect()
    await stop()
  }
  try {
    // Commands, and a node that only serves requests, record nothing: all connections are for what they do.
    pools = connectPools(connection, config, log, options.embedded !== 'join' && config.role !== 'api')
    const { db } = pools
    const name = databaseName(connection)
    const mustExist = options.mustExist === true
    const wait = { waitMs: config.databaseWaitMs, log, signal: options.signal }
    await awaitDatabase(db, { name, ...wait })
    if (mustExist && !(await isMigrated(db))) throw new StartError(`${notHere(`The database ${name}`)}`)
    const direct = await directWay(connection, config, db, wait)
    const sealer = createSealer(await encryptionKeys(config, dataDirectory, db))
    sealer.sealIn(await findSealForm(db))
    const [threads, judgingThreads] = [createRenderThreads(), createJudgingThreads()]
    const world = createWorld({ log, sealer, outbound, tracer: tracerOf(config, log), threads, judgingThreads })
    return { db, pools, world, connection, pooler: config.databasePooler, direct, disconnect, close }
  } catch (error) {
    await close()
    throw error
  }
}

const notHere = (what: string): string =>
  `${what} contains no Posthorn installation, and this command creates none. ` +
  'Set POSTHORN_DATA_DIR or DATABASE_URL to those of the service, or create an installation with `posthorn start` or `posthorn migrate`.'

function tracerOf(config: Config, log: Log): Tracer | undefined {
  const { tracesEndpoint, tracesHeaders, tracesServiceName, tracesSampler, tracesRatio } = config
  if (tracesEndpoint === undefined) return undefined
  const parts = { endpoint: tracesEndpoint, headers: tracesHeaders, serviceName: tracesServiceName, log, stopWithinMs }
  return createTracer({ sink: createOtlpExport(parts), sampler: tracesSampler, ratio: tracesRatio })
}

async function openServer(
  config: Config,
  dataDirectory: string,
  log: Log,
  { embedded, mustExist }: OpenOptions,
): Promise<{ connection: Connection; stop(): Promise<void> }> {
  const nothing = async (): Promise<void> => {}
  if (typeof embedded === 'object') return { connection: embedded, stop: nothing }
  if (config.databaseUrl !== undefined) return { connection: { url: config.databaseUrl }, stop: nothing }
  const place = { dataDirectory, stateHome: config.stateHome }
  const joined = embedded === 'join' ? await joinEmbeddedPostgres(place) : undefined
  if (joined !== undefined) return { connection: joined, stop: nothing }
  if (mustExist === true && !(await hasCluster(place)))
    throw new StartError(notHere(`The data directory ${dataDirectory}`))
  return startEmbeddedPostgres({ ...place, log })
}

async function directWay(
  connection: Connection,
  { databasePooler, databaseDirectUrl, statementTimeoutMs, lockTimeoutMs }: Config,
  db: Database,
  wait: Omit<Wait, 'name'>,
): Promise<Connection | undefined> {
  if (databaseDirectUrl === undefined) return databasePooler === 'none' ? connection : undefined
  const direct = { url: databaseDirectUrl }
  const name = databaseName(direct)
  const one = connectUsably(name, () =>
    connect(direct, { statementTimeoutMs, lockTimeoutMs, poolSize: 1, log: wait.log }),
  )
  try {
    await awaitDatabase(one, { ...wait, name })
    // Migrations that go to one database, and statements to another: the mistake would show much later.
    if (await isSameDatabase(one, db)) return direct
  } finally {
    await one.close()
  }
  throw new UnusableDatabase(
    `POSTHORN_DATABASE_DIRECT_URL (${name}) and DATABASE_URL (${databaseName(connection)}) point to different databases; both must point to the same one.`,
  )
}

function connectPools(connection: Connection, config: Config, log: Log, works: boolean): Pools {
  const open = works ? openPools : openOnePool
  return connectUsably(databaseName(connection), () =>
    open(connection, {
      poolSize: config.databasePoolSize,
      statementTimeoutMs: config.statementTimeoutMs,
      lockTimeoutMs: config.lockTimeoutMs,
      pooler: config.databasePooler,
      log,
    }),
  )
}

function connectUsably<Opened>(name: string, open: () => Opened): Opened {
  try {
    return open()
  } catch (error) {
    // A certificate file that the address names and that cannot be read.
    throw new UnusableDatabase(`The database ${name} cannot be used: ${(error as Error).message}`, error)
  }
}

/** What messages call the database: the address without user, password and parameters. */
function databaseName(connection: Connection): string {
  if (!('url' in connection)) return `${connection.database} in ${connection.host}`
  const url = new URL(connection.url)
  return `${url.pathname.slice(1) || url.username} at ${url.searchParams.get('host') ?? url.host}`
}

/** Brings the database's schema up to the code's. */
export async function migrateStore({ connection, pooler, direct, world }: Store): Promise<string[]> {
  // A pool of its own: the service's timeouts, right for requests, would cut a long migration short.
  const timeouts = { statementTimeoutMs: migrationTimeoutMs, lockTimeoutMs: migrationTimeoutMs }
  const way = direct === undefined ? pooler : 'none'
  const db = connect(direct ?? connection, { ...timeouts, pooler: way, poolSize: 1, log: world.log })
  try {
    const applied = await migrate(db, await readMigrations(), { sleep: (ms) => world.sleep(ms) })
    for (const name of applied) world.log.info({ migration: name }, 'Migration applied')
    return applied
  } finally {
    await db.close()
  }
}

/** The configured key, or the one in the data directory, which the very first start makes. */
async function encryptionKeys(config: Config, dataDirectory: string, db: Database): Promise<[Buffer, ...Buffer[]]> {
  const previous = config.previousEncryptionKey === undefined ? [] : [config.previousEncryptionKey]
  if (config.encryptionKey !== undefined) return [config.encryptionKey, ...previous]
  const file = join(dataDirectory, 'encryption.key')
  const found = await readKeyFile(file)
  if (found !== undefined) return [found, ...previous]
  // A new key could decrypt nothing of the existing data, and would look like the right one from then on.
  if (await isInstalled(db)) {
    throw new StartError(
      `This database was encrypted with a key that is missing: ${file} does not exist, and POSTHORN_ENCRYPTION_KEY is not set. ` +
        'Set it to the key of the first node (its file encryption.key, or the variable it was started with).',
    )
  }
  return [await makeKeyFile(file), ...previous]
}
