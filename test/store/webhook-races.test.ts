// Webhooks where several nodes, callers and senders meet: who waits for whom, and what is never lost or left waiting.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Tx } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import type { DeliveryAttempt } from '../../src/domain/webhooks/webhook-delivery.ts'
import type { News } from '../../src/domain/webhooks/webhook-event.ts'
import type { Queue } from '../../src/queue/queue.ts'
import { expandNewsPage, sendingTask } from '../../src/record/webhooks/expand-news.ts'
import { endTask, settleRound } from '../../src/record/webhooks/settle-deliveries.ts'
import { becomeDeliveries } from '../../src/run/tasks/run-news.ts'
import type { NewTask, Task } from '../../src/store/jobs/tasks.ts'
import { insertTasks } from '../../src/store/jobs/tasks.ts'
import {
  eraseDeliveriesOf,
  findDueDeliveries,
  insertDeliveries,
  recordAttempts,
} from '../../src/store/webhooks/webhook-deliveries.ts'
import { findEndpoint } from '../../src/store/webhooks/webhook-endpoints.ts'
import { reportNews, tryLockNews } from '../../src/store/webhooks/webhook-news.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { createFaultyDb } from '../support/faulty-db.ts'
import { worldClock } from '../support/pipeline.ts'
import { environmentOf } from '../support/topic-scene.ts'

let app: TestApp
let environment: Environment
let queue: Queue
let endpointId: string
before(async () => {
  app = await createTestApp()
  environment = await environmentOf(app)
  queue = {
    clock: worldClock(app.world),
    leaseMs: 60_000,
    poke: () => {},
    reserve: () => undefined,
  } as unknown as Queue
  const body = { url: 'https://api.example.com', eventTypes: ['message.sent'] }
  endpointId = (await app.call('POST', '/v1/webhook-endpoints', { body })).body._id
})
after(() => app.close())

const lease = '00000000-0000-4000-8000-000000000008'
const newId = (): string => app.world.newId(app.world.now())

/** Ours, as if they had been claimed. */
async function leased<Tasks extends readonly NewTask[]>(...tasks: Tasks): Promise<{ [Index in keyof Tasks]: Task }> {
  const { db } = app.database
  await db.run(sql`delete from tasks`)
  await db.transaction((tx) => insertTasks(tx, environment, tasks, app.world.now()))
  await db.run(sql`update tasks set lease = ${lease}`)
  const more = { environmentId: environment.id, lease, interruptions: 0, faults: 0, faultedSince: null }
  return tasks.map((task) => ({ ...task, ...more })) as { [Index in keyof Tasks]: Task }
}

const newsTask = (): NewTask => ({ id: newId(), kind: 'news', lane: 1, dueAt: app.world.now(), state: {} })

async function addNews(count: number): Promise<void> {
  await app.database.db.run(sql`delete from webhook_news`)
  await app.database.db.run(sql`
    insert into webhook_news (environment_id, id, type, subject_id, facts, created_at)
    select ${environment.id}, gen_random_uuid(), 'workflow.updated', gen_random_uuid(), '{}', ${app.world.now()}
    from generate_series(1, ${count}::int)`)
}

const newsLeft = async (): Promise<number> => (await app.database.db.rows(sql`select 1 from webhook_news`)).length
const tasksLeft = (): Promise<{ id: string; lease: string | null; dueAt: Date }[]> =>
  app.database.db.rows(sql`select id, lease, due_at as "dueAt" from tasks order by id`)

test('many events become deliveries in turns: after ten pages the task makes way, and one task stands for all', async () => {
  await addNews(5_200)
  const [first, second] = await leased(newsTask(), newsTask())
  const parts = { db: app.database.db, world: app.world, queue, isAlive: () => true, isStopping: () => false }
  await becomeDeliveries(parts, environment, [first, second])
  assert.equal(await newsLeft(), 200)
  assert.deepEqual(
    (await tasksLeft()).map((task) => [task.id, task.lease]),
    [[first.id, null]],
  )
  const [again] = await leased(newsTask())
  await becomeDeliveries(parts, environment, [again])
  assert.deepEqual([await newsLeft(), (await tasksLeft()).length], [0, 0])
})

test('a node that stops gives all tasks back', async () => {
  await addNews(1)
  const tasks = await leased(newsTask(), newsTask())
  const parts = { db: app.database.db, world: app.world, queue, isAlive: () => true, isStopping: () => true }
  await becomeDeliveries(parts, environment, tasks)
  assert.equal(await newsLeft(), 1)
  assert.deepEqual(
    (await tasksLeft()).map((task) => task.lease),
    [null, null],
  )
})

test('while another node takes the events of an environment, a second one does not wait: it comes back', async () => {
  await addNews(1)
  const [first, second] = await leased(newsTask(), newsTask())
  const { db } = app.database
  await db.transaction(async (tx) => {
    assert.equal(await tryLockNews(tx, environment), true)
    assert.equal(await expandNewsPage(db, app.world, environment, queue, [first, second]), false)
  })
  assert.equal(await newsLeft(), 1)
  const [left, ...others] = await tasksLeft()
  assert.deepEqual([left?.id, left?.lease, others.length], [first.id, null, 0])
  assert.ok(left !== undefined && left.dueAt > app.world.now())
})

