// Those who have no key: they are counted by their address, hold one connection at most, and never keep a valid key out.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'

let app: TestApp
before(async () => {
  app = await createTestApp({
    trustedProxies: ['127.0.0.1', '10.0.0.0/8'],
    metricsKey: 'key-of-the-metrics',
    docs: 'off',
  })
})
after(() => app.close())

const from = (address: string, key: string | null, count = 1): Promise<TestReply[]> =>
  Promise.all(
    Array.from({ length: count }, (_, index) =>
      app.call('GET', '/v1/environments', {
        key: key === null ? `made-up-${address}-${index}` : key,
        headers: { 'x-forwarded-for': address },
      }),
    ),
  )

const statuses = (replies: readonly TestReply[]): Record<number, number> => {
  const counts: Record<number, number> = {}
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

test('failures beyond a bucket are 429, by address, and a valid key is never refused for them', async () => {
  assert.deepEqual(statuses(await from('203.0.113.1', null, 200)), { 401: 60, 429: 140 })
  assert.deepEqual(statuses(await from('203.0.113.1', app.developmentKey, 5)), { 200: 5 })
  assert.deepEqual(statuses(await from('203.0.113.2', null)), { 401: 1 })
  app.world.advance(10_000)
  assert.deepEqual(statuses(await from('203.0.113.1', null, 20)), { 401: 10, 429: 10 })
})

test('an address that someone made up in front of the trusted proxies counts for nothing', async () => {
  const forged = (index: number) => ({ 'x-forwarded-for': `198.51.100.${index}, 203.0.113.9, 10.0.0.7` })
  const replies = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      app.call('GET', '/v1/environments', { key: `nobodys-${index}`, headers: forged(index) }),
    ),
  )
  assert.deepEqual(statuses(replies), { 401: 60, 429: 40 })
})

test('however many keys are made up, they hold one connection at a time', async () => {
  let most = 0
  const { db } = app.database
  const watching = setInterval(() => {
    const { total, idle } = db.usage()
    most = Math.max(most, total - idle)
  }, 0)
  await Promise.all(Array.from({ length: 20 }, (_, index) => from(`192.0.2.${index}`, null, 50)))
  clearInterval(watching)
  assert.ok(most <= 1, `${most} connections`)
})

test('the audit log names the caller’s own address', async () => {
  await app.call('POST', '/v1/environments/api-keys', {
    body: { name: 'audited' },
    headers: { 'x-forwarded-for': '203.0.113.50' },
  })
  const { body } = await app.call('GET', '/v1/audit?resourceKind=api-key')
  assert.equal(body.data[0].address, '203.0.113.50')
})

test('metrics and documents can be closed', async () => {
  const metrics = (authorization?: string) =>
    app.call('GET', '/metrics', { key: null, ...(authorization === undefined ? {} : { headers: { authorization } }) })
  assert.equal((await metrics()).status, 401)
  assert.equal((await metrics('Bearer key-of-another')).status, 401)
  assert.equal((await metrics('Bearer key-of-the-metrics')).status, 200)
  for (const path of ['/docs', '/docs/', '/openapi.json']) {
    assert.equal((await app.call('GET', path, { key: null })).status, 404, path)
  }
})
