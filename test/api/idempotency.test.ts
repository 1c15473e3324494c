// The idempotency-key header: a repeat gets the first answer, and nothing is carried out twice.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { routes } from '../../src/http/registry.ts'
import type { CallOptions, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { callWithKey, fresh, storedAnswers, subscribersNamed } from '../support/idempotency-scene.ts'

const hourMs = 60 * 60 * 1000

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())
afterEach(() => app.database.db.run(sql`delete from idempotency_keys`))

const keyed = (method: string, path: string, key: string, body?: unknown, more: CallOptions = {}) =>
  callWithKey(app, method, path, key, body, more)

function assertReplayOf(first: TestReply, repeat: TestReply, key: string): void {
  assert.equal(repeat.status, first.status)
  assert.equal(repeat.text, first.text)
  assert.equal(first.headers['idempotency-replay'], undefined)
  assert.equal(repeat.headers['idempotency-replay'], 'true')
  assert.equal(first.headers['idempotency-key'], key)
  assert.equal(repeat.headers['idempotency-key'], key)
}

/** Holds a tenant's row until asked to let go, so that a change of it stays in flight. */
async function holdTenant(identifier: string): Promise<{ waiters(): Promise<void>; release(): Promise<void> }> {
  const other = app.database.another({ poolSize: 2 })
  let release = (): void => {}
  let held = (): void => {}
  const holding = new Promise<void>((resolve) => {
    held = resolve
  })
  const done = other.transaction(async (tx) => {
    await tx.row(sql`select 1 as one from tenants where identifier = ${identifier} for update`)
    held()
    await new Promise<void>((resolve) => {
      release = resolve
    })
  })
  await holding
  return {
    /** Resolves when someone waits for the row. */
    waiters: async () => {
      for (;;) {
        const row = await other.row(
          sql`select 1 as one from pg_stat_activity
              where datname = current_database() and wait_event_type = 'Lock' limit 1`,
        )
        if (row !== undefined) return
      }
    },
    release: async () => {
      release()
      await done
    },
  }
}

test('a repeated creation of a subscriber, which shares its commit, gets the first answer', async () => {
  const subscriberId = fresh('ada')
  const first = await keyed('POST', '/v2/subscribers', 'k1', { subscriberId, firstName: 'Ada' })
  assert.equal(first.status, 201)
  await app.call('PATCH', `/v2/subscribers/${subscriberId}`, { body: { firstName: 'Grace' } })
  app.world.advance(1000)
  assertReplayOf(first, await keyed('POST', '/v2/subscribers', 'k1', { subscriberId, firstName: 'Ada' }), 'k1')
  const now = await app.call('GET', `/v2/subscribers/${subscriberId}`)
  assert.equal(now.body.firstName, 'Grace', 'the repeat was not carried out')
})

test('a repeated POST gets the first answer and not the conflict it would meet', async () => {
  const body = { identifier: fresh('acme'), name: 'Acme' }
  const first = await keyed('POST', '/v1/tenants', 'k1', body)
  assert.equal(first.status, 201)
  assertReplayOf(first, await keyed('POST', '/v1/tenants', 'k1', body), 'k1')
  assert.equal((await keyed('POST', '/v1/tenants', 'k2', body)).status, 409)
})

test('a repeated PUT appends its device token once', async () => {
  const subscriberId = fresh('put')
  await app.call('POST', '/v2/subscribers', { body: { subscriberId } })
  const path = `/v1/subscribers/${subscriberId}/credentials`
  const body = { providerId: 'fcm', credentials: { deviceTokens: ['token-1'] } }
  const first = await keyed('PUT', path, 'k1', body)
  assert.equal(first.status, 200)
  await app.call('PUT', path, { body: { providerId: 'fcm', credentials: { deviceTokens: ['token-2'] } } })
  assertReplayOf(first, await keyed('PUT', path, 'k1', body), 'k1')
})

test('a repeated PATCH does not undo what came between', async () => {
  const identifier = fresh('patched')
  await app.call('POST', '/v1/tenants', { body: { identifier } })
  const path = `/v1/tenants/${identifier}`
  const first = await keyed('PATCH', path, 'k1', { name: 'one' })
  await app.call('PATCH', path, { body: { name: 'two' } })
  assertReplayOf(first, await keyed('PATCH', path, 'k1', { name: 'one' }), 'k1')
  assert.equal((await app.call('GET', path)).body.name, 'two')
})

