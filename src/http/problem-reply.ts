// The one place where anything that went wrong becomes an answer.
import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { DatabaseUnavailable } from '../db/sql.ts'
import { invalid, Problem } from '../domain/problem.ts'
import type { World } from '../world/world.ts'
import type { SchemaMistake } from './field-errors.ts'
import { fieldErrorsOf } from './field-errors.ts'

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

export function createProblemReply(world: World) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const problem = problemOf(error)
    if (problem !== undefined) {
      return reply
        .code(problem.status)
        .headers(problem.headers)
        .type('application/json; charset=utf-8')
        .serializer(JSON.stringify)
        .send(errorBodyOf(world, request.url, problem.status, problem.message, problem.members))
    }
    const errorId = randomUUID()
    world.log.error({ errorId, requestId: request.id, route: request.routeOptions.url, err: error }, 'A request failed')
    const message = 'Internal server error, contact support and provide them with the errorId'
    return reply
      .code(500)
      .type('application/json; charset=utf-8')
      .serializer(JSON.stringify)
      .send(errorBodyOf(world, request.url, 500, message, { errorId }))
  }
}

export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error
  if (error instanceof DatabaseUnavailable) {
    return new Problem(503, 'The database is not available at the moment; please try again', {
      headers: { 'retry-after': '1' },
    })
  }
  if (typeof error !== 'object' || error === null) return undefined
  const { code, statusCode, validation, validationContext } = error as Partial<FastifyError>
  // Two calls raced for one name and the other won; the constraint, not our look before, is what decides.
  if (code === '23505') return new Problem(409, 'Another call has just taken this identifier')
  if (validation !== undefined)
    return invalid(fieldErrorsOf(validation as SchemaMistake[], validationContext ?? 'body'))
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem(413, 'The body is larger than this call allows')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Problem(415, 'The body must be sent as application/json')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Problem(400, 'The body does not have the length its header says')
    default:
      return statusCode !== undefined && statusCode >= 400 && statusCode < 500
        ? new Problem(400, (error as Error).message)
        : undefined
  }
}
