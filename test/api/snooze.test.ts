// Snoozing a notification over the API, and the end of a snooze.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { endSnoozes } from '../../src/record/end-snooze.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { MessageScene } from '../support/message-scene.ts'

let app: TestApp
let scene: MessageScene
before(async () => {
  app = await createTestApp()
  scene = await MessageScene.of(app, ['ada', 'bob', 'cleo', 'dora', 'eve', 'fay'])
})
after(() => app.close())

const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs
const ahead = (ms: number): string => new Date(app.world.now().getTime() + ms).toISOString()
const snooze = (subscriberId: string, id: string, snoozeUntil: unknown, options = {}) =>
  app.call('PATCH', `/v2/subscribers/${subscriberId}/notifications/${id}/snooze`, { body: { snoozeUntil }, ...options })
const unsnooze = (subscriberId: string, id: string) =>
  app.call('PATCH', `/v2/subscribers/${subscriberId}/notifications/${id}/unsnooze`)
const feed = async (subscriberId: string): Promise<Json[]> =>
  (await app.call('GET', `/v1/subscribers/${subscriberId}/notifications/feed`)).body.data
const tasks = (id: string) =>
  app.database.db.rows<Json>(
    sql`select kind, lane, due_at, lease, claims, state, error from tasks
        where environment_id = ${scene.scene.environment.id} and id = ${id}`,
  )

test('a snoozed notification leaves the feed and the counts, is seen, and waits as a task', async () => {
  const { id } = await scene.say('ada')
  await app.call('PATCH', `/v2/subscribers/ada/notifications/${id}/archive`)
  app.world.advance(1000)
  const until = ahead(hourMs)
  const reply = await snooze('ada', id, until)
  assert.equal(reply.status, 200)
  const { isSnoozed, snoozedUntil, isSeen, isArchived, archived } = reply.body
  assert.deepEqual(
    { isSnoozed, snoozedUntil, isSeen, isArchived, archived },
    { isSnoozed: true, snoozedUntil: until, isSeen: true, isArchived: false, archived: false },
  )
  assert.deepEqual(await feed('ada'), [])
  assert.equal((await app.call('GET', '/v1/subscribers/ada/notifications/unread')).body.count, 0)
  const [message] = (await app.call('GET', '/v1/messages?subscriberId=ada')).body.data
  assert.deepEqual([message.snoozedUntil, 'archivedAt' in message], [until, false])
  assert.deepEqual(await tasks(id), [
    {
      kind: 'unsnooze',
      lane: 0,
      due_at: new Date(until),
      lease: null,
      claims: 0,
      state: { messageId: id },
      error: null,
    },
  ])
})

test('a second snooze moves the first, and takes the task from whoever had claimed it', async () => {
  const { id } = await scene.say('bob')
  await snooze('bob', id, ahead(hourMs))
  await app.database.db.run(sql`
    update tasks set lease = gen_random_uuid(), claims = 3, error = 'x'
    where environment_id = ${scene.scene.environment.id} and id = ${id}`)
  const until = ahead(2 * hourMs)
  assert.equal((await snooze('bob', id, until)).body.snoozedUntil, until)
  const [task, ...others] = await tasks(id)
  assert.deepEqual(others, [])
  assert.deepEqual([task.due_at.toISOString(), task.lease, task.claims, task.error], [until, null, 0, null])
})

test('an unsnoozed notification is back at the top, unread and delivered once more, and its task is gone', async () => {
  const first = await scene.say('cleo')
  const deliveredAt = app.world.now().toISOString()
  await app.call('PATCH', `/v2/subscribers/cleo/notifications/${first.id}/read`)
  const second = await scene.say('cleo')
  await snooze('cleo', first.id, ahead(hourMs))
  app.world.advance(1000)
  const now = app.world.now().toISOString()
  const reply = await unsnooze('cleo', first.id)
  assert.equal(reply.status, 200)
  const { isSnoozed, isRead, isSeen, createdAt, deliveredAt: delivered } = reply.body
  assert.deepEqual(
    { isSnoozed, isRead, isSeen, createdAt, delivered },
    { isSnoozed: false, isRead: false, isSeen: true, createdAt: now, delivered: [deliveredAt, now] },
  )
  assert.equal('readAt' in reply.body, false)
  assert.equal('snoozedUntil' in reply.body, false)
  assert.deepEqual(
    (await feed('cleo')).map((item) => item._id),
    [first.id, second.id],
  )
  assert.deepEqual(await tasks(first.id), [])
})

