// The plans of webhooks, pinned: an endpoint with a long backlog and a long log is looked at where it is needed.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Sql, Tx } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { deliveriesPage } from '../../src/read/webhooks/webhook-pages.ts'
import * as deliveries from '../../src/store/webhooks/webhook-deliveries.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { worldClock } from '../support/pipeline.ts'
import { explain, explainPrepared, recordStatements } from '../support/plan.ts'
import { environmentOf } from '../support/topic-scene.ts'

const copies = 20_000
let app: TestApp
let environment: Environment
let endpointId: string
let busyId: string

/** Of one endpoint everything was delivered, of the other everything waits. */
before(async () => {
  app = await createTestApp()
  environment = await environmentOf(app)
  const made = async (): Promise<string> =>
    (await app.call('POST', '/v1/webhook-endpoints', { body: { url: 'https://api.example.com' } })).body._id
  ;[endpointId, busyId] = [await made(), await made()]
  const now = app.world.now()
  await app.database.db.run(sql`
    insert into webhook_deliveries (environment_id, endpoint_id, id, type, subject_id, body, status, due_at, created_at)
    select ${environment.id}, e.id, id_from(${now}::timestamptz - n * interval '1 second'), 'message.sent', gen_random_uuid(),
      '{}', case when e.waits then 'waiting' else 'delivered' end, case when e.waits then ${now}::timestamptz end, ${now}
    from generate_series(1, ${copies}::int) as n,
      (values (${endpointId}::uuid, false), (${busyId}::uuid, true)) as e (id, waits)`)
  await app.database.db.run(sql`analyze webhook_deliveries`)
})
after(() => app.close())

async function bounded(rows: number, run: (db: Sql) => Promise<unknown>): Promise<void> {
  const recording = recordStatements(app.database.db)
  await run(recording)
  // The count beside a page is capped, not bounded by it.
  const statements = recording.statements.filter(({ text }) => !text.includes('count('))
  assert.ok(statements.length > 0)
  for (const statement of statements) {
    const plan = await explain(app.database.db, statement)
    assert.equal(plan.hasSequentialScan, false, plan.text)
    assert.ok(plan.rowsExamined <= rows, `${plan.rowsExamined} rows: ${statement.text}\n${plan.text}`)
  }
}

test('the next deliveries of an endpoint, and when they are due, are found by an index', async () => {
  const clock = worldClock(app.world)
  await bounded(60, (db) => deliveries.findDueDeliveries(db, environment, { endpointId: busyId, clock, limit: 10 }))
  await bounded(10, (db) => deliveries.nextDeliveryInMs(db, environment, { endpointId: busyId, clock }))
  await bounded(10, (db) => deliveries.nextDeliveryInMs(db, environment, { endpointId, clock }))
})

test('a sweep reads what it deletes, not what is kept', async () => {
  const recording = recordStatements(app.database.db)
  const sweep = (now: Date): Promise<number> => deliveries.sweepDeliveries(recording as Tx, now, 100)
  assert.equal(await sweep(app.world.now()), 0)
  const [statement = assert.fail('no statement')] = recording.statements
  const plan = await explain(app.database.db, statement)
  assert.ok(plan.rowsExamined <= 10, `${plan.rowsExamined} rows\n${plan.text}`)
  assert.equal((await explainPrepared(app.database.db, statement)).rowsExamined, plan.rowsExamined)
})

test('a page of the log reads its own rows, with and without a status', async () => {
  await bounded(30, (db) => deliveriesPage(db, environment, { endpointId, limit: 10 }))
  await bounded(30, (db) => deliveriesPage(db, environment, { endpointId, limit: 10, status: 'delivered' }))
  await bounded(30, (db) => deliveriesPage(db, environment, { endpointId, limit: 10, status: 'failed' }))
})
