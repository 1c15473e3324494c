// Rate limits: a bucket an environment and category, shared by all nodes.
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { TestApp, TestAppOptions, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { listen, sendRaw } from '../support/raw-socket.ts'

/** One token a second: the bucket holds the smallest burst there is, 100, and hardly refills while a test runs. */
const scarce = { trigger: 1, configuration: 1, global: 1 }
const burst = 100
/** Generous for a slow machine: what trickles in while a test runs. */
const refillMax = 20

const open: TestApp[] = []
afterEach(async () => {
  for (const app of open.splice(0).reverse()) await app.close()
})

async function start(options: TestAppOptions = { rateLimits: scarce }): Promise<TestApp> {
  const app = await createTestApp(options)
  open.push(app)
  return app
}

const configuration = (app: TestApp, key?: string): Promise<TestReply> =>
  app.call('GET', '/v1/tenants?limit=1', key === undefined ? {} : { key })
const global = (app: TestApp): Promise<TestReply> => app.call('GET', '/v1/environments')
const bulk = (app: TestApp): Promise<TestReply> =>
  app.call('POST', '/v1/subscribers/bulk', { body: { subscribers: [{ subscriberId: 'bulk' }] } })

const times = <Result>(count: number, make: () => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, make))

const allowed = (replies: readonly TestReply[]): number => replies.filter((reply) => reply.status === 200).length

/** Nothing trickles in before the next draw. */
async function setBucket(app: TestApp, category: string, tokens: number): Promise<void> {
  await app.database.db.run(
    sql`update rate_limits set tokens = ${tokens}, refilled_at = clock_timestamp() + interval '1 hour'
        where category = ${category}`,
  )
}

/** Calls until it is refused. The test's clock stands still, so from then on it stays refused. */
async function exhaust(app: TestApp): Promise<void> {
  for (let batch = 0; batch < 10; batch += 1) {
    const replies = await times(burst, () => configuration(app))
    if (allowed(replies) < burst) return
  }
  assert.fail('There was no end to the tokens')
}

test('an answer reports the limit, what is left, and the policy', async () => {
  const app = await start({ rateLimits: { trigger: 60, configuration: 60, global: 30 } })
  const first = await configuration(app)
  assert.equal(first.status, 200)
  assert.equal(first.headers['ratelimit-limit'], '300')
  assert.equal(first.headers['ratelimit-remaining'], '329')
  assert.equal(first.headers['ratelimit-reset'], '0')
  assert.equal(
    first.headers['ratelimit-policy'],
    '300;w=5;burst=330;comment="token bucket";category="configuration";cost="single"',
  )
  assert.equal(first.headers['retry-after'], undefined)
  assert.equal((await configuration(app)).headers['ratelimit-remaining'], '328')
})

test('beyond the burst: 429, the error body, the headers and when to come back', async () => {
  const app = await start()
  await exhaust(app)
  const refused = await configuration(app)
  assert.equal(refused.status, 429)
  assert.equal(refused.body.message, 'API rate limit exceeded')
  assert.equal(refused.body.statusCode, 429)
  assert.equal(refused.body.path, '/v1/tenants?limit=1')
  assert.equal(typeof refused.body.timestamp, 'string')
  assert.equal(refused.headers['retry-after'], '1')
  assert.equal(refused.headers['ratelimit-reset'], '1')
  assert.equal(refused.headers['ratelimit-remaining'], '0')
  assert.equal(refused.headers['ratelimit-limit'], '5')
  assert.match(String(refused.headers['ratelimit-policy']), /burst=100/)
})

test('categories have buckets of their own', async () => {
  const app = await start()
  await exhaust(app)
  assert.equal((await configuration(app)).status, 429)
  const reply = await global(app)
  assert.equal(reply.status, 200)
  assert.match(String(reply.headers['ratelimit-policy']), /category="global"/)
})

test('environments have buckets of their own', async () => {
  const app = await start()
  await exhaust(app)
  assert.equal((await configuration(app)).status, 429)
  assert.equal((await configuration(app, app.productionKey)).status, 200)
})

test('a bulk call costs 100, says so, and when refused leaves what there is to single calls', async () => {
  const app = await start()
  const first = await bulk(app)
  assert.equal(first.status, 201)
  assert.equal(first.headers['ratelimit-remaining'], '0')
  assert.equal(first.headers['ratelimit-reset'], '100')
  assert.match(String(first.headers['ratelimit-policy']), /cost="bulk"/)
  await setBucket(app, 'configuration', 50)
  const refused = await bulk(app)
  assert.equal(refused.status, 429)
  assert.equal(refused.headers['retry-after'], '50')
  assert.equal(refused.headers['ratelimit-remaining'], '50')
  assert.equal((await configuration(app)).status, 200)
})

