// The HTTP/2 connections of one account to one host: filled one after the other, watched, and closed when idle.
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2'
import { connect as openSession } from 'node:http2'
import type { Socket } from 'node:net'
import { codeOf } from './address-guard.ts'
import { connectTimeoutMs } from './outbound-call.ts'
import { OutboundError } from './outbound-error.ts'

export interface Http2Connection {
  readonly session: ClientHttp2Session
  /** How many calls are under way. */
  streams: number
  heardAtMs: number
  hasServed: boolean
  /** It was pinged, and takes no calls until it responds. */
  isInDoubt: boolean
  /** The last stream the other side will process, once it has sent GOAWAY. */
  lastStreamId: number | undefined
}

/** A call that needs a connection. */
export interface Waiting {
  /** Whether it may start: answered at once, or later. */
  ask(goOn: (isAllowed: boolean) => void): void
  /** Begins the call; `undefined` when it cannot be. */
  take(connection: Http2Connection): ClientHttp2Stream | undefined
  fail(error: OutboundError): void
}

export interface Http2Pool {
  ask(waiting: Waiting): void
  giveUp(waiting: Waiting): void
  /** A call by this connection was not answered. */
  doubt(connection: Http2Connection): void
}

/** What the large vendors take by one connection; a server that names fewer gets fewer. */
const streamsMax = 1_000
/** With the former, more calls at once than one account is ever given. Vendors take many connections for abuse. */
const connectionsMax = 4
/** The least that a server should take by one connection (RFC 9113, 6.5.2). */
const usualStreams = 100
/**
 * Concurrent calls of one account to one host, with a server that accepts what it should: fewer never wait for the end
 * of another. (Apple accepts one on a new connection, and a thousand once it has seen a valid token.)
 */
export const http2CallsMax = connectionsMax * usualStreams
/** Each waits no longer than its own time, so more than these could not be served anyway. */
const waitingMax = 20_000
/** A connection that was quiet for longer may have been forgotten by a router in between: it is asked first. */
const quietMs = 4_000
const answerToPingMs = 3_000
const beatMs = 10_000
/** New connections cost the vendor more than ones that are held. */
const idleMs = 60_000
/** A server that refuses a second connection is not asked for one with every call. */
const connectAgainMs = 1_000
/** Ids grow to 2^31 and are never used again. */
const streamIdMax = 2 ** 30
/** Node's own bound of 10 MB is 10 KB a stream. */
const sessionMegabytesMax = 100

/** Whether the other side sent GOAWAY before it processed this stream. */
export function isUnheard({ lastStreamId }: Http2Connection, streamId: number): boolean {
  return lastStreamId !== undefined && streamId > lastStreamId
}

interface PoolState {
  readonly host: string
  connect(): Promise<Socket>
  /** Nothing waits and nothing is open: the holder of the pool may release it. */
  onEmpty(): void
  readonly open: Set<Http2Connection>
  readonly line: Set<Waiting>
  isConnecting: boolean
  mayConnectAtMs: number
}

export function createHttp2Pool(host: string, connect: () => Promise<Socket>, onEmpty: () => void): Http2Pool {
  const pool: PoolState = {
    host,
    connect,
    onEmpty,
    open: new Set(),
    line: new Set(),
    isConnecting: false,
    mayConnectAtMs: 0,
  }
  return {
    ask(waiting) {
      if (pool.line.size >= waitingMax) {
        waiting.fail(
          new OutboundError('not-sent', `Too many requests to ${host} are waiting`, undefined, { isOurs: true }),
        )
        return
      }
      pool.line.add(waiting)
      serve(pool)
    },
    giveUp: (waiting) => void pool.line.delete(waiting),
    doubt: (connection) => doubt(pool, connection),
  }
}

function serve(pool: PoolState): void {
  const { line, open } = pool
  for (const waiting of line) {
    const connection = connectionWithCapacity(pool)
    if (connection === undefined) break
    line.delete(waiting)
    ask(pool, connection, waiting)
  }
  if (line.size > 0) connectMore(pool)
  else if (open.size === 0 && !pool.isConnecting) pool.onEmpty()
}

function connectionWithCapacity(pool: PoolState): Http2Connection | undefined {
  for (const connection of pool.open) {
    if (!hasCapacity(connection)) continue
    if (Date.now() - connection.heardAtMs < quietMs) return connection
    doubt(pool, connection)
  }
  return undefined
}

/**
 * Its place in the connection is reserved while it checks. Should the connection end in the meantime, it checks again
 * for the next.
 */
function ask(pool: PoolState, connection: Http2Connection, waiting: Waiting): void {
  let isAtOnce = true
  connection.streams += 1
  waiting.ask((isAllowed) => {
    connection.streams -= 1
    if (isAllowed && hasCapacity(connection)) begin(pool, connection, waiting)
    else if (isAllowed) pool.line.add(waiting)
    if (!isAtOnce) serve(pool)
  })
  isAtOnce = false
}

function begin(pool: PoolState, connection: Http2Connection, waiting: Waiting): void {
  const stream = waiting.take(connection)
  if (stream === undefined) return
  connection.streams += 1
  connection.hasServed = true
  stream.once('response', () => {
    connection.heardAtMs = Date.now()
  })
  stream.once('close', () => {
    connection.streams -= 1
    if ((stream.id ?? 0) > streamIdMax) connection.session.close()
    serve(pool)
  })
}

