// The plans of the subscriber list and search, pinned: what they look at does not grow with the table.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Environment, Principal } from '../../src/domain/environment.ts'
import type { SubscriberSearch } from '../../src/read/people/subscribers.ts'
import { findSubscriber, searchSubscribers, subscriberOrders } from '../../src/read/people/subscribers.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { assertBounded, explain, recordStatements } from '../support/plan.ts'
import { environmentOf } from '../support/topic-scene.ts'

const rows = 20_000
const pageBounds = { rows: 50, pages: 150 }
/** A search walks two thousand rows first; then its index leads to what is left. */
const searchBounds = { rows: 2_100, pages: 2_500 }

let app: TestApp
let environment: Environment
let principal: Principal
before(async () => {
  app = await createTestApp()
  environment = await environmentOf(app)
  principal = { environment, keyId: 'test', keyName: 'Key', scopes: ['full'] }
  await app.database.db.run(sql`
    insert into subscribers (environment_id, id, subscriber_id, first_name, last_name, email, phone, created_at, updated_at)
    select ${environment.id}, gen_random_uuid(), 'user-' || n, case when n % 100 = 0 then 'Grace' else 'Ada' end,
           'Surname' || n, 'person-' || n || '@example.com', '+44' || lpad(n::text, 8, '0'), now(),
           date_trunc('milliseconds', now() + (n % 500) * interval '1 minute')
    from generate_series(1, ${rows}::int) n`)
  await app.database.db.run(sql`vacuum analyze subscribers`)
})
after(() => app.close())

const search = (query: SubscriberSearch, bounds = searchBounds) =>
  assertBounded(app.database.db, JSON.stringify(query), bounds, (db) =>
    searchSubscribers(db, app.world.sealer, principal, query),
  )

test('a page of the list looks at a page of rows, in every order and direction', async () => {
  for (const orderBy of subscriberOrders) {
    for (const orderDirection of ['ASC', 'DESC'] as const) {
      const first = await search({ orderBy, orderDirection }, pageBounds)
      assert.equal(first.data.length, 10)
      const after = first.next ?? assert.fail('there is no second page')
      await search({ orderBy, orderDirection, after }, pageBounds)
      await search({ orderBy, orderDirection, before: after }, pageBounds)
    }
  }
})

test('one subscriber is found by its id through an index', async () => {
  assert.equal((await search({ subscriberId: 'user-777' }, pageBounds)).data.length, 1)
  await assertBounded(app.database.db, 'retrieve', pageBounds, (db) =>
    findSubscriber(db, app.world.sealer, principal, { subscriberId: 'user-777' }),
  )
})

test('a search looks at a bounded number of rows, whether few, some or all contain the text', async () => {
  for (const [query, found] of [
    [{ email: 'person-12345@' }, 1],
    [{ email: 'n-12345@' }, 1],
    [{ email: 'nobody-at-all@' }, 0],
    [{ email: 'example.com' }, 10],
    [{ phone: '00012345' }, 1],
    [{ name: 'Ada Surname12345' }, 1],
    [{ name: 'Surname12345', email: '12345@example' }, 1],
    [{ name: 'Grace' }, 10],
    [{ email: '19999' }, 1],
    [{ email: 'pe' }, 10],
    [{ email: 'qq' }, 0],
    [{ name: 'Щук' }, 0],
    [{ email: '@@@' }, 0],
  ] as const) {
    assert.equal((await search(query)).data.length, found, JSON.stringify(query))
  }
})

test('what the index says is checked: runs of six that all occur, but not in one piece, are no match', async () => {
  const fields = { subscriberId: 'pieces', email: 'abcdef-cdefgh-fghijk@example.com' }
  await app.call('POST', '/v2/subscribers', { body: fields })
  assert.equal((await search({ email: 'abcdef-cdefgh' })).data.length, 1)
  assert.equal((await search({ email: 'abcdefghijk' })).data.length, 0)
})

test('a long text is found at every offset', async () => {
  const local = 'the-quick-brown-fox-jumps'
  await app.call('POST', '/v2/subscribers', { body: { subscriberId: 'offsets', email: `${local}@example.org` } })
  for (let start = 0; start + 8 <= local.length; start += 1) {
    for (const end of [start + 8, start + 11, local.length]) {
      const page = await searchSubscribers(app.database.db, app.world.sealer, principal, {
        email: local.slice(start, end),
      })
      assert.deepEqual(
        page.data.map((subscriber) => subscriber.subscriberId),
        ['offsets'],
      )
    }
  }
})

test('the count of a list reads an index and stops at its cap', async () => {
  const recording = recordStatements(app.database.db)
  await searchSubscribers(recording, app.world.sealer, principal, {})
  const count =
    recording.statements.find((statement) => statement.text.startsWith('select count')) ?? assert.fail('no count')
  assert.ok((await explain(app.database.db, count)).rowsExamined <= 50_001)
})
