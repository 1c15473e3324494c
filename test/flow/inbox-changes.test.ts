// Every change of an inbox that was opened has a number, in the order of the commits; those of others have none.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { changeInboxes } from '../../src/record/change-inboxes.ts'
import { findStragglers } from '../../src/store/messages/changes.ts'
import { markMessages } from '../../src/store/messages/marks.ts'
import { findEnvironments } from '../../src/store/operate/installation.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { inboxOf } from '../support/inbox-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let atOnce: TestApp
before(async () => {
  app = await createTestApp()
  atOnce = await createTestApp({ works: true })
})
after(async () => {
  await app.close()
  await atOnce.close()
})

interface Numbers {
  readonly number: number | null
  readonly messages: readonly (readonly [change: number | null, arrival: number | null])[]
}

/** The inbox's number, and those of its messages, oldest first. */
async function numbersOf({ database }: TestApp, subscriberId: string): Promise<Numbers> {
  const { db } = database
  const inbox = await db.row<{ number: number }>(sql`
    select c.number from inbox_changes c join subscribers s on s.environment_id = c.environment_id and s.id = c.subscriber_id
    where s.subscriber_id = ${subscriberId}`)
  const rows = await db.rows<{ change: number | null; arrival: number | null }>(sql`
    select m.change, m.arrival from messages m
    join subscribers s on s.environment_id = m.environment_id and s.id = m.subscriber_id
    where s.subscriber_id = ${subscriberId} and m.channel = 'in_app' order by m.id`)
  return { number: inbox?.number ?? null, messages: rows.map(({ change, arrival }) => [change, arrival] as const) }
}

const ways = ['by the worker', 'with their acceptance'] as const
for (const way of ways) {
  test(`messages decided ${way} are numbered from the day their inbox was opened`, async () => {
    const scene = new FlowScene(way === 'by the worker' ? app : atOnce)
    const name = await scene.workflow([inApp('Hello')])
    await scene.run(name, 'reader')
    assert.deepEqual(await numbersOf(scene.app, 'reader'), { number: null, messages: [[null, null]] })
    await inboxOf(scene.app, 'reader')
    assert.equal((await numbersOf(scene.app, 'reader')).number, 0)
    await scene.run(name, 'reader')
    await scene.run(name, 'reader')
    await scene.run(name, 'unread')
    const messages = [
      [null, null],
      [1, 1],
      [2, 2],
    ] as const
    assert.deepEqual(await numbersOf(scene.app, 'reader'), { number: 2, messages })
    assert.deepEqual(await numbersOf(scene.app, 'unread'), { number: null, messages: [[null, null]] })
  })
}

const hourMs = 60 * 60 * 1000

/** What a page or a key does with a message, and the numbers that it has then, from [1, 1] on. */
const changes: Record<
  string,
  { act: (scene: FlowScene, to: string, id: string, transactionId: string) => Promise<unknown>; numbers: Json }
> = {
  'read by its reader': {
    act: async ({ app: on }, to, id) => (await inboxOf(on, to)).data(200, 'PATCH', `/notifications/${id}/read`),
    numbers: [2, 1],
  },
  'seen with all others': {
    act: async ({ app: on }, to) => (await inboxOf(on, to)).data(204, 'POST', '/notifications/seen'),
    numbers: [2, 1],
  },
  'deleted by its reader': {
    act: async ({ app: on }, to, id) => (await inboxOf(on, to)).data(204, 'DELETE', `/notifications/${id}/delete`),
    numbers: [2, 1],
  },
  'deleted with all others': {
    act: async ({ app: on }, to) => (await inboxOf(on, to)).data(204, 'POST', '/notifications/delete'),
    numbers: [2, 1],
  },
  'snoozed, and back before its time': {
    act: async ({ app: on }, to, id) => {
      const page = await inboxOf(on, to)
      const snoozeUntil = new Date(on.world.now().getTime() + hourMs).toISOString()
      await page.data(200, 'PATCH', `/notifications/${id}/snooze`, { snoozeUntil })
      await page.data(200, 'PATCH', `/notifications/${id}/unsnooze`)
    },
    numbers: [3, 1],
  },
  'snoozed, and back in time': {
    act: async (scene, to, id) => {
      const snoozeUntil = new Date(scene.app.world.now().getTime() + hourMs).toISOString()
      await (await inboxOf(scene.app, to)).data(200, 'PATCH', `/notifications/${id}/snooze`, { snoozeUntil })
      await scene.advance(hourMs)
    },
    numbers: [3, 3],
  },
  'marked with a key': {
    act: (scene, to, id) =>
      scene.expect(201, 'POST', `/v1/subscribers/${to}/messages/mark-as`, { messageId: id, markAs: 'read' }),
    numbers: [2, 1],
  },
  'marked with a key, and all others': {
    act: (scene, to) => scene.expect(201, 'POST', `/v1/subscribers/${to}/messages/mark-all`, { markAs: 'read' }),
    numbers: [2, 1],
  },
  'deleted with a key': {
    act: (scene, _to, id) => scene.expect(200, 'DELETE', `/v1/messages/${id}`),
    numbers: [2, 1],
  },
  'deleted with its transaction': {
    act: (scene, _to, _id, transactionId) => scene.expect(204, 'DELETE', `/v1/messages/transaction/${transactionId}`),
    numbers: [2, 1],
  },
  'taken back with its event': {
    act: (scene, _to, _id, transactionId) => scene.expect(200, 'POST', `/v1/events/${transactionId}/retract`),
    numbers: [2, 1],
  },
}

