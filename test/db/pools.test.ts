// Three pools: whatever the requests do, there is a connection for outcomes and one for the heartbeat.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Pools } from '../../src/db/pools.ts'
import { openOnePool, openPools, poolSizes } from '../../src/db/pools.ts'
import { sql } from '../../src/db/sql.ts'
import { silentLog } from '../../src/world/log.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'

const options = { poolSize: 5, statementTimeoutMs: 20_000, lockTimeoutMs: 5_000, log: silentLog }

let database: TestDatabase
before(async () => {
  database = await createTestDatabase({ empty: true })
})
after(() => database.drop())

const answer = async (db: Pools['db']): Promise<unknown> => (await db.row<{ one: number }>(sql`select 1 as one`))?.one

test('however few connections there are, each pool has one, and they are never more than given', () => {
  for (let total = 3; total <= 500; total += 1) {
    const { general, outcomes, heartbeat } = poolSizes(total)
    assert.equal(general + outcomes + heartbeat, total)
    assert.ok(general >= 1 && outcomes >= 1 && outcomes <= 2 && heartbeat === 1, String(total))
  }
  assert.deepEqual(poolSizes(10), { general: 7, outcomes: 2, heartbeat: 1 })
  assert.deepEqual(poolSizes(6), { general: 3, outcomes: 2, heartbeat: 1 })
  assert.deepEqual(poolSizes(5), { general: 3, outcomes: 1, heartbeat: 1 })
  assert.deepEqual(poolSizes(3), { general: 1, outcomes: 1, heartbeat: 1 })
  assert.throws(() => poolSizes(2), /at least 3 database connections, not 2/)
})

test('while slow statements hold every general connection, outcomes and the heartbeat are written at once', async (t) => {
  const pools = openPools(database.connection, options)
  const watcher = openPools(database.connection, { ...options, poolSize: 3 })
  t.after(() => Promise.all([pools.close(), watcher.close()]))
  const tag = 'slow statement of the pools test'
  // Settled from the start: they are rejected while the test still waits for the statement that cancels them.
  const slow = Promise.allSettled(
    Array.from({ length: 3 }, () => pools.db.row(sql`select pg_sleep(60) /* slow statement of the pools test */`)),
  )
  const held = sql`select pid from pg_stat_activity where query like ${`%${tag}%`} and query like '%pg_sleep%' and state = 'active'
    and pid <> pg_backend_pid() and datname = current_database()`
  while ((await watcher.db.rows(held)).length < 3);
  const waiting = pools.db.row(sql`select 1`)
  const general = waiting.then(
    () => 'answered',
    () => 'refused',
  )
  const beside = Promise.all([answer(pools.outcomesDb), answer(pools.heartbeatDb)])
  assert.deepEqual(await Promise.race([beside, general]), [1, 1], 'whoever waits in the general pool waits longer')
  const usage = pools.usage()
  assert.equal(usage.general?.total, 3)
  assert.equal(usage.general?.idle, 0)
  assert.equal(usage.general?.waiting, 1)
  assert.equal(usage.outcomes?.total, 1)
  assert.equal(usage.heartbeat?.total, 1)
  // Ended by the server, so that the test need not wait for them.
  await watcher.db.run(sql`select pg_cancel_backend(pid) from (${held}) as holders`)
  assert.deepEqual(new Set((await slow).map((one) => one.status)), new Set(['rejected']))
  await waiting
})

test('a node that works on nothing has all of its connections for requests', async (t) => {
  const pools = openOnePool(database.connection, { ...options, poolSize: 3 })
  t.after(() => pools.close())
  assert.deepEqual(
    await Promise.all([answer(pools.db), answer(pools.outcomesDb), answer(pools.heartbeatDb)]),
    [1, 1, 1],
  )
  assert.equal(pools.usage().general?.total, 3)
  assert.deepEqual(Object.keys(pools.usage()), ['general'])
})
