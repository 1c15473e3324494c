// A subscriber's in-app feed over the API: every field, every filter, pages, counts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { jobIdOf } from '../../src/domain/derived-id.ts'
import { stepOf } from '../support/activity-scene.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { MessageScene } from '../support/message-scene.ts'

let app: TestApp
let scene: MessageScene
before(async () => {
  app = await createTestApp()
  scene = await MessageScene.of(app, [
    'ada',
    'filters',
    'payloads',
    'pages',
    'counts',
    'hidden',
    'feeds',
    'actors',
    'boss',
  ])
})
after(() => app.close())

const feed = (subscriberId: string, query = '', options = {}) =>
  app.call('GET', `/v1/subscribers/${subscriberId}/notifications/feed${query}`, options)
const ids = (page: Json): string[] => page.data.map((item: Json) => item._id)
const encoded = (filter: unknown) => encodeURIComponent(Buffer.from(JSON.stringify(filter)).toString('base64'))

test('a feed item has every member of the interface, and says whether it is archived', async () => {
  const said = await scene.say('ada', {
    draft: {
      content: 'Your order is on its way',
      subject: 'Order 42',
      cta: {
        type: 'redirect',
        data: { url: '/orders/42' },
        action: { status: 'pending', buttons: [{ type: 'primary', content: 'Track', resultContent: 'Tracked' }] },
      },
      actor: { type: 'system_icon', data: 'truck' },
      data: { colour: 'red' },
    },
    event: {
      transactionId: 'order-42',
      payload: { orderId: '42' },
      overrides: { email: { from: 'a@example.org' } },
      severity: 'high',
    },
  })
  const { eventId, notification } = said
  const page = await feed('ada')
  assert.equal(page.status, 200)
  const now = app.world.now().toISOString()
  const { environment } = scene.scene
  assert.deepEqual(page.body, {
    data: [
      {
        _id: said.id,
        _templateId: scene.workflow.id,
        _messageTemplateId: 'template-in_app',
        _feedId: 'shop',
        _environmentId: environment.id,
        _organizationId: environment.organizationId,
        _notificationId: notification.id,
        _subscriberId: notification.subscriberId,
        _jobId: jobIdOf(eventId, notification.id, 0),
        createdAt: now,
        updatedAt: now,
        actor: { type: 'system_icon', data: 'truck' },
        subscriber: { _id: notification.subscriberId, subscriberId: 'ada', firstName: 'First ada' },
        transactionId: 'order-42',
        templateIdentifier: 'orders',
        providerId: 'platform',
        content: 'Your order is on its way',
        subject: 'Order 42',
        channel: 'in_app',
        read: false,
        seen: false,
        archived: false,
        deviceTokens: null,
        cta: {
          type: 'redirect',
          data: { url: '/orders/42' },
          action: { status: 'pending', buttons: [{ type: 'primary', content: 'Track', resultContent: 'Tracked' }] },
        },
        status: 'sent',
        payload: { orderId: '42' },
        data: { colour: 'red' },
        overrides: { email: { from: 'a@example.org' } },
        tags: ['orders', 'shop'],
      },
    ],
    hasMore: false,
    pageSize: 10,
    page: 0,
    totalCount: 1,
  })
})

test('a message that says little still has its call to action, an actor and its nulls', async () => {
  const workflow = await scene.scene.addWorkflow('plain', [stepOf('in_app')])
  await scene.say('boss', { workflow })
  const [item] = (await feed('boss')).body.data
  assert.deepEqual(
    [item.cta, item.actor, item.subject, item.data, item._feedId, item.tags],
    [{}, { type: 'none', data: null }, null, null, null, []],
  )
})

test('the picture of a user who acted is the one they have now, and null when they have none or are gone', async () => {
  const actorId = scene.people.get('boss') ?? ''
  const draft = { actor: { type: 'user', data: null } } as const
  await scene.say('actors', { draft, event: { actorId } })
  await scene.say('actors', { draft })
  const actors = async () => (await feed('actors')).body.data.map((item: Json) => item.actor)
  assert.deepEqual(await actors(), [
    { type: 'user', data: null },
    { type: 'user', data: null },
  ])
  await app.call('PATCH', '/v2/subscribers/boss', { body: { avatar: 'https://example.org/boss.png' } })
  assert.deepEqual(await actors(), [
    { type: 'user', data: null },
    { type: 'user', data: 'https://example.org/boss.png' },
  ])
})

