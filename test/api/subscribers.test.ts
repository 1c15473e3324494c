// Subscribers over the API: create, update, retrieve, delete.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

const create = (body: object, options: object = {}) => app.call('POST', '/v2/subscribers', { body, ...options })

test('a new subscriber has every field of the interface', async () => {
  const given = {
    subscriberId: 'whole',
    firstName: 'Ada',
    lastName: 'Lovelace',
    email: 'ada@example.com',
    phone: '+441632960001',
    avatar: 'https://example.com/ada.png',
    locale: 'en_GB',
    timezone: 'Europe/London',
    data: { plan: 'team', seats: 3, nested: { a: [1] } },
  }
  const { status, body } = await create(given)
  assert.equal(status, 201)
  const { _id, _organizationId, _environmentId, createdAt, updatedAt, ...rest } = body
  assert.deepEqual(rest, { ...given, channels: [], isOnline: false, lastOnlineAt: null, deleted: false, __v: 0 })
  assert.match(_id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  assert.notEqual(_id, body.subscriberId)
  assert.match(_organizationId, /^[0-9a-f-]{36}$/)
  assert.match(_environmentId, /^[0-9a-f-]{36}$/)
  assert.equal(createdAt, '2026-01-02T03:04:05.678Z')
  assert.equal(updatedAt, createdAt)
  assert.deepEqual((await app.call('GET', '/v2/subscribers/whole')).body, body)
})

test('creating one that exists updates it: absent stays, null clears, data is replaced as a whole', async () => {
  const first = await create({ subscriberId: 'again', firstName: 'A', lastName: 'B', data: { a: 1, b: 2 } })
  app.world.advance(5000)
  const second = await create({ subscriberId: 'again', lastName: null, data: { c: 3 } })
  assert.equal(second.status, 201)
  assert.equal(second.body._id, first.body._id)
  assert.equal(second.body.firstName, 'A')
  assert.equal(second.body.lastName, null)
  assert.deepEqual(second.body.data, { c: 3 })
  assert.equal(second.body.createdAt, first.body.createdAt)
  assert.notEqual(second.body.updatedAt, first.body.updatedAt)
})

test('an update that changes nothing leaves updatedAt alone', async () => {
  const first = await create({ subscriberId: 'same', firstName: 'A', data: { x: 1 } })
  app.world.advance(5000)
  assert.equal(
    (await create({ subscriberId: 'same', firstName: 'A', data: { x: 1 } })).body.updatedAt,
    first.body.updatedAt,
  )
  assert.equal((await create({ subscriberId: 'same' })).body.updatedAt, first.body.updatedAt)
  const patched = await app.call('PATCH', '/v2/subscribers/same', { body: {} })
  assert.equal(patched.status, 200)
  assert.equal(patched.body.updatedAt, first.body.updatedAt)
})

test('failIfExists answers 409 with the existing subscriber beside the error, and changes nothing', async () => {
  const fresh = await app.call('POST', '/v2/subscribers?failIfExists=true', {
    body: { subscriberId: 'strict', firstName: 'A' },
  })
  assert.equal(fresh.status, 201)
  const again = await app.call('POST', '/v2/subscribers?failIfExists=true', {
    body: { subscriberId: 'strict', firstName: 'B' },
  })
  assert.equal(again.status, 409)
  assert.equal(again.body.statusCode, 409)
  assert.equal(again.body.message, 'Subscriber with id "strict" already exists')
  assert.equal(again.body._id, fresh.body._id)
  assert.equal(again.body.firstName, 'A')
  assert.equal((await app.call('GET', '/v2/subscribers/strict')).body.firstName, 'A')
  assert.equal(
    (await app.call('POST', '/v2/subscribers?failIfExists=yes', { body: { subscriberId: 'strict' } })).status,
    422,
  )
})

test('subscriberId is trimmed', async () => {
  assert.equal((await create({ subscriberId: '  padded  ' })).body.subscriberId, 'padded')
  assert.equal((await app.call('GET', '/v2/subscribers/padded')).status, 200)
})

for (const [what, body, field] of [
  ['no subscriberId', {}, 'subscriberId'],
  ['an empty subscriberId', { subscriberId: '' }, 'subscriberId'],
  ['a blank subscriberId', { subscriberId: '   ' }, 'subscriberId'],
  ['a subscriberId of 256 characters', { subscriberId: 'x'.repeat(256) }, 'subscriberId'],
  ['a subscriberId with a line break', { subscriberId: 'a\nb' }, 'subscriberId'],
  ['a subscriberId with a C1 control character', { subscriberId: 'a\u0085b' }, 'subscriberId'],
  ['a control character in an e-mail address', { subscriberId: 'x', email: 'a\u0001@example.com' }, 'email'],
  ['a number for a subscriberId', { subscriberId: 7 }, 'subscriberId'],
  ['an e-mail address that is none', { subscriberId: 'x', email: 'missing' }, 'email'],
  ['an empty e-mail address', { subscriberId: 'x', email: '' }, 'email'],
  ['two e-mail addresses in one', { subscriberId: 'x', email: 'a@example.com,b@example.com' }, 'email'],
  ['a locale that is none', { subscriberId: 'x', locale: 'english please' }, 'locale'],
  ['an empty locale', { subscriberId: 'x', locale: '' }, 'locale'],
  ['a time zone that is none', { subscriberId: 'x', timezone: 'Mars/Olympus' }, 'timezone'],
  ['an offset for a time zone', { subscriberId: 'x', timezone: '+02:00' }, 'timezone'],
  ['data that is a list', { subscriberId: 'x', data: [1] }, 'data'],
  ['data that is text', { subscriberId: 'x', data: 'plan' }, 'data'],
  ['a number for a name', { subscriberId: 'x', firstName: 5 }, 'firstName'],
] as const) {
  test(`${what} is refused with 422, naming the field`, async () => {
    const reply = await create(body)
    assert.equal(reply.status, 422)
    assert.deepEqual(Object.keys(reply.body.errors), [field])
    assert.equal((await app.call('GET', '/v2/subscribers/x')).status, 404)
  })
}

test('every wrong field is named at once', async () => {
  const reply = await create({ email: 'x', timezone: 'y', data: 3 })
  assert.deepEqual(Object.keys(reply.body.errors).sort(), ['data', 'email', 'subscriberId', 'timezone'])
  assert.equal(reply.body.errors.email.value, 'x')
})

test('PATCH changes what is given, clears with null, and never creates', async () => {
  await create({ subscriberId: 'patch', firstName: 'A', phone: '1', data: { a: 1 } })
  app.world.advance(1000)
  const { status, body } = await app.call('PATCH', '/v2/subscribers/patch', {
    body: { firstName: 'B', phone: null, data: null },
  })
  assert.equal(status, 200)
  assert.deepEqual([body.firstName, body.phone, body.data], ['B', null, null])
  const unknown = await app.call('PATCH', '/v2/subscribers/missing', { body: { firstName: 'B' } })
  assert.equal(unknown.status, 404)
  assert.equal(unknown.body.message, 'Subscriber missing was not found')
  assert.equal((await app.call('GET', '/v2/subscribers/missing')).status, 404)
  assert.equal((await app.call('PATCH', '/v2/subscribers/patch', { body: { email: '' } })).status, 422)
  assert.equal((await app.call('PATCH', '/v2/subscribers/patch', { body: { avatar: '' } })).body.avatar, '')
})

test('a deleted subscriber is gone from reads, and its id can be used again', async () => {
  const first = await create({ subscriberId: 'gone', firstName: 'Old' })
  const deleted = await app.call('DELETE', '/v2/subscribers/gone')
  assert.deepEqual([deleted.status, deleted.body], [200, { acknowledged: true, status: 'deleted' }])
  assert.equal((await app.call('GET', '/v2/subscribers/gone')).status, 404)
  assert.equal((await app.call('PATCH', '/v2/subscribers/gone', { body: {} })).status, 404)
  assert.equal((await app.call('DELETE', '/v2/subscribers/gone')).status, 404)
  assert.deepEqual((await app.call('GET', '/v2/subscribers?subscriberId=gone')).body.data, [])
  const again = await create({ subscriberId: 'gone' })
  assert.notEqual(again.body._id, first.body._id)
  assert.equal(again.body.firstName, null)
})

test('an id that looks like a path, an injection or another script is just an id', async () => {
  for (const id of [
    'a/b',
    "x'; drop table subscribers; --",
    '../../etc',
    'a%2Fb',
    'ünï✓',
    'a b',
    '__proto__',
    '%00x'.slice(3),
  ]) {
    assert.equal((await create({ subscriberId: id })).status, 201, id)
    const read = await app.call('GET', `/v2/subscribers/${encodeURIComponent(id)}`)
    assert.deepEqual([read.status, read.body.subscriberId], [200, id.trim()], id)
  }
})

test('another environment sees and touches nothing', async () => {
  const key = app.productionKey
  await create({ subscriberId: 'private', firstName: 'A' })
  assert.equal((await app.call('GET', '/v2/subscribers/private', { key })).status, 404)
  assert.equal((await app.call('PATCH', '/v2/subscribers/private', { key, body: { firstName: 'B' } })).status, 404)
  assert.equal((await app.call('DELETE', '/v2/subscribers/private', { key })).status, 404)
  assert.deepEqual((await app.call('GET', '/v2/subscribers', { key })).body.totalCount, 0)
  const credentials = { providerId: 'fcm', credentials: { deviceTokens: ['t'] } }
  assert.equal((await app.call('PUT', '/v1/subscribers/private/credentials', { key, body: credentials })).status, 404)
  const own = await app.call('POST', '/v2/subscribers?failIfExists=true', { key, body: { subscriberId: 'private' } })
  assert.equal(own.status, 201)
  const { body } = await app.call('GET', '/v2/subscribers/private')
  assert.deepEqual([body.firstName, body.channels], ['A', []])
})

test('64 creations at once share commits, each gets its own answer', async () => {
  const before = await commits()
  const replies = await Promise.all(
    Array.from({ length: 64 }, (_, index) => create({ subscriberId: `many-${index % 32}`, firstName: `n${index}` })),
  )
  for (const [index, reply] of replies.entries()) {
    assert.equal(reply.status, 201)
    assert.equal(reply.body.subscriberId, `many-${index % 32}`)
    assert.equal(reply.body.firstName, `n${index}`)
  }
  assert.ok((await commits()) - before < 64)
})

async function commits(): Promise<number> {
  // Statistics of a transaction are only certain to be visible after a flush of this backend; the pool has several.
  const row = await app.database.db.row<{ id: string }>(sql`select pg_current_xact_id()::text as id`)
  return Number(row?.id)
}

test('two nodes upserting the same ids in opposite order neither deadlock nor lose anyone', async () => {
  const other = await createTestApp({ nodeOf: app })
  try {
    const ids = Array.from({ length: 40 }, (_, index) => `race-${index}`)
    const replies = await Promise.all([
      ...ids.map((subscriberId) => create({ subscriberId, firstName: 'one' })),
      ...ids
        .toReversed()
        .map((subscriberId) => other.call('POST', '/v2/subscribers', { body: { subscriberId, lastName: 'two' } })),
    ])
    assert.ok(replies.every((reply) => reply.status === 201))
    for (const subscriberId of ids) {
      const { body } = await app.call('GET', `/v2/subscribers/${subscriberId}`)
      assert.deepEqual([body.firstName, body.lastName], ['one', 'two'])
    }
  } finally {
    await other.close()
  }
})
