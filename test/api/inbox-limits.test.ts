// Limits of the inbox: calls and sessions of one reader, and sessions of one address without a hash.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestApp } from '../support/app.ts'
import { hmac, identifierOf, inboxOf, openSession, pageOf } from '../support/inbox-scene.ts'

test('a reader’s limit is their own: neither others nor the keys’ calls notice', async (t) => {
  const limited = await createTestApp({ rateLimits: { trigger: 50, configuration: 50, global: 50 } })
  t.after(() => limited.close())
  const [busy, calm] = [await inboxOf(limited, 'busy'), await inboxOf(limited, 'calm')]
  const statuses: number[] = []
  for (let call = 0; call < 101; call += 1) statuses.push((await busy.call('GET', '/notifications')).status)
  assert.deepEqual([statuses.filter((status) => status === 200).length, statuses.at(-1)], [100, 429])
  const refused = await busy.call('GET', '/notifications')
  assert.equal(refused.headers['retry-after'], '1')
  assert.equal((await calm.call('GET', '/notifications')).status, 200)
  assert.equal((await limited.call('GET', '/v1/environments')).headers['ratelimit-remaining'], '274')
  limited.world.advance(1_000)
  assert.equal((await busy.call('GET', '/notifications')).status, 200)
})

test('sessions of one subscriber are limited too, by themselves; a wrong hash uses nothing of it up', async (t) => {
  const limited = await createTestApp({ rateLimits: { trigger: 50, configuration: 50, global: 50 } })
  t.after(() => limited.close())
  const applicationIdentifier = await identifierOf(limited, 'Production')
  const open = async (subscriberId: string, subscriberHash = hmac(limited.productionKey, subscriberId)) =>
    openSession(limited, { applicationIdentifier, subscriberId, subscriberHash })
  for (let call = 0; call < 150; call += 1) assert.equal((await open('busy', 'wrong')).status, 400)
  const page = pageOf(limited, (await open('busy')).body.data)
  for (let call = 1; call < 100; call += 1) assert.equal((await open('busy')).status, 201)
  const refused = await open('busy')
  assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '1'])
  assert.equal((await page.call('GET', '/notifications')).status, 200, 'a page that is open goes on')
  assert.equal((await open('calm')).status, 201)
  const older = { applicationIdentifier, subscriberId: 'busy', hmacHash: hmac(limited.productionKey, 'busy') }
  const widget = await limited.call('POST', '/v1/widgets/session/initialize', { key: null, body: older })
  assert.equal(widget.status, 429)
  limited.world.advance(1_000)
  assert.equal((await open('busy')).status, 201)
})

test('an address opens sessions without a hash only so often', async (t) => {
  const limited = await createTestApp()
  t.after(() => limited.close())
  const applicationIdentifier = await identifierOf(limited, 'Production')
  const open = async (subscriberHash: string): Promise<number> =>
    (await openSession(limited, { applicationIdentifier, subscriberId: 'ada', subscriberHash })).status
  for (let call = 0; call < 600; call += 1) assert.equal(await open('wrong'), 400)
  assert.equal(await open('wrong'), 429)
  assert.equal(await open(hmac(limited.productionKey, 'ada')), 201)
  const inDevelopment = await identifierOf(limited)
  await limited.call('POST', '/v2/subscribers', { body: { subscriberId: 'known' } })
  const unsigned = async (subscriberId: string): Promise<number> =>
    (await openSession(limited, { applicationIdentifier: inDevelopment, subscriberId })).status
  assert.deepEqual([await unsigned('new'), await unsigned('known')], [429, 201])
  assert.equal((await limited.call('GET', '/v2/subscribers/new')).status, 404)
  limited.world.advance(60_001)
  assert.deepEqual([await open('wrong'), await unsigned('new')], [400, 201])
})
