// One process at work on a prepared database: its worker, its server, its housekeeping; and their stop, in order.
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { databaseClock } from '../db/clock.ts'
import type { Connection } from '../db/connect.ts'
import type { Hearing } from '../db/hearing.ts'
import { startHearing } from '../db/hearing.ts'
import { openSession } from '../db/session.ts'
import { linkBaseOf } from '../domain/preferences/unsubscribe-token.ts'
import { prepareDrain } from '../http/drain.ts'
import type { JoinMetrics } from '../http/metrics/shared-metrics.ts'
import { createServer } from '../http/server.ts'
import { startErasingEnvironments } from '../manage/operate/erase-environments.ts'
import { StartError } from '../manage/operate/first-start.ts'
import { startHousekeeping } from '../manage/operate/housekeeping.ts'
import { startAuditSending } from '../manage/operate/send-audit.ts'
import { closeSmtpPools } from '../providers/email/smtp.ts'
import { hintChannel } from '../queue/hint.ts'
import type { InboxHints } from '../realtime/hints.ts'
import { createInboxHints, inboxHintChannel } from '../realtime/hints.ts'
import { createRenderer } from '../render/renderer.ts'
import type { StartedWorker } from '../run/start-worker.ts'
import { acceptingQueue, startWorker } from '../run/start-worker.ts'
import type { World } from '../world/world.ts'
import { dashboardFolder, oidcOf } from './dashboard.ts'
import type { Store } from './store.ts'

/** After this long, startup continues without it: /ready reports the truth. */
const workerWaitMs = 3_000
const workerLookMs = 10

export interface Serving {
  readonly url: string
  /** Ends the work, and closes the store. */
  stop(): Promise<void>
}

/** This process among several of one service. */
export interface Place {
  /** From 1; the one that replaces a dead process has its number. */
  readonly number: number
  readonly nodeId: string
  readonly joinMetrics: JoinMetrics
  /** The parent saw another process end. */
  onDeath(listener: (nodeId: string) => void): void
}

/** Closes the store where it cannot. */
export async function serve(config: Config, opened: Store, place?: Place): Promise<Serving> {
  const hints = createInboxHints(opened.db, opened.world.newId(opened.world.now()))
  const world: World = { ...opened.world, inboxHint: hints.report }
  const store: Store = { ...opened, world }
  const { db, direct } = store
  let worker: StartedWorker | undefined
  try {
    const started = config.role === 'api' ? undefined : workerOf(config, store, place)
    worker = started
    if (started !== undefined) place?.onDeath((nodeId) => started.reportDeath(nodeId))
    const server = await createServer(db, world, {
      rateLimits: config.rateLimit === 'off' ? 'off' : rateLimitsOf(config),
      inboxRatePerSecond: config.rateLimitInboxPerSecond,
      corsOrigins: config.corsOrigins,
      inboxDemo: config.inboxDemo,
      inboxOrigins: config.inboxOrigins,
      inboxSessionDays: config.inboxSessionDays,
      revealSecrets: config.revealSecrets,
      unknownMembers: config.unknownMembers,
      trustedProxies: config.trustedProxies,
      metricsKey: config.metricsKey,
      docs: config.docs,
      dashboardFolder: dashboardFolder(config),
      oidc: oidcOf(config),
      vendor: config.vendor,
      retentionDays: config.retentionDays,
      // Relative unless set otherwise: the document is then valid wherever it is read.
      baseUrl: config.baseUrl ?? '/',
      queue: started?.queue ?? acceptingQueue(db),
      decideAtOnce: started?.decideAtOnce,
      operatorMail: config.smtp,
      linkBase: linkBaseOf(config.baseUrl),
      ...(started === undefined ? {} : { workerIsReady: started.isReady, sendingIsHeld: started.isHeld }),
      healthOnly: config.role === 'worker',
      poolUsage: () => store.pools.usage(),
      realtime: {
        hints,
        ...(direct === undefined ? {} : { hear: (onOpened) => hearInboxHints(world, direct, hints, onOpened) }),
      },
      oneOf: place,
    })
    const drain = prepareDrain(server, world.log)
    await listen(server, config)
    if (started !== undefined) await awaitWorker(started, world)
    // What every process would log at its start is logged by the first.
    const housekeeping = startHousekeeping(db, world, { ...config, announces: (place?.number ?? 1) === 1 })
    const auditSending = startAuditSending(db, world, databaseClock)
    const erasing = startErasingEnvironments(db, world, databaseClock)
    const stop = async (): Promise<void> => {
      // Requests first, then the work behind them, then what they depend on.
      await drain()
      await started?.stop()
      await housekeeping.stop()
      await Promise.all([auditSending.stop(), erasing.stop()])
      await closeSmtpPools()
      await Promise.all([world.threads?.close(), world.judgingThreads?.close()])
      await world.tracer?.stop()
      await store.close()
    }
    return { url: urlOf(server, config), stop }
  } catch (error) {
    // A worker that goes on would keep the process, and would have no database.
    await worker?.stop()
    await store.close()
    throw error
  }
}

/** On a separate connection, once a client streams an inbox from here. */
function hearInboxHints(world: World, direct: Connection, hints: InboxHints, onOpened: () => void): Hearing {
  const open = () => openSession(direct, { channel: inboxHintChannel, onNotification: hints.hear })
  return startHearing({ world, openSession: open, onOpened })
}

/** A worker shows that it is alive within milliseconds: whoever learns that the service runs finds it ready. */
async function awaitWorker(worker: StartedWorker, world: World): Promise<void> {
  for (let waitedMs = 0; waitedMs < workerWaitMs && !worker.isReady(); waitedMs += workerLookMs) {
    await world.sleep(workerLookMs)
  }
}

function workerOf(config: Config, { pools, world, pooler, direct }: Store, place?: Place): StartedWorker {
  return startWorker({
    db: pools.db,
    outcomesDb: pools.outcomesDb,
    heartbeatDb: pools.heartbeatDb,
    // The process that starts the embedded database holds it alone; of several processes that is the parent.
    soleHolder: config.databaseUrl === undefined && place === undefined,
    nodeId: place?.nodeId,
    world,
    renderer: createRenderer(() => world.now()),
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
        ? `Port ${port} on ${host} is in use by another program. Stop that program, or set PORT to another port (0 selects a free one).`
        : `Cannot listen on port ${port} of ${host}: ${message}. Change PORT or HOST.`,
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
