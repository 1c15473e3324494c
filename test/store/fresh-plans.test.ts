// What pages cost before the first analyze: a new installation, and each month's new partition, have no statistics. The
// planner then takes every condition for selective, and indexes that differ in use look the same to it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Sql } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { stampedActivityPage } from '../../src/read/activity/activity.ts'
import { activityStamp } from '../../src/read/activity/activity-stamp.ts'
import { createPinnedVersions } from '../../src/read/activity/pinned-versions.ts'
import { feedCount, feedStamp, stampedFeedPage } from '../../src/read/messages/feed.ts'
import { findInbox, inboxCounts, inboxPage } from '../../src/read/messages/inbox.ts'
import { countMessages, findMessagePage } from '../../src/read/messages/message-pages.ts'
import { countOpen } from '../../src/store/messages/open-counts.ts'
import { presumeStatistics } from '../../src/store/operate/presumed-statistics.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { explain, explainPrepared, recordStatements } from '../support/plan.ts'
import { environmentOf } from '../support/topic-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

const people = 60
/** A page, its count and the rows that they belong to: far below the 6,000 of all. */
const messagesEach = 130
const rowsMax = 4 * messagesEach
const pagesMax = 12 * messagesEach

const versions = createPinnedVersions()
let app: TestApp
let environment: Environment
let person: string
before(async () => {
  app = await createTestApp()
  environment = await environmentOf(app)
  const scene = new FlowScene(app)
  const name = await scene.workflow([inApp('Hello {{ payload.n }}')])
  const names = Array.from({ length: people }, (_, n) => `person-${n}`)
  await scene.results([{ name, to: names, payload: { n: 1 } }])
  await app.pipeline.work()
  const { db } = app.database
  await presumeStatistics(db)
  for (const table of ['notifications', 'messages']) await repeat(db, table)
  const row = await db.row<{ id: string }>(sql`select id from subscribers where subscriber_id = 'person-7'`)
  person = row?.id ?? assert.fail('there is no person 7')
})
after(() => app.close())

/** Each row many times more, with ids of their own. */
async function repeat(db: Sql, table: string): Promise<void> {
  const text = `insert into ${table}
    select (jsonb_populate_record(t, jsonb_build_object(
      'id', overlay(t.id::text placing substr(gen_random_uuid()::text, 20) from 20)))).*
    from ${table} t cross join generate_series(1, $1::int)`
  await db.run({ text, values: [messagesEach - 1] })
}

/** Each statement as it is sent: prepared ones for any values, the others for theirs. */
async function bounded(what: string, read: (db: Sql) => Promise<unknown>): Promise<void> {
  const { db } = app.database
  const recording = recordStatements(db)
  await read(recording)
  assert.ok(recording.statements.length > 0, what)
  for (const statement of recording.statements) {
    const plan = await (statement.name === undefined ? explain(db, statement) : explainPrepared(db, statement))
    const message = `${what}: ${plan.rowsExamined} rows, ${plan.pagesTouched} pages\n${statement.text}\n${plan.text}`
    assert.ok(plan.rowsExamined <= rowsMax && plan.pagesTouched <= pagesMax, message)
  }
}

const firstPage = { page: 0, limit: 10 }

test('a page of the feed and its count look at one person’s messages', async () => {
  for (const marks of [{}, { read: false }, { seen: false }, { read: true }]) {
    const query = { ...firstPage, ...marks }
    await bounded(`feed ${JSON.stringify(marks)}`, (db) =>
      stampedFeedPage(db, environment, 'person-7', query, versions),
    )
    await bounded(`feed stamp ${JSON.stringify(marks)}`, (db) => feedStamp(db, environment, 'person-7', query))
    await bounded(`feed count ${JSON.stringify(marks)}`, (db) =>
      feedCount(db, environment, 'person-7', { ...marks, limit: 100 }),
    )
  }
})

test('so do an inbox, its page and its counts', async () => {
  const inbox = await findInbox(app.database.db, environment, { subscriberId: 'person-7', contextKeys: undefined })
  assert.ok(inbox !== undefined)
  for (const filter of [{}, { read: false }, { seen: false }, { archived: false }, { read: true }]) {
    const query = { filter, limit: 10, after: undefined, offset: 0 }
    await bounded(`inbox ${JSON.stringify(filter)}`, (db) => inboxPage(db, inbox, query))
    await bounded(`inbox count ${JSON.stringify(filter)}`, (db) => inboxCounts(db, inbox, [filter]))
  }
  await bounded('open counts', (db) => countOpen(db, environment, [{ subscriberId: person, contextKeys: [] }]))
})

test('so do the messages of one person', async () => {
  for (const filter of [{ subscriberId: person }, { subscriberId: person, channel: 'in_app' as const }]) {
    await bounded(`messages ${JSON.stringify(filter)}`, (db) =>
      findMessagePage(db, environment, filter, { offset: 0, limit: 11 }),
    )
    await bounded(`count of messages ${JSON.stringify(filter)}`, (db) => countMessages(db, environment, filter))
  }
})

test('a page of the activity looks at a page of notifications', async () => {
  for (const filter of [{}, { subscriberIds: ['person-7'] }, { channels: ['in_app' as const] }]) {
    await bounded(`activity ${JSON.stringify(filter)}`, (db) =>
      stampedActivityPage(db, environment, { ...firstPage, ...filter }, versions),
    )
  }
  await bounded('stamp of the activity', (db) => activityStamp(db, environment, firstPage.limit, []))
})
