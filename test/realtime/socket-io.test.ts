// Sockets of public inbox clients: the published socket.io-client, connected as those clients connect it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { after, before, test } from 'node:test'
import type { Socket } from 'socket.io-client'
import { io } from 'socket.io-client'
import { WebSocket } from 'ws'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { inboxOf } from '../support/inbox-scene.ts'
import { addressOf, until } from '../support/stream-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let address: string
let workflow: string
const opened: Socket[] = []
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  address = await addressOf(app)
  workflow = await scene.workflow([inApp('Hello')], { tags: ['news'] })
})
after(async () => {
  for (const socket of opened) socket.close()
  await app.close()
})

interface Page {
  readonly socket: Socket
  readonly events: { readonly name: string; readonly data: Json; readonly offset: string }[]
  readonly errors: string[]
  readonly disconnects: string[]
}

/** As public clients call it; a quick return instead of a second and more. */
function join(token: string, at = address, more: object = {}): Page {
  const socket = io(at, {
    reconnectionDelay: 20,
    reconnectionDelayMax: 40,
    transports: ['websocket'],
    forceNew: true,
    query: { token },
    ...more,
  })
  const page: Page = { socket, events: [], errors: [], disconnects: [] }
  socket.onAny((name: string, data: Json, offset: string) => page.events.push({ name, data, offset }))
  socket.on('connect_error', (error) => page.errors.push(error.message))
  socket.on('disconnect', (reason) => page.disconnects.push(reason))
  opened.push(socket)
  return page
}

const named = (page: Page, name: string): Page['events'] => page.events.filter((event) => event.name === name)
const received = (page: Page): string[] => named(page, 'notification_received').map(({ data }) => data.message._id)

test('a page is notified of a notification as its client reads it, and of what is open', async () => {
  const inbox = await inboxOf(app, 'ada')
  const page = join(inbox.token)
  await until(() => named(page, 'unread_count_changed').length === 1)
  await scene.run(workflow, 'ada')
  await until(() => received(page).length === 1)
  const [{ id, to }] = await inbox.data(200, 'GET', '/notifications')
  const { message } = named(page, 'notification_received')[0]?.data ?? {}
  const { _id, content, read, seen, archived, channel, cta, severity, tags, subscriber } = message
  assert.deepEqual(
    { _id, content, read, seen, archived, channel, cta, severity, tags },
    {
      ...{ _id: id, content: 'Hello', read: false, seen: false, archived: false, channel: 'in_app' },
      ...{ cta: {}, severity: 'none', tags: ['news'] },
    },
  )
  assert.deepEqual([subscriber._id, subscriber.subscriberId], [to.id, 'ada'])
  assert.equal(message.workflow.identifier, workflow)
  assert.equal(message.payload, undefined, 'the payload is for the sender')
  await until(() => named(page, 'unseen_count_changed').length === 2)
  assert.deepEqual(named(page, 'unread_count_changed')[1]?.data, {
    unreadCount: 1,
    counts: { total: 1, severity: { high: 0, medium: 0, low: 0, none: 1 } },
    hasMore: false,
  })
  assert.deepEqual(named(page, 'unseen_count_changed')[1]?.data, { unseenCount: 1, hasMore: false })
  await inbox.data(200, 'PATCH', `/notifications/${id}/read`)
  await until(() => named(page, 'unread_count_changed').length === 3)
  assert.equal(named(page, 'unread_count_changed')[2]?.data.unreadCount, 0)
})

test('a button has its address where clients look for it, if it is one that a page may open', async () => {
  const button = (type: string, url: string) => ({ type, content: type, redirect: { url, target: '_self' } })
  const buttons = [button('primary', '/orders/7'), button('secondary', 'mailto:help@shop.example')]
  const cta = { type: 'redirect', data: { url: 'https://shop.example' }, action: { buttons } }
  const name = await scene.workflow([{ template: { type: 'in_app', content: 'Look', cta } }])
  const page = join((await inboxOf(app, 'bea')).token)
  await until(() => page.events.length > 0)
  await scene.run(name, 'bea')
  await until(() => received(page).length === 1)
  const shown = named(page, 'notification_received')[0]?.data.message.cta
  assert.equal(shown.data.url, 'https://shop.example')
  assert.deepEqual(
    shown.action.buttons.map(({ url, target }: Json) => [url, target]),
    [
      ['/orders/7', '_self'],
      [undefined, undefined],
    ],
  )
})

