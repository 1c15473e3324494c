// The plans of the suppression list and of the look-up before sending, pinned: neither reads more than it answers with.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Sql } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import type { SuppressionQuery } from '../../src/read/people/suppressions.ts'
import { suppressionsPage } from '../../src/read/people/suppressions.ts'
import { findSuppressed } from '../../src/store/people/suppressions.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { assertBounded, explain, recordStatements } from '../support/plan.ts'
import { environmentOf } from '../support/topic-scene.ts'

const limit = 10
const rowsExaminedMax = 10 * limit
const pagesTouchedMax = 15 * limit
/** A batch of jobs. */
const askedMax = 300
/** A descent of the index, and a page of the table where something is found. */
const pagesPerAddressMax = 5

let app: TestApp
let environment: Environment
before(async () => {
  app = await createTestApp()
  environment = await environmentOf(app)
  const { db } = app.database
  const neighbour = await environmentOf(app, 'Production')
  for (const [id, count] of [
    [environment.id, 20_000],
    [neighbour.id, 5_000],
  ] as const) {
    await db.run(sql`
      insert into suppressions (environment_id, channel, address, reason, source, created_at)
      select ${id}, 'email', 'person-' || n || '@example.com', 'bounced', 'provider',
             date_trunc('milliseconds', now()) - n * interval '1 minute'
      from generate_series(1, ${count}::int) as n`)
  }
  await db.run(sql`analyze`)
})
after(() => app.close())

const read = (query: SuppressionQuery) => (db: Sql) => suppressionsPage(db, environment, { limit, ...query })
const pinned = (what: string, query: SuppressionQuery) =>
  assertBounded(app.database.db, what, { rows: rowsExaminedMax, pages: pagesTouchedMax }, read(query))

test('a page of the list looks at a page of rows, in both directions', async () => {
  for (const orderDirection of ['ASC', 'DESC'] as const) {
    await pinned(`${orderDirection}, first page`, { orderDirection })
    const far = await read({ orderDirection, limit: 7_000 })(app.database.db)
    const after = far.next ?? assert.fail('the list is too short')
    assert.equal((await pinned(`${orderDirection}, after`, { orderDirection, after })).data.length, limit)
    await pinned(`${orderDirection}, before`, { orderDirection, before: after })
  }
})

test('an address is found by its key, with a channel and without', async () => {
  for (const more of [{}, { channel: 'email' } as const]) {
    const page = await pinned('address', { address: 'Person-12345@example.com', ...more })
    assert.equal(page.data.length, 1)
    assert.equal((await pinned('no such address', { address: 'nobody@example.com', ...more })).data.length, 0)
  }
})

test('addresses are found by their beginning through the key', async () => {
  const page = await pinned('prefix', { addressPrefix: 'person-12345', channel: 'email' })
  assert.equal(page.data.length, 1)
  assert.equal((await pinned('no such prefix', { addressPrefix: 'nobody' })).data.length, 0)
})

test('the look-up before sending descends to each address, however long the list', async () => {
  const asked = Array.from({ length: askedMax }, (_, index) => ({
    channel: index % 2 === 0 ? ('email' as const) : ('sms' as const),
    address: `person-${index * 50}@example.com`,
  }))
  const db = recordStatements(app.database.db)
  const found = await findSuppressed(db, environment, asked)
  assert.equal(found.length, askedMax / 2 - 1)
  const [statement] = db.statements
  assert.equal(db.statements.length, 1)
  const plan = await explain(app.database.db, statement ?? assert.fail('nothing was asked'))
  assert.equal(plan.hasSequentialScan, false, plan.text)
  assert.ok(plan.rowsExamined <= askedMax, plan.text)
  assert.ok(plan.pagesTouched <= askedMax * pagesPerAddressMax, plan.text)
  assert.deepEqual(await findSuppressed(db, environment, []), [])
  assert.equal(db.statements.length, 1)
})
