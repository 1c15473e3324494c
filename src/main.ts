// Wires the service together, starts it, and stops it in order.
import { join, resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { resolveChannels } from './accept/write-events.ts'
import type { Config } from './config.ts'
import type { Wait } from './db/await-database.ts'
import { awaitDatabase, UnusableDatabase } from './db/await-database.ts'
import type { Connection, Database } from './db/connect.ts'
import { connect } from './db/connect.ts'
import { joinEmbeddedPostgres } from './db/embedded-join.ts'
import { startEmbeddedPostgres } from './db/embedded-postgres.ts'
import { migrate, migrationTimeoutMs, readMigrations } from './db/migrate.ts'
import type { Pools } from './db/pools.ts'
import { openOnePool, openPools } from './db/pools.ts'
import { isSameDatabase } from './db/same-database.ts'
import { openSession } from './db/session.ts'
import { createSealer } from './domain/sealed.ts'
import { linkBaseOf } from './domain/unsubscribe-token.ts'
import { prepareDrain } from './http/drain.ts'
import { createServer } from './http/server.ts'
import { ensureFirstStart, StartError } from './manage/first-start.ts'
import { startHousekeeping } from './manage/housekeeping.ts'
import { preparePartitions } from './manage/partitions.ts'
import { closeSmtpPools } from './providers/email/smtp.ts'
import { BadProviderFile, loadOwnProviders } from './providers/own-providers.ts'
import { hintChannel } from './queue/hint.ts'
import { createRenderer } from './render/renderer.ts'
import type { StartedWorker } from './run/start-worker.ts'
import { acceptingQueue, startWorker } from './run/start-worker.ts'
import { isInstalled } from './store/installation.ts'
import { makeKeyFile, readKeyFile } from './world/key-file.ts'
import type { Log } from './world/log.ts'
import { createOtlpExport, stopWithinMs } from './world/otlp-export.ts'
import { readOutboundSettings } from './world/outbound-settings.ts'
import { createWorld } from './world/real-world.ts'
import type { Tracer } from './world/tracer.ts'
import { createTracer } from './world/tracer.ts'
import type { World } from './world/world.ts'

/** Longer, and the start goes on without: /ready tells the truth. */
const workerWaitMs = 3_000
const workerLookMs = 10

export interface Store {
  readonly db: Database
  readonly pools: Pools
  readonly world: World
  /** Where statements go. */
  readonly connection: Connection
  readonly pooler: Config['databasePooler']
  /** Where a session is ours alone: past the pooler, if there is one. Undefined where nothing leads past it. */
  readonly direct: Connection | undefined
  close(): Promise<void>
}

export interface Running {
  readonly url: string
  readonly newKey: string | undefined
  stop(): Promise<void>
}

export interface OpenOptions {
  /** `hold`: the service, alone on its data directory. `join`: a command, which also works beside a running service. */
  readonly embedded: 'hold' | 'join'
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
  const close = async (): Promise<void> => {
    await pools?.close()
    await stop()
  }
  try {
    // Commands, and a node that answers requests only, record nothing: all connections are for what they do.
    pools = connectPools(connection, config, log, options.embedded === 'hold' && config.role !== 'api')
    const { db } = pools
    const name = databaseName(connection)
    const wait = { waitMs: config.databaseWaitMs, log, signal: options.signal }
    await awaitDatabase(db, { name, ...wait })
    const direct = await directWay(connection, config, db, wait)
    const sealer = createSealer(await encryptionKeys(config, dataDirectory, db))
    const world = createWorld({ log, sealer, outbound, tracer: tracerOf(config, log) })
    return { db, pools, world, connection, pooler: config.databasePooler, direct, close }
  } catch (error) {
    await close()
    throw error
  }
}

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
  { embedded }: OpenOptions,
): Promise<{ connection: Connection; stop(): Promise<void> }> {
  const nothing = async (): Promise<void> => {}
  if (config.databaseUrl !== undefined) return { connection: { url: config.databaseUrl }, stop: nothing }
  const place = { dataDirectory, stateHome: config.stateHome }
  const joined = embedded === 'join' ? await joinEmbeddedPostgres(place) : undefined
  if (joined !== undefined) return { connection: joined, stop: nothing }
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
    `POSTHORN_DATABASE_DIRECT_URL (${name}) and DATABASE_URL (${databaseName(connection)}) lead to two databases; both must lead to the same.`,
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
    const applied = await migrate(db, await readMigrations())
    for (const name of applied) world.log.info({ migration: name }, 'Migration applied')
    return applied
  } finally {
    await db.close()
  }
}

