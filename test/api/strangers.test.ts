// Those who have no key: they are counted by their address, hold one connection at most, and never keep a valid key out.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { writeUnsubscribeToken } from '../../src/domain/preferences/unsubscribe-token.ts'
import type { TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { identifierOf, inboxOf } from '../support/inbox-scene.ts'

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

test('a call that presents no key is 401 however often it comes, and leaves the bucket full', async () => {
  const headers = { 'x-forwarded-for': '203.0.113.3' }
  for (const [authorization, message] of [
    [undefined, 'Missing authorization header'],
    ['ApiKey ', 'Unauthorized'],
    ['apikey some-key', 'Invalid authentication scheme: send the header "Authorization: ApiKey <key>"'],
  ] as const) {
    const given = authorization === undefined ? headers : { ...headers, authorization }
    const replies = await Promise.all(
      Array.from({ length: 100 }, () => app.call('GET', '/v1/environments', { key: null, headers: given })),
    )
    assert.deepEqual(statuses(replies), { 401: 100 })
    assert.equal(replies.at(-1)?.body.message, message)
  }
  assert.deepEqual(statuses(await from('203.0.113.3', null, 61)), { 401: 60, 429: 1 })
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

/** As ours are made, of an environment that does not exist, and signed by no one. */
const forged = (): string => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { environmentId: randomUUID(), _id: randomUUID(), contextKeys: [], generation: 0, exp: 4e9 }
  return `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}.${'A'.repeat(43)}`
}

const withToken = (path: string, token: string, address: string): Promise<TestReply> =>
  app.call('GET', path, { key: null, headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': address } })

test('forged inbox tokens are 429 beyond a bucket, by address; a good one never is', async () => {
  const applicationIdentifier = await identifierOf(app)
  const body = { applicationIdentifier, subscriber: { subscriberId: 'ada' } }
  const session = await app.call('POST', '/v1/inbox/session', { key: null, body })
  const { token } = session.body.data
  for (const [path, address] of [
    ['/v1/inbox/notifications', '203.0.113.30'],
    ['/v1/inbox/stream', '203.0.113.31'],
  ] as const) {
    const replies = await Promise.all(Array.from({ length: 100 }, () => withToken(path, forged(), address)))
    assert.deepEqual(statuses(replies), { 401: 60, 429: 40 }, path)
    assert.equal((await withToken('/v1/inbox/notifications', token, address)).status, 200)
    assert.equal((await withToken(path, forged(), '203.0.113.32')).status, 401)
  }
  // A page whose session has ended must be able to see that.
  app.world.advance(16 * 24 * 3_600_000)
  const ended = await Promise.all(
    Array.from({ length: 100 }, () => withToken('/v1/inbox/notifications', token, '203.0.113.33')),
  )
  assert.deepEqual(statuses(ended), { 401: 100 })
})

test('a token that was revoked, of a subscriber who is gone, or none at all is 401, however often', async () => {
  const [revoked, deleted] = [await inboxOf(app, 'revoked'), await inboxOf(app, 'gone')]
  assert.equal((await app.call('DELETE', '/v2/subscribers/revoked/sessions')).status, 204)
  assert.equal((await app.call('DELETE', '/v1/subscribers/gone')).status, 200)
  app.world.advance(1_000)
  let last = 0
  for (const path of ['/v1/inbox/notifications', '/v1/inbox/stream']) {
    for (const authorization of [`Bearer ${revoked.token}`, `Bearer ${deleted.token}`, '']) {
      last += 1
      const headers = { 'x-forwarded-for': `203.0.113.${60 + last}`, ...(authorization && { authorization }) }
      const calls = Array.from({ length: 100 }, () => app.call('GET', path, { key: null, headers }))
      assert.deepEqual(statuses(await Promise.all(calls)), { 401: 100 }, `${path} ${authorization.slice(0, 10)}`)
    }
  }
})

const openedAt = (applicationIdentifier: string, address: string): Promise<TestReply> =>
  app.call('POST', '/v1/inbox/session', {
    key: null,
    headers: { 'x-forwarded-for': address },
    body: { applicationIdentifier, subscriber: { subscriberId: 'ada' } },
  })

test('sessions of no environment are 429 beyond a limit, by address; a good one never is', async () => {
  const replies: TestReply[] = []
  for (let at = 0; at < 620; at += 1) replies.push(await openedAt(`made-up-${at}`, '203.0.113.40'))
  assert.deepEqual(statuses(replies), { 400: 600, 429: 20 })
  assert.equal((await openedAt(await identifierOf(app), '203.0.113.40')).status, 201)
  assert.equal((await openedAt('made-up', '203.0.113.41')).status, 400)
})

test('however many tokens and environments are made up, they hold one connection at a time', async () => {
  let most = 0
  const { db } = app.database
  const watching = setInterval(() => {
    const { total, idle } = db.usage()
    most = Math.max(most, total - idle)
  }, 0)
  await Promise.all(
    Array.from({ length: 400 }, (_, at) =>
      at % 2 === 0
        ? withToken('/v1/inbox/notifications', forged(), `192.0.2.${at % 20}`)
        : openedAt(`made-up-${at}`, `192.0.2.${at % 20}`),
    ),
  )
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

test('calls of providers that are made up, forged links and questions whether we are ready hold few connections', async () => {
  let most = 0
  const { db } = app.database
  const environment = (await app.call('GET', '/v1/environments/me')).body._id
  const forgedLink = (environmentId: string): string =>
    writeUnsubscribeToken(
      { environmentId, subscriberId: randomUUID(), workflowId: randomUUID() },
      Buffer.from('of no environment'),
    )
  const doors: readonly (() => Promise<TestReply>)[] = [
    () => app.call('POST', `/v1/webhooks/${randomUUID()}/${randomUUID()}`, { key: null, body: {} }),
    () => app.call('POST', `/v1/webhooks/${environment}/${randomUUID()}`, { key: null, body: {} }),
    () => app.call('GET', `/v1/unsubscribe/${forgedLink(randomUUID())}`, { key: null }),
    () => app.call('GET', `/v1/unsubscribe/${forgedLink(environment)}`, { key: null }),
  ]
  const watching = setInterval(() => {
    const { total, idle } = db.usage()
    most = Math.max(most, total - idle)
  }, 0)
  const replies = await Promise.all(Array.from({ length: 400 }, (_, at) => doors[at % doors.length]?.()))
  assert.ok(most <= 4, `${most} connections`)
  most = 0
  const ready = await Promise.all(Array.from({ length: 100 }, () => app.call('GET', '/ready', { key: null })))
  clearInterval(watching)
  assert.ok(most <= 1, `${most} connections`)
  assert.deepEqual(new Set(replies.map((reply) => reply?.status)), new Set([404]))
  assert.deepEqual(statuses(ready), { 200: 100 })
})

test('calls to an address that was found lately do not queue with those to made up ones, which are 503 beyond a queue', async () => {
  const made = await app.call('POST', '/v1/integrations', {
    body: {
      providerId: 'postmark',
      channel: 'email',
      active: true,
      credentials: { apiKey: 'token', from: 'hello@example.com' },
      configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: 'key-of-the-webhook' },
    },
  })
  assert.equal(made.status, 201, made.text)
  const { _id: integration, _environmentId: environment } = made.body
  const report = (environmentId = randomUUID(), integrationId = randomUUID()): Promise<TestReply> =>
    app.call('POST', `/v1/webhooks/${environmentId}/${integrationId}`, { key: null, body: {} })
  const amongUnknown = async (): Promise<{ own: TestReply; unknown: TestReply[] }> => {
    const unknown = Array.from({ length: 900 }, () => report())
    return { own: await report(environment, integration), unknown: await Promise.all(unknown) }
  }
  // Not proven, but there: 401.
  assert.equal((await report(environment, integration)).status, 401)
  const { own, unknown } = await amongUnknown()
  assert.equal(own.status, 401)
  assert.deepEqual(Object.keys(statuses(unknown)), ['404', '503'])
  const refused = unknown.find(({ status }) => status === 503)
  assert.equal(refused?.headers['retry-after'], '1')
  assert.match(refused?.text ?? '', /try again/)
  // Long after, it has to be looked up like any other.
  app.world.advance(600_000)
  assert.equal((await amongUnknown()).own.status, 503)
  assert.equal((await report(environment, integration)).status, 401)
  // One that is gone is as good as made up.
  assert.equal((await app.call('DELETE', `/v1/integrations/${integration}`)).status, 200)
  assert.equal((await report(environment, integration)).status, 404)
  assert.equal((await amongUnknown()).own.status, 503)
})
