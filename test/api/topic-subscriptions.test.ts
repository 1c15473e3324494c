// Topic subscriptions over the API: subscribe, unsubscribe, ask who is in.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { deleteSubscriptionsOfSubscriber } from '../../src/store/people/topic-subscriptions.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { addSubscribers, environmentOf } from '../support/topic-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
  await addSubscribers(app, ['ada', 'bob', 'cyd', 'dan'])
})
after(() => app.close())

const path = (topic: string) => `/v2/topics/${topic}/subscriptions`
const subscribe = (topic: string, body: unknown) => app.call('POST', path(topic), { body })
const unsubscribe = (topic: string, body: unknown) => app.call('DELETE', path(topic), { body })
const members = async (topic: string): Promise<string[]> =>
  (await app.call('GET', `${path(topic)}?limit=100`)).body.data.map((item: Json) => item.subscriber.subscriberId).sort()
const codes = (reply: { body: Json }) => reply.body.errors.map((error: Json) => [error.subscriberId, error.code])

test('subscribing makes the missing topic and answers with each subscription in the order asked', async () => {
  const reply = await subscribe('fresh', {
    name: 'Fresh',
    subscriptions: ['bob', { subscriberId: 'ada', identifier: 'ada-1', name: 'Mine' }],
  })
  assert.equal(reply.status, 201)
  assert.deepEqual(reply.body.meta, { totalCount: 2, successful: 2, failed: 0 })
  assert.equal('errors' in reply.body, false)
  const [bob, ada] = reply.body.data
  const now = app.world.now().toISOString()
  const { body: topic } = await app.call('GET', '/v2/topics/fresh')
  assert.equal(topic.name, 'Fresh')
  assert.deepEqual(bob, {
    _id: bob._id,
    identifier: 'tk_fresh:si_bob',
    topic,
    subscriber: {
      _id: bob.subscriber._id,
      subscriberId: 'bob',
      avatar: null,
      firstName: 'First bob',
      lastName: null,
      email: 'bob@example.org',
    },
    createdAt: now,
    updatedAt: now,
  })
  assert.deepEqual([ada.identifier, ada.name, ada.subscriber.subscriberId], ['ada-1', 'Mine', 'ada'])
  const listed = await app.call('GET', `${path('fresh')}?orderDirection=ASC`)
  assert.deepEqual(listed.body.data, [bob, ada])
})

test('the name of an existing topic is not changed by subscribing', async () => {
  await subscribe('named', { name: 'First', subscriberIds: ['ada'] })
  await subscribe('named', { name: 'Second', subscriberIds: ['bob'] })
  assert.equal((await app.call('GET', '/v2/topics/named')).body.name, 'First')
})

test('who is subscribed already is a success, keeps the subscription, and is not doubled', async () => {
  const first = await subscribe('again', { subscriberIds: ['ada'] })
  app.world.advance(1000)
  const second = await subscribe('again', { subscriptions: [{ subscriberId: 'ada', identifier: 'other' }, 'bob'] })
  assert.equal(second.status, 201)
  assert.deepEqual(second.body.meta, { totalCount: 2, successful: 2, failed: 0 })
  assert.deepEqual(second.body.data[0], first.body.data[0])
  assert.deepEqual(await members('again'), ['ada', 'bob'])
})

test('repetitions in one call are folded, over both members and with spaces around', async () => {
  const reply = await subscribe('folded', {
    subscriberIds: ['ada', 'bob', 'ada'],
    subscriptions: [' bob ', { subscriberId: 'bob' }],
  })
  assert.deepEqual(reply.body.meta, { totalCount: 2, successful: 2, failed: 0 })
  assert.deepEqual(await members('folded'), ['ada', 'bob'])
})

