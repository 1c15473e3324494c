// WebSockets of the inbox, on the port of the API: Socket.IO at /socket.io/, plain at /v1/inbox/ws.
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import { Problem } from '../../domain/problem.ts'
import type { OpenedToken } from '../../manage/messages/inbox-tokens.ts'
import { frameBytesMax } from '../../realtime/limits.ts'
import { servePartySocket } from '../../realtime/party-socket.ts'
import { serveSocketIo } from '../../realtime/socket-io.ts'
import type { World } from '../../world/world.ts'
import { belowBase } from '../base-path.ts'
import { createCrowd } from './crowd.ts'
import type { SocketService } from './install-inbox-stream.ts'
import { numberIn } from './install-inbox-stream.ts'
import { serveWithoutUpgrade } from './without-upgrade.ts'

const partyPath = '/v1/inbox/ws'
const socketIoPath = '/socket.io'
/** Sockets that have not shown a good token yet: of all addresses, and of one. */
const unknownMax = { allMax: 1_000, eachMax: 100 }
/** Sockets that have shown one, and have not said yet where to connect: those without one must not keep them out. */
const knownMax = { allMax: 20_000, eachMax: 100 }
const unauthorized = 'Unauthorized'
/** Refused ones read their answer within this; and whatever is left when the service stops is cut after it. */
const lingerMsMax = 1_000

export function installInboxSockets(app: FastifyInstance, world: World, service: SocketService): void {
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: frameBytesMax,
    // Pings are answered where they are counted.
    autoPong: false,
  })
  const upgrades = new Upgrades(world, service, sockets)
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
      serveWithoutUpgrade(app.server as Server, request, socket, head)
      return
    }
    void upgrades.take(request, socket, head)
  })
  app.get(partyPath, { config: { cors: service.openTo.cors } }, async () => {
    throw new Problem(426, 'Expected a WebSocket', { headers: { upgrade: 'websocket' } })
  })
  app.addHook('preClose', async () => upgrades.stop())
}

class Upgrades {
  readonly #world: World
  readonly #service: SocketService
  readonly #sockets: WebSocketServer
  readonly #unknown = createCrowd(unknownMax)
  readonly #known = createCrowd(knownMax)
  /** WebSockets that follow no inbox yet. */
  readonly #waiting = new Set<WebSocket>()
  /** All that were taken from the HTTP server: nothing else ends them. */
  readonly #open = new Set<Duplex>()
  #isStopped = false

  constructor(world: World, service: SocketService, sockets: WebSocketServer) {
    this.#world = world
    this.#service = service
    this.#sockets = sockets
  }

  async take(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    this.#open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => this.#open.delete(socket))
    try {
      const url = belowBase(this.#service.basePath, request.url ?? '/')
      const { pathname, searchParams } = new URL(url, 'http://localhost')
      const path = pathname.replace(/\/+$/, '')
      if (this.#isStopped) throw busy()
      if (!this.#service.openTo.mayOpen(request.headers.origin)) throw new Problem(403, 'Origin not allowed')
      if (path === socketIoPath) await this.#socketIo(request, socket, head, searchParams)
      else if (path === partyPath) await this.#party(request, socket, head, searchParams)
      else throw new Problem(404, `Cannot ${request.method} ${pathname}`)
    } catch (error) {
      refuse(socket, error)
    }
  }

  /** Who it is, is looked at once the connection stands: only then can the answer stop these clients from trying again. */
  async #socketIo(request: IncomingMessage, socket: Duplex, head: Buffer, query: URLSearchParams): Promise<void> {
    if (query.get('EIO') !== '4') throw new Problem(400, 'Unsupported protocol version')
    if (query.get('transport') !== 'websocket') throw new Problem(400, 'Transport unknown')
    const shown = await this.#service.inboxTokens.open(query.get('token') ?? '')
    // Its close came before anyone listened.
    if (socket.destroyed) return
    if (this.#isStopped) throw busy()
    const leave =
      typeof shown === 'object'
        ? this.#known.enter(readerKey(shown))
        : this.#unknown.enter(addressOf(request, this.#service.trustsProxies))
    if (leave === undefined) throw busy()
    socket.on('close', leave)
    this.#sockets.handleUpgrade(request, socket, head, (opened) => {
      this.#waiting.add(opened)
      opened.on('close', () => this.#waiting.delete(opened))
      const open = async (token: string): Promise<OpenedToken | string> => {
        const session = await this.#opened(token)
        if (typeof session === 'object') {
          this.#waiting.delete(opened)
          leave()
        }
        return session
      }
      serveSocketIo(this.#service.hub, open, query.get('token') ?? undefined, { socket: opened, below: socket })
    })
  }

  async #party(request: IncomingMessage, socket: Duplex, head: Buffer, query: URLSearchParams): Promise<void> {
    const { hub } = this.#service
    const { countForged, trustsProxies } = this.#service
    const session = await this.#opened(query.get('token') ?? '', () => countForged(addressOf(request, trustsProxies)))
    if (typeof session === 'string') throw new Problem(401, session)
    const after = numberIn(query.get('offset'))
    const joined = await hub.enter(session, after)
    this.#sockets.handleUpgrade(request, socket, head, (opened) =>
      servePartySocket(hub, this.#world, session, joined, after, { socket: opened, below: socket }),
    )
  }

  /** The session of a token, or why there is none. Readers who connect too often are a 429, which throws. */
  async #opened(token: string, onForged = () => {}): Promise<OpenedToken | string> {
    const opened = await this.#service.inboxTokens.open(token)
    if (opened === undefined && token !== '') onForged()
    if (opened === undefined || opened === 'revoked') return unauthorized
    if (opened === 'expired') return 'token expired'
    this.#service.limitReader(readerKey(opened))
    return opened
  }

  stop(): void {
    this.#isStopped = true
    for (const waiting of this.#waiting) waiting.terminate()
    // Followers are ended meanwhile.
    setTimeout(() => {
      for (const socket of this.#open) socket.destroy()
    }, lingerMsMax).unref()
  }
}

const readerKey = ({ reader: { environment, id } }: OpenedToken): string => `${environment.id}/${id}`

/** Behind proxies that are trusted, the one that the nearest of them has seen. */
function addressOf({ headers, socket }: IncomingMessage, trustsProxies: boolean): string {
  const forwarded = trustsProxies ? String(headers['x-forwarded-for'] ?? '') : ''
  return forwarded.split(',').at(-1)?.trim() || (socket.remoteAddress ?? '')
}

const busy = (): Problem => new Problem(503, 'Too many connections', { headers: { 'retry-after': '60' } })

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
}

/** Before there is a WebSocket there is HTTP. A client that does not read the answer, or does not close after it, is cut. */
function refuse(socket: Duplex, error: unknown): void {
  const problem = error instanceof Problem ? error : new Problem(503, 'Try again')
  const { status, message, headers = {} } = problem
  const body = JSON.stringify({ error: message })
  const lines = Object.entries({
    ...headers,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`)
  const cut = setTimeout(() => socket.destroy(), lingerMsMax)
  socket.on('close', () => clearTimeout(cut))
  socket.end(`HTTP/1.1 ${status} ${reasons[status] ?? 'Error'}\r\n${lines.join('\r\n')}\r\n\r\n${body}`, () =>
    socket.destroy(),
  )
}