test('a page that loses its connection is sent everything that came meanwhile, once', async () => {
  const page = join((await inboxOf(app, 'cyd')).token)
  await until(() => page.events.length === 2)
  await scene.run(workflow, 'cyd')
  await until(() => page.events.length === 5)
  page.socket.io.engine.close()
  await until(() => page.disconnects.length === 1)
  await scene.run(workflow, 'cyd')
  await scene.run(workflow, 'cyd')
  await until(() => received(page).length === 3)
  assert.equal(page.socket.recovered, true)
  assert.equal(new Set(received(page)).size, 3)
})

test('a page that was cut off before its first event goes on from where it connected', async () => {
  const { token } = await inboxOf(app, 'cut')
  /** Connects as the client does, and returns what it is sent until it has as many events. */
  const connect = async (auth: string, events: number): Promise<string[]> => {
    const socket = new WebSocket(`${address.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket&token=${token}`)
    const frames: string[] = []
    socket.on('message', (data) => frames.push(String(data)))
    await once(socket, 'open')
    socket.send(`40${auth}`)
    const connected = () => frames.some((frame) => frame.startsWith('40'))
    await until(() => connected() && frames.filter((frame) => frame.startsWith('42')).length >= events)
    socket.terminate()
    return frames
  }
  const pidIn = (frames: string[]): string =>
    JSON.parse(frames.find((frame) => frame.startsWith('40'))?.slice(2) ?? '{}').pid
  const pid = pidIn(await connect('', 0))
  await scene.run(workflow, 'cut')
  const again = await connect(JSON.stringify({ pid }), 1)
  assert.equal(pidIn(again), pid)
  assert.ok(again.some((frame) => frame.startsWith('42["notification_received"')))
  const other = await connect(JSON.stringify({ pid: pid.replace(/^.{20}/, 'x'.repeat(20)) }), 2)
  assert.ok(!other.some((frame) => frame.startsWith('42["notification_received"')), 'one of another begins afresh')
})

test('a server that stops and starts again loses nothing', async () => {
  const first = await createTestApp({ nodeOf: app })
  const at = await addressOf(first)
  const page = join((await inboxOf(app, 'dot')).token, at)
  await until(() => page.events.length === 2)
  await scene.run(workflow, 'dot')
  await until(() => received(page).length === 1)
  await until(() => page.events.length === 5)
  await first.close()
  await scene.run(workflow, 'dot')
  const second = await createTestApp({ nodeOf: app })
  await addressOf(second, Number(new URL(at).port))
  await until(() => received(page).length === 2)
  assert.equal(page.socket.recovered, true)
  assert.deepEqual(
    page.errors.filter((message) => message !== 'websocket error'),
    [],
  )
  page.socket.close()
  await second.close()
})

test('a page that was on one node goes on at another', async () => {
  const other = await createTestApp({ nodeOf: app, hears: true })
  const at = await addressOf(other)
  const { token } = await inboxOf(app, 'eve')
  const here = join(token)
  const there = join(token, at)
  await until(() => here.events.length === 2 && there.events.length === 2)
  await scene.run(workflow, 'eve')
  await until(() => received(here).length === 1 && received(there).length === 1)
  const pid = (here.socket as Json)._pid
  here.socket.close()
  await scene.run(workflow, 'eve')
  const moved = join(token, at, { autoConnect: false })
  Object.assign(moved.socket, { _pid: pid, _lastOffset: '1' })
  moved.socket.connect()
  await until(() => received(moved).length === 1)
  assert.equal(moved.socket.recovered, true)
  for (const { socket } of [there, moved]) socket.close()
  await other.close()
})

test('a pid of another reader is not gone on from', async () => {
  const ada = join((await inboxOf(app, 'fay')).token)
  await until(() => ada.events.length === 2)
  const page = join((await inboxOf(app, 'gus')).token, address, { autoConnect: false })
  Object.assign(page.socket, { _pid: (ada.socket as Json)._pid, _lastOffset: '0' })
  page.socket.connect()
  await until(() => page.events.length === 2)
  assert.equal(page.socket.recovered, false)
})

test('a path in the address is a namespace, and works', async () => {
  const page = join((await inboxOf(app, 'hal')).token, `${address}/ws`)
  await until(() => page.events.length === 2)
  await scene.run(workflow, 'hal')
  await until(() => received(page).length === 1)
})

