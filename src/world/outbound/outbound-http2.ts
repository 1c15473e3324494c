// Outbound calls by HTTP/2: many at once by one connection, and each knows whether the other side may have acted on it.
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2'
import { constants } from 'node:http2'
import type { OutboundAnswer } from '../world.ts'
import { codeOf } from './address-guard.ts'
import { whenAnswered } from './may-leave.ts'
import type { OutboundCall } from './outbound-call.ts'
import { checkHeaders, couldNotBeMade, readBody, wasWithheld } from './outbound-call.ts'
import type { Connect, Destination } from './outbound-connect.ts'
import { OutboundError } from './outbound-error.ts'
import type { Http2Connection, Http2Pool } from './outbound-http2-pool.ts'
import { createHttp2Pool, isUnheard } from './outbound-http2-pool.ts'

export type CallByHttp2 = (call: OutboundCall, destination: Destination, account: object) => Promise<OutboundAnswer>

export function createHttp2(connect: Connect): CallByHttp2 {
  const pools = new WeakMap<object, Map<string, Http2Pool>>()
  function poolOf(destination: Destination, account: object): Http2Pool {
    const { host, port, reach, isTheirs = false } = destination
    const name = `${reach} ${isTheirs} ${host} ${port}`
    const accountPools = pools.get(account) ?? new Map<string, Http2Pool>()
    pools.set(account, accountPools)
    const pool =
      accountPools.get(name) ??
      createHttp2Pool(
        host,
        () => connect(destination, { protocols: ['h2'] }),
        () => accountPools.delete(name),
      )
    accountPools.set(name, pool)
    return pool
  }
  return async (call, destination, account) => {
    const { host, port } = destination
    checkHeaders(host, call.headers)
    const name = host.includes(':') ? `[${host}]` : host
    const authority = port === httpsPort ? name : `${name}:${port}`
    return exchange(poolOf(destination, account), call, authority)
  }
}

const httpsPort = 443

/** Waits for a connection with capacity, writes the request and reads the answer. */
function exchange(pool: Http2Pool, call: OutboundCall, authority: string): Promise<OutboundAnswer> {
  const { host, signal, timeoutMs, mayLeave } = call
  return new Promise((resolve, reject) => {
    let stream: ClientHttp2Stream | undefined
    let connection: Http2Connection | undefined
    let isOver = false
    const end = (): void => {
      isOver = true
      clearTimeout(whole)
      signal?.removeEventListener('abort', abort)
      pool.giveUp(waiting)
    }
    const fail = (what: string, cause?: unknown): void => {
      end()
      stream?.close(constants.NGHTTP2_CANCEL)
      if (cause instanceof OutboundError) reject(cause)
      else reject(new OutboundError(mayHaveLeft(connection, stream) ? 'unsure' : 'not-sent', what, cause))
    }
    const abort = (): void => fail(`The request to ${host} was aborted`)
    const tooLate = (): void => {
      fail(`${host} did not respond within ${timeoutMs} ms`)
      if (connection !== undefined) pool.doubt(connection)
    }
    const whole = setTimeout(tooLate, timeoutMs)
    const waiting = {
      fail: (error: OutboundError): void => fail(error.message, error),
      ask: (goOn: (isAllowed: boolean) => void): void =>
        whenAnswered(mayLeave, (isAllowed) => {
          if (!isAllowed && !isOver) fail('', wasWithheld(host))
          goOn(isAllowed && !isOver)
        }),
      take(given: Http2Connection): ClientHttp2Stream | undefined {
        connection = given
        try {
          stream = begun(given.session, call, authority)
        } catch (error) {
          fail('', couldNotBeMade(host, error))
          return undefined
        }
        readAnswer(
          stream,
          (answer) => {
            end()
            resolve(answer)
          },
          (error) => fail(`${host} aborted the request (${codeOf(error)})`, error),
        )
        return stream
      },
    }
    if (signal?.aborted) return abort()
    signal?.addEventListener('abort', abort)
    pool.ask(waiting)
  })
}

/** A stream that the other side refused, or did not process before GOAWAY, was not acted on (RFC 9113, 6.8 and 8.7). */
function mayHaveLeft(connection: Http2Connection | undefined, stream: ClientHttp2Stream | undefined): boolean {
  if (connection === undefined || stream?.id === undefined) return false
  return stream.rstCode !== constants.NGHTTP2_REFUSED_STREAM && !isUnheard(connection, stream.id)
}

function begun(session: ClientHttp2Session, call: OutboundCall, authority: string): ClientHttp2Stream {
  const { method, path, headers, body } = call
  const hasBody = body.length > 0
  const stream = session.request(
    { ...headers, ':method': method, ':scheme': 'https', ':authority': authority, ':path': path },
    { endStream: !hasBody },
  )
  if (hasBody) stream.end(body)
  return stream
}

function readAnswer(
  stream: ClientHttp2Stream,
  done: (answer: OutboundAnswer) => void,
  fail: (cause: unknown) => void,
): void {
  let isOver = false
  stream.once('response', (headers) => {
    const status = headers[':status'] ?? 0
    const bounded = {
      on: (event: 'data', listener: (chunk: Buffer) => void) => stream.on(event, listener),
      once: (event: 'end', listener: () => void) =>
        // Of a stream that was cut short Node says that it ended, too.
        stream.once(event, () => void (stream.rstCode !== constants.NGHTTP2_NO_ERROR || listener())),
      destroy: () => stream.close(constants.NGHTTP2_CANCEL),
    }
    readBody(bounded, (body) => {
      if (isOver) return
      isOver = true
      done({ status, headers: headersIn(headers), body })
    })
  })
  const broken = (cause: unknown): void => {
    if (isOver) return
    isOver = true
    fail(cause)
  }
  stream.once('error', broken)
  stream.once('close', () => broken(new Error(`stream closed with ${stream.rstCode}`)))
}

function headersIn(given: IncomingHttpHeaders): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith(':') || value === undefined) continue
    for (const one of Array.isArray(value) ? value : [value]) headers.append(name, one)
  }
  return headers
}
