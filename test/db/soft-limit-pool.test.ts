// Connections beyond the soft limit: who waits for one to become free, and who opens another.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Database, PoolOptions } from '../../src/db/connect.ts'
import { connect } from '../../src/db/connect.ts'
import { wasOutrun } from '../../src/db/expect-rows.ts'
import { prepared, shortRead, sql } from '../../src/db/sql.ts'
import { silentLog } from '../../src/world/log.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase({ empty: true })
})
after(() => database.drop())

const timeouts = { statementTimeoutMs: 60_000, lockTimeoutMs: 60_000, log: silentLog }
/** Whoever waits until it ends fails its test. */
const forever = 3_600_000
const inTime = { timeout: 60_000 }

type Sizes = Required<Pick<PoolOptions, 'poolSize' | 'softLimit' | 'softLimitWaitMs'>> & Pick<PoolOptions, 'pooler'>

async function withPool(sizes: Sizes, work: (pool: Database) => Promise<void>): Promise<void> {
  const pool = connect(database.connection, { ...timeouts, ...sizes })
  try {
    await work(pool)
  } finally {
    await pool.close()
  }
}

interface Held {
  readonly pid: number
  release(): Promise<unknown>
}

/** A transaction that stays open until it is released. */
async function hold(pool: Database): Promise<Held> {
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  return new Promise((resolve, reject) => {
    const done = pool.transaction(async (tx) => {
      const row = await tx.row<{ pid: number }>(sql`select pg_backend_pid() as pid`)
      const release = () => {
        end()
        return done
      }
      resolve({ pid: row?.pid ?? 0, release })
      await ended
    })
    done.catch(reject)
  })
}

const pidOf = async (pool: Database) => (await pool.row<{ pid: number }>(sql`select pg_backend_pid() as pid`))?.pid
const holdAll = (pool: Database, count: number) => Promise.all(Array.from({ length: count }, () => hold(pool)))
const releaseAll = (held: readonly Held[]) => Promise.all(held.map((one) => one.release()))

test('beyond the soft limit callers wait for a connection to become free, in their order', inTime, async () => {
  await withPool({ poolSize: 5, softLimit: 2, softLimitWaitMs: forever }, async (pool) => {
    const held = await holdAll(pool, 2)
    const order: number[] = []
    const waiting = Array.from({ length: 6 }, (_, index) =>
      (index % 2 === 0 ? pool.row(sql`select 1`) : pool.together((on) => on.row(sql`select 1`))).then(() =>
        order.push(index),
      ),
    )
    assert.deepEqual(pool.usage(), { total: 2, idle: 0, waiting: 6 })
    await held[0]?.release()
    await Promise.all(waiting)
    assert.deepEqual(order, [0, 1, 2, 3, 4, 5])
    assert.equal(pool.usage().total, 2)
    await held[1]?.release()
  })
})

test('a caller that has waited for the maximum wait opens another, up to the size of the pool', inTime, async () => {
  await withPool({ poolSize: 3, softLimit: 1, softLimitWaitMs: 1 }, async (pool) => {
    const held = await holdAll(pool, 3)
    assert.equal(new Set(held.map(({ pid }) => pid)).size, 3)
    const last = pidOf(pool)
    assert.deepEqual(pool.usage(), { total: 3, idle: 0, waiting: 1 })
    await held[1]?.release()
    assert.equal(await last, held[1]?.pid)
    await releaseAll(held)
  })
})

for (const pooler of ['none', 'transaction'] as const) {
  test(`a short read does not wait (pooler: ${pooler})`, inTime, async () => {
    await withPool({ poolSize: 3, softLimit: 1, softLimitWaitMs: forever, pooler }, async (pool) => {
      const held = await holdAll(pool, 1)
      assert.deepEqual(await pool.row(shortRead('soft-limit-read', sql`select 1 as one`)), { one: 1 })
      // Its connection is free now, and is given to whoever would wait.
      assert.notEqual(await pidOf(pool), held[0]?.pid)
      await releaseAll(held)
    })
  })
}

