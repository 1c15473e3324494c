// Calls to the outside: to vetted addresses only, bounded in time and size, redirects returned and not followed.
import type { ClientRequest, IncomingMessage } from 'node:http'
import http from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import { isIP } from 'node:net'
import type { AddressGuard, Reach, ResolveName } from './address-guard.ts'
import { codeOf, createAddressGuard, plainHost } from './address-guard.ts'
import { OutboundError } from './outbound-error.ts'
import type { OutboundAnswer, OutboundOptions, OutboundRequest, World } from './world.ts'

export interface OutboundFetchOptions {
  /** Host names, addresses and networks that may be reached although they are private. */
  readonly allow: readonly string[]
  readonly resolve?: ResolveName
}

const defaultTimeoutMs = 20_000
/** Name, connection and TLS together; a host that needs longer is down. */
const connectTimeoutMs = 5_000
/** Below the 5 s after which many servers close: a connection closed while we write leaves us unsure. */
const idleConnectionMs = 4_000
const idleConnectionsMax = 64
const vettedAddressesMax = 1_000
const answerBytesMax = 64 * 1024
const userAgent = 'Posthorn/1.0'
/** What the connection itself decides. */
const ownHeaders = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
  'expect',
  'upgrade',
])

export function createOutboundFetch(options: OutboundFetchOptions): World['fetch'] {
  const guard = createAddressGuard(options.allow, options.resolve)
  const agentOf = createAgents(guard)
  const vet = createVetting(guard)
  return async (request, callOptions = {}) => {
    const url = new URL(request.url)
    const reach = reachOf(url, callOptions)
    const host = plainHost(url.hostname)
    // A host that is an address is connected to without a lookup, so it is vetted here.
    if (isIP(host) !== 0) await vet(host, reach)
    const body = await bodyOf(request)
    const open = url.protocol === 'https:' ? https.request : http.request
    const started = (): ClientRequest =>
      open({
        agent: agentOf(url.protocol, reach),
        method: request.method,
        hostname: host,
        port: url.port,
        path: `${url.pathname}${url.search}`,
        headers: headersOf(request, body),
      })
    return exchange(started, {
      host,
      body,
      signal: request.signal,
      timeoutMs: callOptions.timeoutMs ?? defaultTimeoutMs,
    })
  }
}

/** What is known of an address does not change while we run, and asking the lists anew costs 20 µs a call. */
function createVetting(guard: AddressGuard): (address: string, reach: Reach) => Promise<void> {
  const known = new Set<string>()
  return async (address, reach) => {
    const name = `${reach} ${address}`
    if (known.has(name)) return
    await guard.addressesOf(address, reach)
    if (known.size >= vettedAddressesMax) known.clear()
    known.add(name)
  }
}

async function bodyOf(request: Request | OutboundRequest): Promise<string | Buffer> {
  return request instanceof Request ? Buffer.from(await request.arrayBuffer()) : (request.body ?? '')
}

/** Throws when the address alone shows that we will not call it. */
function reachOf(url: URL, options: OutboundOptions): Reach {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new OutboundError('refused-address', `Only http and https are called, not ${url.protocol}`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new OutboundError('refused-address', `The address of ${url.hostname} must not hold a user name or password`)
  }
  if (options.reach === 'operator') return 'operator'
  return url.protocol === 'https:' && url.port === '' ? 'guarded' : 'listed'
}

/** One pool a reach: a connection that the operator's reach opened must never serve a guarded call. */
function createAgents(guard: AddressGuard): (protocol: string, reach: Reach) => http.Agent {
  const agents = new Map<string, http.Agent>()
  return (protocol, reach) => {
    const name = `${protocol}${reach}`
    const settings = {
      keepAlive: true,
      timeout: idleConnectionMs,
      maxFreeSockets: idleConnectionsMax,
      lookup: guard.lookup(reach),
    }
    const agent = agents.get(name) ?? (protocol === 'https:' ? new https.Agent(settings) : new http.Agent(settings))
    agents.set(name, agent)
    return agent
  }
}

