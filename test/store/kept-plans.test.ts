// Hot statements over lists: planned a few times, and then by the plan that is kept.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Sql } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { findRecipients, findSubscriberRows } from '../../src/store/people/subscribers.ts'
import { findWorkflowsByIdentifier } from '../../src/store/workflows/workflows.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { environmentOf } from '../support/topic-scene.ts'

let app: TestApp
let environment: Environment
before(async () => {
  app = await createTestApp()
  environment = await environmentOf(app)
  const scene = new FlowScene(app)
  await scene.subscribers(...Array.from({ length: 50 }, () => fresh('person')))
  await scene.rows(sql`analyze subscribers`)
})
after(() => app.close())

/** PostgreSQL plans for the values five times before it considers a plan that is kept. */
const calls = 20
const forTheValues = 5

async function plansOf(
  name: string,
  call: (on: Sql) => Promise<unknown>,
): Promise<{ custom: number; generic: number }> {
  return app.database.db.together(async (on) => {
    for (let count = 0; count < calls; count += 1) await call(on)
    const row = await on.row<{ custom: number; generic: number }>(sql`
      select custom_plans::int as custom, generic_plans::int as generic from pg_prepared_statements where name = ${name}`)
    return row ?? assert.fail(`${name} is not prepared`)
  })
}

const statements: Readonly<Record<string, (on: Sql) => Promise<unknown>>> = {
  'workflows-by-identifier': (on) => findWorkflowsByIdentifier(on, environment, ['one']),
  'subscribers-find': (on) => findSubscriberRows(on, environment, ['one']),
  'subscribers-find-recipients': (on) => findRecipients(on, environment, [environment.id]),
}

for (const [name, call] of Object.entries(statements)) {
  test(`${name} keeps its plan`, async () => {
    const { custom, generic } = await plansOf(name, call)
    assert.ok(custom <= forTheValues && generic >= calls - forTheValues, `${custom} for the values, ${generic} kept`)
  })
}
