// A customer's backend for tests of webhooks: a real HTTP server on loopback, which verifies signatures by itself.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createOutboundFetch } from '../../src/world/outbound/outbound-fetch.ts'
import type { Json, TestApp } from './app.ts'
import type { FlowScene } from './flow-scene.ts'
import { fresh } from './flow-scene.ts'
import { bodyOf } from './outbound-scene.ts'

export interface ReceivedEvent {
  readonly path: string
  readonly id: string
  readonly timestamp: string
  readonly signatures: readonly string[]
  readonly text: string
  readonly body: Json
}

export interface Receiver {
  readonly received: ReceivedEvent[]
  /** The statuses of the next answers at a path; 200 after these. */
  readonly answers: Map<string, (number | 'cut')[]>
  /** Called before each answer, for what happens meanwhile. */
  meanwhile: ((event: ReceivedEvent) => Promise<void> | void) | undefined
  url(path: string): string
  /** Those that came at a path, and forgets them. */
  taken(path: string): ReceivedEvent[]
  close(): Promise<void>
}

/** What the world of the app asks anywhere else is answered by `elsewhere`. */
export async function startReceiver(app: TestApp): Promise<Receiver> {
  const received: ReceivedEvent[] = []
  const answers = new Map<string, (number | 'cut')[]>()
  const server = createServer(async (request, reply) => {
    const text = await bodyOf(request)
    const header = (name: string): string => String(request.headers[name] ?? '')
    const event: ReceivedEvent = {
      path: request.url ?? '',
      id: header('webhook-id'),
      timestamp: header('webhook-timestamp'),
      signatures: header('webhook-signature').split(' '),
      text,
      body: JSON.parse(text),
    }
    received.push(event)
    await receiver.meanwhile?.(event)
    const answer = answers.get(event.path)?.shift() ?? 200
    if (answer === 'cut') return void request.socket.destroy()
    reply.writeHead(answer, { 'content-type': 'text/plain' }).end(`answer ${answer} ${'x'.repeat(2_000)}`)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  const guarded = createOutboundFetch({ allow: ['127.0.0.1'] })
  const before = app.world.onFetch
  app.world.onFetch = (request, options) => {
    if (new URL(request.url).hostname === '127.0.0.1') return guarded(request, options)
    assert.ok(before, `${request.url} was not expected`)
    return before(request, options)
  }
  const receiver: Receiver = {
    received,
    answers,
    meanwhile: undefined,
    url: (path) => `http://127.0.0.1:${port}${path}`,
    taken: (path) => {
      const all = received.filter((event) => event.path === path)
      received.splice(0, received.length, ...received.filter((event) => event.path !== path))
      return all
    },
    close: () => new Promise((closed) => void server.close(() => closed()).closeAllConnections()),
  }
  return receiver
}

/** Whether an event is signed with a secret, as https://www.standardwebhooks.com says; written from its text. */
export function isSignedWith({ id, timestamp, signatures, text }: ReceivedEvent, secret: string): boolean {
  assert.ok(secret.startsWith('whsec_'))
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest('base64')
  return signatures.includes(`v1,${expected}`)
}

export interface Endpoint {
  readonly id: string
  readonly path: string
  readonly secret: string
}

/** What tests of webhooks do with endpoints, each at a path of its own. */
export class WebhookScene {
  readonly flow: FlowScene
  readonly receiver: Receiver

  constructor(flow: FlowScene, receiver: Receiver) {
    this.flow = flow
    this.receiver = receiver
  }

  async endpoint(more: object = {}): Promise<Endpoint> {
    const path = `/${fresh('hook')}`
    const body = { url: this.receiver.url(path), ...more }
    const made = await this.flow.expect(201, 'POST', '/v1/webhook-endpoints', body)
    return { id: made._id, path, secret: made.secret }
  }

  at({ id }: Endpoint, rest = ''): string {
    return `/v1/webhook-endpoints/${id}${rest}`
  }

  shown(one: Endpoint): Promise<Json> {
    return this.flow.expect(200, 'GET', this.at(one))
  }

  remove(one: Endpoint): Promise<Json> {
    return this.flow.expect(204, 'DELETE', this.at(one))
  }

  async deliveries(one: Endpoint, query = ''): Promise<Json[]> {
    return (await this.flow.expect(200, 'GET', this.at(one, `/deliveries?limit=100${query}`))).data
  }

  /** What arrived by now, and was not taken before. */
  async taken(one: Endpoint): Promise<ReceivedEvent[]> {
    await this.flow.work()
    return this.receiver.taken(one.path)
  }

  /** A message of the feed, of which `message.sent` is reported. */
  async belled(workflow: string, to = fresh('person')): Promise<{ to: string; messageId: string }> {
    const { transactionId } = await this.flow.run(workflow, to)
    return { to, messageId: (await this.flow.message(transactionId))._id }
  }

  /** Sends a test; what became of it. */
  async tested(one: Endpoint): Promise<Json> {
    const made = await this.flow.expect(201, 'POST', this.at(one, '/test'))
    await this.flow.work()
    return this.flow.expect(200, 'GET', this.at(one, `/deliveries/${made._id}`))
  }
}
