// Who is online, from the connections of several processes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Tx } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { createPresence } from '../../src/realtime/presence.ts'
import { sweepPresence } from '../../src/record/record-presence.ts'
import { findEnvironments } from '../../src/store/operate/installation.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'

const graceMs = 15_000

let app: TestApp
let environment: Environment
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

async function createSubscriber(subscriberId: string): Promise<string> {
  const reply = await app.call('POST', '/v2/subscribers', { body: { subscriberId } })
  assert.equal(reply.status, 201, reply.text)
  const row = await app.database.db.row<{ id: string; environment_id: string }>(
    sql`select id, environment_id from subscribers where subscriber_id = ${subscriberId}`,
  )
  const [found] = await findEnvironments(app.database.db, [row?.environment_id ?? ''])
  assert.ok(row !== undefined && found !== undefined)
  environment = found
  return row.id
}

const shown = async (subscriberId: string): Promise<Json> =>
  (await app.call('GET', `/v2/subscribers/${subscriberId}`)).body
const presenceOf = () => createPresence(app.database.db, app.world, app.world.newId(app.world.now()))
const presentRows = (): Promise<number> =>
  app.database.db.rows(sql`select from inbox_presence`).then((rows) => rows.length)

test('a subscriber is online until the last process has no connection of theirs any more', async () => {
  const id = await createSubscriber('ada')
  const [first, second] = [presenceOf(), presenceOf()]
  const { updatedAt } = await shown('ada')
  app.world.advance(1_000)
  first.arrived(environment, id)
  await first.write()
  assert.deepEqual([(await shown('ada')).isOnline, (await shown('ada')).updatedAt], [true, updatedAt])
  second.arrived(environment, id)
  await second.write()
  first.left(environment, id)
  app.world.advance(graceMs)
  await first.write()
  assert.equal((await shown('ada')).isOnline, true)
  second.left(environment, id)
  app.world.advance(graceMs)
  await second.write()
  const { isOnline, lastOnlineAt } = await shown('ada')
  assert.deepEqual([isOnline, lastOnlineAt], [false, app.world.now().toISOString()])
  await Promise.all([first.stop(), second.stop()])
})

test('those who leave and those who arrive are written together', async (t) => {
  const [leaves, arrives] = [await createSubscriber('lea'), await createSubscriber('ari')]
  const presence = presenceOf()
  t.after(() => presence.stop())
  presence.arrived(environment, leaves)
  await presence.write()
  presence.left(environment, leaves)
  presence.arrived(environment, arrives)
  app.world.advance(graceMs)
  await presence.write()
  assert.deepEqual([(await shown('lea')).isOnline, (await shown('ari')).isOnline], [false, true])
  presence.left(environment, arrives)
  app.world.advance(graceMs)
  await presence.write()
  assert.deepEqual([(await shown('ari')).isOnline, await presentRows()], [false, 0])
})

test('a page that comes back soon writes nothing, and one that was never written is not taken back', async () => {
  const id = await createSubscriber('bea')
  const presence = presenceOf()
  presence.arrived(environment, id)
  presence.left(environment, id)
  app.world.advance(graceMs)
  await presence.write()
  assert.equal(await presentRows(), 0)
  presence.arrived(environment, id)
  await presence.write()
  presence.left(environment, id)
  app.world.advance(graceMs - 1)
  await presence.write()
  presence.arrived(environment, id)
  app.world.advance(1)
  await presence.write()
  assert.deepEqual([await presentRows(), (await shown('bea')).isOnline], [1, true])
  presence.left(environment, id)
  app.world.advance(graceMs)
  await presence.write()
  await presence.stop()
  assert.equal(await presentRows(), 0)
})

test('those of a process that is lost are set offline; one that was only silent writes them again', async () => {
  const id = await createSubscriber('cleo')
  const lost = presenceOf()
  lost.arrived(environment, id)
  await lost.write()
  await sweepPresence(app.database.db, app.world.now())
  assert.equal((await shown('cleo')).isOnline, true)
  await app.database.db.run(sql`update inbox_processes set seen_at = clock_timestamp() - interval '91 seconds'`)
  assert.equal(await sweepPresence(app.database.db, app.world.now()), 1)
  assert.equal((await shown('cleo')).isOnline, false)
  assert.deepEqual(await app.database.db.rows(sql`select from inbox_processes`), [])
  app.world.advance(30_000)
  await lost.write()
  assert.equal((await shown('cleo')).isOnline, true)
  await lost.stop()
})

test('a process that was silent and comes back while it is swept writes what was swept again', async () => {
  const { db } = app.database
  const [id, other] = [await createSubscriber('eve'), await createSubscriber('flo')]
  await db.run(sql`delete from inbox_presence`)
  const silent = presenceOf()
  silent.arrived(environment, id)
  silent.arrived(environment, other)
  await silent.write()
  await db.run(sql`update inbox_processes set seen_at = clock_timestamp() - interval '91 seconds'`)
  // One of its rows was swept; it is back before the rest, and with them its own row, are.
  await db.run(sql`delete from inbox_presence where subscriber_id = ${id}`)
  await db.run(sql`update subscribers set is_online = false where id = ${id}`)
  app.world.advance(30_000)
  await silent.write()
  assert.deepEqual([(await shown('eve')).isOnline, (await shown('flo')).isOnline], [true, true])
  assert.equal(await sweepPresence(db, app.world.now()), 0)
  // The other way round: its rows were found while it was silent, and it shows itself before they are removed.
  await db.run(sql`update inbox_processes set seen_at = clock_timestamp() - interval '91 seconds'`)
  let isBack = false
  const returning = {
    ...db,
    transaction: async <Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> => {
      if (!isBack) await db.run(sql`update inbox_processes set seen_at = clock_timestamp()`)
      isBack = true
      return db.transaction(work)
    },
  }
  assert.equal(await sweepPresence(returning, app.world.now()), 2)
  assert.deepEqual([(await shown('eve')).isOnline, (await shown('flo')).isOnline], [true, true])
  await silent.stop()
})

test('all rows of lost processes are swept at once, however many there are', async () => {
  const { db } = app.database
  await db.run(sql`
    insert into subscribers (environment_id, id, subscriber_id, is_online, created_at, updated_at)
    select ${environment.id}, gen_random_uuid(), 'many-' || n, true, now(), now() from generate_series(1, 1500) as n`)
  await db.run(sql`
    insert into inbox_presence (environment_id, subscriber_id, process_id)
    select environment_id, id, ${app.world.newId(app.world.now())} from subscribers where subscriber_id like 'many-%'`)
  assert.ok((await sweepPresence(db, app.world.now())) >= 1_500)
  const online = await db.rows(sql`select from subscribers where subscriber_id like 'many-%' and is_online`)
  assert.equal(online.length, 0)
})

test('a subscriber who is erased meanwhile is passed over', async () => {
  const presence = presenceOf()
  presence.arrived(environment, app.world.newId(app.world.now()))
  const id = await createSubscriber('dora')
  presence.arrived(environment, id)
  await presence.write()
  assert.equal((await shown('dora')).isOnline, true)
  await presence.stop()
})
