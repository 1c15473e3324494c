// Tenants' overrides of workflows over the API.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Db, Tx } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { create, inApp, refusals } from '../support/workflow-scene.ts'

let app: TestApp
let workflow: Json
before(async () => {
  app = await createTestApp()
  workflow = await create(app, { name: 'orders', workflowId: 'orders', active: true, steps: [inApp()] })
})
after(() => app.close())

const path = '/v1/workflow-overrides'

async function tenant(identifier: string): Promise<Json> {
  return (await app.call('POST', '/v1/tenants', { body: { identifier } })).body
}

async function override(tenantId: string, more: object = {}): Promise<Json> {
  const reply = await app.call('POST', path, { body: { workflowId: 'orders', tenantId, ...more } })
  assert.equal(reply.status, 201, reply.text)
  return reply.body
}

test('an override is made by ids or identifiers, once for a workflow and a tenant', async () => {
  const acme = await tenant('acme')
  const made = await override('acme', { active: false, preferenceSettings: { sms: false } })
  assert.deepEqual(
    [
      made.workflowId,
      made.workflowIdentifier,
      made.tenantId,
      made.tenantIdentifier,
      made.active,
      made.preferenceSettings,
    ],
    [workflow._id, 'orders', acme._id, 'acme', false, { sms: false }],
  )
  const again = await app.call('POST', path, { body: { workflowId: workflow._id, tenantId: acme._id } })
  assert.equal(again.status, 409)
  assert.deepEqual((await app.call('GET', `${path}/${made._id}`)).body, made)
  for (const pair of [`workflows/orders/tenants/acme`, `workflows/${workflow._id}/tenants/${acme._id}`]) {
    assert.deepEqual((await app.call('GET', `${path}/${pair}`)).body, made)
  }
})

test('a change keeps what it does not say, and null leaves the workflow’s own', async () => {
  await tenant('change')
  const made = await override('change', { active: true, preferenceSettings: { email: false } })
  const off = await app.call('PUT', `${path}/${made._id}`, { body: { active: false } })
  assert.deepEqual([off.status, off.body.active, off.body.preferenceSettings], [200, false, { email: false }])
  const cleared = await app.call('PUT', `${path}/workflows/orders/tenants/change`, {
    body: { active: null, preferenceSettings: null },
  })
  assert.deepEqual([cleared.body.active, cleared.body.preferenceSettings], [null, null])
})

test('an override is deleted by its id, or by what it is of', async () => {
  await tenant('gone')
  const made = await override('gone')
  assert.equal((await app.call('DELETE', `${path}/${made._id}`)).status, 204)
  assert.equal((await app.call('DELETE', `${path}/${made._id}`)).status, 404)
  await override('gone')
  assert.equal((await app.call('DELETE', `${path}/workflows/orders/tenants/gone`)).status, 204)
  assert.equal((await app.call('GET', `${path}/workflows/orders/tenants/gone`)).status, 404)
})

test('what is not there or not fit is refused by its field', async () => {
  await tenant('strict')
  const refusal = async (body: object) => refusals(await app.call('POST', path, { body }))
  assert.match(
    (await refusal({ workflowId: 'absent', tenantId: 'strict' }))['workflowId'] ?? '',
    /workflowId does not exist/,
  )
  assert.match(
    (await refusal({ workflowId: 'orders', tenantId: 'absent' }))['tenantId'] ?? '',
    /tenantId does not exist/,
  )
  assert.ok('active' in (await refusal({ workflowId: 'orders', tenantId: 'strict', active: 'no' })))
  const unknownChannel = await refusal({ workflowId: 'orders', tenantId: 'strict', preferenceSettings: { fax: true } })
  assert.ok(Object.keys(unknownChannel).some((field) => field.startsWith('preferenceSettings')))
  for (const name of ['not-an-id', '019b7ca9-8f2e-7576-814f-6142b8a72ec6', 'workflows/orders/tenants/nobody']) {
    assert.equal((await app.call('GET', `${path}/${name}`)).status, 404)
    assert.equal((await app.call('PUT', `${path}/${name}`, { body: { active: true } })).status, 404)
    assert.equal((await app.call('DELETE', `${path}/${name}`)).status, 404)
  }
})

test('the list pages, newest first, without those whose tenant or workflow is gone', async () => {
  for (const name of ['l1', 'l2', 'l3']) {
    await tenant(name)
    await override(name)
  }
  const list = async (query = ''): Promise<Json> => (await app.call('GET', `${path}${query}`)).body
  assert.deepEqual(
    (await list('?limit=2')).data.map((one: Json) => one.tenantIdentifier),
    ['l3', 'l2'],
  )
  const before = await list()
  await app.call('DELETE', '/v1/tenants/l3')
  const afterwards = await list()
  assert.equal(afterwards.totalCount, before.totalCount - 1)
  assert.ok(afterwards.data.every((one: Json) => one.tenantIdentifier !== 'l3'))
})

test('another environment sees and touches nothing', async () => {
  const key = app.productionKey
  await tenant('mine')
  const made = await override('mine', { active: true })
  assert.equal((await app.call('GET', `${path}/${made._id}`, { key })).status, 404)
  assert.equal((await app.call('PUT', `${path}/${made._id}`, { key, body: { active: false } })).status, 404)
  assert.equal((await app.call('DELETE', `${path}/${made._id}`, { key })).status, 404)
  assert.deepEqual((await app.call('GET', path, { key })).body.data, [])
  assert.equal((await app.call('GET', `${path}/${made._id}`)).body.active, true)
})

/** Does something else before a statement of a transaction. */
function interruptedDb(db: Db, text: string, before: () => Promise<void>): Db {
  return {
    ...db,
    transaction: (work, limits) =>
      db.transaction((tx) => {
        const run: Tx['run'] = async (statement) => {
          if (statement.text.includes(text)) await before()
          return tx.run(statement)
        }
        return work({ ...tx, run } as Tx)
      }, limits),
  }
}

test('an override of a workflow that is deleted while it is made is refused like one of an unknown workflow', async () => {
  await tenant('initech')
  const leaving = await create(app, { name: 'leaving', workflowId: 'leaving', steps: [inApp()] })
  // Deleted between the look for the workflow and the insert.
  const node = await createTestApp({
    nodeOf: app,
    faulty: (db) =>
      interruptedDb(db, 'insert into workflow_overrides', async () => {
        assert.equal((await app.call('DELETE', `/v1/workflows/${leaving._id}`)).status, 200)
      }),
  })
  try {
    const reply = await node.call('POST', path, { body: { workflowId: 'leaving', tenantId: 'initech' } })
    assert.equal(reply.status, 422, reply.text)
    assert.deepEqual(Object.keys(refusals(reply)), ['workflowId'])
  } finally {
    await node.close()
  }
  const kept = await app.database.db.rows(sql`select 1 from workflow_overrides where workflow_id = ${leaving._id}`)
  assert.deepEqual(kept, [])
})
