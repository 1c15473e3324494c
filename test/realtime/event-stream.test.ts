// GET /v1/inbox/stream over real sockets: what happens is reported at once, and nothing is lost between two
// connections.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { inboxOf } from '../support/inbox-scene.ts'
import type { OpenStream } from '../support/stream-scene.ts'
import { addressOf, connectionCount, openStream, until, untilClosed, withoutSweeps } from '../support/stream-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let address: string
let workflow: string
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  address = await addressOf(app)
  workflow = await scene.workflow([inApp('Hello {{subscriber.subscriberId}}')], { tags: ['news'] })
})
after(() => app.close())

const follow = (token: string, headers: Record<string, string> = {}, at = address): Promise<OpenStream> =>
  openStream(at, '/v1/inbox/stream', { authorization: `Bearer ${token}`, ...headers })

const names = (stream: OpenStream): string[] => stream.events.map(({ name }) => name)
const received = (stream: OpenStream): string[] =>
  stream.events.filter(({ name }) => name === 'notification_received').map(({ data }) => data.id)

test('a stream begins with where it stands and what is open, and is notified of what comes', async () => {
  const page = await inboxOf(app, 'ada')
  const stream = await follow(page.token, { origin: 'https://shop.example' })
  assert.equal(stream.status, 200)
  assert.equal(stream.headers['content-type'], 'text/event-stream; charset=utf-8')
  assert.equal(stream.headers['access-control-allow-origin'], '*')
  const { id, data } = await stream.next('ready')
  assert.deepEqual([id, data], ['0', { isResumed: false }])
  assert.equal((await stream.next('unread_count_changed')).data.unreadCount, 0)
  await scene.run(workflow, 'ada')
  const came = await stream.next('notification_received')
  assert.equal(came.id, '1')
  const [listed] = await page.data(200, 'GET', '/notifications')
  assert.deepEqual(came.data, listed)
  const counts = await stream.next('unread_count_changed', (event) => event.id === '1')
  assert.deepEqual(counts.data, {
    unreadCount: 1,
    counts: { total: 1, severity: { high: 0, medium: 0, low: 0, none: 1 } },
    hasMore: false,
  })
  assert.deepEqual((await stream.next('unseen_count_changed', (event) => event.id === '1')).data.unseenCount, 1)
  stream.close()
})

test('marks, snoozes and deletions are sent as what they are', async () => {
  const page = await inboxOf(app, 'bea')
  await scene.run(workflow, 'bea')
  const [{ id }] = await page.data(200, 'GET', '/notifications')
  const stream = await follow(page.token)
  await stream.next('ready')
  await page.data(200, 'PATCH', `/notifications/${id}/read`)
  const read = await stream.next('notification_updated')
  assert.deepEqual([read.id, read.data.id, read.data.isRead], ['2', id, true])
  assert.equal((await stream.next('unread_count_changed', (event) => event.id === '2')).data.unreadCount, 0)
  const snoozeUntil = new Date(app.world.now().getTime() + 60 * 60 * 1000).toISOString()
  await page.data(200, 'PATCH', `/notifications/${id}/snooze`, { snoozeUntil })
  assert.equal((await stream.next('notification_updated', (event) => event.id === '3')).data.isSnoozed, true)
  await scene.advance(60 * 60 * 1000)
  const back = await stream.next('notification_received')
  assert.deepEqual([back.id, back.data.id, back.data.isRead], ['4', id, false])
  await page.data(204, 'DELETE', `/notifications/${id}/delete`)
  assert.deepEqual((await stream.next('notification_deleted')).data, { id })
  stream.close()
})

