// The plans of the lists of topics and subscriptions, pinned: a page looks at about a page of rows, however long the list.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Sql } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import type { SubscriberSummary, Topic } from '../../src/domain/people/topic.ts'
import type { CursorPage, CursorQuery } from '../../src/read/page/keyset-page.ts'
import { subscriberSubscriptionsPage, topicSubscriptionsPage } from '../../src/read/people/topic-subscriptions.ts'
import { topicsPage } from '../../src/read/people/topics.ts'
import { findSummary, lockSubscriptions } from '../../src/store/people/topic-subscriptions.ts'
import { findTopic } from '../../src/store/people/topics.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { assertBounded, explain, recordStatements } from '../support/plan.ts'
import { environmentOf } from '../support/topic-scene.ts'

const limit = 10
const rowsExaminedMax = 10 * limit
/** Each row of a page may cost a descent of an index and a page of the table, of two tables. */
const pagesTouchedMax = 15 * limit
/** A search walks two thousand rows first, and then asks its index. */
const rowsSearchedMax = 2_100

let app: TestApp
let environment: Environment
let topic: Topic
let subscriber: SubscriberSummary

before(async () => {
  app = await createTestApp()
  environment = await environmentOf(app)
  // So many rows take a while on a busy machine.
  const db = app.database.another({ statementTimeoutMs: 120_000 })
  // One busy topic and one busy subscriber among 20,000 of each, and a smaller neighbour.
  const neighbour = await environmentOf(app, 'Production')
  for (const [id, count] of [
    [environment.id, 20_000],
    [neighbour.id, 2_000],
  ] as const) {
    await db.run(sql`
      insert into topics (environment_id, id, key, name, created_at, updated_at)
      select ${id}, gen_random_uuid(), 'topic-' || n,
             case when n % 5000 = 7 then 'The needle ' || n else 'Hay number ' || md5(n::text) end,
             made_at, date_trunc('milliseconds', made_at + (n % 1000) * interval '1 hour')
      from (select n, date_trunc('milliseconds', now()) as made_at from generate_series(1, ${count}::int) as n) as numbered`)
    await db.run(sql`
      insert into subscribers (environment_id, id, subscriber_id, created_at, updated_at)
      select ${id}, gen_random_uuid(), 'person-' || n, now(), now() from generate_series(1, ${count}::int) as n`)
    await db.run(sql`
      insert into topic_subscriptions (environment_id, topic_id, subscriber_id, id, identifier, created_at)
      select t.environment_id, t.id, u.id, gen_random_uuid(),
             case when u.subscriber_id like '%7' then 'own-' || u.subscriber_id end, now()
      from topics as t join subscribers as u on u.environment_id = t.environment_id
      where t.environment_id = ${id} and t.key = 'topic-1'
      union all
      select t.environment_id, t.id, u.id, gen_random_uuid(), null, now()
      from topics as t join subscribers as u on u.environment_id = t.environment_id
      where t.environment_id = ${id} and t.key <> 'topic-1' and u.subscriber_id = 'person-1'`)
  }
  await db.run(sql`analyze`)
  topic = (await findTopic(db, environment, 'topic-1')) ?? assert.fail('no topic')
  subscriber = (await findSummary(db, environment, 'person-1')) ?? assert.fail('no subscriber')
})
after(() => app.close())

type ReadPage = (db: Sql) => Promise<CursorPage<object>>
const pinned = (what: string, read: ReadPage) =>
  assertBounded(app.database.db, what, { rows: rowsExaminedMax, pages: pagesTouchedMax }, read)
const pinnedSearch = (what: string, read: ReadPage) =>
  assertBounded(app.database.db, what, { rows: rowsSearchedMax, pages: rowsSearchedMax }, read)