test('a bulk call finds the tokens it needs though some lie with the node and some in the bucket', async () => {
  const app = await start()
  assert.equal((await configuration(app)).status, 200)
  const row = await app.database.db.row<{ tokens: number }>(sql`select tokens from rate_limits`)
  assert.equal(row?.tokens, burst - 5, 'the node holds four')
  await setBucket(app, 'configuration', 96)
  assert.equal((await bulk(app)).status, 201)
  await setBucket(app, 'configuration', 0)
  assert.equal((await configuration(app)).status, 429)
})

test('a clock that is set back refuses no one for longer', async () => {
  const app = await start()
  await exhaust(app)
  assert.equal((await configuration(app)).status, 429)
  await setBucket(app, 'configuration', 50)
  app.world.advance(-3_600_000)
  assert.equal((await configuration(app)).status, 200)
})

test('the bucket refills with the database’s time, up to the burst and no further', async () => {
  const app = await start()
  await exhaust(app)
  assert.equal((await configuration(app)).status, 429)
  const passed = async (seconds: number): Promise<void> => {
    app.world.advance(seconds * 1000)
    await app.database.db.run(
      sql`update rate_limits set tokens = 0, refilled_at = clock_timestamp() - make_interval(secs => ${seconds})`,
    )
  }
  await passed(7)
  const some = allowed(await times(50, () => configuration(app)))
  assert.ok(some >= 7 && some <= 7 + refillMax, `${some} allowed`)
  await passed(3600)
  const full = allowed(await times(burst + 50, () => configuration(app)))
  assert.ok(full >= burst && full <= burst + refillMax, `${full} allowed`)
})

test('a refused caller is not asked about at the database again before its time', async () => {
  const app = await start()
  await exhaust(app)
  await setBucket(app, 'configuration', 0)
  assert.equal((await configuration(app)).status, 429)
  await setBucket(app, 'configuration', 50)
  assert.equal((await configuration(app)).status, 429)
  app.world.advance(1001)
  assert.equal((await configuration(app)).status, 200)
})

test('200 calls at once against a full bucket: the burst is allowed, the others refused, none fails', async () => {
  const app = await start()
  const replies = await times(200, () => configuration(app))
  assert.deepEqual(new Set(replies.map((reply) => reply.status)), new Set([200, 429]))
  const count = allowed(replies)
  assert.ok(count >= burst && count <= burst + refillMax, `${count} allowed`)
})

test('calls at once share a draw from the bucket', async () => {
  const app = await start()
  assert.equal(allowed(await times(5, () => configuration(app))), 5)
  const row = await app.database.db.row<{ tokens: number }>(sql`select tokens from rate_limits`)
  assert.equal(row?.tokens, burst - 5)
})

test('two nodes at once share one bucket', async () => {
  const app = await start()
  const node = await start({ rateLimits: scarce, nodeOf: app })
  const [here, there] = await Promise.all([times(100, () => configuration(app)), times(100, () => configuration(node))])
  const count = allowed([...here, ...there])
  assert.ok(count >= burst && count <= burst + refillMax, `${count} allowed`)
  assert.ok(allowed(here) > 0 && allowed(there) > 0)
  assert.deepEqual(new Set([...here, ...there].map((reply) => reply.status)), new Set([200, 429]))
})

test('what one node drew another cannot spend, and a slice lies there for a minute only', async () => {
  const app = await start()
  const node = await start({ rateLimits: scarce, nodeOf: app })
  assert.equal((await configuration(app)).status, 200)
  await exhaust(node)
  await setBucket(app, 'configuration', 0)
  assert.equal((await configuration(node)).status, 429)
  assert.equal((await configuration(app)).status, 200, 'of its slice')
  app.world.advance(60_001)
  await setBucket(app, 'configuration', 0)
  assert.equal((await configuration(app)).status, 429, 'the slice was forgotten')
})

test('a call without a valid key costs nothing', async () => {
  const app = await start()
  for (const key of [null, 'unknown']) {
    const reply = await app.call('GET', '/v1/tenants', { key })
    assert.equal(reply.status, 401)
    assert.equal(reply.headers['ratelimit-limit'], undefined)
  }
  assert.deepEqual(await app.database.db.rows(sql`select category from rate_limits`), [])
})

test('a call that turns out to be wrong costs like any other, and carries the headers', async () => {
  const app = await start()
  const reply = await app.call('POST', '/v1/tenants', { body: { name: 5 } })
  assert.equal(reply.status, 422)
  assert.equal(reply.headers['ratelimit-remaining'], '99')
})