test('a stream that goes on after the last id it knows is sent everything since, once', async () => {
  const page = await inboxOf(app, 'cyd')
  const first = await follow(page.token)
  await scene.run(workflow, 'cyd')
  const { id: lastId } = await first.next('unseen_count_changed', (event) => event.id === '1')
  first.close()
  await scene.run(workflow, 'cyd')
  await scene.run(workflow, 'cyd')
  const [newest] = await page.data(200, 'GET', '/notifications')
  await page.data(200, 'PATCH', `/notifications/${newest.id}/read`)
  const second = await follow(page.token, { 'last-event-id': lastId })
  assert.deepEqual((await second.next('ready')).data, { isResumed: true })
  await second.next('unseen_count_changed', (event) => event.id === '4')
  const missed = second.events.filter(({ name }) => name === 'notification_received')
  assert.deepEqual(
    missed.map(({ id, data }) => [id, data.isRead]),
    [
      ['2', false],
      ['4', true],
    ],
  )
  second.close()
  const third = await follow(page.token, { 'last-event-id': '4' })
  await third.next('ready')
  await scene.run(workflow, 'cyd')
  await third.next('notification_received', (event) => event.id === '5')
  assert.deepEqual(names(third).filter((name) => name === 'notification_received').length, 1)
  third.close()
})

test('a number that is not ours, or too long ago, begins afresh', async () => {
  const page = await inboxOf(app, 'dot')
  for (const lastId of ['9', 'x', '-1', '1e3', '99999999999999999999']) {
    const stream = await follow(page.token, { 'last-event-id': lastId })
    assert.deepEqual((await stream.next('ready')).data, { isResumed: false }, lastId)
    await stream.next('unread_count_changed')
    stream.close()
  }
})

test('sessions with other contexts are notified of other messages', async () => {
  const plain = await follow((await inboxOf(app, 'eve')).token)
  const acme = await follow((await inboxOf(app, 'eve', { context: { tenant: 'acme' } })).token)
  for (const stream of [plain, acme]) await stream.next('ready')
  await scene.run(workflow, 'eve')
  await scene.run(workflow, 'eve', { context: { tenant: 'acme' } })
  for (const [stream, id] of [
    [plain, '1'],
    [acme, '2'],
  ] as const) {
    await stream.next('notification_received', (event) => event.id === id)
    assert.equal(received(stream).length, 1)
    stream.close()
  }
})

test('two tabs of one reader and a reader beside them are kept apart', async () => {
  const page = await inboxOf(app, 'fay')
  const other = await follow((await inboxOf(app, 'gus')).token)
  const tabs = [await follow(page.token), await follow(page.token)]
  for (const stream of [other, ...tabs]) await stream.next('ready')
  await scene.run(workflow, 'fay')
  for (const tab of tabs) await tab.next('notification_received')
  assert.deepEqual(received(other), [])
  for (const stream of [other, ...tabs]) stream.close()
})

test('the token may stand in the address, as browsers need it', async () => {
  const { token } = await inboxOf(app, 'hal')
  const stream = await openStream(address, `/v1/inbox/stream?token=${token}&lastEventId=0`)
  assert.deepEqual((await stream.next('ready')).data, { isResumed: true })
  stream.close()
})

test('no token, a forged one and an API key are 401 and open nothing', async () => {
  const { token } = await inboxOf(app, 'ida')
  const forged = `${token.slice(0, -4)}aaaa`
  const given = ['', `Bearer ${forged}`, 'Bearer x', `ApiKey ${app.developmentKey}`, `Bearer ${'x'.repeat(9_000)}`]
  for (const authorization of given) {
    const stream = await openStream(address, '/v1/inbox/stream', authorization === '' ? {} : { authorization })
    assert.equal(stream.status, 401, authorization.slice(0, 20))
    assert.ok(!stream.body.includes(forged))
  }
  const inAddress = await openStream(address, `/v1/inbox/stream?token=${forged}`)
  assert.equal(inAddress.status, 401)
  assert.ok(!inAddress.body.includes(forged), inAddress.body)
})

test('a session that is revoked or expires ends its stream, and opens no other', async () => {
  const { token } = await inboxOf(app, 'jay')
  const stream = await follow(token)
  await stream.next('ready')
  await scene.expect(204, 'DELETE', '/v2/subscribers/jay/sessions')
  await scene.run(workflow, 'jay')
  assert.deepEqual((await stream.next('end')).data, { why: 'revoked' })
  await stream.closed()
  assert.deepEqual(received(stream), [])
  app.world.advance(1_000)
  assert.equal((await follow(token)).status, 401)
  const late = await follow((await inboxOf(app, 'jay')).token)
  await late.next('ready')
  app.world.advance(16 * 24 * 60 * 60 * 1000)
  await scene.run(workflow, 'jay')
  assert.deepEqual((await late.next('end')).data, { why: 'expired' })
})

