// Calls to the outside: to vetted addresses only, bounded in time and size, redirects returned and not followed.

import { isIP } from 'node:net'
import type { AllowEntry } from '../../config/outbound-allow.ts'
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { OutboundOptions, World } from '../world.ts'
import type { AddressGuard, Reach, ResolveName } from './address-guard.ts'
import { createAddressGuard, plainHost } from './address-guard.ts'
import type { OutboundCall } from './outbound-call.ts'
import { bodyOf, defaultTimeoutMs, headersOf } from './outbound-call.ts'
import type { ConnectParts, Destination } from './outbound-connect.ts'
import { createConnect, termsOf } from './outbound-connect.ts'
import { OutboundError } from './outbound-error.ts'
import { createHttp1 } from './outbound-http1.ts'
import { createHttp2 } from './outbound-http2.ts'
import type { ProxySettings } from './outbound-proxy.ts'
import { createProxies } from './outbound-proxy.ts'
import { trusting } from './outbound-trust.ts'

export interface OutboundFetchOptions {
  /** Host names, addresses and networks that may be reached although they are private. */
  readonly allow: readonly (AllowEntry | string)[]
  /** `off`: addresses of accounts are treated like any others. Omitted: `on`. */
  readonly operatorReach?: 'on' | 'off'
  readonly resolve?: ResolveName
  /** Certificates in PEM that are trusted beside those that Node trusts. */
  readonly ca?: string | undefined
  readonly proxies?: ProxySettings
}

const httpsPort = 443
const httpPort = 80
const vettedAddressesMax = 1_000
/** Whose connections those of no account are. */
const noAccount = {}

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
    const reach = reachOf(url, callOptions, options.operatorReach ?? 'on')
    const host = plainHost(url.hostname)
    const isSecure = url.protocol === 'https:'
    const port = url.port === '' ? (isSecure ? httpsPort : httpPort) : Number(url.port)
    const destination = { host, port, isSecure, reach, isTheirs: callOptions.isTheirs === true }
    // A host that is an address is connected to without a lookup, so it is vetted here.
    if (isIP(host) !== 0) await vet(destination)
    const body = await bodyOf(request)
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
    // Without TLS the two sides have no way to agree on HTTP/2.
    const send = callOptions.http2 === true && isSecure ? callByHttp2 : callByHttp1
    return send(call, destination, callOptions.account ?? noAccount)
  }
}

/** For connections that are not HTTP's: mail servers. */
export function createAccountAddresses({ allow, resolve, operatorReach }: OutboundFetchOptions) {
  const guard = createAddressGuard(allow, resolve)
  const reach = operatorReach === 'off' ? 'public' : 'operator'
  return (host: string, port: number) => guard.addressesOf(host, reach, { scheme: 'smtp', port, isTheirs: false })
}

/** What is known about an address does not change while we run, and checking the lists again costs 20 µs per call. */
function createVetting(guard: AddressGuard): (destination: Destination) => Promise<void> {
  const known = new BoundedMap<string, true>(vettedAddressesMax)
  return async (destination) => {
    const { host, port, isSecure, reach, isTheirs } = destination
    const name = `${reach} ${isTheirs} ${isSecure} ${port} ${host}`
    if (known.has(name)) return
    await guard.addressesOf(host, reach, termsOf(destination))
    known.set(name, true)
  }
}

/** Throws when the address alone shows that we will not call it. */
function reachOf(url: URL, options: OutboundOptions, operatorReach: 'on' | 'off'): Reach {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new OutboundError('refused-address', `Only http and https URLs are supported, not ${url.protocol}`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new OutboundError('refused-address', `The URL of ${url.hostname} must not contain a user name or password`)
  }
  if (options.reach === 'operator') return operatorReach === 'on' ? 'operator' : 'public'
  return url.protocol === 'https:' && url.port === '' ? 'guarded' : 'listed'
}