export async function start(config: Config, log: Log, signal?: AbortSignal): Promise<Running> {
  // Before anything else: what is wrong with a file of the operator's own need not wait for a database.
  await loadProviders(config, log)
  const store = await openStore(config, log, { embedded: 'hold', signal })
  let worker: StartedWorker | undefined
  try {
    await migrateStore(store)
    const { db, world } = store
    const { newKey } = await ensureFirstStart(
      db,
      world,
      { development: config.apiKey, production: config.productionApiKey },
      { mailIsReal: config.smtp !== undefined },
    )
    await preparePartitions(db, world, { tries: 1 })
    const started = config.role === 'api' ? undefined : workerOf(config, store)
    worker = started
    const server = await createServer(db, world, {
      rateLimits: config.rateLimit === 'off' ? 'off' : rateLimitsOf(config),
      corsOrigins: config.corsOrigins,
      vendor: config.vendor,
      retentionDays: config.retentionDays,
      // Relative, unless told otherwise: the document is right wherever it is read.
      baseUrl: config.baseUrl ?? '/',
      queue: started?.queue ?? acceptingQueue(db),
      operatorMail: config.smtp,
      linkBase: linkBaseOf(config.baseUrl),
      ...(started === undefined ? {} : { workerIsReady: started.isReady }),
      healthOnly: config.role === 'worker',
      poolUsage: () => store.pools.usage(),
    })
    const drain = prepareDrain(server, log)
    await listen(server, config)
    if (started !== undefined) await awaitWorker(started, world)
    const housekeeping = startHousekeeping(db, world, config)
    const stop = async (): Promise<void> => {
      // Requests first, then the work behind them, then what they stand on.
      await drain()
      await started?.stop()
      await housekeeping.stop()
      await closeSmtpPools()
      await world.tracer?.stop()
      await store.close()
    }
    return { url: urlOf(server, config), newKey, stop }
  } catch (error) {
    // A worker that goes on would keep the process, and would have no database.
    await worker?.stop()
    await store.close()
    throw error
  }
}

async function loadProviders({ providersDirectory }: Config, log: Log): Promise<void> {
  if (providersDirectory === undefined) return
  const providers = await loadOwnProviders(providersDirectory).catch((error: Error) => {
    throw error instanceof BadProviderFile ? new StartError(error.message) : error
  })
  log.info({ providers }, 'Providers of the operator’s own are loaded')
}

/** A worker shows that it lives within milliseconds: whoever is told that the service runs finds it ready. */
async function awaitWorker(worker: StartedWorker, world: World): Promise<void> {
  for (let waitedMs = 0; waitedMs < workerWaitMs && !worker.isReady(); waitedMs += workerLookMs) {
    await world.sleep(workerLookMs)
  }
}

function workerOf(config: Config, { pools, world, pooler, direct }: Store): StartedWorker {
  return startWorker({
    db: pools.db,
    outcomesDb: pools.outcomesDb,
    heartbeatDb: pools.heartbeatDb,
    // Whoever starts the embedded database holds it alone.
    soleHolder: config.databaseUrl === undefined,
    world,
    renderer: createRenderer(() => world.now()),
    resolveChannels,
    operatorMail: config.smtp,
    linkBase: linkBaseOf(config.baseUrl),
    pooled: pooler !== 'none',
    openSession:
      direct === undefined
        ? undefined
        : (onNotification) => openSession(direct, { channel: hintChannel, onNotification }),
  })
}

async function listen(server: FastifyInstance, { port, host }: Config): Promise<void> {
  try {
    await server.listen({ port, host })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    await server.close()
    if (code === undefined) throw error
    throw new StartError(
      code === 'EADDRINUSE'
        ? `Port ${port} on ${host} is in use by another program. Stop that one, or set PORT to another port (0 takes a free one).`
        : `Cannot listen on port ${port} of ${host}: ${message}. Set PORT and HOST to others.`,
    )
  }
}

function rateLimitsOf(config: Config) {
  return {
    trigger: config.rateLimitTriggerPerSecond,
    configuration: config.rateLimitConfigurationPerSecond,
    global: config.rateLimitGlobalPerSecond,
  }
}

function urlOf(server: FastifyInstance, config: Config): string {
  if (config.baseUrl !== undefined) return config.baseUrl
  const address = server.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : config.port
  const host = ['127.0.0.1', '0.0.0.0', '::', '::1'].includes(config.host) ? 'localhost' : config.host
  return `http://${host}:${port}`
}

/** The configured key, or the one in the data directory, which the very first start makes. */
async function encryptionKeys(config: Config, dataDirectory: string, db: Database): Promise<[Buffer, ...Buffer[]]> {
  const previous = config.previousEncryptionKey === undefined ? [] : [config.previousEncryptionKey]
  if (config.encryptionKey !== undefined) return [config.encryptionKey, ...previous]
  const file = join(dataDirectory, 'encryption.key')
  const found = await readKeyFile(file)
  if (found !== undefined) return [found, ...previous]
  // A new key could open nothing of what is there, and would look like the right one ever after.
  if (await isInstalled(db)) {
    throw new StartError(
      `This database was sealed with an encryption key that is not here: there is no ${file}, and POSTHORN_ENCRYPTION_KEY is not set. ` +
        'Set it to the key of the first node (its file encryption.key, or the variable it was started with).',
    )
  }
  return [await makeKeyFile(file), ...previous]
}
