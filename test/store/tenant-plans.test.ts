// The change of many tenants, pinned: one statement, each row found by its key, before the first analyze too.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { updateTenants } from '../../src/store/people/tenants.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { explain, recordStatements } from '../support/plan.ts'
import { environmentOf } from '../support/topic-scene.ts'

let app: TestApp
let environment: Environment
before(async () => {
  app = await createTestApp()
  environment = await environmentOf(app)
  await app.database.db.run(sql`
    insert into tenants (environment_id, id, identifier, name, created_at, updated_at)
    select ${environment.id}, gen_random_uuid(), 'tenant-' || n, 'Old', now(), now()
    from generate_series(1, 20000) as n`)
})
after(() => app.close())

test('fifty tenants among 20,000 are changed by one statement that looks at fifty rows', async () => {
  const { db } = app.database
  const changes = Array.from({ length: 50 }, (_, index) => ({ identifier: `tenant-${7 * index + 1}`, name: 'New' }))
  const recorder = recordStatements(db)
  const unknown = { identifier: 'nobody', name: 'New' }
  await updateTenants(recorder, environment, [...changes, unknown], app.world.now())
  assert.equal(recorder.statements.length, 1)
  const changed = await db.row(sql`
    select count(*)::int as count, count(distinct id)::int as ids from tenants
    where environment_id = ${environment.id} and name = 'New' and updated_at = ${app.world.now()}`)
  assert.deepEqual(changed, { count: 50, ids: 50 })
  const all = await db.row(sql`select count(*)::int as count from tenants where environment_id = ${environment.id}`)
  assert.deepEqual(all, { count: 20_000 })
  for (const statement of recorder.statements) {
    const plan = await explain(db, statement)
    assert.equal(plan.hasSequentialScan, false, plan.text)
    assert.ok(plan.rowsExamined <= 60, plan.text)
  }
})
