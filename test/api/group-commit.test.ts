// Group commit over the API: creations that arrive together share a transaction, and one that fails costs no other.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

const create = (subscriberId: string, more: object = {}, query = ''): Promise<TestReply> =>
  app.call('POST', `/v2/subscribers${query}`, { body: { subscriberId, ...more } })

const names = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`)

async function transactionsOf(prefix: string): Promise<number> {
  const row = await app.database.db.row<{ count: number }>(
    sql`select count(distinct xmin::text) from subscribers where subscriber_id like ${`${prefix}-%`}`,
  )
  return row?.count ?? 0
}

test('creations at once are answered each with its own subscriber, out of few transactions', async () => {
  await create('warm')
  const replies = await Promise.all(names('many', 100).map((name) => create(name, { firstName: name })))
  for (const [index, reply] of replies.entries()) {
    assert.equal(reply.status, 201)
    assert.deepEqual([reply.body.subscriberId, reply.body.firstName], [`many-${index}`, `many-${index}`])
  }
  assert.equal(new Set(replies.map((reply) => reply.body._id)).size, 100)
  const transactions = await transactionsOf('many')
  assert.ok(transactions < 50, `${transactions} transactions for 100 creations`)
})

test('upserts of one subscriber at once are carried out one after the other: the last to arrive wins', async () => {
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, index) => create('one', { firstName: `name-${index}` })),
  )
  for (const [index, reply] of replies.entries()) {
    assert.equal(reply.status, 201)
    assert.equal(reply.body.firstName, `name-${index}`)
  }
  assert.equal(new Set(replies.map((reply) => reply.body._id)).size, 1)
  assert.equal((await app.call('GET', '/v2/subscribers/one')).body.firstName, 'name-19')
})

test('of strict creations of one id at once exactly one succeeds, and the others are notified who is there', async () => {
  const replies = await Promise.all(Array.from({ length: 20 }, () => create('strict', {}, '?failIfExists=true')))
  const winner = replies.find((reply) => reply.status === 201)
  assert.equal(replies.filter((reply) => reply.status === 201).length, 1)
  for (const reply of replies.filter((each) => each !== winner)) {
    assert.equal(reply.status, 409)
    assert.equal(reply.body._id, winner?.body._id)
    assert.equal(reply.body.message, 'Subscriber with id "strict" already exists')
  }
})

test('a creation the database refuses fails alone; the others of its group are there', async () => {
  const { db } = app.database
  await db.run({
    text: `alter table subscribers add constraint poison check (first_name is distinct from 'poison') not valid`,
    values: [],
  })
  try {
    const replies = await Promise.all(
      names('mixed', 30).map((name, index) => create(name, index === 13 ? { firstName: 'poison' } : {})),
    )
    assert.deepEqual(
      replies.flatMap((reply, index) => (reply.status === 201 ? [] : [[index, reply.status]])),
      [[13, 500]],
    )
    const row = await db.row<{ count: number }>(
      sql`select count(*) from subscribers where subscriber_id like 'mixed-%'`,
    )
    assert.equal(row?.count, 29)
  } finally {
    await db.run({ text: 'alter table subscribers drop constraint poison', values: [] })
  }
})

test('environments at once do not mix', async () => {
  const ids = names('both', 10)
  const [development, production] = await Promise.all([
    Promise.all(ids.map((name) => create(name))),
    Promise.all(
      ids.map((subscriberId) =>
        app.call('POST', '/v2/subscribers', { body: { subscriberId }, key: app.productionKey }),
      ),
    ),
  ])
  const environmentsOf = (replies: TestReply[]) => new Set(replies.map((reply) => reply.body._environmentId))
  assert.equal(environmentsOf(development).size, 1)
  assert.equal(environmentsOf(production).size, 1)
  assert.notDeepEqual(environmentsOf(development), environmentsOf(production))
})

test('two nodes creating the same subscribers in opposite orders never deadlock into an error', async () => {
  const node = await createTestApp({ nodeOf: app })
  try {
    const ids = names('shared', 60)
    const replies = await Promise.all([
      ...ids.map((name) => create(name, { firstName: 'a' })),
      ...ids.toReversed().map((subscriberId) => node.call('POST', '/v2/subscribers', { body: { subscriberId } })),
    ])
    assert.deepEqual(new Set(replies.map((reply) => reply.status)), new Set([201]))
    const row = await app.database.db.row<{ count: number }>(
      sql`select count(*) from subscribers where subscriber_id like 'shared-%'`,
    )
    assert.equal(row?.count, 60)
  } finally {
    await node.close()
  }
})
