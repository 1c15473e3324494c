// The one place where anything that went wrong becomes an answer.
import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { DatabaseUnavailable } from '../db/sql.ts'
import type { FieldErrors } from '../domain/problem.ts'
import { invalid, Problem } from '../domain/problem.ts'
import type { World } from '../world/world.ts'
import type { SchemaMistake } from './request/field-errors.ts'
import { fieldErrorsOf } from './request/field-errors.ts'
import { inVendorWords } from './vendor.ts'

export function errorBodyOf(world: World, path: string, status: number, message: string, members: object = {}): object {
  return {
    ...members,
    ...(path.startsWith('/v1/events') && status === 400
      ? { type: 'BAD_REQUEST', errors: [{ message }], ...members }
      : {}),
    statusCode: status,
    timestamp: world.now().toISOString(),
    path,
    message,
    error: STATUS_CODES[status] ?? 'Error',
    ctx: {},
  }
}

/** Streams may have their token in the address. */
const withoutToken = (url: string): string => url.replace(/([?&]token=)[^&]*/g, '$1[hidden]')

/** During an outage every request fails alike; one line in this time says so, and how many went before it. */
const unavailableLoggedEveryMs = 1_000

export function createProblemReply(world: World, vendor: 'platform' | 'novu') {
  const logUnavailable = createUnavailableLog(world)
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const route = request.routeOptions.url
    const problem = problemOf(error, request)
    if (error instanceof DatabaseUnavailable) logUnavailable(error, { route, requestId: request.id })
    const errorId = problem === undefined ? randomUUID() : undefined
    if (errorId !== undefined)
      world.log.error(
        { errorId, requestId: request.id, route, trace_id: request.span?.traceId, err: error },
        'A request failed',
      )
    const status = problem?.status ?? 500
    const message = problem?.message ?? 'Internal server error, contact support and provide them with the errorId'
    // A 409 carries the resource that is in the way, which is written as an answer would write it.
    const members = vendor === 'platform' ? problem?.members : (inVendorWords(problem?.members) as object | undefined)
    return reply
      .code(status)
      .headers(problem?.headers ?? {})
      .type('application/json; charset=utf-8')
      .serializer(JSON.stringify)
      .send(errorBodyOf(world, withoutToken(request.url), status, message, members ?? { errorId }))
  }
}

function createUnavailableLog(world: World): (error: DatabaseUnavailable, facts: object) => void {
  let loggedAt = Number.NEGATIVE_INFINITY
  let unlogged = 0
  return (error, facts) => {
    const now = world.now().getTime()
    if (now - loggedAt < unavailableLoggedEveryMs) {
      unlogged += 1
      return
    }
    const { message = '', code } = (error.cause ?? {}) as { message?: string; code?: string }
    const what = error.busy ? 'A statement waited too long' : 'The database is not available'
    world.log.warn({ ...facts, code, cause: message, unlogged }, `${what}; the request was answered with 503`)
    loggedAt = now
    unlogged = 0
  }
}

export function problemOf(error: unknown, request?: FastifyRequest): Problem | undefined {
  if (error instanceof Problem) return error
  if (error instanceof DatabaseUnavailable) {
    const what = error.busy ? 'The database took too long to respond' : 'The database is temporarily unavailable'
    return new Problem(503, `${what}; please try again`, { headers: { 'retry-after': '1' } })
  }
  if (typeof error !== 'object' || error === null) return undefined
  const { code, statusCode, validation, validationContext = 'body' } = error as Partial<FastifyError>
  // Two calls raced for one name and the other won; the constraint, not our look before, is what decides.
  if (code === '23505') return new Problem(409, 'Another request has just taken this identifier')
  if (validation !== undefined) {
    const found = fieldErrorsOf(validation as SchemaMistake[], validationContext)
    return invalid(request === undefined ? found : withLaterParts(found, validationContext, request))
  }
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem(413, 'The body is larger than this endpoint allows')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Problem(415, 'The body must be sent as application/json')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Problem(400, 'The body does not have the length that its Content-Length header states')
    default:
      return statusCode !== undefined && statusCode >= 400 && statusCode < 500
        ? new Problem(400, (error as Error).message)
        : undefined
  }
}

/** The parts of a request, in the order in which they are validated. */
const parts = ['params', 'body', 'querystring'] as const

/** Validation stops at the first part that does not fit; the caller gets every wrong field at once. */
function withLaterParts(found: FieldErrors, stoppedAt: string, request: FastifyRequest): FieldErrors {
  const { params, body, query: querystring } = request
  const given = { params, body, querystring }
  const later = parts.slice((parts as readonly string[]).indexOf(stoppedAt) + 1)
  for (const part of later) {
    const validate = request.getValidationFunction(part)
    if (validate === undefined || validate(given[part])) continue
    const more = fieldErrorsOf((validate.errors ?? []) as SchemaMistake[], part)
    for (const [field, { messages, value }] of Object.entries(more)) {
      // A name may stand in two parts: the value is then that of the first.
      const known = found[field]
      if (known === undefined) found[field] = { messages, ...(value === undefined ? {} : { value }) }
      else known.messages.push(...messages.filter((message) => !known.messages.includes(message)))
    }
  }
  return found
}
