// The HTTP server: Fastify with our limits, parsers and error body, and every route of the registry.
import { setMaxListeners } from 'node:events'
import cors from '@fastify/cors'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fastify from 'fastify'
import { createTriggers } from '../accept/accept-events.ts'
import { settings } from '../config.ts'
import type { PoolsUsage } from '../db/pools.ts'
import type { Db } from '../db/sql.ts'
import type { Credentials } from '../domain/delivery/integration.ts'
import type { PasswordCost } from '../domain/operate/password.ts'
import type { RetentionDays } from '../domain/operate/retention.ts'
import { Problem } from '../domain/problem.ts'
import { createEnvironmentLookups } from '../manage/messages/environment-lookups.ts'
import { createInboxTokens } from '../manage/messages/inbox-tokens.ts'
import { createSubscriberCreations } from '../manage/people/subscriber-creations.ts'
import type { Queue } from '../queue/queue.ts'
import { createKeptActivities } from '../read/activity/activity-stamp.ts'
import { createPinnedVersions } from '../read/activity/pinned-versions.ts'
import { keptFeedsBounds } from '../read/messages/kept-feed-pages.ts'
import { createOutboxWaits } from '../read/messages/outbox-waits.ts'
import { createKeptPages } from '../read/page/kept-pages.ts'
import type { DecideAtOnce } from '../record/decided-at-once.ts'
import { createSimulator } from '../simulate/simulate.ts'
import type { World } from '../world/world.ts'
import { createAuthenticate } from './access/authenticate.ts'
import { createFailedAttempts } from './access/failed-attempts.ts'
import { openToPages } from './access/inbox-origins.ts'
import type { CheckRate, RateLimits } from './access/rate-limit.ts'
import { createRateLimit } from './access/rate-limit.ts'
import type { ReaderLimit } from './access/reader-limit.ts'
import { createReaderLimit, noReaderLimit } from './access/reader-limit.ts'
import { createSecretReaders } from './access/secret-readers.ts'
import { installSecurityHeaders, securityHeaders } from './access/security-headers.ts'
import { basePathOf, withoutBasePath } from './base-path.ts'
import { installHealth } from './health.ts'
import { installDashboard } from './install-dashboard.ts'
import { createUnsignedLimit, installInboxRoutes } from './install-inbox-routes.ts'
import { installRoute } from './install-route.ts'
import { createAnswerBudget } from './large-answer.ts'
import { installMetrics } from './metrics/metrics.ts'
import type { JoinMetrics } from './metrics/shared-metrics.ts'
import { installDocs } from './openapi/docs.ts'
import { openApiDocument } from './openapi/openapi.ts'
import type { DashboardPages } from './pages/dashboard.ts'
import { installInboxDemo } from './pages/inbox-demo.ts'
import { installInboxFiles } from './pages/inbox-files.ts'
import { installRoot } from './pages/root.ts'
import { createProblemReply, errorBodyOf } from './problem-reply.ts'
import type { RealtimeSources } from './realtime/install-realtime.ts'
import { installRealtime } from './realtime/install-realtime.ts'
import { documentedRoutes, inboxRoutes, routes } from './registry.ts'
import type { BodyBudget } from './request/body-budget.ts'
import { createBodyBudget, mediumBodyBytes } from './request/body-budget.ts'
import { answerBrokenRequests, answerBrokenSocket } from './request/broken-request.ts'
import { installDiscard } from './request/discard-body.ts'
import { installBodyParser } from './request/install-body-parser.ts'
import { limitPipelining } from './request/pipelined.ts'
import { parseQuery } from './request/query-parser.ts'
import { serializerCompiler, validatorCompiler } from './request/validator.ts'
import { installInboundWebhooks } from './routes/integrations/inbound-webhooks.ts'
import type { OidcProvider } from './routes/operate/dashboard-oidc.ts'
import { installUnsubscribe } from './routes/people/unsubscribe.ts'
import { installWarnings, warningsHeader } from './warnings.ts'