test('one that is not snoozed is answered as it is', async () => {
  const { id } = await scene.say('dora')
  await app.call('PATCH', `/v2/subscribers/dora/notifications/${id}/read`)
  app.world.advance(1000)
  const reply = await unsnooze('dora', id)
  assert.equal(reply.status, 200)
  assert.deepEqual([reply.body.isRead, reply.body.deliveredAt.length], [true, 1])
})

test('the end of a snooze brings back what is snoozed, once', async () => {
  const [one, two] = [await scene.say('eve'), await scene.say('eve')]
  await snooze('eve', one.id, ahead(hourMs))
  const { environment } = scene.scene
  const end = (messageIds: string[]) =>
    app.database.db.transaction((tx) => endSnoozes(tx, app.world, environment, { messageIds, counted: new Map() }))
  app.world.advance(hourMs)
  assert.equal(await end([one.id, two.id]), 1)
  const items = await feed('eve')
  assert.deepEqual(
    items.map((item) => [item._id, item.createdAt]),
    [
      [one.id, app.world.now().toISOString()],
      [two.id, items[1]?.createdAt],
    ],
  )
  app.world.advance(1000)
  assert.equal(await end([one.id]), 0)
  assert.equal(await end([]), 0)
  assert.deepEqual(await feed('eve'), items)
})

test('a message deleted while snoozed stays away, and its task goes with it', async () => {
  const [one, two] = [await scene.say('fay'), await scene.say('fay', { event: { transactionId: 'fays' } })]
  for (const { id } of [one, two]) await snooze('fay', id, ahead(hourMs))
  await app.call('DELETE', `/v1/messages/${one.id}`)
  await app.call('DELETE', '/v1/messages/transaction/fays')
  for (const { id } of [one, two]) assert.deepEqual(await tasks(id), [])
  const { environment } = scene.scene
  const snoozes = { messageIds: [one.id, two.id], counted: new Map() }
  const ended = await app.database.db.transaction((tx) => endSnoozes(tx, app.world, environment, snoozes))
  assert.equal(ended, 0)
  assert.equal((await unsnooze('fay', one.id)).status, 404)
})

test('another environment neither snoozes nor ends a snooze', async () => {
  const { id } = await scene.say('dora')
  assert.equal((await snooze('dora', id, ahead(hourMs), { key: app.productionKey })).status, 404)
  await app.call('POST', '/v2/subscribers', { body: { subscriberId: 'dora' }, key: app.productionKey })
  assert.equal((await snooze('dora', id, ahead(hourMs), { key: app.productionKey })).status, 404)
  assert.equal((await snooze('dora', id, ahead(hourMs))).status, 200)
  const production = (await MessageScene.of(app, [], { environmentName: 'Production' })).scene.environment
  const snoozes = { messageIds: [id], counted: new Map() }
  assert.equal(await app.database.db.transaction((tx) => endSnoozes(tx, app.world, production, snoozes)), 0)
})

test('a snooze to the past, to now, beyond a year or to no time is 422 and names the field', async () => {
  const { id } = await scene.say('dora')
  for (const until of [ahead(0), ahead(-1), ahead(365 * dayMs + 1), 'tomorrow', '2030-02-30T00:00:00Z', 5, undefined]) {
    const reply = await snooze('dora', id, until)
    assert.equal(reply.status, 422, String(until))
    assert.deepEqual(Object.keys(reply.body.errors), ['snoozeUntil'])
  }
  assert.equal((await snooze('dora', id, ahead(1))).status, 200)
  assert.equal((await snooze('dora', id, ahead(365 * dayMs))).status, 200)
})

test('a snooze of what is not there, or no in-app message, is 404', async () => {
  const mail = await scene.say('dora', { draft: { channel: 'email' } })
  for (const id of [mail.id, '01942a63-0d2e-7abc-8def-0123456789ab', 'not-an-id'])
    assert.equal((await snooze('dora', id, ahead(hourMs))).status, 404)
  assert.equal((await snooze('nobody', mail.id, ahead(hourMs))).status, 404)
  assert.deepEqual(await tasks(mail.id), [])
})

test('a repeated snooze with its idempotency key gets the first answer, even once its time has passed', async () => {
  const { id } = await scene.say('dora')
  const headers = { 'idempotency-key': 'snooze-once' }
  const until = ahead(hourMs)
  const first = await snooze('dora', id, until, { headers })
  await unsnooze('dora', id)
  app.world.advance(2 * hourMs)
  const repeat = await snooze('dora', id, until, { headers })
  assert.deepEqual([repeat.status, repeat.text], [200, first.text])
  assert.equal(repeat.headers['idempotency-replay'], 'true')
  assert.deepEqual(await tasks(id), [])
})
