// API keys over the API: rotation with overlap, addresses, rates, and when a key was used last.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { createFaultyDb } from '../support/faulty-db.ts'

const keysPath = '/v1/environments/api-keys'
const dayMs = 24 * 60 * 60_000

let app: TestApp
before(async () => {
  const rates = { trigger: 1_000, configuration: 1_000, global: 1_000 }
  app = await createTestApp({ rateLimits: rates, trustedProxies: ['127.0.0.1'] })
})
after(() => app.close())

async function newKey(body: object = {}): Promise<Json> {
  const reply = await app.call('POST', keysPath, { body })
  assert.equal(reply.status, 201, reply.text)
  return reply.body
}

async function listed(id: string): Promise<Json> {
  const { body } = await app.call('GET', `${keysPath}?limit=100`)
  return body.data.find((one: Json) => one._id === id)
}

const statusOf = async (key: string, address?: string): Promise<number> => {
  const headers: Record<string, string> = address === undefined ? {} : { 'x-forwarded-for': address }
  return (await app.call('GET', '/v1/environments', { key, headers })).status
}

test('a rotated key is replaced by one for the same things, and goes on for the overlap', async () => {
  const limits = { allowedAddresses: ['127.0.0.1'], ratePerSecond: 50 }
  const old = await newKey({ name: 'Orders', scopes: ['read'], signing: true, ...limits })
  const rotated = await app.call('POST', `${keysPath}/${old._id}/rotate`, { body: { overlapSeconds: 60 } })
  assert.equal(rotated.status, 201, rotated.text)
  const { key, _id, hint, ...rest } = rotated.body
  assert.notEqual(key, old.key)
  const createdAt = app.world.now().toISOString()
  assert.deepEqual(rest, { name: 'Orders', scopes: ['read'], signing: true, ...limits, replaces: old._id, createdAt })
  assert.deepEqual([await statusOf(old.key), await statusOf(key)], [200, 200])
  app.world.advance(60_000)
  assert.deepEqual([await statusOf(old.key), await statusOf(key)], [401, 200])
  const actions = (await app.call('GET', '/v1/audit?resourceKind=api-key&limit=2')).body.data
  assert.deepEqual(
    actions.map((entry: Json) => [entry.action, entry.resourceId]),
    [
      ['rotate', old._id],
      ['rotate', _id],
    ],
  )
})

test('without an overlap the old key is revoked at once; the usual one is a day', async () => {
  const [first, second] = [await newKey({ signing: true }), await newKey()]
  assert.equal((await app.call('POST', `${keysPath}/${first._id}/rotate`, { body: { overlapSeconds: 0 } })).status, 201)
  assert.equal((await listed(first._id)).revokedAt, app.world.now().toISOString())
  assert.equal((await listed(first._id)).signing, false)
  assert.equal((await app.call('POST', `${keysPath}/${second._id}/rotate`, { body: {} })).status, 201)
  assert.equal((await listed(second._id)).expiresAt, new Date(app.world.now().getTime() + dayMs).toISOString())
})

test('a key for a time is replaced by one for as long a time, and never outlives its own end', async () => {
  const soon = new Date(app.world.now().getTime() + 10_000).toISOString()
  const old = await newKey({ expiresAt: soon })
  app.world.advance(4_000)
  const { body } = await app.call('POST', `${keysPath}/${old._id}/rotate`, { body: {} })
  assert.equal(body.expiresAt, new Date(app.world.now().getTime() + 10_000).toISOString())
  assert.equal((await listed(old._id)).expiresAt, soon)
})

test('a key is rotated once, while it is good, and not where a variable sets it', async () => {
  const rotate = async (id: string) => (await app.call('POST', `${keysPath}/${id}/rotate`, { body: {} })).status
  const old = await newKey()
  assert.deepEqual([await rotate(old._id), await rotate(old._id)], [201, 409])
  const short = await newKey({ expiresAt: new Date(app.world.now().getTime() + 1_000).toISOString() })
  app.world.advance(1_000)
  assert.equal(await rotate(short._id), 409)
  const all = (await app.call('GET', `${keysPath}?limit=100`)).body.data
  const configured = all.find((one: Json) => one.name === 'POSTHORN_API_KEY')
  assert.equal(await rotate(configured._id), 409)
  assert.equal(await rotate(app.world.newId(app.world.now())), 404)
})

