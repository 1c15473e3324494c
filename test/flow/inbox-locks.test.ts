// Work on many messages holds their inboxes a page at a time, and no two of such works wait for each other in a circle.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { inboxOf } from '../support/inbox-scene.ts'
import { addSubscribers } from '../support/topic-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
/** It waits for a lock longer than the tests hold one. */
let patient: TestApp
let scene: FlowScene
let workflow: string
before(async () => {
  app = await createTestApp()
  patient = await createTestApp({ nodeOf: app, lockTimeoutMs: 60_000 })
  scene = new FlowScene(app)
  workflow = await scene.workflow([inApp('Hello')])
})
after(async () => {
  await patient.close()
  await app.close()
})

const openAll = (on: TestApp) =>
  on.database.db.run(sql`
    insert into inbox_changes (environment_id, subscriber_id) select environment_id, id from subscribers
    on conflict do nothing`)

/** Holds a message while `work` goes on, until so many of the others are as they should be; what comes of the work. */
async function whileHeld<Result>(
  held: Statement,
  { isDone, count }: { isDone: Statement; count: number },
  work: () => Promise<Result>,
  meanwhile: () => Promise<void> = async () => {},
): Promise<Result> {
  const { db } = app.database
  let working: Promise<Result> | undefined
  await db.transaction(async (tx) => {
    await tx.run(held)
    working = work()
    working.catch(() => {})
    const startedAt = performance.now()
    for (let done = 0; done < count; ) {
      assert.ok(performance.now() - startedAt < 12_000, `${done} of ${count} were done by then`)
      await new Promise((resolve) => setTimeout(resolve, 10))
      done =
        (await db.row<{ count: number }>(sql`select count(*) as count from messages m where ${isDone}`))?.count ?? 0
    }
    await meanwhile()
  })
  assert.ok(working)
  return working
}

test('deleting what a large event said is done in pages, and other messages to its readers continue', async () => {
  const names = Array.from({ length: 650 }, () => fresh('reader'))
  await addSubscribers(app, names)
  await openAll(app)
  const transactionId = fresh('transaction')
  await scene.expect(201, 'POST', '/v1/events/trigger/broadcast', { name: workflow, transactionId })
  await scene.work()
  const path = `/v1/messages/transaction/${transactionId}`
  const ofEvent = sql`m.event_id = (select id from events where transaction_id = ${transactionId})`
  const [first] = await scene.rows(sql`
    select s.subscriber_id from messages m join subscribers s on s.environment_id = m.environment_id and s.id = m.subscriber_id
    where ${ofEvent} order by m.id limit 1`)
  const reply = await whileHeld(
    sql`select from messages m where ${ofEvent} order by m.id desc limit 1 for update`,
    { isDone: sql`${ofEvent} and m.deleted_at is not null`, count: 500 },
    () => patient.call('DELETE', path, { headers: { 'idempotency-key': 'large' } }),
    async () => {
      await scene.run(workflow, first?.subscriber_id)
    },
  )
  assert.equal(reply.status, 204, reply.text)
  const [left] = await scene.rows(sql`
    select count(*) filter (where deleted_at is null) as left, count(*) filter (where change is null) as unnumbered
    from messages m where ${ofEvent}`)
  assert.deepEqual(left, { left: 0, unnumbered: 0 })
  const again = await app.call('DELETE', path, { headers: { 'idempotency-key': 'large' } })
  assert.deepEqual([again.status, again.headers['idempotency-replay']], [204, 'true'])
  assert.equal((await app.call('DELETE', path)).status, 404)
})

const ofReader = (name: string): Statement =>
  sql`m.channel = 'in_app' and m.subscriber_id = (select id from subscribers where subscriber_id = ${name})`

/** So many messages, the copies of one. */
async function fillInbox(name: string, count: number): Promise<void> {
  await scene.run(workflow, name)
  await app.database.db.run(sql`
    insert into messages select (jsonb_populate_record(m, jsonb_build_object('id', gen_random_uuid()))).*
    from messages m cross join generate_series(2, ${count}::int) where ${ofReader(name)}`)
}

const worksOnAll = {
  'marking all as read': { path: '/notifications/read', isDone: sql`m.read`, page: 1_000 },
  'deleting all': { path: '/notifications/delete', isDone: sql`m.deleted_at is not null`, page: 500 },
}
for (const [what, { path, isDone, page: pageSize }] of Object.entries(worksOnAll)) {
  test(`${what} of a large inbox is done in pages`, async () => {
    const name = fresh('hoarder')
    const page = await inboxOf(patient, name)
    await fillInbox(name, pageSize + 20)
    await whileHeld(
      sql`select from messages m where ${ofReader(name)} order by m.created_at desc, m.id desc limit 1 for update`,
      { isDone: sql`${ofReader(name)} and ${isDone}`, count: pageSize },
      () => page.data(204, 'POST', path),
      async () => {
        // Its inbox is held by the page that waits; others are not.
        await scene.run(workflow, fresh('other'))
      },
    )
    const rows = await scene.rows(sql`select from messages m where ${ofReader(name)} and ${isDone}`)
    assert.equal(rows.length, pageSize + 20)
  })
}

test('fan-outs, bulks, marks and deletions over the same readers do not lock each other out', async () => {
  const busy = await createTestApp({ works: true })
  const on = new FlowScene(busy)
  const name = await on.workflow([inApp('Hello')])
  const readers = Array.from({ length: 40 }, () => fresh('reader'))
  await addSubscribers(busy, readers)
  await openAll(busy)
  const pages = await Promise.all(readers.slice(0, 8).map((reader) => inboxOf(busy, reader)))
  const shuffled = () => readers.toSorted(() => Math.random() - 0.5)
  for (let round = 0; round < 6; round += 1) {
    const transactionId = fresh('transaction')
    const bulk = () => on.results(shuffled().map((to) => ({ name, to })))
    const single = () => on.trigger(name, shuffled().slice(0, 20))
    const broadcast = () => on.expect(201, 'POST', '/v1/events/trigger/broadcast', { name, transactionId })
    await Promise.all([
      ...[bulk(), bulk(), bulk(), single(), single(), broadcast()],
      ...pages.map((page, index) =>
        page.data(204, 'POST', index % 2 === 0 ? '/notifications/read' : '/notifications/delete'),
      ),
      busy.call('DELETE', `/v1/messages/transaction/transaction-${round}`),
    ])
    await Promise.all([
      busy.call('DELETE', `/v1/messages/transaction/${transactionId}`),
      busy.call('POST', `/v1/events/${transactionId}/retract`),
      bulk(),
      ...pages.map((page) => page.data(204, 'POST', '/notifications/read')),
    ])
  }
  await busy.pipeline.work()
  const seen = await busy.database.db.row<{ deadlocks: number }>(
    sql`select deadlocks from pg_stat_database where datname = current_database()`,
  )
  assert.equal(seen?.deadlocks, 0)
  await busy.close()
})
