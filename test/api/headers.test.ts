// What every answer carries, and what is open without a key: request ids, security headers, CORS, probes, metrics, docs.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { routes } from '../../src/http/registry.ts'
import type { TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'

const page = 'https://dashboard.example.com'

let app: TestApp
let shared: TestApp
before(async () => {
  app = await createTestApp({ docs: 'on' })
  shared = await createTestApp({ nodeOf: app, corsOrigins: [page] })
})
after(async () => {
  await shared.close()
  await app.close()
})

const json = { 'content-type': 'application/json' }

/** One answer of every kind. */
async function answersOfEveryKind(): Promise<Map<string, TestReply>> {
  return new Map([
    ['success', await app.call('GET', '/v1/tenants')],
    ['no key', await app.call('GET', '/v1/tenants', { key: null })],
    ['unknown route', await app.call('GET', '/x', { key: null })],
    ['unknown tenant', await app.call('GET', '/v1/tenants/nobody')],
    ['not JSON', await app.call('POST', '/v1/tenants', { body: '{', headers: json })],
    ['invalid', await app.call('POST', '/v1/tenants', { body: {} })],
    ['undecodable', await app.call('GET', '/v1/tenants/%FF')],
    ['too long', await app.call('GET', `/v1/tenants/${'x'.repeat(5000)}`)],
    ['too large', await app.call('POST', '/v1/tenants', { body: ' '.repeat(1024 * 1024 + 1), headers: json })],
    ['health', await app.call('GET', '/health', { key: null })],
    ['metrics', await app.call('GET', '/metrics', { key: null })],
  ])
}

test('every answer has a request id of its own', async () => {
  const ids = new Set<unknown>()
  for (const [kind, reply] of await answersOfEveryKind()) {
    assert.match(String(reply.headers['x-request-id']), /^[0-9a-f-]{36}$/, kind)
    ids.add(reply.headers['x-request-id'])
  }
  assert.equal(ids.size, (await answersOfEveryKind()).size)
})

test('a caller’s request id is kept when it is fit to be logged, and replaced otherwise', async () => {
  const idFor = async (path: string, given: string): Promise<unknown> =>
    (await app.call('GET', path, { headers: { 'x-request-id': given } })).headers['x-request-id']
  for (const path of ['/v1/tenants', '/x', '/v1/tenants/%FF', '/health']) {
    assert.equal(await idFor(path, 'order-7.a:b/c_d'), 'order-7.a:b/c_d', path)
    assert.equal(await idFor(path, 'x'.repeat(128)), 'x'.repeat(128))
    for (const unfit of ['x'.repeat(129), 'two words', '<script>', 'a"b', 'ü', '{}']) {
      assert.match(String(await idFor(path, unfit)), /^[0-9a-f-]{36}$/, `${path} ${unfit}`)
    }
  }
})

test('every answer has the security headers, errors too', async () => {
  for (const [kind, { headers }] of await answersOfEveryKind()) {
    assert.equal(headers['x-content-type-options'], 'nosniff', kind)
    assert.equal(headers['x-frame-options'], 'DENY', kind)
    assert.equal(headers['referrer-policy'], 'no-referrer', kind)
    assert.match(String(headers['strict-transport-security']), /^max-age=\d{8}/, kind)
    assert.match(String(headers['content-security-policy']), /default-src 'none'/, kind)
    assert.equal(headers['cache-control'], 'no-store', kind)
    assert.equal(headers['x-powered-by'], undefined, kind)
    assert.equal(headers['server'], undefined, kind)
  }
})

test('without configured origins a page of another origin gets no leave', async () => {
  const headers = { origin: page }
  assert.equal((await app.call('GET', '/v1/tenants', { headers })).headers['access-control-allow-origin'], undefined)
  const preflight = await app.call('OPTIONS', '/v1/tenants', {
    key: null,
    headers: { ...headers, 'access-control-request-method': 'POST' },
  })
  assert.equal(preflight.status, 404)
  assert.equal(preflight.headers['access-control-allow-origin'], undefined)
})

test('a configured origin may call, also when the answer is an error, and may read our headers', async () => {
  const headers = { origin: page }
  const replies = [
    await shared.call('GET', '/v1/tenants', { headers }),
    await shared.call('GET', '/v1/tenants', { headers, key: null }),
    await shared.call('GET', '/v1/tenants/nobody', { headers }),
    await shared.call('GET', '/x', { headers }),
  ]
  assert.deepEqual(
    replies.map((reply) => reply.status),
    [200, 401, 404, 404],
  )
  for (const reply of replies) {
    assert.equal(reply.headers['access-control-allow-origin'], page)
    assert.match(String(reply.headers['vary']), /Origin/i)
    assert.match(String(reply.headers['access-control-expose-headers']), /x-request-id.*retry-after/)
  }
})

test('another origin than the configured gets no leave', async () => {
  const reply = await shared.call('GET', '/v1/tenants', { headers: { origin: 'https://evil.example.com' } })
  assert.notEqual(reply.headers['access-control-allow-origin'], 'https://evil.example.com')
  assert.notEqual(reply.headers['access-control-allow-origin'], '*')
})

test('a preflight is answered without a key, for every method there is', async () => {
  const used = new Set(routes.map((route) => route.method))
  for (const method of used) {
    const reply = await shared.call('OPTIONS', '/v2/subscribers/ada', {
      key: null,
      headers: {
        origin: page,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type,idempotency-key',
      },
    })
    assert.equal(reply.status, 204)
    assert.equal(reply.headers['access-control-allow-origin'], page)
    assert.match(String(reply.headers['access-control-allow-methods']), new RegExp(`\\b${method}\\b`))
    assert.match(String(reply.headers['access-control-allow-headers']), /authorization.*idempotency-key/)
  }
})

test('a star allows every origin', async () => {
  const open = await createTestApp({ nodeOf: app, corsOrigins: ['*'] })
  const reply = await open.call('GET', '/v1/tenants', { headers: { origin: 'https://any.example.com' } })
  await open.close()
  assert.equal(reply.headers['access-control-allow-origin'], '*')
})

test('health and readiness are open, and readiness asks the database', async () => {
  const health = await app.call('GET', '/health', { key: null })
  assert.deepEqual([health.status, health.body], [200, { status: 'ok' }])
  const ready = await app.call('GET', '/ready', { key: null })
  assert.deepEqual([ready.status, ready.body], [200, { status: 'ready', database: 'up' }])
  const cut = await createTestApp()
  await cut.database.drop()
  const notReady = await cut.call('GET', '/ready', { key: null })
  assert.deepEqual([notReady.status, notReady.body.database], [503, 'down'])
  assert.equal((await cut.call('GET', '/health', { key: null })).status, 200)
  await cut.app.close()
})

test('metrics count requests by the route’s pattern and status, never by its path', async () => {
  const fresh = await createTestApp({ nodeOf: app })
  await fresh.call('GET', '/v1/tenants/a-path-of-ours')
  await fresh.call('GET', '/v1/tenants/another-path')
  await fresh.call('GET', '/v1/tenants', { key: null })
  await fresh.call('GET', '/no/such/path')
  await fresh.call('GET', '/v1/tenants/%FF')
  const { text, status, headers } = await fresh.call('GET', '/metrics', { key: null })
  await fresh.close()
  assert.equal(status, 200)
  assert.match(String(headers['content-type']), /^text\/plain/)
  const count = (labels: string) =>
    Number(new RegExp(`posthorn_http_request_duration_seconds_count\\{${labels}\\} (\\d+)`).exec(text)?.[1])
  assert.equal(count('method="GET",route="/v1/tenants/:identifier",status="404"'), 2)
  assert.equal(count('method="GET",route="/v1/tenants",status="401"'), 1)
  assert.equal(count('method="GET",route="unknown",status="404"'), 1)
  for (const path of ['a-path-of-ours', 'another-path', 'such'])
    assert.equal(text.includes(path), false, `${path} became a label`)
})

test('metrics show the pool and the event loop', async () => {
  const { text } = await app.call('GET', '/metrics', { key: null })
  for (const state of ['busy', 'idle', 'waiting'])
    assert.match(text, new RegExp(`posthorn_database_connections\\{pool="general",state="${state}"\\} \\d+`))
  assert.match(text, /nodejs_eventloop_lag_p99_seconds [\d.e-]+/)
})

test('the interface is open: as a document of every route, and as a page that fetches from nowhere else', async () => {
  const document = await app.call('GET', '/openapi.json', { key: null })
  assert.equal(document.status, 200)
  assert.match(String(document.headers['content-type']), /^application\/json/)
  for (const route of routes)
    assert.ok(document.body.paths[route.path]?.[route.method.toLowerCase()], `${route.method} ${route.path}`)
  const docs = await app.call('GET', '/docs/', { key: null })
  assert.equal(docs.status, 200)
  assert.match(String(docs.headers['content-type']), /^text\/html/)
  assert.match(String(docs.headers['content-security-policy']), /script-src 'self' 'sha256-/)
  assert.doesNotMatch(docs.text, /src="https?:/)
})