test('a key with addresses works from those alone, by the word of trusted proxies', async () => {
  const { key, _id } = await newKey({ allowedAddresses: ['10.1.0.0/16', '2001:db8::/32', '203.0.113.7'] })
  for (const good of ['10.1.255.3', '203.0.113.7', '2001:db8::1', '::ffff:10.1.2.3']) {
    assert.equal(await statusOf(key, good), 200, good)
  }
  for (const bad of ['10.2.0.1', '203.0.113.8', '2001:db9::1', '::ffff:10.2.0.1']) {
    assert.equal(await statusOf(key, bad), 403, bad)
  }
  const refused = await app.call('GET', '/v1/environments', { key })
  assert.deepEqual([refused.status, refused.body.message], [403, 'This API key may not be used from this address'])
  assert.equal((await app.call('PATCH', `${keysPath}/${_id}`, { body: { allowedAddresses: null } })).status, 200)
  app.world.advance(1_000)
  assert.equal(await statusOf(key), 200)
})

test('a key does not close itself to whoever closes it', async () => {
  const { key, _id } = await newKey()
  const change = (allowedAddresses: string[]) =>
    app.call('PATCH', `${keysPath}/${_id}`, { key, body: { allowedAddresses } })
  assert.equal((await change(['10.0.0.0/8'])).status, 409)
  assert.equal((await change(['127.0.0.0/8'])).status, 200)
})

test('limits that make no sense are refused with the field named', async () => {
  const refused: [object, string][] = [
    [{ allowedAddresses: [] }, 'allowedAddresses'],
    [{ allowedAddresses: ['10.1.0.0/16', 'example.com'] }, 'allowedAddresses.1'],
    [{ allowedAddresses: ['10.1.0.0/33'] }, 'allowedAddresses.0'],
    [{ ratePerSecond: 0 }, 'ratePerSecond'],
    [{ ratePerSecond: 1.5 }, 'ratePerSecond'],
  ]
  for (const [body, field] of refused) {
    const reply = await app.call('POST', keysPath, { body })
    assert.equal(reply.status, 422, JSON.stringify(body))
    assert.deepEqual(Object.keys(reply.body.errors), [field], JSON.stringify(body))
  }
})

test('a key with a rate is limited by it, and costs the others nothing', async () => {
  const { key, _id } = await newKey({ scopes: ['read'], ratePerSecond: 1 })
  const statuses: number[] = []
  // A bucket holds a hundred tokens at least.
  for (let count = 0; count < 102; count += 1) statuses.push(await statusOf(key))
  assert.equal(statuses.filter((status) => status === 200).length >= 100, true)
  const refused = await app.call('GET', '/v1/environments', { key })
  assert.equal(refused.status, 429)
  assert.match(String(refused.headers['ratelimit-policy']), /category="key"/)
  assert.equal(await statusOf(app.developmentKey), 200)
  assert.equal((await app.call('PATCH', `${keysPath}/${_id}`, { body: { ratePerSecond: null } })).status, 200)
  app.world.advance(1_000)
  assert.equal(await statusOf(key), 200)
})

test('when a key was used last is written beside the calls, and again after five minutes', async () => {
  const { key, _id } = await newKey()
  assert.equal((await listed(_id)).lastUsedAt, undefined)
  const firstAt = app.world.now().toISOString()
  const lastUsed = async (): Promise<string | undefined> => {
    await turn()
    return (await listed(_id)).lastUsedAt
  }
  const until = async (at: string): Promise<void> => {
    for (let tries = 0; (await lastUsed()) !== at; tries += 1) assert.ok(tries < 200, 'it was not written')
  }
  await statusOf(key)
  await until(firstAt)
  app.world.advance(4 * 60_000)
  await statusOf(key)
  assert.equal(await lastUsed(), firstAt)
  app.world.advance(60_000)
  await statusOf(key)
  await until(app.world.now().toISOString())
})

test('many calls within a second ask for the key once and write its use once, beside them', async () => {
  const texts: string[] = []
  const counted = await createTestApp({
    faulty: (db) =>
      createFaultyDb(db, ({ text }) => {
        if (text.includes('api_keys')) texts.push(text.trim().split(/\s+/, 1)[0] ?? '')
        return undefined
      }),
  })
  try {
    for (let count = 0; count < 30; count += 1) {
      assert.equal((await counted.call('GET', '/v1/environments')).status, 200)
    }
    assert.deepEqual(texts.sort(), ['select', 'update'])
  } finally {
    await counted.close()
  }
})
