// Topics over the API: create or update, rename, delete.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { sweep } from '../../src/manage/operate/housekeeping.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { addSubscribers, countOf, environmentOf } from '../support/topic-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

const create = (body: unknown, query = '') => app.call('POST', `/v2/topics${query}`, { body })

test('a topic is created, read, renamed and deleted', async () => {
  const created = await create({ key: 'news', name: 'News' })
  assert.equal(created.status, 201)
  const now = app.world.now().toISOString()
  assert.deepEqual(created.body, { _id: created.body._id, key: 'news', name: 'News', createdAt: now, updatedAt: now })
  assert.match(created.body._id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  assert.deepEqual((await app.call('GET', '/v2/topics/news')).body, created.body)
  app.world.advance(1000)
  const renamed = await app.call('PATCH', '/v2/topics/news', { body: { name: 'Old news' } })
  assert.equal(renamed.status, 200)
  assert.deepEqual(renamed.body, { ...created.body, name: 'Old news', updatedAt: app.world.now().toISOString() })
  const deleted = await app.call('DELETE', '/v2/topics/news')
  assert.deepEqual([deleted.status, deleted.body], [200, { acknowledged: true }])
  const gone = await app.call('GET', '/v2/topics/news')
  assert.deepEqual([gone.status, gone.body.message], [404, 'Topic with key news not found'])
  assert.equal((await app.call('DELETE', '/v2/topics/news')).status, 404)
  assert.equal((await app.call('PATCH', '/v2/topics/news', { body: { name: 'x' } })).status, 404)
})

test('a topic without a name has no name, and one with an empty name has an empty one', async () => {
  const nameless = await create({ key: 'nameless' })
  assert.equal('name' in nameless.body, false)
  const empty = await create({ key: 'empty-name', name: '' })
  assert.equal(empty.body.name, '')
})

test('creating a topic that exists updates its name, answers 200 and shows the new state', async () => {
  const first = await create({ key: 'upsert', name: 'One' })
  app.world.advance(1000)
  const second = await create({ key: 'upsert', name: 'Two' })
  assert.equal(second.status, 200)
  assert.deepEqual(second.body, { ...first.body, name: 'Two', updatedAt: app.world.now().toISOString() })
  assert.deepEqual((await app.call('GET', '/v2/topics/upsert')).body, second.body)
})

test('an absent, an empty and an equal name leave a topic untouched, updatedAt included', async () => {
  const first = await create({ key: 'untouched', name: 'Same' })
  app.world.advance(1000)
  for (const body of [{ key: 'untouched' }, { key: 'untouched', name: '' }, { key: 'untouched', name: 'Same' }]) {
    const again = await create(body)
    assert.deepEqual([again.status, again.body], [200, first.body])
  }
  assert.deepEqual((await app.call('PATCH', '/v2/topics/untouched', { body: { name: 'Same' } })).body, first.body)
})

test('failIfExists makes an existing topic a 409 that carries the topic, and changes nothing', async () => {
  assert.equal((await create({ key: 'strict', name: 'One' }, '?failIfExists=true')).status, 201)
  const { body: topic } = await app.call('GET', '/v2/topics/strict')
  const refused = await create({ key: 'strict', name: 'Two' }, '?failIfExists=true')
  assert.equal(refused.status, 409)
  assert.equal(refused.body.message, 'Topic with key "strict" already exists')
  assert.equal(refused.body.statusCode, 409)
  assert.equal(refused.body.path, '/v2/topics?failIfExists=true')
  for (const [field, value] of Object.entries(topic)) assert.equal(refused.body[field], value, field)
  assert.deepEqual((await app.call('GET', '/v2/topics/strict')).body, topic)
  assert.equal((await create({ key: 'strict', name: 'Two' }, '?failIfExists=false')).status, 200)
  assert.equal((await create({ key: 'strict' }, '?failIfExists=perhaps')).status, 422)
})

test('a key is 1 to 100 letters, digits, hyphens, underscores and colons, or an email address', async () => {
  const fit = ['a', 'Z9', 'a-b_c:d', 'k'.repeat(100), 'me@example.org', 'first.last+tag@mail.example.co']
  for (const key of fit) assert.equal((await create({ key })).status, 201, key)
  const unfit = [
    '',
    'k'.repeat(101),
    'a b',
    'a.b',
    'ä',
    'a/b',
    'a\n',
    'me@localhost',
    '@example.org',
    'a@b@c.de',
    `${'m'.repeat(90)}@example.org`,
  ]
  for (const key of unfit) {
    const reply = await create({ key })
    assert.equal(reply.status, 422, JSON.stringify(key))
    assert.deepEqual(Object.keys(reply.body.errors), ['key'])
  }
})

test('a name has at most 100 characters, and every wrong field is named at once', async () => {
  assert.equal((await create({ key: 'long-name', name: 'n'.repeat(100) })).status, 201)
  const reply = await create({ name: 'n'.repeat(101) })
  assert.equal(reply.status, 422)
  assert.deepEqual(Object.keys(reply.body.errors).sort(), ['key', 'name'])
  assert.equal((await create({ key: 'k', name: null })).status, 422)
  assert.equal((await create({ key: 5 })).status, 422)
  assert.equal((await app.call('PATCH', '/v2/topics/long-name', { body: {} })).status, 422)
  assert.equal((await app.call('PATCH', '/v2/topics/long-name', { body: { name: 'n'.repeat(101) } })).status, 422)
})

test('a key that is an email address is found by its percent-encoded path', async () => {
  await create({ key: 'path/one@example.org' })
  const found = await app.call('GET', `/v2/topics/${encodeURIComponent('path/one@example.org')}`)
  assert.equal(found.body.key, 'path/one@example.org')
})

test('ten calls that create one topic at once make one, and one of them is answered 201', async () => {
  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, index) => create({ key: 'race', name: `Name ${index}` })),
  )
  assert.deepEqual(replies.map((reply) => reply.status).sort(), [...Array(9).fill(200), 201])
  assert.equal(new Set(replies.map((reply) => reply.body._id)).size, 1)
  for (const [index, reply] of replies.entries()) assert.equal(reply.body.name, `Name ${index}`)
})

