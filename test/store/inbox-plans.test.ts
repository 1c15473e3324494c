// The plans of the inbox, pinned: the bell's count reads an index alone, and a page looks at about a page of rows.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Sql } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Reader } from '../../src/domain/messages/inbox.ts'
import { readInboxFilter } from '../../src/domain/messages/inbox-filter.ts'
import { severities } from '../../src/domain/workflows/workflow.ts'
import { inboxCounts, inboxPage } from '../../src/read/messages/inbox.ts'
import { lastId } from '../../src/realtime/look.ts'
import { findChanges } from '../../src/store/messages/changes.ts'
import { findInboxNumbers, openInbox } from '../../src/store/messages/inbox-changes.ts'
import { countOpen } from '../../src/store/messages/open-counts.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { MessageScene } from '../support/message-scene.ts'
import type { Plan } from '../support/plan.ts'
import { explain, explainPrepared, recordStatements } from '../support/plan.ts'

const copies = 20_000
let app: TestApp
let busy: Reader
let calm: Reader
before(async () => {
  app = await createTestApp()
  const scene = await MessageScene.of(app, ['busy', 'calm'])
  const { environment } = scene.scene
  const readerOf = (subscriberId: string): Reader => ({
    environment,
    id: scene.people.get(subscriberId) ?? '',
    subscriberId,
    contextKeys: [],
  })
  busy = readerOf('busy')
  calm = readerOf('calm')
  await scene.say('calm', { event: { severity: 'high' } })
  const { id } = await scene.say('busy')
  const { db } = app.database
  // One in a hundred is unread, one in ten of those is urgent, and a tenth of all is archived.
  await db.run(sql`
    insert into messages (environment_id, id, event_id, notification_id, job_id, subscriber_id, version_id, step, channel,
                          state, status, content, severity, read, seen, archived, created_at, updated_at)
    select m.environment_id,
           (substr(m.id::text, 1, 19) || '9' || substr(md5(n::text), 1, 3) || '-' || substr(md5(n::text), 4, 12))::uuid,
           m.event_id, m.notification_id, m.job_id, m.subscriber_id, m.version_id, m.step, m.channel, m.state, m.status,
           to_jsonb(repeat('y', 400)), case when n % 1000 = 0 then 'high' end, n % 100 <> 0, n % 100 <> 0, n % 10 = 1,
           m.created_at - n * interval '1 second', m.created_at
    from messages m, generate_series(1, ${copies}::int) as n where m.id = ${id}`)
  await db.run(sql`vacuum analyze`)
})
after(() => app.close())

async function plansOf<Result>(read: (db: Sql) => Promise<Result>): Promise<{ result: Result; plans: Plan[] }> {
  const recording = recordStatements(app.database.db)
  const result = await read(recording)
  const asked = recording.statements.filter(({ text }) => /\bfrom messages m\b/.test(text))
  const plans: Plan[] = []
  for (const statement of asked) plans.push(await explain(app.database.db, statement))
  return { result, plans }
}

const bell = severities.map((severity) => readInboxFilter({ read: false, archived: false, snoozed: false, severity }))

test('the count of four severities is one statement that reads the index of open messages and no row', async () => {
  for (const reader of [busy, calm]) {
    const { result, plans } = await plansOf((db) => inboxCounts(db, reader, bell))
    assert.deepEqual(result, reader === busy ? [20, 0, 0, 100] : [1, 0, 0, 0])
    assert.equal(plans.length, 1)
    const [plan] = plans
    const text = plan?.text ?? ''
    // Partitions without a row are read as they are.
    assert.ok(plan !== undefined && plan.indexes.length > 0, text)
    assert.match(text, /"Index Only Scan"/)
    assert.doesNotMatch(text, /"Node Type":\s*"(?:Index Scan|Bitmap Heap Scan)"/)
    assert.ok(plan.rowsExamined <= (reader === busy ? copies / 100 + 1 : 1), `${plan.rowsExamined}: ${text}`)
    assert.ok(plan.pagesTouched <= 60, `${plan.pagesTouched} pages: ${text}`)
  }
})

test('a tab’s tags are looked up by the version, of what is open only', async () => {
  const tabs = [['orders'], ['x']].map((tags) => readInboxFilter({ read: false, snoozed: false, tags }))
  const { result, plans } = await plansOf((db) => inboxCounts(db, busy, tabs))
  assert.deepEqual(result, [100, 0])
  assert.ok((plans[0]?.rowsExamined ?? 0) <= 5 * (copies / 100), plans[0]?.text)
})

test('counts of what is not open stop after the newest 10,000', async () => {
  const filters = [{ archived: true }, {}, { read: true, archived: true, severity: 'low' }].map(readInboxFilter)
  const { result, plans } = await plansOf((db) => inboxCounts(db, busy, filters))
  assert.deepEqual(result, [100, 100, 0])
  assert.ok((plans[0]?.rowsExamined ?? 0) <= 3 * 10_001, plans[0]?.text)
})

test('a page and the one after it look at about a page of rows', async () => {
  const limit = 10
  for (const given of [{}, { archived: false, snoozed: false }, { read: false, snoozed: false }]) {
    const filter = readInboxFilter(given)
    const first = await plansOf((db) => inboxPage(db, busy, { filter, limit, after: undefined, offset: 0 }))
    const after = first.result.data.at(-1)?.id
    const second = await plansOf((db) => inboxPage(db, busy, { filter, limit, after, offset: 0 }))
    assert.equal(second.result.data.length, limit)
    for (const plan of [...first.plans, ...second.plans]) {
      assert.ok(plan.rowsExamined <= 3 * limit, `${plan.rowsExamined} rows: ${plan.text}`)
      assert.ok(plan.indexes.length > 0, plan.text)
    }
  }
})

test('what changed after a number is found by the numbers alone, and counted by the index of what is open', async () => {
  const { db } = app.database
  const { environment } = busy
  for (const { id } of [busy, calm]) await db.transaction((tx) => openInbox(tx, environment, id))
  await db.run(sql`
    update messages m set change = numbered.number, arrival = numbered.number
    from (select id, row_number() over (order by id) as number from messages where subscriber_id = ${busy.id}) as numbered
    where m.environment_id = ${environment.id} and m.id = numbered.id`)
  await db.run(sql`vacuum analyze`)
  const asked = [busy, calm].map(({ id }) => ({ subscriberId: id, after: { number: copies - 9, messageId: lastId } }))
  const recording = recordStatements(db)
  const found = await findChanges(recording, environment, asked, 50)
  await countOpen(recording, environment, [
    { subscriberId: busy.id, contextKeys: [] },
    { subscriberId: calm.id, contextKeys: ['tenant:acme'] },
  ])
  await findInboxNumbers(
    recording,
    environment,
    asked.map((one) => one.subscriberId),
  )
  assert.equal(found.length, 10)
  const bounds = [20, 2 * (copies / 100) + 2, 20]
  for (const [index, statement] of recording.statements.entries()) {
    const plan = await explainPrepared(db, statement)
    assert.ok(plan.rowsExamined <= (bounds[index] ?? 0), `${plan.rowsExamined}: ${statement.text}\n${plan.text}`)
  }
})
