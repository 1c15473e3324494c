// GET /v1/inbox/stream: an inbox as server-sent events.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { Problem } from '../../domain/problem.ts'
import type { InboxTokens, OpenedToken } from '../../manage/messages/inbox-tokens.ts'
import { streamEvents } from '../../realtime/event-stream.ts'
import type { Hub } from '../../realtime/hub.ts'
import type { OpenTo } from '../access/inbox-origins.ts'
import type { ReaderLimit } from '../access/reader-limit.ts'
import type { Documented } from '../route.ts'

export interface StreamService {
  readonly inboxTokens: InboxTokens
  /** As for the routes of the inbox. */
  countForged(address: string): void
  readonly hub: Hub
  readonly limitReader: ReaderLimit
  readonly openTo: OpenTo
}

export interface SocketService extends StreamService {
  /** Whether what proxies say of an address counts. */
  readonly trustsProxies: boolean
  /** The path below which callers reach the service, with a slash at its end. */
  readonly basePath: string
}

/** As the reference shows it. It is installed below: its answer never ends. */
export const inboxStreamRoute = {
  tag: 'Inbox',
  opensWith: 'session',
  method: 'GET',
  path: '/v1/inbox/stream',
  operationId: 'streamInbox',
  summary: 'Follow an inbox',
  description:
    'A stream of server-sent events: `notification_received`, `unread_count_changed` and `unseen_count_changed`. Each has an id; a client that reconnects with it, as `Last-Event-ID` or `lastEventId`, misses nothing.',
  query: Type.Object({
    token: Type.Optional(
      Type.String({
        maxLength: 8192,
        description: 'The token of the session, where no `Authorization` header can be sent, as in `EventSource`.',
      }),
    ),
    lastEventId: Type.Optional(
      Type.String({ maxLength: 255, description: 'The id of the last event that was received.' }),
    ),
  }),
  produces: 'text/event-stream',
  replies: { 200: null },
} as const satisfies Documented

const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Proxies that gather answers would keep events back.
  'x-accel-buffering': 'no',
}

export function installInboxStream(app: FastifyInstance, service: StreamService): void {
  const { hub, limitReader, openTo } = service
  app.route({
    method: 'GET',
    // A HEAD would follow the inbox and never be answered.
    exposeHeadRoute: false,
    url: inboxStreamRoute.path,
    config: { cors: openTo.cors },
    handler: async (request, reply) => {
      const session = await sessionOf(service, tokenIn(request), request.ip)
      const { environment, id } = session.reader
      reply.headers(limitReader(`${environment.id}/${id}`))
      const after = lastIdIn(request)
      const joined = await hub.enter(session, after)
      reply.hijack()
      if (reply.raw.destroyed) return
      reply.raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...streamHeaders })
      streamEvents(hub, session, joined, after, reply.raw)
    },
  })
}

/** A 401 never repeats what was presented. */
async function sessionOf(
  { inboxTokens, countForged }: StreamService,
  token: string | undefined,
  address: string,
): Promise<OpenedToken> {
  const opened = token === undefined ? undefined : await inboxTokens.open(token)
  if (typeof opened === 'object') return opened
  if (token !== undefined && opened === undefined) countForged(address)
  const message = opened === 'expired' ? 'Token expired' : 'Unauthorized'
  throw new Problem(401, message, { headers: { 'www-authenticate': 'Bearer' } })
}

/** Browsers' EventSource sends no headers of its own: there it stands in the address. */
function tokenIn({ headers, query }: FastifyRequest): string | undefined {
  return /^Bearer +(\S+)$/.exec(headers.authorization ?? '')?.[1] ?? textIn(query, 'token')
}

function lastIdIn({ headers, query }: FastifyRequest): number | undefined {
  const given = headers['last-event-id'] ?? textIn(query, 'lastEventId')
  return numberIn(given)
}

/** Of something that was not ours, nothing is taken. */
export const numberIn = (text: unknown): number | undefined =>
  typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : undefined

function textIn(query: unknown, name: string): string | undefined {
  const value = (query as Readonly<Record<string, unknown>>)[name]
  return typeof value === 'string' ? value : undefined
}
