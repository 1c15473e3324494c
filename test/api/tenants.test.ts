// Tenants over the API.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

test('a tenant is created, read, changed and deleted', async () => {
  const created = await app.call('POST', '/v1/tenants', {
    body: { identifier: 'acme', name: 'Acme', data: { plan: 'a' } },
  })
  assert.equal(created.status, 201)
  assert.equal(created.body.identifier, 'acme')
  const read = await app.call('GET', '/v1/tenants/acme')
  assert.deepEqual(read.body, created.body)
  app.world.advance(1000)
  const changed = await app.call('PATCH', '/v1/tenants/acme', { body: { name: null } })
  assert.equal(changed.status, 200)
  assert.equal('name' in changed.body, false)
  assert.deepEqual(changed.body.data, { plan: 'a' })
  assert.notEqual(changed.body.updatedAt, created.body.updatedAt)
  assert.equal((await app.call('DELETE', '/v1/tenants/acme')).status, 204)
  assert.equal((await app.call('GET', '/v1/tenants/acme')).status, 404)
  assert.equal((await app.call('DELETE', '/v1/tenants/acme')).status, 404)
})

test('an identifier is taken once, at creation and at a rename', async () => {
  await app.call('POST', '/v1/tenants', { body: { identifier: 'one' } })
  await app.call('POST', '/v1/tenants', { body: { identifier: 'two' } })
  assert.equal((await app.call('POST', '/v1/tenants', { body: { identifier: 'one' } })).status, 409)
  assert.equal((await app.call('PATCH', '/v1/tenants/two', { body: { identifier: 'one' } })).status, 409)
})

test('another environment sees and touches nothing', async () => {
  const key = app.productionKey
  await app.call('POST', '/v1/tenants', { body: { identifier: 'mine' } })
  assert.equal((await app.call('GET', '/v1/tenants/mine', { key })).status, 404)
  assert.equal((await app.call('PATCH', '/v1/tenants/mine', { key, body: { name: 'x' } })).status, 404)
  assert.equal((await app.call('DELETE', '/v1/tenants/mine', { key })).status, 404)
  assert.deepEqual((await app.call('GET', '/v1/tenants', { key })).body.data, [])
  assert.equal((await app.call('GET', '/v1/tenants/mine')).status, 200)
})

test('the list pages, newest first, and says whether there is more', async () => {
  for (let index = 0; index < 12; index += 1)
    await app.call('POST', '/v1/tenants', { body: { identifier: `page-${index}` } })
  const first = await app.call('GET', '/v1/tenants?limit=10')
  assert.equal(first.body.data.length, 10)
  assert.equal(first.body.data[0].identifier, 'page-11')
  assert.equal(first.body.hasMore, true)
  const rest = await app.call('GET', '/v1/tenants?limit=10&page=1')
  assert.equal(rest.body.hasMore, false)
  assert.equal(rest.body.totalCount, first.body.data.length + rest.body.data.length)
})

test('a tenant without an identifier, or with a number for a name, is refused with every mistake named', async () => {
  const reply = await app.call('POST', '/v1/tenants', { body: { name: 5 } })
  assert.equal(reply.status, 422)
  assert.deepEqual(Object.keys(reply.body.errors).sort(), ['identifier', 'name'])
  assert.equal(reply.body.message, 'Validation Error')
})