test('a repeated DELETE is answered 204 again, without a body, and not 404', async () => {
  const identifier = fresh('deleted')
  await app.call('POST', '/v1/tenants', { body: { identifier } })
  const first = await keyed('DELETE', `/v1/tenants/${identifier}`, 'k1')
  assert.deepEqual([first.status, first.text], [204, ''])
  assertReplayOf(first, await keyed('DELETE', `/v1/tenants/${identifier}`, 'k1'), 'k1')
  assert.equal((await keyed('DELETE', `/v1/tenants/${identifier}`, 'k2')).status, 404)
})

/** The examples of events share a transaction id, whose second use would be a repeat by itself. */
const ownTransaction = (example: object): object =>
  JSON.parse(JSON.stringify(example).replaceAll('order-7-shipped', fresh('order-shipped')))

test('every route that creates something replays its answer', async () => {
  // A simulation writes nothing, and so keeps no answer. Keys do not manage users. One is a second address of a route, and the
  // last needs an environment that is held.
  const others = ['/v1/events/simulate', '/v1/users', '/v1/notification-templates', '/v1/environments/me/hold/release']
  const isCreating = ({ method, path }: { method: string; path: string }): boolean =>
    method === 'POST' && !path.includes('{') && !others.includes(path)
  const creating = routes.filter(isCreating)
  assert.ok(creating.length >= 5)
  // The workflow first: the examples of the events name it.
  const isWorkflow = ({ path }: { path: string }): boolean => path === '/v1/workflows'
  for (const route of [...creating.filter(isWorkflow), ...creating.filter((one) => !isWorkflow(one))]) {
    const [example] = (route.body as { examples?: object[] } | undefined)?.examples ?? []
    assert.ok(example !== undefined || route.body === undefined, `${route.path} has no example to try`)
    // Without asking a provider: the example's account is not real.
    const body = example && { ...ownTransaction(example), check: false }
    const first = await keyed('POST', route.path, 'k1', body)
    assert.ok(first.status < 300, `${route.path} ${first.text}`)
    assertReplayOf(first, await keyed('POST', route.path, 'k1', body), 'k1')
  }
})

test('GET takes no notice of the header: nothing is stored, nothing replayed', async () => {
  const first = await keyed('GET', '/v1/tenants?limit=1', 'k1')
  await app.call('POST', '/v1/tenants', { body: { identifier: fresh('newest') } })
  const second = await keyed('GET', '/v1/tenants?limit=1', 'k1')
  assert.equal(second.headers['idempotency-replay'], undefined)
  assert.equal(second.headers['idempotency-key'], undefined)
  assert.notEqual(second.text, first.text)
  assert.equal(await storedAnswers(app), 0)
  assert.equal((await keyed('GET', '/v1/tenants', 'x'.repeat(300))).status, 200)
})

test('the same key with another body or another query is 422 with an empty errors object, and changes nothing', async () => {
  const identifier = fresh('reused')
  await keyed('POST', '/v1/tenants', 'k1', { identifier, name: 'one' })
  const other = await keyed('POST', '/v1/tenants', 'k1', { identifier: `${identifier}-b` })
  assert.equal(other.status, 422)
  assert.deepEqual(other.body.errors, {})
  assert.equal(other.body.message, 'Request with key "k1" is being reused for a different body')
  assert.equal((await app.call('GET', `/v1/tenants/${identifier}-b`)).status, 404)

  const subscriberId = fresh('reused')
  const path = '/v2/subscribers?failIfExists=false'
  assert.equal((await keyed('POST', path, 'k1', { subscriberId })).status, 201)
  assert.equal((await keyed('POST', path, 'k1', { subscriberId, firstName: 'x' })).status, 422)
  assert.equal((await keyed('POST', '/v2/subscribers', 'k1', { subscriberId })).status, 422)
  assert.equal((await keyed('POST', `${path}?a`, 'k1', { subscriberId })).status, 422, 'all of the query counts')
  assert.equal((await keyed('POST', path, 'k1', { subscriberId })).headers['idempotency-replay'], 'true')
})