test('a repeat with the same idempotency key gets the first answer and changes nothing', async () => {
  const headers = { 'idempotency-key': 'topic-once' }
  const first = await app.call('POST', '/v2/topics', { body: { key: 'idem', name: 'One' }, headers })
  await app.call('PATCH', '/v2/topics/idem', { body: { name: 'Two' } })
  const second = await app.call('POST', '/v2/topics', { body: { key: 'idem', name: 'One' }, headers })
  assert.deepEqual([second.status, second.body], [201, first.body])
  assert.equal(second.headers['idempotency-replay'], 'true')
  assert.equal((await app.call('GET', '/v2/topics/idem')).body.name, 'Two')
})

test('another environment sees and touches no topic, and may use the same key', async () => {
  const key = app.productionKey
  const mine = await create({ key: 'mine', name: 'Mine' })
  assert.equal((await app.call('GET', '/v2/topics/mine', { key })).status, 404)
  assert.equal((await app.call('PATCH', '/v2/topics/mine', { key, body: { name: 'x' } })).status, 404)
  assert.equal((await app.call('DELETE', '/v2/topics/mine', { key })).status, 404)
  assert.deepEqual((await app.call('GET', '/v2/topics', { key })).body.data, [])
  const theirs = await app.call('POST', '/v2/topics?failIfExists=true', { key, body: { key: 'mine', name: 'Theirs' } })
  assert.equal(theirs.status, 201)
  assert.notEqual(theirs.body._id, mine.body._id)
  assert.equal((await app.call('DELETE', '/v2/topics/mine', { key })).status, 200)
  assert.deepEqual((await app.call('GET', '/v2/topics/mine')).body, mine.body)
})

test('a deleted topic’s subscriptions are out of reach at once, and a new topic of that key starts empty', async () => {
  await addSubscribers(app, ['left-behind'])
  await app.call('POST', '/v2/topics/phoenix/subscriptions', { body: { subscriptions: ['left-behind'] } })
  await app.call('DELETE', '/v2/topics/phoenix')
  assert.equal((await app.call('GET', '/v2/topics/phoenix/subscriptions')).status, 404)
  assert.equal((await app.call('GET', '/v1/topics/phoenix/subscribers/left-behind')).status, 404)
  const ofSubscriber = await app.call('GET', '/v2/subscribers/left-behind/subscriptions')
  assert.deepEqual([ofSubscriber.body.data, ofSubscriber.body.totalCount], [[], 0])
  await create({ key: 'phoenix' })
  assert.equal((await app.call('GET', '/v2/topics/phoenix/subscriptions')).body.totalCount, 0)
})

test('housekeeping sweeps the subscriptions of deleted topics in batches and no others', async () => {
  await sweep(app.database.db, app.world)
  assert.equal(await countOf(app, 'deleted_topics'), 0)
  const survivors = await countOf(app, 'topic_subscriptions')
  const environment = await environmentOf(app)
  const { body: big } = await create({ key: 'big' })
  const { body: kept } = await create({ key: 'kept' })
  await create({ key: 'hollow' })
  await app.database.db.run(sql`
    with people as (
      insert into subscribers (environment_id, id, subscriber_id, created_at, updated_at)
      select ${environment.id}, gen_random_uuid(), 'sweep-' || n, now(), now() from generate_series(1, 12000) as n
      returning environment_id, id)
    insert into topic_subscriptions (environment_id, topic_id, subscriber_id, id, created_at)
    select environment_id, topic_id, id, gen_random_uuid(), now()
    from people cross join unnest(${[big._id, kept._id]}::uuid[]) as topic_id`)
  await app.call('DELETE', '/v2/topics/big')
  await app.call('DELETE', '/v2/topics/hollow')
  assert.equal(await countOf(app, 'deleted_topics'), 2)
  assert.equal(await sweep(app.database.db, app.world), 12_002)
  assert.equal(await countOf(app, 'deleted_topics'), 0)
  assert.equal(await countOf(app, 'topic_subscriptions'), survivors + 12_000)
  assert.equal((await app.call('GET', '/v2/topics/kept/subscriptions')).body.totalCount, 12_000)
})
