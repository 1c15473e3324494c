// The whole API on a database of its own, called in process: no port, a fake world, two environments with a key each.
import type { FastifyInstance } from 'fastify'
import { databaseClock } from '../../src/db/clock.ts'
import type { Hearing } from '../../src/db/hearing.ts'
import { openSession } from '../../src/db/session.ts'
import type { Db } from '../../src/db/sql.ts'
import type { RateLimits } from '../../src/http/access/rate-limit.ts'
import type { BodyBudget } from '../../src/http/request/body-budget.ts'
import type { OidcProvider } from '../../src/http/routes/operate/dashboard-oidc.ts'
import { createServer } from '../../src/http/server.ts'
import { ensureFirstStart } from '../../src/manage/operate/first-start.ts'
import { queueOf } from '../../src/queue/queue.ts'
import type { InboxHints } from '../../src/realtime/hints.ts'
import { createInboxHints, inboxHintChannel } from '../../src/realtime/hints.ts'
import type { TestDatabase } from './database.ts'
import { createTestDatabase } from './database.ts'
import type { FakeWorld } from './fake-world.ts'
import { createFakeWorld } from './fake-world.ts'
import type { TestPipeline } from './pipeline.ts'
import { createTestPipeline, worldClock } from './pipeline.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the answer holds
export type Json = any

export interface TestReply {
  readonly status: number
  readonly headers: Record<string, string | string[] | number | undefined>
  readonly body: Json
  readonly text: string
}

export interface CallOptions {
  readonly body?: unknown
  readonly headers?: Record<string, string>
  /** Another key; `null` for none. */
  readonly key?: string | null
}

export interface TestApp {
  readonly app: FastifyInstance
  readonly world: FakeWorld
  readonly database: TestDatabase
  readonly developmentKey: string
  readonly productionKey: string
  /** The worker, in virtual time. */
  readonly pipeline: TestPipeline
  call(method: string, path: string, options?: CallOptions): Promise<TestReply>
  close(): Promise<void>
}

/** A hundredth of the usual work. */
export const quickPassword = { rounds: 1_024, blockSize: 8, repeats: 1 }

export interface TestAppOptions {
  readonly rateLimits?: RateLimits | 'off'
  readonly vendor?: 'platform' | 'novu'
  readonly corsOrigins?: readonly string[]
  readonly inboxDemo?: 'local' | 'on' | 'off'
  readonly inboxOrigins?: readonly string[]
  readonly inboxSessionDays?: number
  readonly revealSecrets?: 'on' | 'off'
  readonly unknownMembers?: 'warn' | 'refuse'
  readonly trustedProxies?: readonly string[]
  readonly metricsKey?: string
  /** Where callers reach it, if not at the root of a host. */
  readonly baseUrl?: string
  /** Off unless said: installing them takes half the time that an app takes. */
  readonly docs?: 'on' | 'off'
  readonly bodyBudget?: BodyBudget
  readonly oidc?: OidcProvider
  /** Share the database of another app, as a second node would; with a `skewMs` it has a clock of its own. */
  readonly nodeOf?: TestApp
  /** How long the other node waits for a lock. */
  readonly lockTimeoutMs?: number
  /** The queue goes by the database's own clock, and this node's clock stands so far ahead of it; behind where negative. */
  readonly skewMs?: number
  /** Its worker runs by itself, and decides single events with their acceptance, as in the service. */
  readonly works?: true
  /** Hears hints of other nodes that inboxes changed. */
  readonly hears?: true
  /** What the API and the worker are given as their database. */
  faulty?(db: Db): Db
}

/** As the service does it, without its a longer wait: the fake world does not sleep. */
function hearing(database: TestDatabase, hints: InboxHints, onOpened: () => void): Hearing {
  const session = openSession({ url: database.url }, { channel: inboxHintChannel, onNotification: hints.hear })
  session.then(onOpened, () => {})
  return { stop: async () => (await session).close() }
}

export async function createTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = options.nodeOf?.database ?? (await createTestDatabase())
  const { skewMs } = options
  const startsAt = skewMs === undefined ? undefined : new Date(Date.now() + skewMs).toISOString()
  const world = (startsAt === undefined ? options.nodeOf?.world : undefined) ?? createFakeWorld(startsAt)
  const clock = skewMs === undefined ? worldClock(world) : databaseClock
  const db =
    options.nodeOf === undefined ? database.db : database.another({ lockTimeoutMs: options.lockTimeoutMs ?? 5_000 })
  const developmentKey = 'test-key-of-development'
  const productionKey = 'test-key-of-production'
  await ensureFirstStart(db, world, { development: developmentKey, production: productionKey })
  const hints = createInboxHints(db, world.newId(world.now()))
  if (options.nodeOf === undefined) world.inboxHint = hints.report
  const given = options.faulty?.(db) ?? db
  const looks = options.faulty === undefined && skewMs === undefined && options.works === undefined
  const pipeline = createTestPipeline(given, world, { clock, ...(looks ? { quietDb: db } : {}) })
  if (options.works === true) pipeline.workers.jobs.start()
  const app = await createServer(given, world, {
    rateLimits: options.rateLimits ?? 'off',
    corsOrigins: options.corsOrigins ?? [],
    inboxDemo: options.inboxDemo ?? 'off',
    ...(options.inboxOrigins === undefined ? {} : { inboxOrigins: options.inboxOrigins }),
    ...(options.inboxSessionDays === undefined ? {} : { inboxSessionDays: options.inboxSessionDays }),
    revealSecrets: options.revealSecrets ?? 'on',
    unknownMembers: options.unknownMembers ?? 'warn',
    trustedProxies: options.trustedProxies ?? [],
    metricsKey: options.metricsKey,
    docs: options.docs ?? 'off',
    vendor: options.vendor ?? 'platform',
    ...(options.bodyBudget === undefined ? {} : { bodyBudget: options.bodyBudget }),
    baseUrl: options.baseUrl ?? 'http://localhost:3000',
    passwordCost: quickPassword,
    oidc: options.oidc,
    queue: options.works === true ? pipeline.workers.queue : queueOf(clock),
    decideAtOnce: options.works === true ? pipeline.workers.decideAtOnce : undefined,
    poolUsage: () => ({ general: db.usage() }),
    realtime: { hints, ...(options.hears === true ? { hear: (onOpened) => hearing(database, hints, onOpened) } : {}) },
  })
  await app.ready()
  return {
    app,
    world,
    database,
    developmentKey,
    productionKey,
    pipeline,
    call: async (method, path, call = {}) => {
      const key = call.key === undefined ? developmentKey : call.key
      const reply = await app.inject({
        method: method as 'GET',
        url: path,
        headers: { ...(key === null ? {} : { authorization: `ApiKey ${key}` }), ...call.headers },
        ...(call.body === undefined ? {} : { payload: call.body as object }),
      })
      const isJson = /\bjson/.test(String(reply.headers['content-type'] ?? ''))
      return {
        status: reply.statusCode,
        headers: reply.headers,
        body: isJson && reply.body !== '' ? JSON.parse(reply.body) : undefined,
        text: reply.body,
      }
    },
    close: async () => {
      await app.close()
      if (options.works === true) await pipeline.workers.stop()
      if (options.nodeOf === undefined) await database.drop()
    },
  }
}