test('unknown subscribers are reported one by one, not created, and cost the others nothing', async () => {
  const reply = await subscribe('partly', { subscriptions: ['ghost', 'ada', 'phantom'] })
  assert.equal(reply.status, 201)
  assert.deepEqual(reply.body.meta, { totalCount: 3, successful: 1, failed: 2 })
  assert.deepEqual(reply.body.errors[0], {
    subscriberId: 'ghost',
    code: 'SUBSCRIBER_NOT_FOUND',
    message: "Subscriber with ID 'ghost' could not be found.",
  })
  assert.deepEqual(codes(reply), [
    ['ghost', 'SUBSCRIBER_NOT_FOUND'],
    ['phantom', 'SUBSCRIBER_NOT_FOUND'],
  ])
  assert.deepEqual(await members('partly'), ['ada'])
})

test('when everyone fails the answer is 400 with the same members, and no topic is made', async () => {
  const reply = await subscribe('never-made', { subscriptions: ['ghost'] })
  assert.equal(reply.status, 400)
  assert.equal(reply.body.statusCode, 400)
  assert.deepEqual(reply.body.data, [])
  assert.deepEqual(reply.body.meta, { totalCount: 1, successful: 0, failed: 1 })
  assert.deepEqual(codes(reply), [['ghost', 'SUBSCRIBER_NOT_FOUND']])
  assert.equal((await app.call('GET', '/v2/topics/never-made')).status, 404)
})

test('an identifier must be 1 to 512 characters, free in its topic, and no one else’s default', async () => {
  await subscribe('ids', { subscriptions: [{ subscriberId: 'dan', identifier: 'taken' }] })
  const reply = await subscribe('ids', {
    subscriptions: [
      { subscriberId: 'ada', identifier: 'taken' },
      { subscriberId: 'bob', identifier: 'x'.repeat(513) },
      { subscriberId: 'cyd', identifier: 'y'.repeat(512) },
    ],
  })
  assert.equal(reply.status, 201)
  assert.deepEqual(codes(reply).sort(), [
    ['ada', 'INVALID_SUBSCRIPTION_IDENTIFIER'],
    ['bob', 'INVALID_SUBSCRIPTION_IDENTIFIER'],
  ])
  for (const identifier of ['', 'tk_ids:si_cyd']) {
    const refused = await subscribe('ids', { subscriptions: [{ subscriberId: 'ada', identifier }] })
    assert.deepEqual([refused.status, ...codes(refused)], [400, ['ada', 'INVALID_SUBSCRIPTION_IDENTIFIER']])
  }
  assert.deepEqual(await members('ids'), ['cyd', 'dan'])
  const own = await subscribe('ids', { subscriptions: [{ subscriberId: 'ada', identifier: 'tk_ids:si_ada' }] })
  assert.equal(own.body.data[0].identifier, 'tk_ids:si_ada')
  const elsewhere = await subscribe('ids-2', { subscriptions: [{ subscriberId: 'ada', identifier: 'taken' }] })
  assert.equal(elsewhere.body.data[0].identifier, 'taken')
})

test('two in one call with the same identifier: one gets it, the other is reported', async () => {
  const twins = ['ada', 'bob'].map((subscriberId) => ({ subscriberId, identifier: 'twin' }))
  const reply = await subscribe('twins', { subscriptions: twins })
  assert.deepEqual(reply.body.meta, { totalCount: 2, successful: 1, failed: 1 })
  assert.equal(reply.body.errors[0].code, 'INVALID_SUBSCRIPTION_IDENTIFIER')
})

test('a call names 1 to 100 subscribers, by strings or objects, to a topic whose key is fit', async () => {
  const many = Array.from({ length: 101 }, (_, index) => `p${index}`)
  for (const body of [
    {},
    { subscriberIds: [] },
    { subscriptions: many },
    { subscriberIds: many.slice(50), subscriptions: many.slice(0, 50) },
    { subscriptions: [5] },
    { subscriptions: [{}] },
    { subscriptions: [''] },
    { subscriberIds: [{ subscriberId: 'ada' }] },
    { subscriberIds: ['ada'], name: 'n'.repeat(101) },
  ]) {
    const reply = await subscribe('limits', body)
    assert.equal(reply.status, 422, JSON.stringify(body).slice(0, 80))
    assert.equal(typeof reply.body.errors, 'object')
  }
  const named = await subscribe('limits', { subscriptions: ['ada', {}] })
  assert.deepEqual(Object.keys(named.body.errors), ['subscriptions.1.subscriberId'])
  const unfit = await subscribe('a%20b', { subscriberIds: ['ada'] })
  assert.deepEqual([unfit.status, Object.keys(unfit.body.errors)], [422, ['topicKey']])
  assert.equal((await app.call('GET', '/v2/topics/limits')).status, 404)
})

