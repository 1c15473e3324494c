// Requests that Node itself turns away before Fastify sees them: they get the same error body and headers all the same.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { badRequest } from '../../domain/problem.ts'
import type { World } from '../../world/world.ts'
import { securityHeaders } from '../access/security-headers.ts'
import { errorBodyOf } from '../problem-reply.ts'

function headersOf(world: World, body: string): Record<string, string> {
  return {
    ...securityHeaders,
    'x-request-id': world.newId(world.now()),
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
}

/** A missing Host, or an unsupported `Expect`: Node would answer these without a body. */
export function answerBrokenRequests(world: World, app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    if (request.raw.httpVersion === '1.1' && request.headers.host === undefined) {
      throw badRequest('A request must have a Host header')
    }
  })
  app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const body = JSON.stringify(
      errorBodyOf(world, request.url ?? '', 417, 'The only supported Expect header is 100-continue'),
    )
    response.writeHead(417, headersOf(world, body)).end(body)
  })
}

/** What is not HTTP at all. */
export function answerBrokenSocket(world: World, error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || socket.destroyed || error.code === 'ECONNRESET' || isAnswering(socket)) {
    socket.destroy()
    return
  }
  const [status, message] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'The headers are too large']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'The request did not arrive in time']
        : [400, 'The request is not valid HTTP']
  const body = JSON.stringify(errorBodyOf(world, '', status, message))
  const headers = Object.entries(headersOf(world, body)).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${message}\r\n${headers.join('')}\r\n${body}`)
}

/** Whether another response on this connection has started or is pending: its caller would mistake ours for it. */
function isAnswering(socket: Socket & { _httpMessage?: ServerResponse | null }): boolean {
  const answer = socket._httpMessage
  return answer !== undefined && answer !== null && (answer.headersSent || answer.req.complete)
}