for (const [what, { act, numbers }] of Object.entries(changes)) {
  test(`a message that is ${what} has the number of that change`, async () => {
    const scene = new FlowScene(app)
    const to = `person-${Object.keys(changes).indexOf(what)}`
    await inboxOf(app, to)
    const transactionId = `transaction-of-${to}`
    await scene.run(await scene.workflow([inApp('Hello')]), to, { transactionId })
    const [{ _id: id }] = await scene.feed(to)
    await act(scene, to, id, transactionId)
    assert.deepEqual(await numbersOf(app, to), { number: numbers[0], messages: [numbers] })
  })
}

test('of two changes of one inbox at once the second waits, and has the higher number', async () => {
  const scene = new FlowScene(app)
  const page = await inboxOf(app, 'busy')
  const name = await scene.workflow([inApp('Hello')])
  for (let count = 0; count < 6; count += 1) await scene.run(name, 'busy')
  const ids: string[] = (await scene.feed('busy')).map(({ _id }: Json) => _id)
  await Promise.all(ids.map((id) => page.data(200, 'PATCH', `/notifications/${id}/read`)))
  const { number, messages } = await numbersOf(app, 'busy')
  assert.equal(number, 12)
  assert.deepEqual(messages.map(([change]) => change).sort(), [10, 11, 12, 7, 8, 9])
})

test('an inbox that is opened while a change of it is under way does not get a number that streams have passed', async () => {
  const scene = new FlowScene(app)
  await scene.run(await scene.workflow([inApp('Hello')]), 'late')
  const { db } = app.database
  const subscriber = await db.row<{ id: string; environment_id: string }>(
    sql`select id, environment_id from subscribers where subscriber_id = 'late'`,
  )
  const [environment] = await findEnvironments(db, [subscriber?.environment_id ?? ''])
  const [{ _id: id }] = await scene.feed('late')
  assert.ok(subscriber !== undefined && environment !== undefined)
  await db.transaction(async (tx) => {
    const counted = await changeInboxes(tx, app.world, environment, [subscriber.id])
    await inboxOf(app, 'late')
    await markMessages(tx, environment, {
      ...{ ids: [id], subscriberId: subscriber.id, mark: 'read', now: app.world.now(), counted },
    })
  })
  assert.deepEqual(await numbersOf(app, 'late'), { number: 0, messages: [[null, null]] })
  assert.deepEqual(
    (await findStragglers(db, environment, [subscriber.id])).map((one) => one.id),
    [id],
  )
})

test('messages of other channels have no number', async () => {
  const scene = new FlowScene(app)
  await inboxOf(app, 'mailed')
  await scene.run(await scene.workflow([inApp('Hello')]), 'mailed')
  const copied = await app.database.db.row<{ id: string }>(sql`
    insert into messages select (jsonb_populate_record(m, jsonb_build_object(
      'id', gen_random_uuid(), 'channel', 'email', 'change', null, 'arrival', null))).*
    from messages m join subscribers s on s.environment_id = m.environment_id and s.id = m.subscriber_id
    where s.subscriber_id = 'mailed' returning id`)
  await scene.expect(200, 'DELETE', `/v1/messages/${copied?.id}`)
  const row = await app.database.db.row(sql`select change from messages where id = ${copied?.id}`)
  assert.deepEqual(row, { change: null })
  assert.equal((await numbersOf(app, 'mailed')).number, 1)
})
