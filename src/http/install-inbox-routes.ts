// Turns the routes of the inbox into Fastify routes: any origin, a session instead of a key, a rate limit of their own.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { BoundedMap } from '../domain/bounded-map.ts'
import type { Reader } from '../domain/messages/inbox.ts'
import { Problem } from '../domain/problem.ts'
import type { World } from '../world/world.ts'
import { callerOf } from './access/failed-attempts.ts'
import { isLocalCall } from './access/local-call.ts'
import type { InboxRoute, InboxService } from './inbox-route.ts'
import { schemaOf } from './install-route.ts'
import { isLargeAnswer, largeAnswer } from './large-answer.ts'
import { lookForUnknown } from './unknown.ts'

declare module 'fastify' {
  interface FastifyRequest {
    reader: Reader | undefined
  }
}

export function installInboxRoutes(app: FastifyInstance, routes: readonly InboxRoute[], service: InboxService): void {
  app.decorateRequest('reader', undefined)
  const answerNotFound = (_request: FastifyRequest, reply: FastifyReply): void => reply.callNotFound()
  // Preflights end in the hook of CORS, which looks at the route that they match.
  for (const path of ['/v1/inbox/*', '/v1/widgets/*'])
    app.options(path, { config: { cors: service.openTo.cors } }, answerNotFound)
  for (const route of routes) installInboxRoute(app, route, service)
}

function installInboxRoute(app: FastifyInstance, route: InboxRoute, service: InboxService): void {
  const look = lookForUnknown(route, service.unknownMembers)
  app.route({
    method: route.method,
    url: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    schema: schemaOf(route),
    config: { cors: service.openTo.cors },
    onRequest: async (request, reply) => {
      if (route.opensWith === 'nothing') return
      const reader = await readerOf(service, request)
      reply.headers(service.limitReader(`${reader.environment.id}/${reader.id}`))
      request.reader = reader
    },
    // Public clients say that they send JSON and send nothing.
    preValidation: (request, reply, done) => {
      if (route.body !== undefined) request.body ??= {}
      look.call(app, request, reply, done)
    },
    handler: async (request, reply) => {
      const { params, query, body, ip: address } = request
      const caller = { reader: request.reader as Reader, address, isLocal: isLocalCall(request.raw) }
      const answer = await route.handle(service, { ...caller, params, query, body })
      reply.code(answer.status)
      if (answer.status === 204) return reply.send()
      if (!isLargeAnswer(answer.body)) return reply.send(answer.body)
      const owner = route.method === 'GET' ? request.reader?.environment.id : undefined
      const write = reply.getSerializationFunction(String(answer.status))
      const bytes = await largeAnswer(reply, service.answerBudget, owner, answer.body, write)
      return reply.type('application/json; charset=utf-8').send(bytes)
    },
  })
}

/** A 401 never repeats what was presented. */
async function readerOf({ inboxTokens, countForged }: InboxService, { headers, ip }: FastifyRequest): Promise<Reader> {
  const token = /^Bearer +(\S+)$/.exec(headers.authorization ?? '')?.[1]
  const opened = token === undefined ? undefined : await inboxTokens.open(token)
  if (typeof opened === 'object') return opened.reader
  // One that expired or was revoked was good once: its page opens another session. Where there is none, nothing is guessed.
  if (token !== undefined && opened === undefined) countForged(ip)
  throw new Problem(401, 'Unauthorized', { headers: { 'www-authenticate': 'Bearer' } })
}

/**
 * So often a minute an address may name no environment, fail to show a hash, or create a subscriber without one. Sessions of those who are known
 * are not counted: behind a proxy all readers have one address.
 */
const unsignedPerMinuteMax = 600
const minuteMs = 60_000
const addressesMax = 10_000

export function createUnsignedLimit(world: World): (address: string) => void {
  const opened = new BoundedMap<string, { count: number; until: number }>(addressesMax)
  return (address) => {
    const now = world.now().getTime()
    const caller = callerOf(address)
    const known = opened.get(caller)
    const window = known !== undefined && known.until > now ? known : { count: 0, until: now + minuteMs }
    window.count += 1
    opened.set(caller, window)
    if (window.count <= unsignedPerMinuteMax) return
    const retryAfter = String(Math.max(1, Math.ceil((window.until - now) / 1000)))
    throw new Problem(429, 'Too many sessions without a valid HMAC hash', { headers: { 'retry-after': retryAfter } })
  }
}