test('a refused call writes nothing, and the same idempotency key succeeds later', async () => {
  const app = await start()
  await exhaust(app)
  await setBucket(app, 'configuration', 0)
  const create = () =>
    app.call('POST', '/v1/tenants', { body: { identifier: 'late' }, headers: { 'idempotency-key': 'k1' } })
  assert.equal((await create()).status, 429)
  app.world.advance(60_000)
  await setBucket(app, 'configuration', 50)
  const done = await create()
  assert.equal(done.status, 201)
  assert.equal(done.headers['idempotency-replay'], undefined)
})

test('switched off, there are no limits, no headers and no bucket', async () => {
  const app = await start({ rateLimits: 'off' })
  const replies = await times(burst + 50, () => configuration(app))
  assert.equal(allowed(replies), burst + 50)
  assert.deepEqual(
    Object.keys(replies[0]?.headers ?? {}).filter((name) => name.startsWith('ratelimit')),
    [],
  )
  assert.deepEqual(await app.database.db.rows(sql`select category from rate_limits`), [])
})

/** A tenant that is so many bytes as JSON. */
const tenantOf = (bytes: number): string => {
  const [before, after] = ['{"identifier":"large","data":{"text":"', '"}}']
  return `${before}${'x'.repeat(bytes - before.length - after.length)}${after}`
}

test('a body costs a token for every 8 KiB beyond the first 64, before it is read', async () => {
  const app = await start()
  const headers = { 'content-type': 'application/json' }
  const send = (bytes: number) => app.call('POST', '/v1/tenants', { body: tenantOf(bytes), headers })
  assert.equal((await send(64 * 1024)).headers['ratelimit-remaining'], '99')
  assert.equal((await send(64 * 1024 + 1)).headers['ratelimit-remaining'], '97')
  await setBucket(app, 'configuration', 90)
  const large = await send(512 * 1024)
  assert.equal(large.status, 409)
  assert.equal(large.headers['ratelimit-remaining'], String(90 + 2 - 57))
  const refused = await send(512 * 1024)
  assert.equal(refused.status, 429)
  assert.equal(refused.headers['ratelimit-remaining'], '35')
  assert.equal((await send(1000)).status, 409, 'a small one finds tokens')
})

test('a body that is dearer than the bucket can hold costs all there is', async () => {
  const app = await start()
  const event = { name: 'none', to: 'somebody', payload: { text: 'x'.repeat(3 * 1024 * 1024) } }
  const reply = await app.call('POST', '/v1/events/trigger', { body: event })
  assert.equal(reply.status, 422)
  assert.equal(reply.headers['ratelimit-remaining'], '0')
  assert.equal((await app.call('POST', '/v1/events/trigger', { body: event })).status, 429)
})

const chunked = (app: TestApp, port: number, path: string, body: string): Promise<TestReply> => {
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: ApiKey ${app.developmentKey}\r\n`
  const kind = 'content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n'
  return sendRaw(port, `${head}${kind}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)
}

test('a body whose length is not announced costs as it comes', async () => {
  const app = await start({ rateLimits: { trigger: 1, configuration: 1, global: 1 } })
  const port = await listen(app)
  const send = (bytes: number) => chunked(app, port, '/v1/tenants', tenantOf(bytes))
  assert.equal((await send(1000)).status, 201)
  await setBucket(app, 'configuration', 10)
  const refused = await send(200_000)
  assert.equal(refused.status, 429)
  assert.equal(refused.body.message, 'API rate limit exceeded')
  // Whoever comes again pays again for what was received before it was refused.
  assert.ok(Number(refused.headers['retry-after']) >= 3, String(refused.headers['retry-after']))
  await setBucket(app, 'configuration', 20)
  app.world.advance(30_000)
  assert.equal((await send(200_000)).status, 409)
})

test('a body whose length is not announced costs no more than one that is announced, and never more than a bucket holds', async () => {
  const app = await start({ rateLimits: { trigger: 60, configuration: 1, global: 1 } })
  const port = await listen(app)
  const event = JSON.stringify({ name: 'none', to: 'somebody', payload: { text: 'x'.repeat(400_000) } })
  for (const events of [3, 12]) {
    await app.database.db.run(sql`update rate_limits set tokens = 330, refilled_at = clock_timestamp()`)
    const reply = await chunked(
      app,
      port,
      '/v1/events/trigger/bulk',
      `{"events":[${Array(events).fill(event).join()}]}`,
    )
    assert.equal(reply.status, 201, `${events} events: ${reply.text.slice(0, 200)}`)
  }
})
