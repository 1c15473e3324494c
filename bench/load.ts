// A load generator that costs little itself: raw sockets, ready-made requests, one at a time on each connection.
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Load {
  readonly port: number
  readonly clients: number
  readonly requests: number
  /** The whole HTTP request, headers and all. */
  requestOf(index: number): string
}

export interface LoadResult {
  readonly perSecond: number
  readonly latenciesMs: number[]
}

/** A connection that does not answer for this long is a failure of the run, not a slow sample. */
const answerTimeoutMs = 30_000

export async function runLoad(load: Load): Promise<LoadResult> {
  let next = 0
  const latenciesMs: number[] = []
  const sockets = await Promise.all(Array.from({ length: load.clients }, () => open(load.port)))
  const startedAt = performance.now()
  await Promise.all(
    sockets.map(async (socket) => {
      const ask = createAsk(socket)
      while (next < load.requests) {
        const sentAt = performance.now()
        const status = await ask(load.requestOf(next++))
        if (status >= 300) throw new Error(`The server answered ${status}`)
        latenciesMs.push(performance.now() - sentAt)
      }
    }),
  )
  const seconds = (performance.now() - startedAt) / 1000
  for (const socket of sockets) socket.destroy()
  return { perSecond: load.requests / seconds, latenciesMs }
}

export interface Callers {
  /** On a connection that waits for nothing; a new one where all are busy. Resolves with the status. */
  call(request: string): Promise<number>
  close(): void
}

/** A server that has too much to do says so, and is asked again after this. */
const retryMs = 100

/**
 * For open loops: however slow the answers are, the next call goes out at once. Where repeating does no harm, as with pages, a
 * 503 is asked again, and the time counts.
 */
export function createCallers(port: number, { repeats = false } = {}): Callers {
  type Ask = (request: string) => Promise<number>
  const sockets: Socket[] = []
  const idle: Ask[] = []
  return {
    call: async (request) => {
      let ask = idle.pop()
      if (ask === undefined) {
        const socket = await open(port)
        sockets.push(socket)
        ask = createAsk(socket)
      }
      let status = await ask(request)
      for (; repeats && status === 503; status = await ask(request)) await sleep(retryMs)
      if (status >= 300) throw new Error(`The server answered ${status}`)
      idle.push(ask)
      return status
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.setTimeout(answerTimeoutMs, () => socket.destroy(new Error('The server did not answer')))
    socket.once('connect', () => resolve(socket))
    socket.once('error', reject)
  })
}

/** Sends a request and resolves with the status once the whole answer, by its content-length, has arrived. */
function createAsk(socket: Socket): (request: string) => Promise<number> {
  let waiting: { resolve(status: number): void; reject(error: Error): void } | undefined
  let received = ''
  socket.setEncoding('latin1')
  socket.on('error', (error) => waiting?.reject(error))
  socket.on('close', () => waiting?.reject(new Error('The server closed the connection')))
  socket.on('data', (chunk: string) => {
    received += chunk
    const headersEnd = received.indexOf('\r\n\r\n')
    if (headersEnd < 0) return
    const length = /content-length: (\d+)/i.exec(received.slice(0, headersEnd))
    if (received.length < headersEnd + 4 + Number(length?.[1] ?? 0)) return
    const status = Number(received.slice(9, 12))
    received = ''
    waiting?.resolve(status)
  })
  return (request) =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject }
      socket.write(request, 'utf8')
    })
}
