// Statements through a transaction pooler: Debian's PgBouncer 1.18 with fewer connections than its clients.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { awaitDatabase, UnusableDatabase } from '../../src/db/await-database.ts'
import type { Database } from '../../src/db/connect.ts'
import { connect } from '../../src/db/connect.ts'
import { oneStatement } from '../../src/db/one-statement.ts'
import { isSameDatabase } from '../../src/db/same-database.ts'
import type { Sql } from '../../src/db/sql.ts'
import { DatabaseUnavailable, prepared, sql } from '../../src/db/sql.ts'
import { silentLog } from '../../src/world/log.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'
import type { PgBouncer } from '../support/pgbouncer.ts'
import { noPgBouncer, startPgBouncer } from '../support/pgbouncer.ts'

const options = { statementTimeoutMs: 2_000, lockTimeoutMs: 1_000, log: silentLog }
const behindPooler = { skip: noPgBouncer }

let database: TestDatabase
let bouncer: PgBouncer
let db: Database
before(async () => {
  if (noPgBouncer !== false) return
  database = await createTestDatabase({ empty: true })
  await database.db.run(sql`create table counters (name text primary key, value integer not null)`)
  await database.db.run(sql`insert into counters values ('a', 0)`)
  bouncer = await startPgBouncer(database, { serverConnections: 2 })
  db = connect({ url: bouncer.url }, { ...options, poolSize: 12, pooler: 'transaction' })
})
after(async () => {
  if (noPgBouncer !== false) return
  await db.close()
  await bouncer.stop()
  await database.drop()
})

test('a start that knows of no pooler says which setting is missing', behindPooler, async (t) => {
  const plain = connect({ url: bouncer.url }, { ...options, poolSize: 2 })
  t.after(() => plain.close())
  const begun = performance.now()
  const wait = { name: 'x at a pooler', waitMs: 60_000, log: silentLog }
  await assert.rejects(awaitDatabase(plain, wait), (error: Error) => {
    assert.ok(error instanceof UnusableDatabase)
    assert.match(error.message, /x at a pooler is reached through a pooler .*set POSTHORN_DATABASE_POOLER=transaction/)
    return true
  })
  assert.ok(performance.now() - begun < 20_000, 'it is not waited for')
})

const echo = (on: Sql, value: number) =>
  on
    .row<{ value: number; ids: number }>(
      prepared('pooler-echo', sql`select ${value}::integer as value, cardinality(${ids(value)}::uuid[]) as ids`),
    )
    .then((row) => assert.deepEqual(row, { value, ids: (value % 3) + 1 }))

const ids = (value: number) => Array.from({ length: (value % 3) + 1 }, () => '01a1e06b-27f9-7615-b3a0-29b508447234')

test('hot statements, transactions and reads that travel together share few connections', behindPooler, async () => {
  const rounds = Array.from({ length: 40 }, (_, round) => round)
  await Promise.all(
    rounds.flatMap((round) => [
      echo(db, round),
      db.together((on) => Promise.all([1, 2, 3, 4].map((part) => echo(on, round * 10 + part)))),
      db.transaction(async (tx) => {
        await tx.run(prepared('pooler-add', sql`update counters set value = value + 1 where name = ${'a'}`))
        await Promise.all([echo(tx, round), echo(tx, round + 1)])
      }),
    ]),
  )
  assert.deepEqual(await db.row(sql`select value from counters where name = 'a'`), { value: rounds.length })
})

test('several writes as one statement are kept, or none of them', behindPooler, async () => {
  const writes = (value: unknown) =>
    oneStatement([
      { as: sql`first`, name: 'first', statement: sql`insert into counters values ('b', 1) returning value` },
      { as: sql`second`, name: 'second', statement: sql`insert into counters values ('c', ${value}::integer)` },
    ])
  await assert.rejects(db.run(writes(null)), /null value in column "value"/)
  assert.deepEqual(await db.rows(sql`select name from counters where name in ('b', 'c')`), [])
  await db.run(writes(2))
  assert.equal((await db.rows(sql`select name from counters where name in ('b', 'c')`)).length, 2)
})

test('what fails in reads that travel together fails alone', behindPooler, async () => {
  const [bad, good] = await db.together((on) =>
    Promise.allSettled([on.row(sql`select 1 / ${0}::integer`), on.row(sql`select 1 as one`)]),
  )
  assert.match(String(bad.status === 'rejected' && bad.reason), /division by zero/)
  assert.deepEqual(good.status === 'fulfilled' && good.value, { one: 1 })
})

test('the server cancels what takes too long and what waits too long for a lock', behindPooler, async () => {
  const isBusy = (error: Error) => error instanceof DatabaseUnavailable && error.busy
  await assert.rejects(db.row(sql`select pg_sleep(30)`), isBusy)
  await assert.rejects(
    db.transaction((tx) => tx.row(sql`select pg_sleep(30)`)),
    isBusy,
  )
  await assert.rejects(
    db.together((on) => on.row(sql`select pg_sleep(30)`)),
    isBusy,
  )
  await database.db.transaction(async (tx) => {
    await tx.run(sql`update counters set value = 0 where name = 'a'`)
    await assert.rejects(db.run(sql`update counters set value = 1 where name = 'a'`), isBusy)
  })
})

test(
  'timeouts end with their transaction: others who share the connections do not see them',
  behindPooler,
  async (t) => {
    const other = connect(
      { url: bouncer.url },
      { ...options, poolSize: 4, pooler: 'transaction', statementTimeoutMs: 77_000 },
    )
    t.after(() => other.close())
    const seen = sql`select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock`
    const rows = await Promise.all(
      Array.from({ length: 20 }, (_, place) => (place % 2 === 0 ? db : other).row<{ statement: string }>(seen)),
    )
    for (const [place, row] of rows.entries()) assert.equal(row?.statement, place % 2 === 0 ? '2s' : '77s')
    const leaked = await database.db.rows(sql`
    select pid from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`)
    assert.deepEqual(leaked, [])
  },
)

test('a lock that is taken past the pooler is seen through it: both lead to one database', behindPooler, async (t) => {
  assert.equal(await isSameDatabase(database.db, db), true)
  const elsewhere = await createTestDatabase({ empty: true })
  t.after(() => elsewhere.drop())
  assert.equal(await isSameDatabase(elsewhere.db, db), false)
})
