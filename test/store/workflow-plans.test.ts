// The plans of workflows, pinned: what a page, a search and a trigger look at does not grow with the table.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { versionsPage } from '../../src/read/workflows/workflow-versions.ts'
import type { WorkflowQuery } from '../../src/read/workflows/workflows.ts'
import { retrieveWorkflow, workflowsPage } from '../../src/read/workflows/workflows.ts'
import { findFormerSteps, findWorkflowAt } from '../../src/store/workflows/workflow-versions.ts'
import { findVersions, findWorkflowsByIdentifier } from '../../src/store/workflows/workflows.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { assertBounded, explain, recordStatements } from '../support/plan.ts'
import { environmentOf } from '../support/topic-scene.ts'

const rows = 10_000
const limit = 10
/** A page of workflows, their versions and their groups; the integrations beside it. */
const pageBounds = { rows: 10 * limit, pages: 20 * limit }

let app: TestApp
let environment: Environment
before(async () => {
  app = await createTestApp()
  environment = await environmentOf(app)
  const { db } = app.database
  const group = '019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21'
  await db.run(sql`
    insert into notification_groups (environment_id, id, name, created_at, updated_at)
    values (${environment.id}, ${group}, 'General', now(), now())`)
  // Enough of them that an index is worth it.
  await db.run(sql`
    insert into notification_groups (environment_id, id, name, created_at, updated_at)
    select ${environment.id}, gen_random_uuid(), 'Group ' || n, now(), now() from generate_series(1, 2000) as n`)
  await db.run(sql`
    insert into workflows (environment_id, id, identifier, name, tags, active, group_id, version_id, created_by, created_at,
                           updated_at)
    select ${environment.id}, gen_random_uuid(), 'workflow-' || n,
           case when n % 2000 = 7 then 'The needle ' || n else 'Hay number ' || md5(n::text) end,
           case when n % 2000 = 7 then '{rare}'::text[] else '{common}'::text[] end, true, ${group}, gen_random_uuid(), 'key',
           now(), now()
    from generate_series(1, ${rows}::int) as n`)
  const definition = { name: 'x', description: '', tags: [], steps: [], variables: [], subscriberVariables: [] }
  await db.run(sql`
    insert into workflow_versions (environment_id, id, workflow_id, number, definition, channels, created_at)
    select environment_id, version_id, id, 1, ${JSON.stringify(definition)}::jsonb, '{}', now() from workflows
    where environment_id = ${environment.id}`)
  await db.run(sql`vacuum analyze workflows, workflow_versions, notification_groups`)
})
after(() => app.close())

const list = (query: Partial<WorkflowQuery>, bounds = pageBounds) =>
  assertBounded(app.database.db, JSON.stringify(query), bounds, (db) =>
    workflowsPage(skippingIntegrations(db), environment, { page: 0, limit, ...query }),
  )

/** A handful of integrations in a table of one page is read as a whole, whatever its indexes. */
function skippingIntegrations(db: Parameters<Parameters<typeof assertBounded>[3]>[0]): typeof db {
  return {
    ...db,
    rows: (statement) => (statement.text.includes('from integrations') ? Promise.resolve([]) : db.rows(statement)),
  }
}

test('a page of the list looks at a page of rows', async () => {
  const page = await list({})
  assert.equal(page.data.length, limit)
  assert.equal(page.totalCount, rows)
})

test('a search looks at what it finds, through the index of runs', async () => {
  assert.equal((await list({ query: 'needle' })).data.length, 5)
  assert.equal((await list({ query: 'workflow-7777' })).data.length, 1)
  assert.equal((await list({ query: 'absent-name' })).data.length, 0)
})

test('a list by tags walks until its page is full, and over each workflow once at the most', async () => {
  assert.equal((await list({ tags: ['common'] })).data.length, limit)
  const recording = recordStatements(app.database.db)
  const page = await workflowsPage(recording, environment, { page: 0, limit, tags: ['rare'] })
  assert.equal(page.data.length, 5)
  const [statement] = recording.statements.filter(({ text }) => text.includes('order by w.id'))
  const plan = await explain(app.database.db, statement ?? assert.fail('no page was asked for'))
  assert.ok(plan.rowsExamined <= rows + 10 * limit, plan.text)
})

test('one workflow is found by its id and by its identifier through an index', async () => {
  const read = (key: string) =>
    assertBounded(app.database.db, key, pageBounds, (db) =>
      retrieveWorkflow(skippingIntegrations(db), environment, key),
    )
  const found = (await read('workflow-77')) ?? assert.fail('no workflow')
  assert.equal((await read(found._id))?._id, found._id)
})

test('versions of a workflow are listed and found through the index of their numbers', async () => {
  const page = await assertBounded(app.database.db, 'versions', pageBounds, (db) =>
    versionsPage(db, environment, { idOrIdentifier: 'workflow-77', page: 0, limit }),
  )
  assert.equal(page?.data[0]?.isCurrent, true)
  const workflow = (await retrieveWorkflow(app.database.db, environment, 'workflow-77')) ?? assert.fail('none')
  for (const number of [1, undefined]) {
    const found = await assertBounded(app.database.db, 'one version', pageBounds, (db) =>
      findWorkflowAt(db, environment, workflow._id, number),
    )
    assert.equal(found?.number, 1)
  }
  const former = await assertBounded(app.database.db, 'former steps', pageBounds, (db) =>
    findFormerSteps(db, environment, { workflowId: workflow._id, ids: ['unknown'] }),
  )
  assert.deepEqual(former, [])
})

test('what a trigger asks for is found by key', async () => {
  const identifiers = Array.from({ length: 100 }, (_, index) => `workflow-${index + 1}`)
  const bounds = { rows: 500, pages: 1_500 }
  const found = await assertBounded(app.database.db, 'by identifier', bounds, (db) =>
    findWorkflowsByIdentifier(db, environment, identifiers),
  )
  assert.equal(found.length, 100)
  const versions = await assertBounded(app.database.db, 'versions', bounds, (db) =>
    findVersions(
      db,
      environment,
      found.map(({ versionId }) => versionId),
    ),
  )
  assert.equal(versions.length, 100)
})

test('an environment holds ten thousand workflows and not one more', async () => {
  const reply = await app.call('POST', '/v1/workflows', { body: { name: 'One more' } })
  assert.equal(reply.status, 422)
  assert.match(reply.body.errors.name.messages[0], /at most 10000 workflows/)
  const elsewhere = await app.call('POST', '/v1/workflows', { key: app.productionKey, body: { name: 'One more' } })
  assert.equal(elsewhere.status, 201)
})

test('a walk over the whole table would be noticed', async () => {
  const plan = await explain(app.database.db, sql`select name from workflows where created_at < '2000-01-01'`)
  assert.ok(plan.hasSequentialScan && plan.rowsExamined > pageBounds.rows, plan.text)
})