export interface ServerOptions {
  readonly rateLimits: RateLimits | 'off'
  /** For each subscriber's inbox, if rate limits are on; the setting's default if omitted. */
  readonly inboxRatePerSecond?: number
  readonly corsOrigins: readonly string[]
  /** Who may open the demo inbox of Development; no one, where it is left out. */
  readonly inboxDemo?: 'local' | 'on' | 'off'
  readonly inboxOrigins?: readonly string[]
  readonly inboxSessionDays?: number
  /** Whether full keys read the secrets of integrations; `on` where it is left out. */
  readonly revealSecrets?: 'on' | 'off'
  /** What happens to a body with members that are not known; `warn` where it is left out. */
  readonly unknownMembers?: 'warn' | 'refuse'
  /** Proxies that are trusted for the client address of a request. */
  readonly trustedProxies?: readonly string[]
  /** Closes the metrics to all others. */
  readonly metricsKey?: string | undefined
  /** `off`: neither the reference page nor the document that it reads is served. */
  readonly docs?: 'on' | 'off'
  /** The folder of the built dashboard; left out, there is none. */
  readonly dashboardFolder?: string | undefined
  /** What a password is hashed at; a test need not pay for the usual cost. */
  readonly passwordCost?: PasswordCost
  /** Whom users of the dashboard may sign in with beside their passwords. */
  readonly oidc?: OidcProvider | undefined
  readonly vendor: 'platform' | 'novu'
  readonly baseUrl: string
  /** As the setting's default, where it is left out. */
  readonly retentionDays?: RetentionDays
  readonly queue: Queue
  /** Where this node works as well: single events are decided with their acceptance. */
  readonly decideAtOnce?: DecideAtOnce | undefined
  /** The worker's own, so that a simulation gives what would be sent. */
  readonly operatorMail?: Credentials | undefined
  readonly linkBase?: string | undefined
  /** A worker-only node serves its health and its metrics, nothing else. */
  readonly healthOnly?: boolean
  /** Whether this node's worker is running; omitted if it has none. */
  workerIsReady?(): boolean
  sendingIsHeld?(): boolean
  /** The budget that all bodies share; a test may inspect it. */
  readonly bodyBudget?: BodyBudget
  poolUsage(): PoolsUsage
  /** How this node hears that inboxes changed; left out, it finds out by polling. */
  readonly realtime?: RealtimeSources
  /** This process, where several are one service. */
  readonly oneOf?: { readonly number: number; readonly joinMetrics: JoinMetrics } | undefined
}

/** A request must have arrived whole by then. */
const requestTimeoutMs = 30_000
/** Longer than the usual proxy's own, so that the proxy and not we close an idle connection. */
const keepAliveTimeoutMs = 72_000
/** An id of 255 characters, percent-encoded three bytes a character in four. */
const pathPartLengthMax = 4096

/** What a page of a configured origin may do, and which of our headers it may see. */
const corsOptions = {
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  exposedHeaders: [
    'x-request-id',
    'retry-after',
    'idempotency-key',
    'idempotency-replay',
    warningsHeader,
    'ratelimit-limit',
    'ratelimit-remaining',
    'ratelimit-reset',
    'ratelimit-policy',
  ],
  maxAge: 600,
}

const noRateLimit: CheckRate = async () => ({})

export async function createServer(db: Db, world: World, options: ServerOptions): Promise<FastifyInstance> {
  const app = createApp(world, options)
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.setErrorHandler(createProblemReply(world, options.vendor))
  let pages: DashboardPages | undefined
  const answerNotFound = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    pages?.isPage(request) === true ? pages.answer(request, reply) : notFound(world, request, reply)
  app.setNotFoundHandler(answerNotFound)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  installSecurityHeaders(app)
  answerBrokenRequests(world, app)
  installBodyParser(app)
  installDiscard(app)
  installWarnings(app)
  await app.register(cors, { ...corsOptions, origin: allowedOrigins(options.corsOrigins) })
  // Before the body is read: no client needs to send one to a path that does not exist.
  app.addHook('onRequest', async (request, reply) => (request.is404 ? answerNotFound(request, reply) : undefined))
  const { workerIsReady, sendingIsHeld, oneOf } = options
  installHealth(app, db, world, { workerIsReady, sendingIsHeld, process: oneOf?.number })
  const sources = { db, world, clock: options.queue.clock, workerIsReady }
  installRoot(app, options, () => pages)
  installMetrics(app, options.poolUsage, sources, { join: oneOf?.joinMetrics, key: options.metricsKey })
  if (options.healthOnly === true) return app
  if (options.docs !== 'off') installDocs(app, () => openApiDocument(documentedRoutes, options.baseUrl))
  const authenticate = createAuthenticate(db, world)
  const dashboard = installDashboard(app, db, world, authenticate, options)
  pages = dashboard.pages
  const checkRate = options.rateLimits === 'off' ? noRateLimit : createRateLimit(db, world, options.rateLimits)
  const subscriberCreations = createSubscriberCreations(db, world)
  const triggers = createTriggers(db, world, options.queue, options.decideAtOnce)
  const { queue, vendor, unknownMembers = 'warn' } = options
  const closing = closingOf(app)
  const outboxWaits = createOutboxWaits(db, world)
  const { retentionDays = settings.retentionDays.defaultValue, operatorMail, linkBase } = options
  const simulator = createSimulator({ db, world, queueClock: queue.clock, operatorMail, linkBase })
  const versions = createPinnedVersions()
  const secretReaders = createSecretReaders(db, world, options.revealSecrets ?? 'on')
  const known = { retentionDays, simulator, versions, unknownMembers }
  const shared = { db, world, subscriberCreations, triggers, queue, outboxWaits, ...known }
  const answerBudget = createAnswerBudget(world)
  const context = {
    ...shared,
    secretReaders,
    authenticate,
    dashboard: dashboard.access,
    checkRate,
    vendor,
    closing,
    bodyBudget: options.bodyBudget ?? createBodyBudget(world),
    answerBudget,
    keptPages: { feeds: createKeptPages(keptFeedsBounds), activities: createKeptActivities() },
  }
  for (const route of routes) installRoute(app, route, context)
  const { inboxDemo = 'off' } = options
  const mayDemo = (isLocal: boolean): boolean => inboxDemo === 'on' || (inboxDemo === 'local' && isLocal)
  const limitReader = readerLimitOf(world, options)
  const inbox = { ...shared, ...inboxDoor(db, world, options), limitReader, mayDemo, answerBudget }
  installInboxRoutes(app, inboxRoutes, inbox)
  const trustsProxies = (options.trustedProxies?.length ?? 0) > 0
  const basePath = basePathOf(options.baseUrl)
  installRealtime(app, { ...options.realtime, ...inbox, trustsProxies, basePath })
  installInboxFiles(app)
  installInboxDemo(app, mayDemo)
  await installUnsubscribe(app, db, world, mayDemo)
  await installInboundWebhooks(app, db, world, { queue: options.queue, baseUrl: options.baseUrl })
  return app
}

