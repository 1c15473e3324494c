// Turns a Route into a Fastify route: authenticate, check rights and rate, validate, handle, answer.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Answer } from '../domain/answer.ts'
import type { Principal } from '../domain/environment.ts'
import { mayUse } from '../domain/environment.ts'
import { authorOf } from '../domain/operate/audit.ts'
import { forbidden } from '../domain/problem.ts'
import type { ByteBudget } from '../run/send/byte-budget.ts'
import type { Span } from '../world/tracer.ts'
import type { Authenticate } from './access/authenticate.ts'
import type { DashboardAccess } from './access/dashboard-access.ts'
import type { CheckRate } from './access/rate-limit.ts'
import { idempotencyInTurns, idempotencyOf } from './idempotency.ts'
import { isLargeAnswer, largeAnswer } from './large-answer.ts'
import type { BodyBudget } from './request/body-budget.ts'
import { mediumBodyBytes, smallBodyBytes, tokensOfBytes } from './request/body-budget.ts'
import { isLargeBody } from './request/body-parser.ts'
import { announcedBytes, BodyShare } from './request/read-body.ts'
import type { Documented, Route, Service } from './route.ts'
import { lookForUnknown } from './unknown.ts'
import { inVendorWords, vendorWordsInTurns } from './vendor.ts'
import { warn } from './warnings.ts'

export interface RouteContext extends Service {
  readonly authenticate: Authenticate
  /** The calls of the dashboard, which has a session instead of a key. */
  readonly dashboard: DashboardAccess
  readonly checkRate: CheckRate
  readonly bodyBudget: BodyBudget
  /** What large answers share. */
  readonly answerBudget: ByteBudget
  readonly vendor: 'platform' | 'novu'
  /** Aborted when the server begins to close. */
  readonly closing: AbortSignal
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | undefined
    span: Span | undefined
  }
}

export function installRoute(app: FastifyInstance, route: Route, context: RouteContext): void {
  if (!app.hasRequestDecorator('principal')) app.decorateRequest('principal', undefined)
  if (!app.hasRequestDecorator('span')) app.decorateRequest('span', undefined)
  const { writtenBy } = route
  const limitBytes = bodyLimitOf(route)
  // What is answered to a trigger is short: nothing is counted for it.
  const mayBeLarge = route.category !== 'trigger' && route.produces === undefined
  app.route({
    method: route.method,
    url: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    bodyLimit: limitBytes,
    schema: schemaOf(route),
    ...(writtenBy === undefined ? {} : { serializerCompiler: () => writtenBy }),
    config: { judgesText: route.judgesText },
    // Before the body is read: an unauthenticated client cannot make us parse megabytes.
    onRequest: async (request, reply) => {
      const { authorization } = request.headers
      const session = authorization === undefined ? await context.dashboard.principalOf(request) : undefined
      const principal = session ?? (await context.authenticate(authorization, request.ip))
      if (context.world.tracer !== undefined && route.category === 'trigger') trace(request, reply, route, context)
      if (!mayUse(principal, route.scope)) throw notAllowed(principal, route)
      const { environment } = principal
      const bytes = announcedBytes(request)
      // One that is too large is refused unread.
      const tokens = bytes === undefined || bytes > limitBytes ? 0 : tokensOfBytes(bytes)
      reply.headers(await context.checkRate(principal, route.category, (route.cost ?? 1) + tokens))
      request.principal = principal
      if (bytes === undefined || bytes > smallBodyBytes) {
        const charge = (more: number, paid: number) =>
          context.checkRate(principal, route.category, more, (route.cost ?? 1) + paid)
        request.bodyShare = new BodyShare({ budget: context.bodyBudget, owner: environment.id, charge }, reply)
      }
    },
    preValidation: lookForUnknown(route, context.unknownMembers),
    handler: async (request, reply) => {
      const { bodyShare: share } = request
      const handle = () => answerTo(request, reply, route, context)
      const answer = await (share === undefined ? handle() : share.during(handle))
      const { written } = answer
      if (written !== undefined && 'text' in written) return sendText(request, reply, answer, written.text)
      if (mayBeLarge && isLargeAnswer(answer.body)) {
        return sendLarge(request, reply, answer, route, context)
      }
      if (written !== undefined) {
        const text = textOf(reply, answer, context.vendor)
        written.keep(text)
        return sendText(request, reply, answer, text)
      }
      return send(request, reply, answer, route.produces === undefined ? context.vendor : 'platform')
    },
  })
}

const notAllowed = ({ user }: Principal, { scope }: Route) =>
  forbidden(
    user === undefined
      ? `This API key is not allowed to do this: it needs the scope "${scope}"`
      : `Your role, ${user.role}, does not allow this: it needs the scope "${scope}"`,
  )

