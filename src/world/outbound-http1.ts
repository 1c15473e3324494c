// Outbound calls by HTTP/1: kept connections, directly or by a proxy, and whether the other side may have acted on a call.
import type { ClientRequest, IncomingMessage } from 'node:http'
import http from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import type { Reach } from './address-guard.ts'
import { codeOf } from './address-guard.ts'
import { whenAnswered } from './may-leave.ts'
import type { OutboundCall } from './outbound-call.ts'
import { connectTimeoutMs, couldNotBeMade, couldNotConnect, readBody, wasWithheld } from './outbound-call.ts'
import type { Connect, ConnectParts, Destination } from './outbound-connect.ts'
import { inTime } from './outbound-connect.ts'
import { OutboundError } from './outbound-error.ts'
import type { ProxyServer } from './outbound-proxy.ts'
import { proxyRefusal, refusedBy, vettedTargets } from './outbound-proxy.ts'
import type { OutboundAnswer } from './world.ts'

export type CallByHttp1 = (call: OutboundCall, destination: Destination, account: object) => Promise<OutboundAnswer>

/** Below the 5 s after which many servers close: a connection closed while we write leaves us unsure. */
const idleConnectionMs = 4_000
/** As many as an account may have calls under way: a connection that is closed between two of them is opened again. */
const idleConnectionsMax = 500
/** Calls of one account to one host that are on the wire at once: more than it is ever given, so that none waits for a socket. */
export const http1CallsMax = 1_000

export function createHttp1(parts: ConnectParts, connect: Connect): CallByHttp1 {
  const { guard, proxies } = parts
  const agentOf = createAgents(parts, connect)
  return (call, destination, account) => {
    const { host, port, isSecure, reach } = destination
    const proxy = proxies?.of(isSecure, host, port)
    if (proxy !== undefined && !isSecure && mayBeNamed(destination))
      return callByName(call, destination, proxy, account)
    const agent = agentOf({ isSecure, reach, leads: proxy === undefined ? 'there' : 'through the proxy' }, account)
    return exchange(call, isSecure, { agent, hostname: host, port })
  }

  /** A proxy that is handed an http request goes by the name in it: only where that cannot be a trick. */
  function mayBeNamed({ host, reach }: Destination): boolean {
    return proxies?.target === 'name' || reach === 'operator' || guard.isListedName(host)
  }

  async function callByName(
    call: OutboundCall,
    { host, port, reach }: Destination,
    proxy: ProxyServer,
    account: object,
  ): Promise<OutboundAnswer> {
    await inTime(host, () => vettedTargets(guard, host, reach))
    const name = host.includes(':') ? `[${host}]` : host
    const authority = port === httpPort ? name : `${name}:${port}`
    const headers = { ...call.headers, ...proxy.headers, host: authority }
    const { isSecure } = proxy
    // The operator wrote it down, so it may be private.
    const agent = agentOf({ isSecure, reach: 'operator', leads: 'to the proxy' }, account)
    const answer = await exchange({ ...call, path: `http://${authority}${call.path}`, headers }, isSecure, {
      agent,
      hostname: proxy.host,
      port: proxy.port,
    })
    if (answer.status === proxyRefusal) throw refusedBy(proxy, host, answer.status)
    return answer
  }
}

const httpPort = 80

/** What the connections of one pool have in common. */
interface Way {
  readonly isSecure: boolean
  readonly reach: Reach
  readonly leads: 'there' | 'to the proxy' | 'through the proxy'
}

/** One pool a reach and account: a connection that the operator's reach opened must never serve a guarded call. */
function createAgents({ guard, trust }: ConnectParts, connect: Connect): (way: Way, account: object) => http.Agent {
  // An account that is gone takes its agents along, as soon as their idle connections have ended.
  const agents = new WeakMap<object, Map<string, http.Agent>>()
  return (way, account) => {
    const accountAgents = agents.get(account) ?? new Map<string, http.Agent>()
    agents.set(account, accountAgents)
    const name = `${way.isSecure} ${way.reach} ${way.leads}`
    const agent = accountAgents.get(name) ?? made(way)
    accountAgents.set(name, agent)
    return agent
  }

  function made({ isSecure, reach, leads }: Way): http.Agent {
    const settings = {
      keepAlive: true,
      timeout: idleConnectionMs,
      maxSockets: http1CallsMax,
      maxFreeSockets: idleConnectionsMax,
      lookup: guard.lookup(reach),
      ...(trust === undefined ? {} : { secureContext: trust }),
    }
    const agent = isSecure ? new https.Agent(settings) : new http.Agent(settings)
    if (leads !== 'through the proxy') return agent
    const createConnection = (
      { host, port }: { host?: string | null; port?: string | number | null },
      done: (error: Error | null, socket?: Socket) => void,
    ): void => {
      const destination = { host: host ?? '', port: Number(port), isSecure, reach }
      connect(destination).then((socket) => done(null, socket), done)
    }
    return Object.assign(agent, { createConnection })
  }
}

/** Who is connected to: the host itself, or a proxy. */
interface Server {
  readonly agent: http.Agent
  readonly hostname: string
  readonly port: number
}

/** Writes the request, reads the answer, and knows at every moment whether the first byte may have left. */
function exchange(call: OutboundCall, isSecure: boolean, way: Server): Promise<OutboundAnswer> {
  const { host, body, signal, timeoutMs, mayLeave } = call
  return new Promise((resolve, reject) => {
    let mayHaveLeft = false
    let isOver = false
    const request = opened(call, isSecure, way)
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
      isOver = true
      clearTimeout(whole)
      clearTimeout(connecting)
      signal?.removeEventListener('abort', abort)
    }
    // Nothing is handed to Node before: it would write the request as soon as the socket is connected.
    const write = (isAllowed: boolean): void => {
      // It may have ended while whoever was asked thought about it.
      if (isOver) return
      if (isAllowed) {
        mayHaveLeft = true
        request.end(body)
      } else fail('', wasWithheld(host))
    }
    request.once('socket', (socket) => {
      if (!isConnecting(socket)) return whenAnswered(mayLeave, write)
      const tooLong = (): void => fail(`${host} could not be connected to within ${connectTimeoutMs} ms`)
      connecting = setTimeout(tooLong, connectTimeoutMs)
      socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
        clearTimeout(connecting)
        if (!isOver) whenAnswered(mayLeave, write)
      })
    })
    request.on('error', (error) => fail(failureOf(host, mayHaveLeft, error), error))
    request.once('response', (response) => {
      response.once('error', (error) => fail(`${host} cut its answer short (${codeOf(error)})`, error))
      readBody(response, (text) => {
        end()
        resolve({ status: response.statusCode ?? 0, headers: headersIn(response), body: text })
      })
    })
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort)
  })
}

/** A header that holds what none may hold, such as a line break, is found before anything connects. */
function opened({ host, method, path, headers }: OutboundCall, isSecure: boolean, way: Server): ClientRequest {
  try {
    const { agent, hostname, port } = way
    // Written out: an object that was spread from another makes Node's part of the call 20 µs slower.
    return (isSecure ? https : http).request({ agent, method, hostname, port, path, headers })
  } catch (error) {
    throw couldNotBeMade(host, error)
  }
}

function isConnecting(socket: Socket): boolean {
  return socket.connecting || ('secureConnecting' in socket && socket.secureConnecting === true)
}

function failureOf(host: string, mayHaveLeft: boolean, error: unknown): string {
  return mayHaveLeft ? `${host} broke off the call (${codeOf(error)})` : couldNotConnect(host, error)
}

function headersIn(response: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(response.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  return headers
}