test('a hundred subscribers are subscribed and unsubscribed in one call', async () => {
  const ids = Array.from({ length: 100 }, (_, index) => `crowd-${index}`)
  await addSubscribers(app, ids)
  const reply = await subscribe('crowd', { subscriptions: ids })
  assert.deepEqual(
    reply.body.data.map((item: Json) => item.subscriber.subscriberId),
    ids,
  )
  assert.equal((await members('crowd')).length, 100)
  const removed = await unsubscribe('crowd', { subscriptions: ids })
  assert.equal(removed.body.meta.successful, 100)
  assert.deepEqual(await members('crowd'), [])
})

test('unsubscribing takes a subscriber, an identifier, a default identifier, or subscriber and identifier together', async () => {
  await subscribe('leave', {
    subscriptions: [
      'ada',
      { subscriberId: 'bob', identifier: 'bobs' },
      'cyd',
      { subscriberId: 'dan', identifier: 'dans' },
    ],
  })
  const { body: before } = await app.call('GET', `${path('leave')}?orderDirection=ASC`)
  const reply = await unsubscribe('leave', {
    subscriptions: [
      'ada',
      { identifier: 'bobs' },
      { identifier: 'tk_leave:si_cyd' },
      { subscriberId: 'dan', identifier: 'dans' },
    ],
  })
  assert.equal(reply.status, 200)
  assert.deepEqual(reply.body, { data: before.data, meta: { totalCount: 4, successful: 4, failed: 0 } })
  assert.deepEqual(await members('leave'), [])
})

test('what cannot be unsubscribed is reported one by one', async () => {
  await subscribe('stay', { subscriptions: [{ subscriberId: 'ada', identifier: 'adas' }, 'bob', 'cyd'] })
  const reply = await unsubscribe('stay', {
    subscriptions: [
      'cyd',
      'ghost',
      'dan',
      {},
      { identifier: 'nobodys' },
      { identifier: 'tk_stay:si_ada' },
      { subscriberId: 'bob', identifier: 'adas' },
    ],
  })
  assert.equal(reply.status, 200)
  assert.deepEqual(reply.body.meta, { totalCount: 7, successful: 1, failed: 6 })
  assert.deepEqual(codes(reply), [
    ['ghost', 'SUBSCRIBER_NOT_FOUND'],
    ['dan', 'SUBSCRIPTION_NOT_FOUND'],
    ['', 'INVALID_REQUEST'],
    ['', 'SUBSCRIPTION_NOT_FOUND'],
    ['', 'SUBSCRIPTION_NOT_FOUND'],
    ['bob', 'SUBSCRIPTION_NOT_FOUND'],
  ])
  assert.equal(reply.body.errors[3].identifier, 'nobodys')
  assert.deepEqual(await members('stay'), ['ada', 'bob'])
})

test('one subscription named in two ways is removed once; all failed is 400; an unknown topic is 404', async () => {
  await subscribe('ways', { subscriptions: ['ada', 'bob'] })
  const twice = await unsubscribe('ways', {
    subscriberIds: ['ada'],
    subscriptions: [{ identifier: 'tk_ways:si_ada' }, 'ada'],
  })
  assert.deepEqual(twice.body.meta, { totalCount: 1, successful: 1, failed: 0 })
  const again = await unsubscribe('ways', { subscriberIds: ['ada'] })
  assert.deepEqual([again.status, again.body.data, ...codes(again)], [400, [], ['ada', 'SUBSCRIPTION_NOT_FOUND']])
  assert.equal((await unsubscribe('no-such-topic', { subscriberIds: ['ada'] })).status, 404)
  for (const body of [{}, { subscriptions: [] }, { subscriptions: [7] }, undefined]) {
    assert.equal((await unsubscribe('ways', body)).status, 422)
  }
  assert.deepEqual(await members('ways'), ['bob'])
})

