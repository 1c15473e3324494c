// Plain WebSockets of the inbox, as clients with PartySocket open them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { WebSocket } from 'ws'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { inboxOf } from '../support/inbox-scene.ts'
import { addressOf, until, untilClosed } from '../support/stream-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let address: string
let workflow: string
const opened: WebSocket[] = []
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  address = await addressOf(app)
  workflow = await scene.workflow([inApp('Hello')])
})
after(async () => {
  for (const socket of opened) socket.terminate()
  await app.close()
})

function join(token: string, more = ''): { socket: WebSocket; frames: Json[] } {
  const socket = new WebSocket(`${address.replace('http', 'ws')}/v1/inbox/ws?token=${token}${more}`)
  const frames: Json[] = []
  socket.on('error', () => {})
  socket.on('message', (data) => {
    const text = String(data)
    frames.push(text.startsWith('{') ? JSON.parse(text) : text)
  })
  opened.push(socket)
  return { socket, frames }
}

const received = (frames: readonly Json[]): Json[] => frames.filter(({ event }) => event === 'notification_received')

test('a socket is sent events with their data and time, and answers pings', async () => {
  const { socket, frames } = join((await inboxOf(app, 'ada')).token)
  await until(() => frames.length === 2)
  await scene.run(workflow, 'ada')
  await until(() => received(frames).length === 1)
  const [{ data, timestamp, offset }] = received(frames)
  assert.deepEqual([data.message.content, offset], ['Hello', '1'])
  assert.equal(timestamp, app.world.now().getTime())
  socket.send('ping')
  await until(() => frames.includes('pong'))
})

test('a socket that names the last offset is sent what came since', async () => {
  const { token } = await inboxOf(app, 'bea')
  await scene.run(workflow, 'bea')
  await scene.run(workflow, 'bea')
  const { frames } = join(token, '&offset=1')
  await until(() => received(frames).length === 1)
  assert.equal(received(frames)[0].offset, '2')
})

test('a wrong token is 401 before there is a socket, and a plain request 426', async () => {
  const { token } = await inboxOf(app, 'cyd')
  for (const given of ['', 'x', `${token.slice(0, -4)}aaaa`]) {
    const { socket } = join(given)
    const [, response] = await once(socket, 'unexpected-response')
    assert.equal(response.statusCode, 401)
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    assert.deepEqual(JSON.parse(String(Buffer.concat(chunks))), { error: 'Unauthorized' })
  }
  const plain = await app.call('GET', `/v1/inbox/ws?token=${token}`, { key: null })
  assert.equal(plain.status, 426)
})

const refusals = async (token: string, count: number): Promise<Record<number, number>> => {
  const counts: Record<number, number> = {}
  for (let at = 0; at < count; at += 1) {
    const [, response] = await once(join(token).socket, 'unexpected-response')
    response.resume()
    counts[response.statusCode] = (counts[response.statusCode] ?? 0) + 1
  }
  return counts
}

test('tokens that are made up are counted; one that was revoked or left out is not', async () => {
  const { token } = await inboxOf(app, 'revoked')
  assert.equal((await app.call('DELETE', '/v2/subscribers/revoked/sessions')).status, 204)
  app.world.advance(3_600_000)
  assert.deepEqual(await refusals(token, 70), { 401: 70 })
  assert.deepEqual(await refusals('', 70), { 401: 70 })
  assert.deepEqual(await refusals('made-up', 70), { 401: 60, 429: 10 })
  app.world.advance(3_600_000)
})

test('pings of the protocol are answered, and count as frames', async () => {
  const { socket } = join((await inboxOf(app, 'fay')).token)
  await once(socket, 'message')
  socket.ping('x')
  assert.equal(String((await once(socket, 'pong'))[0]), 'x')
  for (let count = 0; count < 150; count += 1) socket.ping()
  assert.equal((await once(socket, 'close'))[0], 1008)
  const silent = join((await inboxOf(app, 'fay')).token).socket
  await once(silent, 'message')
  for (let count = 0; count < 150; count += 1) silent.pong()
  assert.equal((await once(silent, 'close'))[0], 1008)
})

test('a stop of the node closes its sockets at once', async () => {
  const node = await createTestApp({ nodeOf: app })
  const at = await addressOf(node)
  const socket = new WebSocket(`${at.replace('http', 'ws')}/v1/inbox/ws?token=${(await inboxOf(app, 'dot')).token}`)
  await once(socket, 'message')
  const closed = once(socket, 'close')
  await node.close()
  assert.equal((await closed)[0], 1001)
})

/** A client that asks for a socket and never closes, whatever it is answered. */
function stubborn(at: string, path: string): { answer(): string; destroy(): void } {
  const socket = connect({ port: Number(new URL(at).port), host: '127.0.0.1', allowHalfOpen: true })
  let answer = ''
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    answer += String(chunk)
  })
  const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n\r\n`)
  return { answer: () => answer, destroy: () => socket.destroy() }
}

test('a client that is refused and does not close is cut off', async () => {
  const node = await createTestApp({ nodeOf: app })
  const at = await addressOf(node)
  const paths = ['/v1/inbox/ws?token=x', '/socket.io/?EIO=3', '/other']
  const clients = [...paths, ...paths].map((path) => stubborn(at, path))
  await until(() => clients.every((client) => client.answer().startsWith('HTTP/1.1 4')))
  await untilClosed(node)
  for (const client of clients) client.destroy()
  await node.close()
})

test('clients that do not close do not hold up the stop', async () => {
  const node = await createTestApp({ nodeOf: app })
  const at = await addressOf(node)
  const { token } = await inboxOf(app, 'eve')
  const paths = ['/v1/inbox/ws?token=x', `/v1/inbox/ws?token=${token}`, '/socket.io/?EIO=4&transport=websocket']
  const clients = paths.map((path) => stubborn(at, path))
  await until(() => clients.every((client) => client.answer() !== ''))
  const startedAt = performance.now()
  await node.close()
  assert.ok(performance.now() - startedAt < 5_000)
  for (const client of clients) client.destroy()
})

test('below a base path sockets open with it and, where a proxy strips it, without', async () => {
  const below = await createTestApp({ nodeOf: app, baseUrl: 'https://example.com/posthorn' })
  try {
    const root = (await addressOf(below)).replace('http', 'ws')
    const { token } = await inboxOf(app, 'bert')
    const paths = ['/posthorn/v1/inbox/ws', '/v1/inbox/ws', '/posthorn/socket.io/', '/socket.io/']
    for (const path of paths) {
      const socket = new WebSocket(`${root}${path}?token=${token}&EIO=4&transport=websocket`)
      opened.push(socket)
      await once(socket, 'open')
      socket.terminate()
    }
    const elsewhere = new WebSocket(`${root}/posthornx/v1/inbox/ws?token=${token}`)
    const [error] = await once(elsewhere, 'error')
    assert.match(error.message, /404/)
  } finally {
    await below.close()
  }
})