test('another path, method or environment with the same key is a call of its own', async () => {
  const identifier = fresh('scoped')
  const body = { identifier }
  const first = await keyed('POST', '/v1/tenants', 'k1', body)
  const production = await keyed('POST', '/v1/tenants', 'k1', body, { key: app.productionKey })
  assert.equal(production.status, 201)
  assert.notEqual(production.body._id, first.body._id)
  const replies = [
    await keyed('PATCH', `/v1/tenants/${identifier}`, 'k1', body),
    await keyed('POST', '/v2/subscribers', 'k1', { subscriberId: identifier }),
    await keyed('DELETE', `/v1/tenants/${identifier}`, 'k1'),
  ]
  for (const reply of [production, ...replies]) assert.equal(reply.headers['idempotency-replay'], undefined)
  assert.deepEqual(
    replies.map((reply) => reply.status),
    [200, 201, 204],
  )
})

test('a key of 255 characters is kept, one of 256 refused before anything happens', async () => {
  const identifier = fresh('long')
  const refused = await keyed('POST', '/v1/tenants', 'k'.repeat(256), { identifier })
  assert.equal(refused.status, 400)
  assert.match(refused.body.message, /exceeded the maximum allowed length of 255 characters/)
  assert.equal((await app.call('GET', `/v1/tenants/${identifier}`)).status, 404)
  const key = 'k'.repeat(255)
  const first = await keyed('POST', '/v1/tenants', key, { identifier })
  assert.equal(first.status, 201)
  assertReplayOf(first, await keyed('POST', '/v1/tenants', key, { identifier }), key)
})

test('a refusal is not stored: the fixed request runs under the same key', async () => {
  const identifier = fresh('mended')
  assert.equal((await keyed('POST', '/v1/tenants', 'k1', { identifier, name: 5 })).status, 422)
  assert.equal((await keyed('PATCH', `/v1/tenants/${identifier}`, 'k1', { name: 'x' })).status, 404)
  assert.equal(await storedAnswers(app), 0)
  assert.equal((await keyed('POST', '/v1/tenants', 'k1', { identifier, name: 'five' })).status, 201)
  assert.equal((await keyed('PATCH', `/v1/tenants/${identifier}`, 'k1', { name: 'x' })).status, 200)

  const subscriberId = fresh('mended')
  await app.call('POST', '/v2/subscribers', { body: { subscriberId } })
  const path = '/v2/subscribers?failIfExists=true'
  assert.equal((await keyed('POST', path, 'k1', { subscriberId })).status, 409)
  await app.call('DELETE', `/v2/subscribers/${subscriberId}`)
  assert.equal((await keyed('POST', path, 'k1', { subscriberId })).status, 201)
})

test('after 24 hours the call is carried out again, and not a time before', async () => {
  const identifier = fresh('day')
  await keyed('POST', '/v1/tenants', 'k1', { identifier })
  app.world.advance(24 * hourMs - 1)
  assert.equal((await keyed('POST', '/v1/tenants', 'k1', { identifier })).headers['idempotency-replay'], 'true')
  app.world.advance(1)
  assert.equal((await keyed('POST', '/v1/tenants', 'k1', { identifier })).status, 409, 'the tenant exists')
  await app.call('DELETE', `/v1/tenants/${identifier}`)
  const repeated = await keyed('POST', '/v1/tenants', 'k1', { identifier })
  assert.equal(repeated.status, 201)
  assertReplayOf(repeated, await keyed('POST', '/v1/tenants', 'k1', { identifier }), 'k1')
})

test('while the first is in flight a repeat is 409 with Retry-After, whatever its body; afterwards it is replayed', async () => {
  const identifier = fresh('held')
  await app.call('POST', '/v1/tenants', { body: { identifier } })
  const path = `/v1/tenants/${identifier}`
  const hold = await holdTenant(identifier)
  const first = keyed('PATCH', path, 'k1', { name: 'first' })
  await hold.waiters()
  for (const body of [{ name: 'first' }, { name: 'other' }]) {
    const repeat = await keyed('PATCH', path, 'k1', body)
    assert.equal(repeat.status, 409)
    assert.equal(repeat.headers['retry-after'], '1')
    assert.equal(repeat.body.message, 'Request with key "k1" is currently being processed. Please retry after 1 second')
  }
  await hold.release()
  assertReplayOf(await first, await keyed('PATCH', path, 'k1', { name: 'first' }), 'k1')
})