test('one that is notified by another node is notified as soon, and goes on there where the first one stops', async (t) => {
  withoutSweeps(t.mock)
  const near = await createTestApp({ nodeOf: app, hears: true })
  const nearAddress = await addressOf(near)
  const page = await inboxOf(app, 'kim')
  const stream = await follow(page.token, {}, nearAddress)
  await stream.next('ready')
  await scene.run(workflow, 'kim')
  await stream.next('notification_received')
  const { id } = await stream.next('unseen_count_changed', (event) => event.id === '1')
  await near.close()
  await stream.closed()
  await scene.run(workflow, 'kim')
  const again = await follow(page.token, { 'last-event-id': id })
  await again.next('notification_received', (event) => event.id === '2')
  assert.equal(received(again).length, 1)
  again.close()
})

test('what was committed while no one was notified of it is found by looking', async () => {
  const page = await inboxOf(app, 'lee')
  const stream = await follow(page.token)
  await stream.next('unseen_count_changed')
  const hint = app.world.inboxHint
  app.world.inboxHint = undefined
  await scene.run(workflow, 'lee')
  app.world.inboxHint = hint
  await stream.next('notification_received')
  stream.close()
})

test('a message whose statement began before the inbox was opened is sent as well', async () => {
  const { db } = app.database
  await scene.run(workflow, 'max')
  await inboxOf(app, 'max')
  // As if its transaction had been under way when the inbox was opened.
  await db.run(sql`update messages m set change = null, arrival = null, updated_at = m.updated_at
    from subscribers s where s.environment_id = m.environment_id and s.id = m.subscriber_id and s.subscriber_id = 'max'`)
  const page = await inboxOf(app, 'max')
  const stream = await follow(page.token)
  assert.equal((await stream.next('notification_received')).id, '1')
  stream.close()
})

test('many changes at once are sent in order, whatever the number of looks they take', async () => {
  const page = await inboxOf(app, 'ned')
  const stream = await follow(page.token)
  await stream.next('ready')
  await scene.results(Array.from({ length: 100 }, () => ({ name: workflow, to: 'ned' })))
  await scene.results(Array.from({ length: 100 }, () => ({ name: workflow, to: 'ned' })))
  await scene.results(Array.from({ length: 50 }, () => ({ name: workflow, to: 'ned' })))
  await scene.advance(1_000)
  await until(() => new Set(received(stream)).size === 250)
  assert.equal(received(stream).length, 250)
  const ids = stream.events.map(({ id }) => Number(id))
  assert.deepEqual(
    ids,
    ids.toSorted((one, other) => one - other),
  )
  await page.data(204, 'POST', '/notifications/read')
  await stream.next('unread_count_changed', ({ data }) => data.unreadCount === 0)
  stream.close()
})

test('a reader that does not read is cut off, and goes on where it was', async () => {
  const page = await inboxOf(app, 'ola')
  const long = await scene.workflow([inApp('x'.repeat(30_000))])
  const quick = await follow(page.token)
  const slow = await follow(page.token)
  await slow.next('ready')
  slow.pause()
  const connections = await connectionCount(app)
  for (let round = 0; round < 4; round += 1) {
    await scene.results(Array.from({ length: 100 }, () => ({ name: long, to: 'ola' })))
    await scene.advance(1_000)
  }
  await until(() => received(quick).length === 400)
  let left = connections
  const look = setInterval(async () => {
    left = await connectionCount(app)
  }, 20)
  await until(() => left < connections).finally(() => clearInterval(look))
  slow.resume()
  await slow.closed()
  assert.ok(received(slow).length < 400, 'it was cut off')
  const back = await follow(page.token, { 'last-event-id': slow.events.at(-1)?.id ?? '' })
  assert.deepEqual((await back.next('ready')).data, { isResumed: true })
  await until(() => new Set([...received(slow), ...received(back)]).size === 400)
  back.close()
  quick.close()
})

