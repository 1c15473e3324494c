// The plans of the outbox, pinned; and its sweep: what is old or beyond the newest so many leaves, and nothing else.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Sql, Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import type { OutboxFilter } from '../../src/domain/messages/outbox.ts'
import { outboxKeptMs, outboxMessagesMax } from '../../src/domain/messages/outbox.ts'
import { sweep } from '../../src/manage/operate/housekeeping.ts'
import type { OutboxPaging } from '../../src/read/messages/outbox.ts'
import { outboxPage } from '../../src/read/messages/outbox.ts'
import { clearFromOutbox, isInOutbox, sweepOutbox, takeFromOutbox } from '../../src/store/messages/outbox.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { OutboxScene, smsStep } from '../support/outbox-scene.ts'
import type { Plan } from '../support/plan.ts'
import { explain, recordStatements } from '../support/plan.ts'
import { environmentOf } from '../support/topic-scene.ts'

const limit = 10
/** The page, and what each item takes from elsewhere. */
const page = { rows: 12 * limit, pages: 60 * limit }
/** All there is in an outbox, once, and a look at what the filter names. */
const walk = { rows: outboxMessagesMax + 12 * limit, pages: 4 * outboxMessagesMax }
/** Messages that were sent: far more than are kept, in the same partitions. */
const sentCount = 30_000

let app: TestApp
let scene: OutboxScene
let environment: Environment
let workflow: string

/** Copies of a message, a second apart and back in time; in the outbox or sent. */
async function copies(of: string, count: number, inOutbox: boolean): Promise<void> {
  await app.database.db.run(sql`
    with made as (
      select n, ${app.world.now()}::timestamptz - n * interval '1 second' as at from generate_series(1, ${count}::int) as n)
    insert into messages (environment_id, id, event_id, notification_id, job_id, subscriber_id, version_id, step, channel, state,
                          status, provider_id, integration_id, phone, content, envelope, outbox_at, created_at, updated_at)
    select m.environment_id, overlay(id_from(at)::text placing substr(md5(random()::text), 1, 12) from 25 for 12)::uuid, m.event_id,
           m.notification_id, m.job_id, m.subscriber_id, m.version_id, m.step, m.channel, m.state, m.status, m.provider_id,
           m.integration_id, '+49' || n, to_jsonb('copy ' || n || repeat(' y', 200)), m.envelope,
           case when ${inOutbox} then date_trunc('milliseconds', at) end, at, at
    from made, messages m where m.id = ${of}`)
}

before(async () => {
  app = await createTestApp()
  scene = new OutboxScene(app)
  environment = await environmentOf(app)
  workflow = await scene.workflow([smsStep('Hello')])
  const person = await scene.person('rare', { phone: '+1555' })
  await scene.run(workflow, person, { transactionId: 'rare' })
  const { _id } = await scene.newest({ recipient: 'rare' })
  await copies(_id, outboxMessagesMax - 1, true)
  await copies(_id, sentCount, false)
  await app.database.db.run(sql`vacuum analyze`)
})
after(() => app.close())

const list =
  (filter: OutboxFilter, paging: OutboxPaging = {}) =>
  (db: Sql) =>
    outboxPage(db, environment, filter, { limit, ...paging })

async function planned(what: string, statement: Statement): Promise<Plan> {
  const plan = await explain(app.database.db, statement)
  return { ...plan, text: `${what}\n${statement.text}\n${plan.text}` }
}

/** Holds to the bounds what a read asks of the messages. */
async function pinned<Result>(what: string, read: (db: Sql) => Promise<Result>, bounds = page): Promise<Result> {
  const recording = recordStatements(app.database.db)
  const result = await read(recording)
  const asked = recording.statements.filter(
    ({ text }) => /\bfrom messages\b/.test(text) && !text.startsWith('select count'),
  )
  assert.ok(asked.length > 0, what)
  for (const statement of asked) {
    const plan = await planned(what, statement)
    assert.ok(plan.rowsExamined <= bounds.rows, `${plan.rowsExamined} rows: ${plan.text}`)
    assert.ok(plan.pagesTouched <= bounds.pages, `${plan.pagesTouched} pages: ${plan.text}`)
    assert.ok(
      plan.indexes.some((name) => /outbox/.test(name)),
      plan.text,
    )
  }
  return result
}

