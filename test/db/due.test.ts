// When rows are due, where the clock of a node is wrong.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { databaseClock } from '../../src/db/clock.ts'
import { dueAfter, dueAt, dueNow } from '../../src/db/due.ts'
import type { Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase({ empty: true })
})
after(() => database.drop())

/** Milliseconds from the database's own time. */
async function fromNowMs(due: Statement): Promise<number | null | undefined> {
  const row = await database.db.row<{ ms: number | null }>(
    sql`select (extract(epoch from ${due} - statement_timestamp()) * 1000)::float8 as ms`,
  )
  return row?.ms
}

const hourMs = 3_600_000
/** Nodes whose clocks are an hour behind and an hour ahead, and one that is right. */
const nodeClocks = (): Date[] => [-hourMs, 0, hourMs].map((ms) => new Date(Date.now() + ms))

test('a wait is as long as the node meant it, whatever its clock says', async () => {
  assert.equal(await fromNowMs(dueAfter(databaseClock, 90_000)), 90_000)
  for (const now of nodeClocks()) {
    const at = new Date(now.getTime() + 90_000)
    assert.equal(await fromNowMs(dueAt(databaseClock, sql`${at}::timestamptz`, now)), 90_000)
  }
})

test('a row that is over has no due time', async () => {
  assert.equal(await fromNowMs(dueAt(databaseClock, sql`${null}::timestamptz`, new Date())), null)
})

test('what is due at once is never later than now, by the clock of the database', async () => {
  const [behind, , ahead] = nodeClocks() as [Date, Date, Date]
  assert.equal(await fromNowMs(dueNow(ahead)), 0)
  assert.ok(((await fromNowMs(dueNow(behind))) ?? 0) < 0)
})