test('read and seen filter either way and together, and are not asked for by default', async () => {
  const [unseen, seen, read] = [await scene.say('filters'), await scene.say('filters'), await scene.say('filters')]
  const mark = (id: string, markAs: string) =>
    app.call('POST', '/v1/subscribers/filters/messages/mark-as', { body: { messageId: id, markAs } })
  await mark(seen.id, 'seen')
  await mark(read.id, 'read')
  const found = async (query: string) => {
    const { body } = await feed('filters', query)
    assert.equal(body.totalCount, body.data.length)
    return ids(body)
  }
  assert.deepEqual(await found(''), [read.id, seen.id, unseen.id])
  assert.deepEqual(await found('?read=true'), [read.id])
  assert.deepEqual(await found('?read=false'), [seen.id, unseen.id])
  assert.deepEqual(await found('?seen=true'), [read.id, seen.id])
  assert.deepEqual(await found('?seen=false'), [unseen.id])
  assert.deepEqual(await found('?seen=true&read=false'), [seen.id])
  assert.deepEqual(await found('?seen=false&read=true'), [])
})

test('the payload filter finds what contains it, at any depth, among the subscriber’s own', async () => {
  const order = { orderId: '42', customer: { plan: 'team', seats: 5 }, lines: [{ sku: 'a' }, { sku: 'b' }] }
  const one = await scene.say('payloads', { event: { payload: order } })
  const other = await scene.say('payloads', { event: { payload: { ...order, orderId: '43' } } })
  await scene.say('counts', { event: { payload: order } })
  const found = async (filter: unknown) => {
    const { body } = await feed('payloads', `?payload=${encoded(filter)}`)
    assert.equal(body.totalCount, body.data.length)
    return ids(body)
  }
  assert.deepEqual(await found({ orderId: '42' }), [one.id])
  assert.deepEqual(await found({ customer: { plan: 'team' } }), [other.id, one.id])
  assert.deepEqual(await found({ orderId: '43', lines: [{ sku: 'b' }] }), [other.id])
  assert.deepEqual(await found({}), [other.id, one.id])
  assert.deepEqual(await found({ orderId: 42 }), [])
  assert.deepEqual(await found({ orderId: '42', customer: { plan: 'free' } }), [])
  assert.equal((await feed('payloads', '?payload=')).body.totalCount, 2)
})

test('a payload filter that is no base64, no JSON or no object is 422 and names the field', async () => {
  for (const payload of ['%21%21', encoded([1]), encoded('text'), Buffer.from('{').toString('base64')]) {
    const reply = await feed('payloads', `?payload=${payload}`)
    assert.equal(reply.status, 422, payload)
    assert.deepEqual(Object.keys(reply.body.errors), ['payload'])
  }
})

test('pages go from newest to oldest without a gap, and say whether there is more', async () => {
  const said: string[] = []
  for (let index = 0; index < 7; index += 1) said.unshift((await scene.say('pages')).id)
  const walked: string[] = []
  for (const page of [0, 1, 2]) {
    const { body } = await feed('pages', `?limit=3&page=${page}`)
    assert.deepEqual([body.hasMore, body.pageSize, body.page, body.totalCount], [page < 2, 3, page, 7])
    walked.push(...ids(body))
  }
  assert.deepEqual(walked, said)
  const beyond = (await feed('pages', '?limit=3&page=9')).body
  assert.deepEqual([beyond.data, beyond.hasMore, beyond.totalCount], [[], false, 7])
})

test('a page is complete exactly at its limit', async () => {
  const { body } = await feed('pages', '?limit=7')
  assert.deepEqual([body.data.length, body.hasMore], [7, false])
})

test('items of one time keep one order over pages', async () => {
  await app.database.db.run(
    sql`update messages set created_at = ${app.world.now()} where subscriber_id = ${scene.people.get('pages')}`,
  )
  const whole = ids((await feed('pages', '?limit=100')).body)
  const walked: string[] = []
  for (const page of [0, 1, 2, 3, 4, 5, 6]) walked.push(...ids((await feed('pages', `?limit=1&page=${page}`)).body))
  assert.deepEqual(walked, whole)
  assert.deepEqual(whole, [...whole].sort().reverse())
})

test('limits and pages out of range, and flags that are none, are 422', async () => {
  for (const query of [
    'limit=0',
    'limit=101',
    'limit=-1',
    'limit=x',
    'limit=1.5',
    'page=-1',
    'page=x',
    'read=perhaps',
    'seen=2',
  ]) {
    const reply = await feed('ada', `?${query}`)
    assert.equal(reply.status, 422, query)
    assert.deepEqual(Object.keys(reply.body.errors), [query.split('=')[0]])
  }
  assert.equal((await feed('ada', '?limit=100')).status, 200)
})

