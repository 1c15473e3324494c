// Calling an event off while its jobs are in someone's hand, or move on at that very time.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, statuses } from '../support/flow-scene.ts'
import { eventually } from '../support/service.ts'
import { delay, digest, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

const minuteMs = 60_000
const list = '{{ step.total_count }}:{% for event in step.events %} {{ event.n }}{% endfor %}'

const cancel = (transactionId: string): Promise<unknown> =>
  scene.expect(200, 'DELETE', `/v1/events/trigger/${encodeURIComponent(transactionId)}`)

/** As if a worker had claimed all that is open. */
const takeInHand = () =>
  scene.rows(sql`
    update jobs set lease = gen_random_uuid(), due_at = ${new Date(app.world.now().getTime() + minuteMs)}
    where due_at is not null`)

test('a digest that is in hand and has not begun is canceled: the next event opens a window of its own', async () => {
  const workflow = await scene.workflow([digest(), inApp(list)])
  const person = fresh('person')
  app.world.advance(1_000)
  const first = await scene.trigger(workflow, person, { payload: { n: 1 } })
  await takeInHand()
  assert.equal(await cancel(first), true)
  await scene.run(workflow, person, { payload: { n: 2 } })
  await scene.advance(60 * minuteMs)
  assert.deepEqual(statuses(await scene.notification(first)), ['canceled', 'canceled'])
  assert.deepEqual(await scene.texts(person), ['1: 2'])
})

test('the next owner of a second digest is its first event, one that was carried along as well', async () => {
  const hourly = digest({ metadata: { type: 'regular', amount: 60, unit: 'minutes' } })
  const workflow = await scene.workflow([digest(), hourly, inApp(list)])
  const person = fresh('person')
  const runs = []
  for (const n of [1, 2]) runs.push(await scene.run(workflow, person, { payload: { n } }))
  await scene.advance(6 * minuteMs)
  for (const n of [3, 4]) runs.push(await scene.run(workflow, person, { payload: { n } }))
  await scene.advance(6 * minuteMs)
  // The first opened the second digest and brought the second along; the third joined it with the fourth.
  assert.equal(await cancel(runs[0]?.transactionId ?? ''), true)
  await scene.advance(3 * 60 * minuteMs)
  assert.deepEqual(await scene.texts(person), ['3: 2 3 4'])
  assert.deepEqual(statuses(await scene.notification(runs[1]?.transactionId ?? '')), [
    'merged',
    'completed',
    'completed',
  ])
  assert.deepEqual(statuses(await scene.notification(runs[2]?.transactionId ?? '')), ['completed', 'merged', 'merged'])
})

test('a step that ends while it is cancelled leaves nothing to run, and a second call finds nothing more', async () => {
  const workflow = await scene.workflow([inApp('a'), delay(), inApp('b')])
  const person = fresh('person')
  app.world.advance(1_000)
  const transactionId = await scene.trigger(workflow, person)
  let canceling: Promise<unknown> | undefined
  await app.database.db.transaction(async (tx) => {
    // What a settling does: it ends the first job and makes the second, in one transaction.
    await tx.run(sql`update jobs set status = 'completed', due_at = null where due_at is not null`)
    await tx.run(sql`
      insert into jobs (environment_id, id, notification_id, event_id, subscriber_id, version_id, step, status, lane, due_at,
                        claims, details, created_at, updated_at)
      select j.environment_id, overlay(j.id::text placing 'abc' from 34)::uuid, j.notification_id, j.event_id, j.subscriber_id,
             j.version_id, 1, 'queued', j.lane, ${app.world.now()}, 0, '[]', j.created_at, j.updated_at
      from jobs j join events e on e.id = j.event_id where e.transaction_id = ${transactionId}`)
    canceling = cancel(transactionId)
    const isWaiting = sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    await eventually(async () => (await app.database.db.rows(isWaiting)).length > 0)
  })
  assert.equal(await canceling, true)
  assert.equal(await cancel(transactionId), false)
  const open = await scene.rows(sql`
    select 1 from jobs j join events e on e.id = j.event_id
    where e.transaction_id = ${transactionId} and j.due_at is not null`)
  assert.equal(open.length, 0)
})