test('a page looks at a page of rows, at the beginning and deep in the list, however much was sent', async () => {
  const first = await pinned('first page', list({}))
  assert.deepEqual([first.data.length, first.totalCount], [limit, outboxMessagesMax])
  const far = await list({}, { limit: 4_000 })(app.database.db)
  const cursor = far.next ?? assert.fail('the list is too short')
  assert.equal((await pinned('after', list({}, { after: cursor }))).data.length, limit)
  assert.equal((await pinned('before', list({}, { before: cursor }))).data.length, limit)
  const middle = new Date(app.world.now().getTime() - 5_000_000)
  assert.equal((await pinned('capturedBefore', list({ capturedBefore: middle }))).data.length, limit)
  assert.equal((await pinned('channel', list({ channel: 'sms' }))).data.length, limit)
  assert.equal((await pinned('workflow', list({ workflow }))).data.length, limit)
})

test('a filter that few or none fit walks the outbox once, and no message that was sent', async () => {
  const filters: readonly OutboxFilter[] = [
    { channel: 'email' },
    { recipient: '+49777' },
    { recipient: 'nobody' },
    { workflow: 'no-such-workflow' },
    { transactionId: 'no-such-transaction' },
    { text: 'no such text' },
  ]
  for (const filter of filters) {
    const found = await pinned(JSON.stringify(filter), list(filter), walk)
    assert.equal(found.data.length, filter.recipient === '+49777' ? 1 : 0)
    await pinned(`wait, ${JSON.stringify(filter)}`, (db) => isInOutbox(db, environment, filter), walk)
  }
})

test('the count beside a page walks the outbox once', async () => {
  const recording = recordStatements(app.database.db)
  await list({ channel: 'sms' })(recording)
  const count = recording.statements.find(({ text }) => text.startsWith('select count')) ?? assert.fail('not counted')
  const plan = await planned('count', count)
  assert.ok(plan.rowsExamined <= outboxMessagesMax, plan.text)
})

test('a look since a time, as those who wait take it, reads what came since', async () => {
  const since = new Date(app.world.now().getTime() - 30_000)
  const filter = { text: 'no such text', capturedAfter: since }
  assert.equal(await pinned('since', (db) => isInOutbox(db, environment, filter), { rows: 40, pages: 200 }), false)
})

test('one message is taken out by its key', async () => {
  const recording = recordStatements(app.database.db)
  const { data } = await list({})(app.database.db)
  const id = data.at(-1)?._id ?? ''
  assert.equal(await takeFromOutbox(recording, environment, id), true)
  assert.equal(await takeFromOutbox(recording, environment, id), false)
  const plan = await planned('take', recording.statements[0] ?? assert.fail('nothing ran'))
  assert.ok(plan.rowsExamined <= 5, plan.text)
})

const count = async (): Promise<number> => (await list({})(app.database.db)).totalCount

test('of each environment the newest so many stay, in batches, and not one more goes', async () => {
  const { db } = app.database
  const before = await count()
  assert.equal(await sweepOutbox(recordStatements(db), app.world.now(), 5_000), 0)
  const [newest] = (await list({})(db)).data
  await copies(newest?._id ?? '', 2_500, true)
  const extra = before + 2_500 - outboxMessagesMax
  const recording = recordStatements(db)
  assert.equal(await sweepOutbox(recording, app.world.now(), 1_000), 1_000)
  assert.equal(await sweepOutbox(recording, app.world.now(), 10_000), extra - 1_000)
  assert.equal(await count(), outboxMessagesMax)
  const plan = await planned('sweep', recording.statements[1] ?? assert.fail('nothing ran'))
  assert.ok(plan.rowsExamined <= 2 * walk.rows, plan.text)
  assert.equal((await list({})(db)).data[0]?._id, newest?._id)
})

test('what is older than a week leaves the outbox, and stays a message', async () => {
  const { db } = app.database
  const messages = async (): Promise<number> => (await scene.rows(sql`select id from messages`)).length
  const all = await messages()
  const newestMs = app.world.now().getTime()
  app.world.advance(outboxKeptMs - 1_000)
  const gone = await sweep(db, app.world)
  assert.ok(gone > 9_000, `${gone}`)
  const left = await list({}, { limit: 100 })(db)
  assert.ok(left.data.length > 0)
  assert.ok(left.data.every(({ capturedAt }) => Date.parse(capturedAt) > newestMs - 1_000))
  app.world.advance(2_000)
  await sweep(db, app.world)
  assert.equal(await count(), 0)
  assert.equal(await messages(), all)
})

test('clearing walks what it clears, a batch at a time', async () => {
  const { db } = app.database
  await scene.run(workflow, 'rare')
  const { _id } = await scene.newest({ recipient: 'rare' })
  await copies(_id, 6_000, true)
  const cleared: number[] = []
  await db.transaction(async (tx) => {
    for (let round = 0; round < 3; round += 1) cleared.push(await clearFromOutbox(tx, environment, {}))
  })
  assert.deepEqual(cleared, [5_000, 1_001, 0])
})
