// Keep-alive connections of HTTP/1: a pool for each account, reach and server, none of them shared by two.
import type { Dispatcher } from 'undici'
import { Pool } from 'undici'
import type { Reach } from './address-guard.ts'
import type { Connect, ConnectParts, Destination } from './outbound-connect.ts'
import { createConnect } from './outbound-connect.ts'

/** What the connections of one pool have in common. */
export interface Way extends Destination {
  /** Where the connection leads: `proxy` is a server that gets full URLs. */
  readonly leads: 'there' | 'to the proxy'
}

export type PoolOf = (way: Way, account: object) => Dispatcher

/**
 * Below the 5 s after which many servers close, by more than the second that undici's timers may be late: a connection
 * closed while we write leaves us unsure.
 */
const idleConnectionMs = 3_000
/** Calls of one account to one host that are on the wire at once: more than it is ever given, so that none waits for a socket. */
export const http1CallsMax = 1_000
/** Hosts of one account whose connections are kept: most have one; custom steps call as many as customers name. */
const poolsPerAccountMax = 200

export function createHttp1Pools(parts: ConnectParts, connect: Connect): PoolOf {
  // A deleted account releases its pools, as soon as their idle connections have ended.
  const pools = new WeakMap<object, Map<string, Pool>>()
  // The operator configured the proxy: it needs no further check.
  const connectDirectly = createConnect({ ...parts, proxies: undefined })
  return (way, account) => {
    const own = pools.get(account) ?? new Map<string, Pool>()
    pools.set(account, own)
    const name = `${way.isSecure} ${way.reach satisfies Reach} ${way.isTheirs === true} ${way.leads} ${way.host}:${way.port}`
    const known = own.get(name)
    if (known !== undefined) {
      // Behind the others: the one at the front was not used for the longest.
      if (own.size > 1 && own.delete(name)) own.set(name, known)
      return known
    }
    if (own.size >= poolsPerAccountMax) forgetFirst(own)
    const made = madePool(way, way.leads === 'there' ? connect : connectDirectly)
    own.set(name, made)
    return made
  }
}

/** Its calls in flight continue; its connections end with them. */
function forgetFirst(own: Map<string, Pool>): void {
  const [first] = own
  if (first === undefined) return
  own.delete(first[0])
  void first[1].close()
}

function madePool(way: Way, connect: Connect): Pool {
  const { host, port, isSecure } = way
  const name = host.includes(':') ? `[${host}]` : host
  // A connection that takes up an earlier session is spared half the handshake.
  let session: Buffer | undefined
  return new Pool(`${isSecure ? 'https' : 'http'}://${name}:${port}`, {
    connections: http1CallsMax,
    pipelining: 1,
    keepAliveTimeout: idleConnectionMs,
    keepAliveMaxTimeout: idleConnectionMs,
    // Each call has a bound of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (_options, done) => {
      connect(way, { session }).then(
        (socket) => {
          socket.setNoDelay(true)
          socket.on('session', (given: Buffer) => {
            session = given
          })
          done(null, socket)
        },
        (error: Error) => done(error, null),
      )
    },
  })
}