test('what is deleted, snoozed, on another channel or without an outcome is not in the feed; archived is', async () => {
  const [kept, archived, deleted, snoozed] = [
    await scene.say('hidden'),
    await scene.say('hidden'),
    await scene.say('hidden'),
    await scene.say('hidden'),
  ]
  await scene.say('hidden', { draft: { channel: 'email' } })
  await scene.say('hidden', { message: { status: null, state: 'ready' } })
  await app.call('PATCH', `/v2/subscribers/hidden/notifications/${archived.id}/archive`)
  await app.call('DELETE', `/v1/messages/${deleted.id}`)
  const snoozeUntil = new Date(app.world.now().getTime() + 60_000).toISOString()
  await app.call('PATCH', `/v2/subscribers/hidden/notifications/${snoozed.id}/snooze`, { body: { snoozeUntil } })
  const { body } = await feed('hidden')
  assert.deepEqual(ids(body), [archived.id, kept.id])
  assert.equal(body.totalCount, 2)
  assert.deepEqual(
    body.data.map((item: Json) => item.archived),
    [true, false],
  )
})

test('a feed identifier finds the items whose step belongs to that feed', async () => {
  const workflow = await scene.scene.addWorkflow('news', [
    stepOf('in_app', { template: { feedId: 'news' } }),
    stepOf('in_app'),
  ])
  const shop = await scene.say('feeds')
  const news = await scene.say('feeds', { workflow })
  await scene.say('feeds', { workflow, step: 1 })
  assert.deepEqual(ids((await feed('feeds', '?feedIdentifier=shop')).body), [shop.id])
  assert.deepEqual(ids((await feed('feeds', '?feedIdentifier=news&feedIdentifier=shop')).body), [news.id, shop.id])
  assert.deepEqual(ids((await feed('feeds', '?feedIdentifier=absent')).body), [])
  assert.equal((await feed('feeds')).body.totalCount, 3)
  const unseen = await app.call('GET', '/v1/subscribers/feeds/notifications/unseen?feedId=news')
  assert.equal(unseen.body.count, 1)
})

test('the feed of an unknown or deleted subscriber, or of another environment, is 404', async () => {
  assert.equal((await feed('nobody')).status, 404)
  assert.equal((await feed('ada', '', { key: app.productionKey })).status, 404)
  await app.call('DELETE', '/v2/subscribers/feeds')
  assert.equal((await feed('feeds')).status, 404)
})

test('the same subscriberId in another environment has a feed of its own', async () => {
  const elsewhere = await MessageScene.of(app, ['ada'], { environmentName: 'Production' })
  const said = await elsewhere.say('ada')
  assert.deepEqual(ids((await feed('ada', '', { key: app.productionKey })).body), [said.id])
  assert.ok(!ids((await feed('ada')).body).includes(said.id))
})

test('unseen and unread are counted up to a limit, either way', async () => {
  const subscriber = 'counts'
  const before = await feed(subscriber)
  assert.equal(before.body.totalCount, 1)
  const [, seen, read] = [await scene.say(subscriber), await scene.say(subscriber), await scene.say(subscriber)]
  const mark = (id: string, markAs: string) =>
    app.call('POST', `/v1/subscribers/${subscriber}/messages/mark-as`, { body: { messageId: id, markAs } })
  await mark(seen.id, 'seen')
  await mark(read.id, 'read')
  const count = async (path: string) => {
    const reply = await app.call('GET', `/v1/subscribers/${subscriber}/notifications/${path}`)
    assert.equal(reply.status, 200)
    assert.deepEqual(Object.keys(reply.body), ['count'])
    return reply.body.count
  }
  assert.equal(await count('unseen'), 2)
  assert.equal(await count('unseen?seen=true'), 2)
  assert.equal(await count('unseen?seen=true&read=false'), 1)
  assert.equal(await count('unread'), 3)
  assert.equal(await count('unread?read=true'), 1)
  assert.equal(await count('unread?seen=true'), 1)
  assert.equal(await count('unread?limit=2'), 2)
  assert.equal(await count('unseen?limit=1'), 1)
})

test('a count for no one is 404, and a limit out of range 422', async () => {
  for (const path of ['unseen', 'unread']) {
    assert.equal((await app.call('GET', `/v1/subscribers/nobody/notifications/${path}`)).status, 404)
    assert.equal((await app.call('GET', `/v1/subscribers/ada/notifications/${path}?limit=0`)).status, 422)
    assert.equal((await app.call('GET', `/v1/subscribers/ada/notifications/${path}?limit=1001`)).status, 422)
  }
})