test('duplicates of a call in flight do not drain the pool: others are answered meanwhile', async () => {
  const identifier = fresh('crowded')
  await app.call('POST', '/v1/tenants', { body: { identifier } })
  const hold = await holdTenant(identifier)
  const first = keyed('PATCH', `/v1/tenants/${identifier}`, 'k1', { name: 'x' })
  await hold.waiters()
  const repeats = Array.from({ length: 50 }, () => keyed('PATCH', `/v1/tenants/${identifier}`, 'k1', { name: 'x' }))
  assert.equal((await app.call('GET', '/v1/tenants?limit=1')).status, 200)
  const statuses = (await Promise.all(repeats)).map((reply) => reply.status)
  assert.deepEqual(new Set(statuses), new Set([409]))
  assert.equal(app.database.db.usage().waiting, 0)
  await hold.release()
  assert.equal((await first).status, 200)
})

/** What the duplicates of one creation may be answered: that it is under way, or the answer. */
function assertOneExecution(replies: readonly TestReply[]): void {
  const executed = replies.filter((reply) => reply.status === 201 && reply.headers['idempotency-replay'] === undefined)
  assert.equal(executed.length, 1)
  for (const reply of replies) {
    if (reply.status === 201) assert.equal(reply.text, executed[0]?.text)
    else {
      assert.equal(reply.status, 409, reply.text)
      assert.match(reply.body.message, /is currently being processed/)
    }
  }
}

test('of 50 duplicates at once over two nodes exactly one is carried out, grouped or not', async () => {
  const node = await createTestApp({ nodeOf: app })
  try {
    const subscriberId = fresh('race')
    const everywhere = (path: string, body: object): Promise<TestReply[]> =>
      Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          (index % 2 === 0 ? app : node).call('POST', path, { body, headers: { 'idempotency-key': 'k1' } }),
        ),
      )
    const [grouped, plain, bystander] = await Promise.all([
      everywhere('/v2/subscribers?failIfExists=true', { subscriberId }),
      everywhere('/v1/tenants', { identifier: subscriberId }),
      app.call('GET', '/v1/tenants?limit=1'),
    ])
    assertOneExecution(grouped)
    assertOneExecution(plain)
    assert.equal(bystander.status, 200)
    assert.equal(await subscribersNamed(app, subscriberId), 1)
    assert.equal(await storedAnswers(app), 2)
  } finally {
    await node.close()
  }
})

test('of 50 duplicates at once over one node exactly one is carried out', async () => {
  const subscriberId = fresh('race')
  const replies = await Promise.all(
    Array.from({ length: 50 }, () => keyed('POST', '/v2/subscribers?failIfExists=true', 'k1', { subscriberId })),
  )
  assertOneExecution(replies)
  assert.equal(await subscribersNamed(app, subscriberId), 1)
})

test('one key on two different creations of one group: one is carried out, the other is asked to wait and then gets 422', async () => {
  const names = [fresh('twin'), fresh('twin')]
  const replies = await Promise.all(
    names.map((subscriberId) => keyed('POST', '/v2/subscribers', 'k1', { subscriberId })),
  )
  assert.deepEqual(replies.map((reply) => reply.status).sort(), [201, 409])
  const loser = names[replies.findIndex((reply) => reply.status === 409)] ?? ''
  assert.equal(await subscribersNamed(app, loser), 0)
  assert.equal((await keyed('POST', '/v2/subscribers', 'k1', { subscriberId: loser })).status, 422)
  assert.equal(await subscribersNamed(app, loser), 0)
})

test('a slash at the end of the path makes no other call of it', async () => {
  const headers = { 'idempotency-key': 'with-and-without-slash' }
  const first = await app.call('POST', '/v2/topics', { headers, body: { key: 'slashed' } })
  const second = await app.call('POST', '/v2/topics/', { headers, body: { key: 'slashed' } })
  assert.deepEqual([first.status, second.status], [201, 201])
  assert.equal(second.headers['idempotency-replay'], 'true')
})