function connectMore(pool: PoolState): void {
  const { host, open } = pool
  // One that ends with the calls it has is none to wait for.
  const lasting = [...open].filter((connection) => !isEnding(connection))
  const isAsked = lasting.some((connection) => connection.isInDoubt)
  if (pool.isConnecting || isAsked || lasting.length >= connectionsMax || Date.now() < pool.mayConnectAtMs) return
  pool.isConnecting = true
  opened(host, pool.connect).then(
    (connection) => {
      pool.isConnecting = false
      watch(pool, connection)
      serve(pool)
    },
    (error: OutboundError) => {
      pool.isConnecting = false
      pool.mayConnectAtMs = open.size > 0 ? Date.now() + connectAgainMs : 0
      failWaiting(pool, error)
      serve(pool)
    },
  )
}

/** Unless calls are in flight: then waiting ones get their turn after them. */
function failWaiting({ open, line }: PoolState, error: OutboundError): void {
  if (open.size === 0) for (const waiting of line) waiting.fail(error)
}

function watch(pool: PoolState, connection: Http2Connection): void {
  const { session } = connection
  const { open } = pool
  open.add(connection)
  const beat = setInterval(() => {
    const silentMs = Date.now() - connection.heardAtMs
    if (connection.streams === 0 && silentMs >= idleMs) session.close()
    else if (connection.streams > 0 && silentMs >= beatMs) doubt(pool, connection)
  }, beatMs).unref()
  session.on('remoteSettings', () => serve(pool))
  const gone = (): void => {
    clearInterval(beat)
    open.delete(connection)
    if (open.size === 0) pool.mayConnectAtMs = 0
    // Else we would connect again and again to a server that closes at once.
    if (!connection.hasServed) failWaiting(pool, new OutboundError('not-sent', `${pool.host} closed a new connection`))
    serve(pool)
  }
  if (session.destroyed) gone()
  else session.once('close', gone)
}

/** Pings it; a connection that does not respond is closed, and its calls in flight are unsure. */
function doubt(pool: PoolState, connection: Http2Connection): void {
  const { session } = connection
  if (connection.isInDoubt || session.destroyed) return
  connection.isInDoubt = true
  const noAnswer = setTimeout(() => session.destroy(), answerToPingMs).unref()
  const answered = (error: Error | null): void => {
    clearTimeout(noAnswer)
    connection.isInDoubt = false
    if (error !== null) return
    connection.heardAtMs = Date.now()
    serve(pool)
  }
  try {
    session.ping(answered)
  } catch (error) {
    answered(error as Error)
    session.destroy()
  }
}

function isEnding({ session, lastStreamId }: Http2Connection): boolean {
  return session.closed || session.destroyed || lastStreamId !== undefined
}

function hasCapacity(connection: Http2Connection): boolean {
  const { session, streams, isInDoubt } = connection
  if (isInDoubt || isEnding(connection)) return false
  return streams < Math.min(streamsMax, session.remoteSettings.maxConcurrentStreams ?? streamsMax)
}

/**
 * A connection whose other side has shown that it supports HTTP/2 and how many streams it accepts. Throws an
 * OutboundError.
 */
async function opened(host: string, connect: () => Promise<Socket>): Promise<Http2Connection> {
  const socket = await connect().catch((error: OutboundError) => {
    // The alert of a server that supports none of the offered protocols.
    const isOther = codeOf(error.cause ?? error) === 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL'
    throw isOther ? noHttp2(host, error) : error
  })
  if (!('alpnProtocol' in socket) || socket.alpnProtocol !== 'h2') {
    socket.destroy()
    throw noHttp2(host)
  }
  const session = openSession(`https://${host.includes(':') ? `[${host}]` : host}`, {
    createConnection: () => socket,
    settings: { enablePush: false },
    maxSessionMemory: sessionMegabytesMax,
  })
  // Calls keep the process by their timers; an idle connection does not.
  session.unref()
  const connection: Http2Connection = {
    session,
    streams: 0,
    heardAtMs: Date.now(),
    hasServed: false,
    isInDoubt: false,
    lastStreamId: undefined,
  }
  session.on('goaway', (_code, lastStreamId) => {
    connection.lastStreamId = lastStreamId
  })
  await greeted(host, session)
  connection.heardAtMs = Date.now()
  return connection
}

/** The settings come first, and say how many concurrent calls are allowed. */
function greeted(host: string, session: ClientHttp2Session): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: unknown): void => {
      clearTimeout(timer)
      session.destroy()
      reject(new OutboundError('not-sent', `Could not connect to ${host} (${why})`, cause))
    }
    const timer = setTimeout(() => fail(`no HTTP/2 settings within ${connectTimeoutMs} ms`), connectTimeoutMs)
    // It stays: each call under way learns of a broken connection by its own stream.
    session.on('error', (error) => fail(codeOf(error), error))
    session.once('close', () => fail('closed'))
    session.once('remoteSettings', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

const noHttp2 = (host: string, cause?: unknown): OutboundError =>
  new OutboundError('not-sent', `${host} does not support HTTP/2`, cause)
