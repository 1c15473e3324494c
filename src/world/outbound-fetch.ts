// Calls to the outside: to vetted addresses only, bounded in time and size, redirects returned and not followed.
import { isIP } from 'node:net'
import type { AddressGuard, Reach, ResolveName } from './address-guard.ts'
import { createAddressGuard, plainHost } from './address-guard.ts'
import type { OutboundCall } from './outbound-call.ts'
import { bodyOf, defaultTimeoutMs, headersOf } from './outbound-call.ts'
import type { ConnectParts } from './outbound-connect.ts'
import { createConnect } from './outbound-connect.ts'
import { OutboundError } from './outbound-error.ts'
import { createHttp1 } from './outbound-http1.ts'
import { createHttp2 } from './outbound-http2.ts'
import type { ProxySettings } from './outbound-proxy.ts'
import { createProxies } from './outbound-proxy.ts'
import { trusting } from './outbound-trust.ts'
import type { OutboundOptions, World } from './world.ts'

export interface OutboundFetchOptions {
  /** Host names, addresses and networks that may be reached although they are private. */
  readonly allow: readonly string[]
  readonly resolve?: ResolveName
  /** Certificates in PEM that are trusted beside those that Node trusts. */
  readonly ca?: string | undefined
  readonly proxies?: ProxySettings
}

const httpsPort = 443
const httpPort = 80
const vettedAddressesMax = 1_000
/** Whose connections those of no account are. */
const everybody = {}

export function createOutboundFetch(options: OutboundFetchOptions): World['fetch'] {
  const guard = createAddressGuard(options.allow, options.resolve)
  const parts: ConnectParts = {
    guard,
    trust: options.ca === undefined ? undefined : trusting(options.ca),
    proxies: options.proxies === undefined ? undefined : createProxies(options.proxies),
  }
  const connect = createConnect(parts)
  const callByHttp1 = createHttp1(parts, connect)
  const callByHttp2 = createHttp2(connect)
  const vet = createVetting(guard)
  return async (request, callOptions = {}) => {
    const url = new URL(request.url)
    const reach = reachOf(url, callOptions)
    const host = plainHost(url.hostname)
    // A host that is an address is connected to without a lookup, so it is vetted here.
    if (isIP(host) !== 0) await vet(host, reach)
    const body = await bodyOf(request)
    const isSecure = url.protocol === 'https:'
    const call: OutboundCall = {
      host,
      method: request.method,
      path: `${url.pathname}${url.search}`,
      headers: headersOf(request, body),
      body,
      signal: request.signal,
      timeoutMs: callOptions.timeoutMs ?? defaultTimeoutMs,
      mayLeave: callOptions.mayLeave,
    }
    const port = url.port === '' ? (isSecure ? httpsPort : httpPort) : Number(url.port)
    // Without TLS the two sides have no way to agree on HTTP/2.
    const send = callOptions.http2 === true && isSecure ? callByHttp2 : callByHttp1
    return send(call, { host, port, isSecure, reach }, callOptions.account ?? everybody)
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