test('tokens that are forged, expired or revoked are refused once, and not tried again', async () => {
  const { token } = await inboxOf(app, 'ida')
  const old = (await inboxOf(app, 'jay')).token
  app.world.advance(16 * 24 * 60 * 60 * 1000)
  const pages = [`${token.slice(0, -4)}aaaa`, 'x', '', old].map((given) => join(given))
  await until(() => pages.every(({ errors }) => errors.length > 0))
  await new Promise((resolve) => setTimeout(resolve, 200))
  const unauthorized = ['Unauthorized']
  assert.deepEqual(
    pages.map(({ errors }) => errors),
    [unauthorized, unauthorized, unauthorized, ['token expired']],
  )
  const revoked = join((await inboxOf(app, 'kim')).token)
  await until(() => revoked.events.length === 2)
  await scene.expect(204, 'DELETE', '/v2/subscribers/kim/sessions')
  await scene.run(workflow, 'kim')
  await until(() => revoked.disconnects.length === 1)
  assert.deepEqual(revoked.disconnects, ['io server disconnect'])
  assert.deepEqual(received(revoked), [])
})

const raw = (query: string): WebSocket => new WebSocket(`${address.replace('http', 'ws')}/socket.io/?${query}`)
const eio = 'EIO=4&transport=websocket'

async function closeOf(socket: WebSocket): Promise<number> {
  const [code] = await once(socket, 'close')
  return Number(code)
}

test('frames that are too large, too many, binary or broken close the connection, and harm no one', async () => {
  const { token } = await inboxOf(app, 'lee')
  const page = join(token)
  await until(() => page.events.length === 2)
  const sent: [unknown, number][] = [
    ['4'.repeat(20_000), 1009],
    [Buffer.from([1, 2, 3]), 1003],
  ]
  for (const [frame, code] of sent) {
    const socket = raw(`${eio}&token=${token}`)
    await once(socket, 'message')
    socket.send(frame as string)
    assert.equal(await closeOf(socket), code)
  }
  const flood = raw(`${eio}&token=${token}`)
  await once(flood, 'open')
  for (let count = 0; count < 150; count += 1) flood.send('3')
  assert.equal(await closeOf(flood), 1008)
  const odd = raw(`${eio}&token=${token}`)
  await once(odd, 'message')
  for (const frame of ['', '9', '40{', '42["x"]', '420["x",{}]', '41/other,', '40/a', '40/b']) {
    if (odd.readyState === WebSocket.OPEN) odd.send(frame)
  }
  await closeOf(odd)
  await scene.run(workflow, 'lee')
  await until(() => received(page).length === 1)
})

test('clients without a token leave room for those that have one', async () => {
  const { token } = await inboxOf(app, 'mia')
  const newSubscribers = Array.from({ length: 100 }, () => raw(eio))
  await Promise.all(newSubscribers.map((socket) => once(socket, 'open')))
  for (const given of ['', '&token=x']) {
    const refused = raw(`${eio}${given}`)
    refused.on('error', () => {})
    const [, response] = await once(refused, 'unexpected-response')
    assert.equal(response.statusCode, 503)
    response.resume()
  }
  const page = join(token)
  await until(() => page.events.length === 2)
  for (const socket of newSubscribers) socket.terminate()
})

test('another version, another transport and another path are refused before there is a socket', async () => {
  const refusals: [string, number][] = [
    [`${address.replace('http', 'ws')}/socket.io/?EIO=3&transport=websocket`, 400],
    [`${address.replace('http', 'ws')}/socket.io/?EIO=4&transport=polling`, 400],
    [`${address.replace('http', 'ws')}/v1/other`, 404],
  ]
  for (const [url, status] of refusals) {
    const socket = new WebSocket(url)
    socket.on('error', () => {})
    const [, response] = await once(socket, 'unexpected-response')
    assert.equal(response.statusCode, status, url)
    response.resume()
  }
})

test('a request that offers another protocol is answered as any other, with its body', async () => {
  const { port } = new URL(address)
  const body = JSON.stringify({ subscriberId: 'java' })
  const socket = connectTcp(Number(port), '127.0.0.1')
  const lines = [
    'POST /v2/subscribers HTTP/1.1',
    'Host: localhost',
    `Authorization: ApiKey ${app.developmentKey}`,
    'Connection: Upgrade, HTTP2-Settings',
    'Upgrade: h2c',
    'HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`)
  let answer = ''
  socket.on('data', (chunk) => {
    answer += String(chunk)
  })
  await new Promise((resolve) => setTimeout(resolve, 50))
  socket.write(body.slice(5))
  await until(() => answer.includes('"java"'))
  assert.match(answer, /^HTTP\/1\.1 201 /)
  socket.destroy()
})