test('more connections than a reader needs are refused, and leave room when they close', async () => {
  const { token } = await inboxOf(app, 'pat')
  const open: OpenStream[] = []
  for (let count = 0; count < 100; count += 1) open.push(await follow(token))
  assert.deepEqual([...new Set(open.map(({ status }) => status))], [200])
  const refused = await follow(token)
  assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '60'])
  const other = await follow((await inboxOf(app, 'quy')).token)
  assert.equal(other.status, 200)
  other.close()
  for (const stream of open) stream.close()
  let status = 503
  while (status === 503) {
    const again: Json = await follow(token)
    status = again.status
    again.close()
  }
  assert.equal(status, 200)
})

/** A node on which streams that enter wait until they may pass; `held` is how many have come, once the first waits. */
async function gatedNode(): Promise<{ node: TestApp; held(): number; letPass(): void }> {
  let letPass = (): void => {}
  const gate = new Promise<void>((resolve) => {
    letPass = resolve
  })
  let isHeld = false
  let requests = 0
  const node = await createTestApp({
    nodeOf: app,
    faulty: (db) => ({
      ...db,
      rows: async (statement) => {
        if (statement.name === 'inbox-numbers') {
          isHeld = true
          await gate
        }
        return db.rows(statement)
      },
    }),
  })
  node.app.server.on('request', () => {
    requests += 1
  })
  return { node, held: () => (isHeld ? requests : 0), letPass }
}

test('clients that go away while their stream is being opened are not followed', async () => {
  const { token } = await inboxOf(app, 'rob')
  const { node, held, letPass } = await gatedNode()
  const { port } = new URL(await addressOf(node))
  const clients = Array.from({ length: 100 }, () => {
    const client = connect(Number(port), '127.0.0.1')
    client.write(`GET /v1/inbox/stream?token=${token} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    return client
  })
  await until(() => held() === 100)
  for (const client of clients) client.destroy()
  await untilClosed(node)
  letPass()
  await new Promise((resolve) => setTimeout(resolve, 500))
  const stream = await follow(token, {}, `http://127.0.0.1:${port}`)
  assert.equal(stream.status, 200)
  stream.close()
  await node.close()
})

test('a HEAD follows nothing', async () => {
  const { token } = await inboxOf(app, 'sam')
  const reply = await fetch(`${address}/v1/inbox/stream?token=${token}`, {
    method: 'HEAD',
    signal: AbortSignal.timeout(5_000),
  })
  assert.equal(reply.status, 404)
})

test('of more than a reader may have at once, those that come last are ended', async () => {
  const { token } = await inboxOf(app, 'tom')
  const { node, held, letPass } = await gatedNode()
  const at = await addressOf(node)
  const opening = Promise.all(Array.from({ length: 110 }, () => follow(token, {}, at)))
  await until(() => held() === 110)
  letPass()
  const streams = await opening
  const open = () => streams.filter((stream) => !stream.isClosed).length
  await until(() => open() <= 100)
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.equal(open(), 100)
  assert.ok(streams.every((stream) => !names(stream).includes('end')))
  for (const stream of streams) stream.close()
  await node.close()
})

test('how many are open is sent once, after the last of many missed changes', async () => {
  const page = await inboxOf(app, 'uma')
  for (let round = 0; round < 3; round += 1) {
    await scene.results(Array.from({ length: 70 }, () => ({ name: workflow, to: 'uma' })))
  }
  await scene.advance(1_000)
  const stream = await follow(page.token, { 'last-event-id': '0' })
  await until(() => received(stream).length === 210)
  const { data } = await stream.next('unread_count_changed')
  assert.deepEqual([data.unreadCount, data.hasMore], [100, true])
  assert.equal(names(stream).filter((name) => name === 'unread_count_changed').length, 1)
  assert.equal(names(stream).at(-2), 'unread_count_changed')
  stream.close()
})

test('one that joins while another catches up is not sent again what it has', async () => {
  const page = await inboxOf(app, 'vic')
  await scene.results(Array.from({ length: 80 }, () => ({ name: workflow, to: 'vic' })))
  await scene.advance(1_000)
  const [late, fresh] = await Promise.all([follow(page.token, { 'last-event-id': '0' }), follow(page.token)])
  await until(() => received(late).length === 80)
  await fresh.next('unread_count_changed')
  assert.deepEqual(received(fresh), [])
  for (const stream of [late, fresh]) stream.close()
})