/** The first page, one in the middle of the list, and the way back from there, in both directions of the order. */
async function pinnedWalk(
  what: string,
  orders: readonly string[],
  read: (db: Sql, query: CursorQuery) => Promise<CursorPage<object>>,
): Promise<void> {
  for (const orderBy of orders) {
    for (const orderDirection of ['ASC', 'DESC'] as const) {
      const order = { orderBy, orderDirection, limit }
      const where = `${what} by ${orderBy} ${orderDirection}`
      await pinned(`${where}, first page`, (db) => read(db, order))
      const far = await read(app.database.db, { ...order, limit: 7000 })
      const after = far.next ?? assert.fail('the list is too short')
      const middle = await pinned(`${where}, after`, (db) => read(db, { ...order, after }))
      assert.equal(middle.data.length, limit)
      await pinned(`${where}, after, inclusive`, (db) => read(db, { ...order, after, includeCursor: true }))
      await pinned(`${where}, before`, (db) => read(db, { ...order, before: after }))
    }
  }
}

test('a page of topics looks at a page of rows, in every order and direction', async () => {
  await pinnedWalk('topics', ['_id', 'createdAt', 'updatedAt', 'key'], (db, query) =>
    topicsPage(db, environment, query),
  )
})

test('a topic is found by its key through an index', async () => {
  for (const orderBy of ['_id', 'updatedAt', 'key']) {
    const page = await pinned('topics, key', (db) =>
      topicsPage(db, environment, { key: 'topic-12345', orderBy, limit }),
    )
    assert.equal(page.data.length, 1)
  }
})

test('topics are found by a part of their name through the index of runs', async () => {
  const query = { name: 'needle', limit }
  const page = await pinnedSearch('topics, name', (db) => topicsPage(db, environment, query))
  assert.equal(page.data.length, 4)
  const none = await pinnedSearch('topics, no such name', (db) =>
    topicsPage(db, environment, { name: 'absent-name', limit }),
  )
  assert.equal(none.data.length, 0)
  const both = await pinnedSearch('topics, name and key', (db) =>
    topicsPage(db, environment, { ...query, key: 'topic-7' }),
  )
  assert.equal(both.data.length, 1)
})

test('a page of a busy topic’s subscriptions looks at a page of rows', async () => {
  await pinnedWalk('topic subscriptions', ['_id'], (db, query) => topicSubscriptionsPage(db, environment, topic, query))
  const one = await pinned('topic subscriptions, subscriber', (db) =>
    topicSubscriptionsPage(db, environment, topic, { subscriberId: 'person-777', limit }),
  )
  assert.equal(one.data.length, 1)
})

test('a page of a busy subscriber’s subscriptions looks at a page of rows', async () => {
  await pinnedWalk('subscriber subscriptions', ['_id'], (db, query) =>
    subscriberSubscriptionsPage(db, environment, subscriber, query),
  )
  const one = await pinned('subscriber subscriptions, topic', (db) =>
    subscriberSubscriptionsPage(db, environment, subscriber, { key: 'topic-777', limit }),
  )
  assert.equal(one.data.length, 1)
})

test('subscriptions of a busy topic are found by identifier and by subscriber through indexes', async () => {
  const recording = recordStatements(app.database.db)
  const found = await lockSubscriptions(recording, environment, topic, {
    subscribers: [subscriber],
    identifiers: ['own-person-7'],
  })
  assert.equal(found.length, 2)
  const [statement] = recording.statements
  const plan = await explain(app.database.db, statement ?? assert.fail('nothing ran'))
  assert.equal(plan.hasSequentialScan, false, plan.text)
  assert.ok(plan.rowsExamined <= rowsExaminedMax, plan.text)
})

test('a walk over the whole table, or over a whole index, would be noticed', async () => {
  const { db } = app.database
  const table = await explain(db, sql`select key from topics where created_at < '2000-01-01'`)
  assert.equal(table.hasSequentialScan, true, table.text)
  assert.ok(table.rowsExamined > rowsExaminedMax && table.pagesTouched > pagesTouchedMax, table.text)
  const index = await explain(
    db,
    sql`
    select key from topics where environment_id = ${environment.id} and md5(key) = 'none' order by key limit 1`,
  )
  assert.ok(index.rowsExamined > rowsExaminedMax && index.pagesTouched > pagesTouchedMax, index.text)
})