function headersOf(request: Request | OutboundRequest, body: string | Buffer): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': userAgent }
  const given = request instanceof Request ? request.headers : Object.entries(request.headers)
  for (const [name, value] of given) {
    const lowerName = name.toLowerCase()
    if (!ownHeaders.has(lowerName)) headers[lowerName] = value
  }
  // Never compressed: the size limit counts what arrives, and 64 KiB of gzip can be 64 MiB of text.
  headers['accept-encoding'] = 'identity'
  if (body.length > 0 || (request.method !== 'GET' && request.method !== 'HEAD')) {
    headers['content-length'] = String(Buffer.byteLength(body))
  }
  return headers
}

interface Exchange {
  readonly host: string
  readonly body: string | Buffer
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number
}

/** Writes the request, reads the answer, and knows at every moment whether the first byte may have left. */
function exchange(open: () => ClientRequest, { host, body, signal, timeoutMs }: Exchange): Promise<OutboundAnswer> {
  return new Promise((resolve, reject) => {
    let mayHaveLeft = false
    const request = opened(open, host)
    const fail = (what: string, cause?: unknown): void => {
      end()
      request.destroy()
      if (cause instanceof OutboundError) reject(cause)
      else reject(new OutboundError(mayHaveLeft ? 'unsure' : 'not-sent', what, cause))
    }
    const abort = (): void => fail(`The call to ${host} was given up`)
    const whole = setTimeout(() => fail(`${host} did not answer within ${timeoutMs} ms`), timeoutMs)
    let connecting: NodeJS.Timeout | undefined
    const end = (): void => {
      clearTimeout(whole)
      clearTimeout(connecting)
      signal?.removeEventListener('abort', abort)
    }
    request.once('socket', (socket) => {
      if (!isConnecting(socket)) {
        mayHaveLeft = true
        return
      }
      const tooLong = (): void => fail(`${host} could not be connected to within ${connectTimeoutMs} ms`)
      connecting = setTimeout(tooLong, connectTimeoutMs)
      // Node writes the request as soon as the socket is connected and, with TLS, secured.
      socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
        mayHaveLeft = true
        clearTimeout(connecting)
      })
    })
    request.on('error', (error) => fail(failureOf(host, mayHaveLeft, error), error))
    request.once('response', (response) => {
      readBody(
        response,
        (text) => {
          end()
          resolve({ status: response.statusCode ?? 0, headers: headersIn(response), body: text })
        },
        (error) => fail(`${host} cut its answer short (${codeOf(error)})`, error),
      )
    })
    if (signal?.aborted) abort()
    else {
      signal?.addEventListener('abort', abort)
      request.end(body)
    }
  })
}

/** A header that holds what none may hold, such as a line break, is found before anything connects. */
function opened(open: () => ClientRequest, host: string): ClientRequest {
  try {
    return open()
  } catch (error) {
    throw new OutboundError('not-sent', `The call to ${host} could not be made (${codeOf(error)})`, error)
  }
}

function isConnecting(socket: Socket): boolean {
  return socket.connecting || ('secureConnecting' in socket && socket.secureConnecting === true)
}

function failureOf(host: string, mayHaveLeft: boolean, error: unknown): string {
  const doing = mayHaveLeft ? 'broke off the call' : 'could not be connected to'
  return `${host} ${doing} (${codeOf(error)})`
}

/** Hands over the body as far as the limit; what comes after it is not waited for. */
function readBody(response: IncomingMessage, done: (text: string) => void, fail: (cause: unknown) => void): void {
  const chunks: Buffer[] = []
  let bytes = 0
  const end = (): void => {
    const whole = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
    done(whole.toString('utf8', 0, Math.min(whole.length, answerBytesMax)))
  }
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes < answerBytesMax) return
    end()
    response.destroy()
  })
  response.once('end', end)
  response.once('error', fail)
}

function headersIn(response: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(response.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  return headers
}