test('whether a subscriber belongs to a topic is 200 with both ids, or 404', async () => {
  const { body } = await subscribe('asked', { subscriberIds: ['ada'] })
  const environment = await environmentOf(app)
  const reply = await app.call('GET', '/v1/topics/asked/subscribers/ada')
  assert.equal(reply.status, 200)
  assert.deepEqual(reply.body, {
    _environmentId: environment.id,
    _organizationId: environment.organizationId,
    _subscriberId: body.data[0].subscriber._id,
    _topicId: body.data[0].topic._id,
    topicKey: 'asked',
    externalSubscriberId: 'ada',
  })
  for (const path of ['asked/subscribers/bob', 'asked/subscribers/ghost', 'no-such-topic/subscribers/ada']) {
    assert.equal((await app.call('GET', `/v1/topics/${path}`)).status, 404, path)
  }
})

test('a subscriber’s subscriptions are listed with their topics, and filtered by the key of a topic', async () => {
  await addSubscribers(app, ['eve'])
  for (const topic of ['eve-1', 'eve-2', 'eve-3'])
    await subscribe(topic, { name: topic, subscriberIds: ['eve', 'ada'] })
  const all = await app.call('GET', '/v2/subscribers/eve/subscriptions')
  assert.deepEqual(
    all.body.data.map((item: Json) => item.topic.key),
    ['eve-3', 'eve-2', 'eve-1'],
  )
  assert.equal(all.body.totalCount, 3)
  const { body: ofTopic } = await app.call('GET', `${path('eve-2')}?subscriberId=eve`)
  const one = await app.call('GET', '/v2/subscribers/eve/subscriptions?key=eve-2')
  assert.deepEqual(one.body, ofTopic)
  assert.equal((await app.call('GET', '/v2/subscribers/eve/subscriptions?key=ways')).body.totalCount, 0)
  assert.equal((await app.call('GET', '/v2/subscribers/ghost/subscriptions')).status, 404)
})

test('a deleted subscriber’s subscriptions are neither listed nor counted, and the id starts again', async () => {
  const environment = await environmentOf(app)
  const id = (await addSubscribers(app, ['mortal'])).get('mortal') ?? ''
  await subscribe('mortals', { subscriberIds: ['mortal', 'ada'] })
  await app.database.db.transaction(async (tx) => {
    await tx.run(sql`update subscribers set deleted_at = now() where environment_id = ${environment.id} and id = ${id}`)
    await deleteSubscriptionsOfSubscriber(tx, environment, id)
  })
  const { body } = await app.call('GET', path('mortals'))
  assert.deepEqual([body.totalCount, body.data.length], [1, 1])
  assert.equal((await app.call('GET', '/v1/topics/mortals/subscribers/mortal')).status, 404)
  assert.equal((await app.call('GET', '/v2/subscribers/mortal/subscriptions')).status, 404)
  assert.deepEqual(codes(await subscribe('mortals', { subscriberIds: ['mortal'] })), [
    ['mortal', 'SUBSCRIBER_NOT_FOUND'],
  ])
  await addSubscribers(app, ['mortal'])
  assert.equal((await app.call('GET', '/v2/subscribers/mortal/subscriptions')).body.totalCount, 0)
})

