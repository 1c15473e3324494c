// Creating subscribers in bulk.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

const bulk = (subscribers: unknown, headers = {}) =>
  app.call('POST', '/v1/subscribers/bulk', { body: { subscribers }, headers })

test('each element is created, updated or failed on its own', async () => {
  await app.call('POST', '/v2/subscribers', { body: { subscriberId: 'known', firstName: 'A' } })
  const { status, body } = await bulk([
    {
      subscriberId: 'new',
      email: 'new@example.com',
      channels: [{ providerId: 'fcm', credentials: { deviceTokens: ['t'] } }],
    },
    { subscriberId: 'known', lastName: 'B' },
    { subscriberId: 'bad', email: 'nope', timezone: 'nope' },
    { firstName: 'nameless' },
    { subscriberId: 'lost', channels: [{ providerId: 'fcm', integrationIdentifier: 'nowhere', credentials: {} }] },
  ])
  assert.equal(status, 201)
  assert.deepEqual(body.created, [{ subscriberId: 'new' }])
  assert.deepEqual(body.updated, [{ subscriberId: 'known' }])
  assert.deepEqual(
    body.failed.map((failure: { subscriberId?: string }) => failure.subscriberId),
    ['bad', undefined, 'lost'],
  )
  assert.match(body.failed[0].message, /email must be a valid email; timezone must be a valid timezone/)
  const read = await app.call('GET', '/v2/subscribers/new')
  assert.deepEqual(read.body.channels[0].credentials, { deviceTokens: ['t'] })
  const known = await app.call('GET', '/v2/subscribers/known')
  assert.deepEqual([known.body.firstName, known.body.lastName], ['A', 'B'])
  for (const id of ['bad', 'lost']) assert.equal((await app.call('GET', `/v2/subscribers/${id}`)).status, 404)
})

test('two elements of one id are one subscriber, the later winning', async () => {
  const { body } = await bulk([
    { subscriberId: 'twice', firstName: 'A', lastName: 'A' },
    { subscriberId: ' twice ', firstName: 'B' },
  ])
  assert.deepEqual(body.created, [{ subscriberId: 'twice' }])
  const read = await app.call('GET', '/v2/subscribers/twice')
  assert.deepEqual([read.body.firstName, read.body.lastName], ['B', 'A'])
})

test('500 elements are taken, 501, none and a non-list are refused', async () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => ({ subscriberId: `many-${index}` }))
  assert.equal((await bulk(many(500))).body.created.length, 500)
  assert.equal((await bulk(many(501))).status, 422)
  assert.equal((await bulk([])).status, 422)
  assert.equal((await bulk('x')).status, 422)
  assert.equal((await bulk([1])).status, 422)
})

test('a repeat with the same idempotency key gets the same answer', async () => {
  const headers = { 'idempotency-key': 'bulk-1' }
  const first = await bulk([{ subscriberId: 'idem' }], headers)
  const second = await bulk([{ subscriberId: 'idem' }], headers)
  assert.deepEqual(first.body.created, [{ subscriberId: 'idem' }])
  assert.deepEqual(second.body, first.body)
  assert.equal(second.headers['idempotency-replay'], 'true')
})
