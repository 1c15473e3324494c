// Connecting to the outside: a socket to a vetted address, secured, within the time for it. Whatever fails here was not sent.
import type { Socket, TcpNetConnectOpts } from 'node:net'
import { connect as connectTcp, isIP } from 'node:net'
import type { ConnectionOptions, SecureContext, TLSSocket } from 'node:tls'
import { connect as connectTls } from 'node:tls'
import type { AddressGuard, Reach } from './address-guard.ts'
import type { Terms } from './allow-list.ts'
import { connectTimeoutMs, couldNotConnect } from './outbound-call.ts'
import { OutboundError } from './outbound-error.ts'
import type { Proxies, ProxyServer } from './outbound-proxy.ts'
import { tunnelThrough, vettedTargets } from './outbound-proxy.ts'

export interface Destination {
  readonly host: string
  readonly port: number
  readonly isSecure: boolean
  readonly reach: Reach
  /** The URL is a subscriber's or came with an event: some of what the operator opens is not open to it. */
  readonly isTheirs?: boolean
}

export const termsOf = ({ port, isSecure, isTheirs = false }: Omit<Destination, 'host' | 'reach'>): Terms => ({
  scheme: isSecure ? 'https' : 'http',
  port,
  isTheirs,
})

export interface Securing {
  /** Offered to the other side. */
  readonly protocols?: readonly string[]
  /** Resumed, if the other side remembers it. */
  readonly session?: Buffer | undefined
}

/** A connection, secured where the destination is. */
export type Connect = (destination: Destination, securing?: Securing) => Promise<Socket>

/** Tracks a socket, to be closed when the time is up. */
type Hold = <Kind extends Socket>(socket: Kind) => Kind

export interface ConnectParts {
  readonly guard: AddressGuard
  readonly trust: SecureContext | undefined
  readonly proxies: Proxies | undefined
}

export function createConnect({ guard, trust, proxies }: ConnectParts): Connect {
  const trusted = trust === undefined ? {} : { secureContext: trust }
  return (destination, { protocols = [], session } = {}) => {
    const { host, port, isSecure, reach } = destination
    return inTime(host, async (hold) => {
      const security: ConnectionOptions = {
        ...trusted,
        ...identity(host),
        ...(protocols.length === 0 ? {} : { ALPNProtocols: [...protocols] }),
        ...(session === undefined ? {} : { session }),
      }
      const proxy = proxies?.of(isSecure, host, port)
      if (proxy !== undefined) {
        const socket = await tunnelled(proxy, destination, hold)
        return isSecure ? secured({ ...security, socket }, hold) : socket
      }
      // A host that is an address is connected to without a lookup.
      const terms = termsOf(destination)
      if (isIP(host) !== 0) await guard.addressesOf(host, reach, terms)
      const place = { host, port, lookup: guard.lookup(reach, terms) }
      return isSecure ? secured({ ...security, ...place }, hold) : connected(place, hold)
    })
  }

  async function tunnelled(proxy: ProxyServer, destination: Destination, hold: Hold): Promise<Socket> {
    const { host, port } = destination
    const vetted = await vettedTargets(guard, { ...destination, terms: termsOf(destination) })
    const targets = proxies?.target === 'name' ? [host] : vetted
    return tunnelThrough(proxy, { host, port, targets }, () => connectToProxy(proxy, hold))
  }

  async function connectToProxy(proxy: ProxyServer, hold: Hold): Promise<Socket> {
    const { host, port, isSecure } = proxy
    // The operator wrote it down, so it may be private.
    const place = { host, port, lookup: guard.lookup('operator') }
    try {
      return await (isSecure ? secured({ ...trusted, ...identity(host), ...place }, hold) : connected(place, hold))
    } catch (error) {
      throw new OutboundError('not-sent', couldNotConnect(`the proxy ${host}`, error), error)
    }
  }
}

/** The host a certificate must be for. */
const identity = (host: string): ConnectionOptions => ({ host, ...(isIP(host) === 0 ? { servername: host } : {}) })

/** Throws an OutboundError if it takes longer than connecting may, and then closes what was started. */
export async function inTime<Result>(host: string, connect: (hold: Hold) => Promise<Result>): Promise<Result> {
  const held: Socket[] = []
  let isLate = false
  let timer: NodeJS.Timeout | undefined
  const hold: Hold = (socket) => {
    held.push(socket)
    if (isLate) socket.destroy()
    return socket
  }
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      isLate = true
      reject(new OutboundError('not-sent', `Could not connect to ${host} within ${connectTimeoutMs} ms`))
    }, connectTimeoutMs)
  })
  try {
    return await Promise.race([connect(hold), tooLate])
  } catch (error) {
    for (const socket of held) socket.destroy()
    if (error instanceof OutboundError) throw error
    throw new OutboundError('not-sent', couldNotConnect(host, error), error)
  } finally {
    clearTimeout(timer)
  }
}

function secured(options: ConnectionOptions, hold: Hold): Promise<TLSSocket> {
  return ready(hold(connectTls(options)), 'secureConnect')
}

function connected(options: TcpNetConnectOpts, hold: Hold): Promise<Socket> {
  return ready(hold(connectTcp(options)), 'connect')
}

function ready<Kind extends Socket>(socket: Kind, event: 'connect' | 'secureConnect'): Promise<Kind> {
  return new Promise((resolve, reject) => {
    socket.once(event, () => resolve(socket))
    // It stays: an error between here and the next owner of the socket must not end the process.
    socket.on('error', reject)
    socket.once('close', () => reject(new Error('closed')))
  })
}
