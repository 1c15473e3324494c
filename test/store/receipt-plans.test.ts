// The plans of receipts, pinned: a report looks at the messages it names, a question at those that are due, however many there are.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import * as receipts from '../../src/store/messages/receipts.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import type { RecordingDb } from '../support/plan.ts'
import { explain, recordStatements } from '../support/plan.ts'
import { PostmarkScript } from '../support/postmark-script.ts'
import { email } from '../support/workflow-scene.ts'

const copies = 20_000
let app: TestApp
let scene: FlowScene
let environment: Environment
let integrationId: string
let ids: string[]

/** Messages of one integration with their jobs, in two months' partitions; each tenth is to be asked about, each job is open. */
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  integrationId = await new PostmarkScript(scene).account()
  const workflow = await scene.workflow([email('Hello')])
  await scene.run(workflow, { subscriberId: fresh('person'), email: 'ada@example.org' })
  await scene.rows(sql`
    with made as (
      select n, id_from(${app.world.now()}::timestamptz - n * interval '3 minutes') as id
      from generate_series(1, ${copies}::int) as n),
    jobs_made as (
      insert into jobs select copy.* from made, jobs j
      cross join lateral jsonb_populate_record(j, jsonb_build_object('id', made.id, 'due_at', j.created_at)) as copy)
    insert into messages select copy.* from made, messages m
    cross join lateral jsonb_populate_record(m, jsonb_build_object(
      'id', made.id, 'job_id', made.id, 'provider_message_id', 'pm-' || (made.n + 1000),
      'poll_at', case when made.n % 10 = 0 then m.created_at + made.n * interval '1 second' end)) as copy`)
  await scene.rows(sql`analyze messages`)
  await scene.rows(sql`analyze jobs`)
  const rows = await scene.rows(sql`select id, environment_id from messages order by id limit 20`)
  ids = rows.map((row: Json) => row.id)
  environment = { id: rows[0]?.environment_id } as Environment
})
after(() => app.close())

async function bounded(what: string, rows: number, run: (tx: RecordingDb) => Promise<unknown>): Promise<void> {
  const recording = recordStatements(app.database.db)
  const reported = await run(recording)
  assert.ok(recording.statements.length > 0, what)
  for (const statement of recording.statements) {
    const plan = await explain(app.database.db, statement)
    const message = `${what}: ${JSON.stringify(reported)?.slice(0, 200)}\n${statement.text}\n${plan.text}`
    assert.equal(plan.hasSequentialScan, false, message)
    assert.ok(plan.rowsExamined <= rows, `${plan.rowsExamined} rows: ${message}`)
  }
}

test('a report of twenty messages, named by either id, finds and locks them by their keys', async () => {
  const providerMessageIds = Array.from({ length: 20 }, (_, n) => `pm-${2_000 + n}`)
  await bounded('both kinds of ids', 200, async (tx) => {
    const found = await receipts.lockReported(tx, environment, { integrationId, ids, providerMessageIds })
    assert.equal(found.length, 40)
  })
  const unknown = Array.from({ length: 500 }, (_, n) => `nobody-${n}`)
  await bounded('unknown ids', 20, (tx) =>
    receipts.lockReported(tx, environment, { integrationId, ids: [], providerMessageIds: unknown }),
  )
})

test('what became of messages is written by their keys', async () => {
  const changes = ids.map((id) => ({ id, receipts: { delivered: 'x' }, status: 'sent' as const }))
  await bounded('written', 100, (tx) => receipts.writeReported(tx, environment, changes, app.world.now()))
})

test('a question looks at those that are due, those that waited longest first', async () => {
  const now = new Date(app.world.now().getTime() + 365 * 24 * 3_600_000)
  const clock = () => sql`${now}::timestamptz`
  await bounded('due', 150, async (tx) => {
    assert.equal((await receipts.findPolled(tx, environment, { integrationId, clock, limit: 100 })).length, 100)
  })
  await bounded('whether one is due', 20, (tx) => receipts.isPollDue(tx, environment, { integrationId, clock }))
  const polls = ids.map((messageId) => ({ messageId, at: now }))
  await bounded('the first time', 100, (tx) => receipts.pollFrom(tx, environment, polls, { clock, now }))
  await bounded('again', 100, (tx) =>
    receipts.pollAgain(
      tx,
      environment,
      ids.map((id) => ({ id, at: now })),
      { clock, now },
    ),
  )
})

test('a mail that was answered is found by its key', async () => {
  const [id = ''] = ids
  await bounded('locked', 5, (tx) => receipts.lockReplied(tx, environment, id))
  await bounded('read', 5, (tx) => receipts.findReplied(tx, environment, id))
})
