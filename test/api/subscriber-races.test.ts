// Subscribers changed by two at once: made certain by holding a row's lock from outside.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Statement, sql, type Tx } from '../../src/db/sql.ts'
import type { TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

const create = (body: object) => app.call('POST', '/v2/subscribers', { body })

/** Runs `first` in a transaction, starts `call`, waits until the call waits for the row, and commits. */
async function meanwhile(first: Statement, call: () => Promise<TestReply>): Promise<TestReply> {
  const other = app.database.another({ poolSize: 1 })
  let reply: Promise<TestReply> | undefined
  await other.transaction(async (tx: Tx) => {
    assert.equal(await tx.run(first), 1)
    reply = call()
    for (;;) {
      const waiting = await app.database.db.rows(
        sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      if (waiting.length > 0) return
      await new Promise(setImmediate)
    }
  })
  return reply ?? assert.fail('the call was not made')
}

test('a PATCH that finds its change made by another answers with the row as it is', async () => {
  await create({ subscriberId: 'same', firstName: 'Old', lastName: 'Old' })
  const reply = await meanwhile(
    sql`update subscribers set first_name = 'New', last_name = 'Newer' where subscriber_id = 'same'`,
    () => app.call('PATCH', '/v2/subscribers/same', { body: { firstName: 'New' } }),
  )
  assert.deepEqual([reply.status, reply.body.firstName, reply.body.lastName], [200, 'New', 'Newer'])
})

test('a PATCH of a subscriber that is deleted meanwhile is 404', async () => {
  await create({ subscriberId: 'leaving', firstName: 'Old' })
  const reply = await meanwhile(sql`update subscribers set deleted_at = now() where subscriber_id = 'leaving'`, () =>
    app.call('PATCH', '/v2/subscribers/leaving', { body: { firstName: 'New' } }),
  )
  assert.equal(reply.status, 404)
})

test('credentials for a subscriber that is deleted meanwhile are 404 and kept nowhere', async () => {
  const { body } = await create({ subscriberId: 'unreachable' })
  const reply = await meanwhile(
    sql`update subscribers set deleted_at = now() where subscriber_id = 'unreachable'`,
    () =>
      app.call('PUT', '/v1/subscribers/unreachable/credentials', {
        body: { providerId: 'fcm', credentials: { deviceTokens: ['t'] } },
      }),
  )
  assert.equal(reply.status, 404)
  const kept = await app.database.db.rows(sql`select 1 from subscriber_channels where subscriber_id = ${body._id}`)
  assert.deepEqual(kept, [])
})

test('in a bulk call, channels of a subscriber that is deleted meanwhile fail alone', async () => {
  await create({ subscriberId: 'bulk-gone' })
  const channels = [{ providerId: 'fcm', credentials: { deviceTokens: ['t'] } }]
  const reply = await meanwhile(sql`update subscribers set deleted_at = now() where subscriber_id = 'bulk-gone'`, () =>
    app.call('POST', '/v1/subscribers/bulk', {
      body: {
        subscribers: [
          { subscriberId: 'bulk-gone', channels },
          { subscriberId: 'bulk-new', channels },
        ],
      },
    }),
  )
  assert.equal(reply.status, 201)
  const all = [...reply.body.created, ...reply.body.updated, ...reply.body.failed]
  assert.equal(all.length, 2)
  assert.deepEqual(reply.body.created.at(-1), { subscriberId: 'bulk-new' })
})

test('a row that someone holds costs its own caller a 503, reported in the log, and no one else anything', async () => {
  await create({ subscriberId: 'held', firstName: 'Old' })
  const impatient = await createTestApp({ nodeOf: app, lockTimeoutMs: 200 })
  const other = app.database.another({ poolSize: 1 })
  try {
    await other.transaction(async (tx) => {
      await tx.run(sql`update subscribers set last_name = 'x' where subscriber_id = 'held'`)
      const [held, bystander] = await Promise.all([
        impatient.call('POST', '/v2/subscribers', { body: { subscriberId: 'held', firstName: 'New' } }),
        impatient.call('POST', '/v2/subscribers', { body: { subscriberId: 'innocent' } }),
      ])
      assert.deepEqual([held.status, bystander.status], [503, 201])
      assert.equal(held.body.message, 'The database took too long to respond; please try again')
      assert.equal(held.headers['retry-after'], '1')
    })
    const line = app.world.logged.find(({ message }) => /answered with 503/.test(message)) ?? assert.fail('not logged')
    const { code, route } = line.facts as { code?: string; route?: string }
    assert.deepEqual([code, route], ['55P03', '/v2/subscribers'])
  } finally {
    await impatient.close()
  }
})