test('a text that was cut within a character is reported', async () => {
  await addNews(0)
  const now = app.world.now()
  const facts = { error: { code: 'x', text: 'cut \ud83d' }, 'na\u0000me': 'a\u0000b' }
  const shared = { type: 'message.failed' as const, subjectId: newId(), subscriberId: null, facts, at: now }
  await app.database.db.transaction((tx) => reportNews(tx, environment, [{ ...shared, id: newId() }], { newId, now }))
  const [row] = await app.database.db.rows<{ facts: unknown }>(sql`select facts from webhook_news`)
  assert.deepEqual(row?.facts, { error: { code: 'x', text: 'cut \ufffd' }, name: 'ab' })
})

test('a sender that saw its endpoint disabled does not end the task if the endpoint was enabled meanwhile', async () => {
  const { db } = app.database
  const [task] = await leased(sendingTask(endpointId, app.world.now()))
  await endTask(db, environment, queue, { task, endpointId })
  assert.deepEqual(
    (await tasksLeft()).map((one) => [one.id, one.lease]),
    [[endpointId, null]],
  )
  const [again] = await leased(sendingTask(endpointId, app.world.now()))
  await app.call('PATCH', `/v1/webhook-endpoints/${endpointId}`, { body: { enabled: false } })
  await endTask(db, environment, queue, { task: again, endpointId })
  assert.deepEqual(await tasksLeft(), [])
  await app.call('PATCH', `/v1/webhook-endpoints/${endpointId}`, { body: { enabled: true } })
  assert.equal((await tasksLeft()).length, 1)
})

test('results lock the endpoint before its deliveries and its task, as a redrive does', async () => {
  const locked: string[] = []
  const watched = createFaultyDb(app.database.db, ({ text }) => {
    if (/webhook_endpoints[^;]*for no key update/.test(text)) locked.push('endpoint')
    if (text.includes('update webhook_deliveries')) locked.push('deliveries')
    if (text.includes('update tasks')) locked.push('task')
    return undefined
  })
  const { sealer } = app.world
  const endpoint = (await findEndpoint(app.database.db, sealer, environment, endpointId)) ?? assert.fail('no endpoint')
  const [task] = await leased(sendingTask(endpointId, app.world.now()))
  const attempt = { at: app.world.now().toISOString(), durationMs: 1, status: 200, answer: '', error: null }
  const delivery = { id: newId(), type: 'webhook.test', body: '{}', attempts: 0 }
  const calls = [{ delivery, attempt }]
  await settleRound(watched, app.world, environment, queue, { task, endpoint, calls, audited: async () => {} })
  assert.deepEqual(locked, ['endpoint', 'deliveries', 'task'])
})

test('events about one subject keep the order in which they happened, whatever the clocks of their nodes said', async () => {
  const { db } = app.database
  await db.run(sql`delete from webhook_deliveries`)
  await db.run(sql`delete from webhook_news`)
  const now = app.world.now()
  const ahead = new Date(now.getTime() + 60_000)
  const subjectId = newId()
  // The node of the first is a minute ahead.
  const ids = [app.world.newId(ahead), newId()]
  for (const [index, id] of ids.entries()) {
    const about = { type: 'workflow.updated', subjectId, subscriberId: null, facts: {}, at: index === 0 ? ahead : now }
    await db.transaction((tx) => reportNews(tx, environment, [{ id, ...about } as News], { newId, now }))
  }
  await db.run(sql`update webhook_endpoints set event_types = '{}' where id = ${endpointId}`)
  const [task] = await leased(newsTask())
  await expandNewsPage(db, app.world, environment, queue, [task])
  const due = () => findDueDeliveries(db, environment, { endpointId, clock: queue.clock, limit: 10 })
  assert.deepEqual(
    (await due()).map(({ id }) => id),
    [ids[0]],
  )
  await db.run(sql`update webhook_deliveries set due_at = null where id = ${ids[0]}`)
  assert.deepEqual(
    (await due()).map(({ id }) => id),
    [ids[1]],
  )
  // Those of a release before have no number, and come first.
  await db.run(sql`update webhook_deliveries set due_at = ${now}, number = 0 where id = ${ids[0]}`)
  assert.deepEqual(
    (await due()).map(({ id }) => id),
    [ids[0]],
  )
})

test('an erasure and a round of attempts lock deliveries in the order of their ids', async () => {
  const { db } = app.database
  const [first, second, subscriberId] = [newId(), newId(), newId()]
  const rest = { type: 'workflow.updated', subjectId: subscriberId, subscriberId, body: {}, number: 0 }
  const given = [second, first].map((id) => ({ endpointId, id, ...rest, createdAt: app.world.now() }))
  const answer = { at: '', status: 200, error: null } as unknown as DeliveryAttempt
  const attempted = [second, first].map((id) => {
    return { id, attempts: 0, status: 'delivered', waitMs: null, attempt: answer } as const
  })
  const changes: ((tx: Tx) => Promise<unknown>)[] = [
    (tx) => recordAttempts(tx, environment, endpointId, attempted, { clock: queue.clock, now: app.world.now() }),
    (tx) => eraseDeliveriesOf(tx, environment, [subscriberId]),
  ]
  for (const change of changes) {
    await db.run(sql`delete from webhook_deliveries`)
    // In one page, the later one first.
    await db.transaction((tx) => insertDeliveries(tx, environment, given, app.world.now()))
    let changed: Promise<unknown> | undefined
    await db.transaction(async (tx) => {
      await tx.run(sql`select 1 from webhook_deliveries where id = ${first} for update`)
      changed = db.transaction(change)
      while ((await db.rows(sql`select 1 from pg_locks where not granted`)).length === 0);
      // Whoever waits for the first has not taken the second.
      const free = await tx.rows(sql`select 1 from webhook_deliveries where id = ${second} for update skip locked`)
      assert.equal(free.length, 1)
    })
    await changed
  }
})