test('calls that subscribe the same people at once, in any order, all succeed and subscribe each once', async () => {
  const ids = Array.from({ length: 30 }, (_, index) => `race-${index}`)
  await addSubscribers(app, ids)
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, index) => subscribe('raced', { subscriptions: index % 2 ? ids : ids.toReversed() })),
  )
  for (const reply of replies) assert.deepEqual([reply.status, reply.body.meta.successful], [201, 30])
  const first = new Set(replies[0]?.body.data.map((item: Json) => item._id))
  for (const reply of replies) assert.deepEqual(new Set(reply.body.data.map((item: Json) => item._id)), first)
  assert.deepEqual(await members('raced'), ids.toSorted())
})

test('a repeat with the same idempotency key gets the first answer, for subscribing and unsubscribing', async () => {
  const headers = { 'idempotency-key': 'subscribe-once' }
  const body = { subscriberIds: ['ada', 'ghost'] }
  const first = await app.call('POST', path('idem'), { body, headers })
  const removed = await app.call('DELETE', path('idem'), { body, headers })
  assert.equal(removed.status, 200)
  const repeats = [
    await app.call('POST', path('idem'), { body, headers }),
    await app.call('DELETE', path('idem'), { body, headers }),
  ]
  assert.deepEqual(
    repeats.map((reply) => [reply.status, reply.body]),
    [
      [201, first.body],
      [200, removed.body],
    ],
  )
  assert.deepEqual(await members('idem'), [])
})

test('another environment sees and touches no subscription, and its subscribers are unknown callers here', async () => {
  const key = app.productionKey
  await addSubscribers(app, ['theirs'], 'Production')
  await subscribe('ours', { subscriberIds: ['ada'] })
  assert.equal((await app.call('GET', path('ours'), { key })).status, 404)
  assert.equal((await app.call('DELETE', path('ours'), { key, body: { subscriberIds: ['ada'] } })).status, 404)
  assert.equal((await app.call('GET', '/v1/topics/ours/subscribers/ada', { key })).status, 404)
  assert.equal((await app.call('GET', '/v2/subscribers/ada/subscriptions', { key })).status, 404)
  assert.deepEqual(codes(await subscribe('ours', { subscriberIds: ['theirs'] })), [['theirs', 'SUBSCRIBER_NOT_FOUND']])
  const there = await app.call('POST', path('ours'), { key, body: { subscriberIds: ['ada', 'theirs'] } })
  assert.deepEqual(codes(there), [['ada', 'SUBSCRIBER_NOT_FOUND']])
  await app.call('DELETE', path('ours'), { key, body: { subscriberIds: ['theirs'] } })
  assert.deepEqual(await members('ours'), ['ada'])
})

test('a subscription is read and renamed by its identifier, its own or the default one', async () => {
  await addSubscribers(app, ['eva', 'fay', 'gus'])
  await subscribe('named', { subscriptions: ['fay', { subscriberId: 'eva', identifier: 'eva-9', name: 'Mine' }] })
  const own = await app.call('GET', `${path('named')}/eva-9`)
  assert.equal(own.status, 200, own.text)
  assert.deepEqual(own.body, { id: own.body.id, identifier: 'eva-9', name: 'Mine' })
  const standard = encodeURIComponent('tk_named:si_fay')
  assert.equal((await app.call('GET', `${path('named')}/${standard}`)).body.identifier, 'tk_named:si_fay')
  const renamed = await app.call('PATCH', `${path('named')}/${standard}`, { body: { name: 'Fay’s' } })
  assert.deepEqual([renamed.body.name, renamed.body.subscriber.subscriberId], ['Fay’s', 'fay'])
  assert.equal((await app.call('GET', `${path('named')}/${standard}`)).body.name, 'Fay’s')
  // The default one of one who has another, one of another topic, one of no one.
  for (const unknown of ['tk_named:si_eva', 'eva-1', 'tk_named:si_gus']) {
    const name = encodeURIComponent(unknown)
    assert.equal((await app.call('GET', `${path('named')}/${name}`)).status, 404, unknown)
    assert.equal((await app.call('PATCH', `${path('named')}/${name}`, { body: { name: 'x' } })).status, 404, unknown)
  }
  assert.equal((await app.call('GET', `${path('unknown')}/eva-9`)).status, 404)
})