/** With our limits, and answers of ours where Fastify or Node would give their own. */
function createApp(world: World, options: ServerOptions): FastifyInstance {
  const answerProblem = createProblemReply(world, options.vendor)
  const app = fastify({
    logger: false,
    ...withoutBasePath(basePathOf(options.baseUrl)),
    bodyLimit: mediumBodyBytes,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    forceCloseConnections: 'idle',
    ...(options.trustedProxies?.length ? { trustProxy: [...options.trustedProxies] } : {}),
    // We refuse a request without a Host ourselves: Node would do so without an error body.
    http: { requireHostHeader: false },
    // A request that still comes in over an open connection is carried out, then the connection is closed.
    return503OnClosing: false,
    genReqId: (request) => requestId(request.headers['x-request-id']) ?? world.newId(world.now()),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: pathPartLengthMax, querystringParser: parseQuery },
    clientErrorHandler: (error, socket) => answerBrokenSocket(world, error, socket),
    frameworkErrors: (error, request, reply) => {
      // The hooks do not run for a path that cannot be read.
      reply.headers({ ...securityHeaders, 'x-request-id': request.id })
      answerProblem(new Problem(400, error.message), request, reply)
    },
  })
  limitPipelining(app.server)
  return app
}

const notFound = (world: World, { method, url }: FastifyRequest, reply: FastifyReply): FastifyReply =>
  reply.code(404).send(errorBodyOf(world, url, 404, `Cannot ${method} ${url.split('?')[0]}`))

/** Off unless configured; routes of the inbox say otherwise. */
function allowedOrigins(origins: readonly string[]): string | string[] | false {
  if (origins.length === 0) return false
  return origins.includes('*') ? '*' : [...origins]
}

/** How sessions of inboxes are opened, and those counted who open none. */
function inboxDoor(db: Db, world: World, { inboxSessionDays, inboxOrigins }: ServerOptions) {
  const findEnvironment = createEnvironmentLookups(db)
  const { count: countForged } = createFailedAttempts(world.now)
  const countUnsigned = createUnsignedLimit(world)
  const lifeDays = inboxSessionDays ?? settings.inboxSessionDays.defaultValue
  const inboxTokens = createInboxTokens(db, world, { findEnvironment, lifeDays })
  const openTo = openToPages(inboxOrigins ?? settings.inboxOrigins.defaultValue)
  return { inboxTokens, findEnvironment, countForged, countUnsigned, openTo }
}

function readerLimitOf(world: World, { rateLimits, inboxRatePerSecond }: ServerOptions): ReaderLimit {
  if (rateLimits === 'off') return noReaderLimit
  return createReaderLimit(world, inboxRatePerSecond ?? settings.rateLimitInboxPerSecond.defaultValue)
}

/** Waiting requests are notified, so that they do not hold up the shutdown. */
function closingOf(app: FastifyInstance): AbortSignal {
  const closing = new AbortController()
  // As many listen as calls wait, which is bounded where they do: no leak to be warned of.
  setMaxListeners(0, closing.signal)
  app.addHook('preClose', async () => closing.abort())
  return closing.signal
}

/** A caller's own request id is kept when it is fit to be logged. */
function requestId(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && /^[\w.:/-]{1,128}$/.test(header) ? header : undefined
}