async function answerTo(
  request: FastifyRequest,
  reply: FastifyReply,
  route: Route,
  context: RouteContext,
): Promise<Answer<unknown>> {
  const { method, url, headers, body } = request
  const principal = principalOf(request)
  const keyed = { method, url, header: headers['idempotency-key'], body, seesLess: seesLess(principal, route) }
  const idempotency = isLargeBody(body) ? await idempotencyInTurns(keyed) : idempotencyOf(keyed)
  if (idempotency !== undefined) reply.header('idempotency-key', idempotency.key)
  const answer = await route.handle(context, {
    principal,
    // The socket's own address, unless that is a proxy which the operator trusts: a header can say anything.
    get author() {
      return authorOf(principal, { address: request.ip, id: request.id })
    },
    params: request.params,
    query: request.query,
    body,
    unknownMembers: request.unknownMembers ?? [],
    idempotency,
    untilGone: () => untilGone(reply, context.closing),
    traceparent: request.span?.traceparent,
  })
  if (route.produces !== undefined) reply.type(route.produces)
  return answer
}

/** Keys of one area are answered without secrets: an answer that was kept for a full key is not theirs. */
const seesLess = (principal: Principal, { scope }: Route): boolean =>
  scope.includes(':') && !principal.scopes.includes('full')

/** From when the principal is known until the answer is out. */
function trace(request: FastifyRequest, reply: FastifyReply, route: Route, { world }: RouteContext): void {
  const span = world.tracer?.request(`${route.method} ${route.path}`, request.headers['traceparent'])
  if (span === undefined) return
  request.span = span
  reply.raw.once('close', () => {
    const attributes = {
      'http.request.method': route.method,
      'http.route': route.path,
      'http.response.status_code': reply.statusCode,
    }
    span.end({ attributes, failed: reply.statusCode >= 500 })
  })
}

/** Not by AbortSignal.any: the signal that lives as long as the server would remember every call (Node 20). */
export function untilGone(reply: Pick<FastifyReply, 'raw'>, closing: AbortSignal): AbortSignal {
  const gone = new AbortController()
  const end = (): void => {
    closing.removeEventListener('abort', end)
    gone.abort()
  }
  closing.addEventListener('abort', end)
  reply.raw.once('close', end)
  // Gone while the call was authenticated: its `close` has come already.
  if (closing.aborted || reply.raw.destroyed) end()
  return gone.signal
}

/** Most calls carry one thing; a call that takes no body may have one all the same, and it is not worth reading far. */
function bodyLimitOf({ body, bodyLimitBytes }: Route): number {
  return bodyLimitBytes ?? (body === undefined ? smallBodyBytes : mediumBodyBytes)
}

function principalOf(request: FastifyRequest): Principal {
  if (request.principal === undefined) throw new Error('A handler was reached without authentication')
  return request.principal
}

export function schemaOf(route: Documented): object {
  const response = Object.entries(route.replies).flatMap(([status, schema]) =>
    schema === null ? [] : [[status, schema]],
  )
  return {
    ...(route.params === undefined ? {} : { params: route.params }),
    ...(route.query === undefined ? {} : { querystring: route.query }),
    ...(route.body === undefined ? {} : { body: route.body }),
    response: Object.fromEntries(response),
  }
}

/** As it would be sent otherwise, letter by letter. */
async function sendLarge(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer<unknown>,
  { writtenBy }: Route,
  { vendor, answerBudget }: RouteContext,
): Promise<FastifyReply> {
  const body = vendor === 'platform' ? answer.body : await vendorWordsInTurns(answer.body)
  const write = writtenBy === undefined ? reply.getSerializationFunction(String(answer.status)) : undefined
  // What has been changed is changed: its answer is not put off.
  const owner = request.method === 'GET' ? principalOf(request).environment.id : undefined
  const bytes = await largeAnswer(reply, answerBudget, owner, body, write)
  return sendText(request, reply, answer, bytes)
}

/** As it is written where it is sent at once. */
function textOf(reply: FastifyReply, { status, body }: Answer<unknown>, vendor: 'platform' | 'novu'): string {
  return String(reply.code(status).serialize(vendor === 'platform' ? body : inVendorWords(body)))
}

/** `text`: JSON, in the words it is to be sent in. */
const sendText = (
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer<unknown>,
  text: string | Buffer,
): FastifyReply => send(request, reply.type('application/json; charset=utf-8'), { ...answer, body: text }, 'platform')

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer<unknown>,
  vendor: 'platform' | 'novu',
): FastifyReply {
  if (answer.warnings !== undefined) warn(request, reply, answer.warnings)
  if (answer.replayed === true) reply.header('idempotency-replay', 'true')
  if (answer.headers !== undefined) reply.headers(answer.headers)
  reply.code(answer.status)
  if (answer.status === 204) return reply.send()
  return reply.send(vendor === 'platform' ? answer.body : inVendorWords(answer.body))
}