test(
  'many callers at once that find one connection free open connections up to the soft limit, and no more',
  inTime,
  async () => {
    await withPool({ poolSize: 7, softLimit: 4, softLimitWaitMs: forever }, async (pool) => {
      await pidOf(pool)
      assert.deepEqual(pool.usage(), { total: 1, idle: 1, waiting: 0 })
      await Promise.all(Array.from({ length: 20 }, () => pidOf(pool)))
      assert.equal(pool.usage().total, 4)
    })
  },
)

test('a caller with its next statement does not overtake one that waits', inTime, async () => {
  await withPool({ poolSize: 5, softLimit: 1, softLimitWaitMs: forever }, async (pool) => {
    let isServed = false
    const loop = async (): Promise<number> => {
      for (let rounds = 1; rounds < 100; rounds += 1) {
        await pool.row(sql`select 1`)
        if (isServed) return rounds
      }
      return 100
    }
    const looping = loop()
    await pool.row(sql`select 2`)
    isServed = true
    assert.ok((await looping) <= 3)
    assert.equal(pool.usage().total, 1)
  })
})

test('slow statements on every connection delay the first other caller, not each of them', inTime, async () => {
  await withPool({ poolSize: 7, softLimit: 2, softLimitWaitMs: 1 }, async (pool) => {
    const held = await holdAll(pool, 2)
    const pids = new Set<number | undefined>()
    for (let calls = 0; calls < 20; calls += 1) pids.add(await pidOf(pool))
    assert.equal(pids.size, 1)
    assert.equal(pool.usage().total, 3)
    await releaseAll(held)
  })
})

test('several that come at once for one free connection do not open others', inTime, async () => {
  await withPool({ poolSize: 5, softLimit: 2, softLimitWaitMs: forever }, async (pool) => {
    await releaseAll(await holdAll(pool, 2))
    const pids = await Promise.all(Array.from({ length: 10 }, () => pidOf(pool)))
    assert.equal(new Set(pids).size, 2)
    assert.equal(pool.usage().total, 2)
  })
})

test('a connection that breaks makes room for one that waits', inTime, async () => {
  await withPool({ poolSize: 5, softLimit: 1, softLimitWaitMs: forever }, async (pool) => {
    const [held] = await holdAll(pool, 1)
    const waiting = pidOf(pool)
    await database.db.run(sql`select pg_terminate_backend(${held?.pid}::int)`)
    await assert.rejects(held?.release() ?? Promise.resolve())
    assert.notEqual(await waiting, held?.pid)
    assert.equal(pool.usage().total, 1)
  })
})

test('a connection whose statement failed is not used again', inTime, async () => {
  await withPool({ poolSize: 5, softLimit: 1, softLimitWaitMs: forever }, async (pool) => {
    const first = await pidOf(pool)
    await assert.rejects(pool.row(sql`select 1 / 0`), /division by zero/)
    assert.notEqual(await pidOf(pool), first)
  })
})

test('one whose statement was outrun is, with what was prepared there', inTime, async () => {
  await withPool({ poolSize: 5, softLimit: 1, softLimitWaitMs: forever }, async (pool) => {
    await pool.run(sql`
      create or replace function pg_temp.outrun(is_so boolean) returns int language plpgsql as $$
      begin
        if is_so then raise exception 'outrun' using errcode = 'PH001'; end if;
        return pg_backend_pid();
      end $$`)
    const ask = (isOutrun: boolean) =>
      pool.row<{ pid: number }>(prepared('outrun', sql`select pg_temp.outrun(${isOutrun}::boolean) as pid`))
    const first = await pidOf(pool)
    for (const isOutrun of [true, false, true, false]) {
      if (isOutrun) await assert.rejects(ask(true), wasOutrun)
      else assert.equal((await ask(false))?.pid, first)
    }
    assert.equal(pool.usage().total, 1)
  })
})

test('without a soft limit every caller has a connection at once', inTime, async () => {
  const pool = connect(database.connection, { ...timeouts, poolSize: 4, softLimitWaitMs: forever })
  const held = await holdAll(pool, 4)
  assert.equal(new Set(held.map(({ pid }) => pid)).size, 4)
  await releaseAll(held)
  await pool.close()
})
