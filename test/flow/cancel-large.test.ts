// Cancelling a large event: the event is canceled first, its jobs follow page by page, and nothing of that can be lost.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, statuses } from '../support/flow-scene.ts'
import { addSubscribers } from '../support/topic-scene.ts'
import { delay, digest, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let node: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  // It gives up waiting for a lock soon.
  node = await createTestApp({ nodeOf: app, lockTimeoutMs: 300 })
  scene = new FlowScene(app)
})
after(async () => {
  await node.close()
  await app.close()
})

const hourMs = 60 * 60_000
const cancelPath = (transactionId: string): string => `/v1/events/trigger/${encodeURIComponent(transactionId)}`
const countOf = async (transactionId: string): Promise<Record<string, number>> => {
  const rows = await scene.rows(sql`
    select j.status, count(*)::int as count from jobs j join events e on e.id = j.event_id
    where e.transaction_id = ${transactionId} group by 1`)
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
}
const canceledAt = async (transactionId: string): Promise<Date | null> =>
  (await scene.rows(sql`select canceled_at as at from events where transaction_id = ${transactionId}`))[0]?.at

async function crowd(size: number, steps: readonly object[]): Promise<string> {
  const names = Array.from({ length: size }, () => fresh('crowd'))
  await addSubscribers(app, names)
  const transactionId = await scene.trigger(await scene.workflow(steps), names)
  await scene.work()
  return transactionId
}

/** While `work` runs, another transaction holds one job of the event: the one at this place in the order of their ids. */
async function whileHeld<Result>(transactionId: string, place: number, work: () => Promise<Result>): Promise<Result> {
  return app.database.db.transaction(async (tx) => {
    const held = await tx.rows<Json>(sql`
      select id from jobs where id = (
        select j.id from jobs j join events e on e.id = j.event_id
        where e.transaction_id = ${transactionId} order by j.id offset ${place} limit 1) for update`)
    assert.equal(held.length, 1)
    return work()
  })
}

test('a page that fails takes nothing back: the event is canceled, and so are the pages before; a task does the rest', async () => {
  const transactionId = await crowd(1_200, [delay(), inApp('late')])
  assert.deepEqual(await countOf(transactionId), { delayed: 1_200 })
  const reply = await whileHeld(transactionId, 700, () => node.call('DELETE', cancelPath(transactionId)))
  assert.deepEqual([reply.status, reply.body], [200, true])
  assert.notEqual(await canceledAt(transactionId), null)
  assert.deepEqual(await countOf(transactionId), { canceled: 2 * 500, delayed: 700 })
  await scene.work()
  assert.equal((await countOf(transactionId))['delayed'], 700, 'it is the caller’s for a while')
  await scene.advance(15_000)
  assert.deepEqual(await countOf(transactionId), { canceled: 2 * 1_200 })
  assert.deepEqual(await scene.rows(sql`select 1 from tasks`), [])
  assert.equal((await node.call('DELETE', cancelPath(transactionId))).body, false)
})

test('the rest of a large audience is handed to a task at once, and a worker that dies in it loses nothing', async () => {
  const transactionId = await crowd(2_600, [delay(), inApp('late')])
  assert.equal((await node.call('DELETE', cancelPath(transactionId))).body, true)
  assert.deepEqual(await countOf(transactionId), { canceled: 2 * 1_500, delayed: 1_100 })
  // As a worker leaves it that is killed: claimed, and its lease not yet over.
  await scene.rows(sql`
    update tasks set lease = gen_random_uuid(), claims = 1, due_at = ${new Date(app.world.now().getTime() + 60_000)}`)
  await scene.work()
  assert.equal((await countOf(transactionId))['delayed'], 1_100)
  await scene.advance(60_000)
  assert.deepEqual(await countOf(transactionId), { canceled: 2 * 2_600 })
  assert.deepEqual(await scene.rows(sql`select 1 from tasks`), [])
})

test('a digest that goes out before the page has come lists the event, which then stays as it was said', async () => {
  const list = '{{ step.total_count }}:{% for event in step.events %} {{ event.n }}{% endfor %}'
  const workflow = await scene.workflow([digest(), inApp(list)])
  const person = fresh('person')
  await scene.trigger(workflow, person, { payload: { n: 1 } })
  const second = await scene.trigger(workflow, person, { payload: { n: 2 } })
  await scene.work()
  const reply = await whileHeld(second, 0, () => node.call('DELETE', cancelPath(second)))
  assert.equal(reply.body, true)
  app.world.advance(5 * 60_000)
  await app.pipeline.workers.jobs.drain()
  assert.deepEqual(await scene.texts(person), ['2: 1 2'])
  await scene.work()
  assert.deepEqual(statuses(await scene.notification(second)), ['merged', 'merged'])
  assert.deepEqual(await scene.rows(sql`select 1 from tasks`), [])
})

test('a job that runs before the page has come is canceled by the worker that finds it', async () => {
  const transactionId = await crowd(3, [delay(), inApp('late')])
  const reply = await whileHeld(transactionId, 0, () => node.call('DELETE', cancelPath(transactionId)))
  assert.equal(reply.body, true)
  assert.deepEqual(await countOf(transactionId), { delayed: 3 })
  await scene.rows(sql`update jobs set due_at = ${app.world.now()} where due_at is not null`)
  await app.pipeline.workers.jobs.drain()
  assert.deepEqual(await countOf(transactionId), { delayed: 3 }, 'it is the caller’s for a while')
  app.world.advance(24 * hourMs)
  await app.pipeline.workers.jobs.drain()
  assert.deepEqual(await countOf(transactionId), { canceled: 6 })
  assert.deepEqual(await scene.messages(transactionId), [])
  await scene.work()
  assert.deepEqual(await scene.rows(sql`select 1 from tasks`), [])
})

test('a digest whose first event is canceled continues without it, though the page has not come', async () => {
  const list = '{{ step.total_count }}:{% for event in step.events %} {{ event.n }}{% endfor %}'
  const workflow = await scene.workflow([digest(), inApp(list)])
  const person = fresh('person')
  const first = await scene.trigger(workflow, person, { payload: { n: 1 } })
  await scene.work()
  await scene.trigger(workflow, person, { payload: { n: 2 } })
  await scene.work()
  await whileHeld(first, 0, () => node.call('DELETE', cancelPath(first)))
  app.world.advance(5 * 60_000)
  await app.pipeline.workers.jobs.drain()
  assert.deepEqual(await scene.texts(person), ['1: 2'])
  await scene.work()
  assert.deepEqual(statuses(await scene.notification(first)), ['canceled', 'canceled'])
  assert.deepEqual(await scene.rows(sql`select 1 from tasks`), [])
})

test('a task of release 0.1.0 is understood', async () => {
  const transactionId = await crowd(600, [delay(), inApp('late')])
  await scene.rows(sql`update events set canceled_at = ${app.world.now()} where transaction_id = ${transactionId}`)
  await scene.rows(sql`
    insert into tasks (environment_id, id, kind, lane, due_at, claims, state, created_at)
    select environment_id, gen_random_uuid(), 'cancel', 1, ${app.world.now()}, 0,
           jsonb_build_object('after', null, 'found', 0, 'eventId', id, 'versionId', version_id), ${app.world.now()}
    from events where transaction_id = ${transactionId}`)
  await scene.work()
  assert.deepEqual(await countOf(transactionId), { canceled: 2 * 600 })
  await scene.advance(3 * hourMs)
  assert.deepEqual(await scene.rows(sql`select 1 from tasks`), [])
})
