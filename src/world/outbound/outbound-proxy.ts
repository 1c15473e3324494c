// The operator's proxies: which calls go by them, and a tunnel through one.
import type { IncomingMessage } from 'node:http'
import { request as openRequest } from 'node:http'
import type { Socket } from 'node:net'
import { BlockList, isIP } from 'node:net'
import { addNetwork } from './address.ts'
import type { AddressGuard, Reach } from './address-guard.ts'
import { plainHost } from './address-guard.ts'
import type { Terms } from './allow-list.ts'
import { OutboundError } from './outbound-error.ts'

export interface ProxySettings {
  /** For https addresses and for http addresses: a proxy's own address, perhaps with a user and a password. */
  readonly https?: string | undefined
  readonly http?: string | undefined
  /** What is called directly, as NO_PROXY lists it. */
  readonly none?: readonly string[]
  /** What a tunnel connects to: the address that was vetted here, or the name. */
  readonly target?: 'address' | 'name'
}

export interface ProxyServer {
  readonly host: string
  readonly port: number
  readonly isSecure: boolean
  readonly headers: Readonly<Record<string, string>>
}

export interface Proxies {
  /** The proxy by which a call goes, if by any. */
  of(isSecure: boolean, host: string, port: number): ProxyServer | undefined
  readonly target: 'address' | 'name'
}

export const proxyRefusal = 407
/** A proxy that cannot reach one address of a host may reach another; one that reaches neither of two is not asked on. */
const addressesTriedMax = 2

export function createProxies(settings: ProxySettings): Proxies | undefined {
  const https = settings.https === undefined ? undefined : proxyOf(settings.https)
  const http = settings.http === undefined ? undefined : proxyOf(settings.http)
  if (https === undefined && http === undefined) return undefined
  const isDirect = readDirect(settings.none ?? [])
  return {
    of: (isSecure, host, port) => (isDirect(host, port) ? undefined : isSecure ? https : http),
    target: settings.target ?? 'address',
  }
}

function proxyOf(address: string): ProxyServer {
  const { protocol, hostname, port, username, password } = new URL(address)
  const isSecure = protocol === 'https:'
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return {
    host: plainHost(hostname),
    port: Number(port || (isSecure ? 443 : 80)),
    isSecure,
    headers:
      credentials === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` },
  }
}

/** This machine is never asked of a proxy, which would take itself for it. */
const ownNetworks = blockListOf('127.0.0.0/8', '::1')
const ownName = /(^|\.)localhost$/

function readDirect(entries: readonly string[]): (host: string, port: number) => boolean {
  const matches = entries.map(readEntry)
  return (host, port) => {
    if (ownName.test(host) || isWithin(ownNetworks, host)) return true
    return matches.some((match) => match(host, port))
  }
}

function readEntry(entry: string): (host: string, port: number) => boolean {
  const [, portText] = isIP(entry) === 6 ? [] : (/:(\d{1,5})$/.exec(entry) ?? [])
  const place = portText === undefined ? entry : entry.slice(0, -portText.length - 1)
  const isHost = readPlace(place.toLowerCase())
  return (host, port) => (portText === undefined || Number(portText) === port) && isHost(host)
}

/** A host includes its subdomains; with a dot or a star before it, only those. */
function readPlace(place: string): (host: string) => boolean {
  if (place === '*') return () => true
  const networks = new BlockList()
  if (addNetwork(networks, plainHost(place))) return (host) => isWithin(networks, host)
  const name = plainHost(place.replace(/^\*?\./, ''))
  const isOnlyBelow = name.length < plainHost(place).length
  return (host) => (host === name && !isOnlyBelow) || host.endsWith(`.${name}`)
}

function isWithin(networks: BlockList, host: string): boolean {
  const family = isIP(host)
  return family !== 0 && networks.check(host, family === 6 ? 'ipv6' : 'ipv4')
}

function blockListOf(...entries: readonly string[]): BlockList {
  const networks = new BlockList()
  for (const entry of entries) addNetwork(networks, entry)
  return networks
}

/**
 * What a proxy may be asked for: addresses that were vetted here, so that its own DNS cannot redirect the request. A
 * name that cannot be resolved here is left to the proxy only if the operator configured it.
 */
export async function vettedTargets(
  guard: AddressGuard,
  { host, reach, terms }: { host: string; reach: Reach; terms: Terms },
): Promise<readonly [string, ...string[]]> {
  try {
    const addresses = [...(await guard.addressesOf(host, reach, terms))].sort((one, other) => one.family - other.family)
    const [first = host, ...others] = addresses.map(({ address }) => address)
    return [first, ...others]
  } catch (error) {
    const isUnknown = error instanceof OutboundError && error.kind === 'not-sent'
    if (isUnknown && (reach === 'operator' || guard.isListedName(host, terms))) return [host]
    throw error
  }
}

/** A connection through the proxy to the first of the targets that it can reach. */
export async function tunnelThrough(
  proxy: ProxyServer,
  { host, port, targets }: { host: string; port: number; targets: readonly string[] },
  connectToProxy: () => Promise<Socket>,
): Promise<Socket> {
  let status = 0
  for (const target of targets.slice(0, addressesTriedMax)) {
    const socket = await connectToProxy()
    status = await asked(proxy, `${target.includes(':') ? `[${target}]` : target}:${port}`, socket)
    if (status >= 200 && status < 300) return socket
    socket.destroy()
    // A refusal is not one of the address.
    if (status < 500) break
  }
  throw refusedBy(proxy, host, status)
}

export function refusedBy(proxy: ProxyServer, host: string, status: number): OutboundError {
  const why = status === proxyRefusal ? 'without another user name and password' : `(status ${status})`
  return new OutboundError('not-sent', `The proxy ${proxy.host} refused to connect to ${host} ${why}`)
}

function asked(proxy: ProxyServer, authority: string, socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void =>
      reject(
        new OutboundError('not-sent', `The connection to the proxy ${proxy.host} failed (${error.message})`, error),
      )
    const request = openRequest({
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...proxy.headers },
      createConnection: () => socket,
    })
    request.once('connect', (answer: IncomingMessage, _socket, head: Buffer) => {
      // Whatever sends data first behind the tunnel, it is not TLS.
      if (head.length > 0 && answer.statusCode === 200) fail(new Error('sent unexpected data'))
      else resolve(answer.statusCode ?? 0)
    })
    request.once('error', fail)
    request.end()
  })
}
