// The reads of the audit log, pinned: each looks at a page of it, however long it is.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import type { AuditQuery } from '../../src/read/operate/audit.ts'
import { auditPage, verifyAudit } from '../../src/read/operate/audit.ts'
import { findAuditEntry, findAuditHead } from '../../src/store/operate/audit-log.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { assertBounded } from '../support/plan.ts'
import { environmentOf } from '../support/topic-scene.ts'

let app: TestApp
let environment: Environment
const entries = 30_000
const bounds = { rows: 60, pages: 120 }
before(async () => {
  app = await createTestApp()
  environment = await environmentOf(app)
  // Rare ones are at the beginning, so that a walk from the end would pass all others.
  await app.database.db.run(sql`
    insert into audit_log (environment_id, seq, at, key_id, key_name, address, action, resource_kind, resource_id,
                           resource_name, after, previous_hash, hash)
    select ${environment.id}, n + 1, now() + n * interval '1 second', case when n < 20 then 'rare' else 'k' end, 'Key', '',
           case when n < 20 then 'revoke' else 'change' end, case when n < 20 then 'feed' else 'workflow' end,
           case when n < 20 then 'rare' else n::text end, 'name', '{}', '', ''
    from generate_series(1, ${entries}::int) as n`)
  await app.database.db.run(sql`analyze audit_log`)
})
after(() => app.close())

const queries: Readonly<Record<string, AuditQuery>> = {
  'without a filter': {},
  'of a kind that is rare': { resourceKind: 'feed' },
  'of one resource': { resourceId: 'rare' },
  'of an action that is rare': { action: 'revoke' },
  'of one key': { keyId: 'rare' },
  'of a kind and a key': { resourceKind: 'workflow', keyId: 'rare' },
  'from the oldest on': { orderDirection: 'ASC' },
}
for (const [what, query] of Object.entries(queries)) {
  test(`a page ${what} is found by an index`, async () => {
    const { db } = app.database
    const page = await assertBounded(db, what, bounds, (read) => auditPage(read, environment, { ...query, limit: 20 }))
    const next = page.next
    if (next === null) return
    await assertBounded(db, `${what}, further on`, bounds, (read) =>
      auditPage(read, environment, { ...query, limit: 20, after: next }),
    )
  })
}

test('a page of a span of time long ago does not walk through what is newer', async () => {
  const row = await app.database.db.row<{ from: Date; to: Date }>(sql`
    select min(at) filter (where seq = 10) as from, min(at) filter (where seq = 15) as to from audit_log
    where environment_id = ${environment.id}`)
  const span = { from: row?.from.toISOString() ?? '', to: row?.to.toISOString() ?? '' }
  const page = await assertBounded(app.database.db, 'a span', bounds, (read) => auditPage(read, environment, span))
  assert.ok(page.data.length > 0)
})

test('one entry and the head are found by key', async () => {
  const { db } = app.database
  await assertBounded(db, 'one entry', { rows: 1, pages: 10 }, (read) => findAuditEntry(read, environment, 777))
  const head = await assertBounded(db, 'the head', { rows: 1, pages: 10 }, (read) => findAuditHead(read, environment))
  assert.equal(head.seq, entries + 1)
})

test('a check reads in pages', async () => {
  const { db } = app.database
  const after = `500:${'0'.repeat(64)}`
  const page = { rows: 100, pages: 40 }
  const result = await assertBounded(db, 'a check', page, (read) =>
    verifyAudit(read, app.world.sealer, environment, { after }),
  )
  assert.deepEqual(result.broken, { seq: 501, reason: 'previous-hash' })
})
