// What is said of connections that end, and what is not.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Database } from '../../src/db/connect.ts'
import { connect } from '../../src/db/connect.ts'
import { sql } from '../../src/db/sql.ts'
import { silentLog } from '../../src/world/log.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/service.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase({ empty: true })
})
after(() => database.drop())

const lines: string[] = []
const log = { ...silentLog, warn: (_facts: object, message: string) => void lines.push(message) }
const openPool = () =>
  connect(database.connection, { poolSize: 2, statementTimeoutMs: 2_000, lockTimeoutMs: 1_000, log })
const backendOf = async (pool: Database) =>
  (await pool.row<{ pid: number }>(sql`select pg_backend_pid() as pid`))?.pid ?? assert.fail('there is no backend')
const terminate = (pid: number) => database.db.run(sql`select pg_terminate_backend(${pid}::int)`)
const isGone = async (pid: number) =>
  (await database.db.rows(sql`select 1 from pg_stat_activity where pid = ${pid}::int`)).length === 0

test('a connection that the server ends is reported once', async () => {
  const pool = openPool()
  await terminate(await backendOf(pool))
  await eventually(async () => lines.length > 0)
  await pool.close()
  assert.deepEqual(lines.splice(0), ['A database connection was lost'])
})

test('one that it ends while the pool is being closed is not', async () => {
  const pool = openPool()
  const pid = await backendOf(pool)
  // It reads neither the farewell nor the order to end until it goes on, and then finds the order first.
  process.kill(pid, 'SIGSTOP')
  try {
    await pool.close()
    await terminate(pid)
  } finally {
    process.kill(pid, 'SIGCONT')
  }
  await eventually(() => isGone(pid))
  assert.deepEqual(lines, [])
})
