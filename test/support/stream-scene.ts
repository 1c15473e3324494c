// What tests of streams start from: an app that listens, and readers of its events.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { request as requestTls } from 'node:https'
import type { mock } from 'node:test'
import { sweepEveryMs } from '../../src/realtime/hub.ts'
import type { Json, TestApp } from './app.ts'

/** Long enough for a loaded machine; what is waited for comes within milliseconds. */
const patienceMs = 30_000

/** Of nodes and hubs made after this: what their followers hear comes by a hint, or not at all. */
export function withoutSweeps(on: typeof mock): void {
  const { setInterval: start } = globalThis
  on.method(globalThis, 'setInterval', (work: () => void, ms: number) =>
    start(ms === sweepEveryMs ? () => {} : work, ms),
  )
}

/** The address of an app, which listens from then on. */
export async function addressOf(app: TestApp, port = 0): Promise<string> {
  await app.app.listen({ port, host: '127.0.0.1' })
  const address = app.app.server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return `http://127.0.0.1:${address.port}`
}

export const connectionCount = ({ app }: TestApp): Promise<number> =>
  new Promise((resolve, reject) =>
    app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  )

/** When the server has seen that all its connections are gone. */
export async function untilClosed(app: TestApp): Promise<void> {
  let count = await connectionCount(app)
  const look = setInterval(async () => {
    count = await connectionCount(app)
  }, 5)
  await until(() => count === 0).finally(() => clearInterval(look))
}

export interface StreamEvent {
  readonly id: string
  readonly name: string
  readonly data: Json
}

export interface OpenStream {
  readonly status: number
  readonly headers: NodeJS.Dict<string | string[]>
  /** Of an answer that is no stream. */
  readonly body: string
  readonly events: StreamEvent[]
  readonly isClosed: boolean
  /** The first event from `from` on that is the one, when it comes. */
  next(name: string, isIt?: (event: StreamEvent) => boolean): Promise<StreamEvent>
  closed(): Promise<void>
  /** Stops reading, and goes on. */
  pause(): void
  resume(): void
  close(): void
}

/** Reads events as browsers do. */
export async function openStream(
  address: string,
  path: string,
  headers: Record<string, string> = {},
  tls: { readonly ca?: string } = {},
): Promise<OpenStream> {
  const send = address.startsWith('https:') ? requestTls : request
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    send(`${address}${path}`, { headers, agent: false, ...tls }, resolve)
      .on('error', reject)
      .end()
  })
  const events: StreamEvent[] = []
  let text = ''
  let isClosed = false
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    text += chunk
    if (response.statusCode !== 200) return
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const event = eventOf(text.slice(0, end))
      if (event !== undefined) events.push(event)
      text = text.slice(end + 2)
    }
  })
  response.on('error', () => {})
  response.on('close', () => {
    isClosed = true
  })
  if (response.statusCode !== 200) await until(() => isClosed)
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: text,
    events,
    get isClosed() {
      return isClosed
    },
    next: async (name, isIt = () => true) => {
      const found = () => events.find((event) => event.name === name && isIt(event))
      await until(() => found() !== undefined)
      return found() as StreamEvent
    },
    closed: () => until(() => isClosed),
    pause: () => response.pause(),
    resume: () => response.resume(),
    close: () => response.destroy(),
  }
}

function eventOf(text: string): StreamEvent | undefined {
  const fields = new Map(
    text.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.replace(/^\w*: ?/, '')]),
  )
  const name = fields.get('event')
  return name === undefined
    ? undefined
    : { id: fields.get('id') ?? '', name, data: JSON.parse(fields.get('data') ?? 'null') }
}

/** Real time, since sockets know no other. */
export async function until(isSo: () => boolean): Promise<void> {
  const startedAt = performance.now()
  while (!isSo()) {
    if (performance.now() - startedAt > patienceMs) throw new Error(`It did not come within ${patienceMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
