// A session opens one subscriber's inbox: no one else's can be seen or changed with it, whatever is put into a call.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { inboxRoutes } from '../../src/http/registry.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import type { InboxPage } from '../support/inbox-scene.ts'
import { hmac, identifierOf, inboxOf, openSession, pageOf } from '../support/inbox-scene.ts'
import { MessageScene } from '../support/message-scene.ts'

let app: TestApp
let theirs: string
let foreign: string
let newSubscribers: InboxPage[]
before(async () => {
  app = await createTestApp()
  const scene = await MessageScene.of(app, ['victim', 'mallory'])
  theirs = (
    await scene.say('victim', { draft: { cta: { action: { buttons: [{ type: 'primary', content: 'Go' }] } } } })
  ).id
  const elsewhere = await MessageScene.of(app, ['victim'], { environmentName: 'Production' })
  foreign = (await elsewhere.say('victim')).id
  const session = await openSession(app, {
    applicationIdentifier: await identifierOf(app, 'Production'),
    subscriberId: 'victim',
    subscriberHash: hmac(app.productionKey, 'victim'),
  })
  // Another subscriber, the same in another context, and whoever has the same id in another environment.
  newSubscribers = [
    await inboxOf(app, 'mallory'),
    await inboxOf(app, 'victim', { context: { tenant: 'acme' } }),
    pageOf(app, session.body.data),
  ]
})
after(() => app.close())

/** Everything that a call of an inbox could change, of the victims. */
const state = async (): Promise<Json[]> => [
  await app.database.db.rows<Json>(
    sql`select m.* from messages m where m.id = any(${[theirs, foreign]}::uuid[]) order by m.id`,
  ),
  await app.database.db.rows<Json>(sql`select s.* from subscribers s where s.subscriber_id = 'victim' order by s.id`),
  await app.database.db.rows<Json>(sql`
    select t.* from topic_subscriptions t join subscribers s on s.environment_id = t.environment_id and s.id = t.subscriber_id
    where s.subscriber_id = 'victim' order by t.id`),
]

const until = (): string => new Date(app.world.now().getTime() + 3_600_000).toISOString()

test('another’s notification is unknown to every call that names one, and stays as it is', async () => {
  const before = await state()
  const routes = inboxRoutes.filter(({ path }) => path.includes('{notificationId}'))
  assert.ok(routes.length >= 10)
  for (const [place, page] of newSubscribers.entries()) {
    const id = theirs
    for (const { method, path } of routes) {
      const target = path.replace('/v1/inbox', '').replace('{notificationId}', id)
      const body = method === 'DELETE' ? {} : { body: { snoozeUntil: until(), actionType: 'primary' } }
      const reply = await page.call(method, target, body)
      const expected = [404, `Notification with id: ${id} is not found.`]
      assert.deepEqual([reply.status, reply.body?.message], expected, `${place} ${method} ${path}`)
    }
  }
  assert.deepEqual(await state(), before)
})

test('older clients reach another’s messages as little', async () => {
  const before = await state()
  for (const page of newSubscribers) {
    const isOther = page !== newSubscribers[2]
    const feed = await page.call('GET', '/v1/widgets/notifications/feed')
    if (isOther) assert.deepEqual(feed.body.data, [])
    for (const name of ['unseen', 'unread', 'count']) {
      if (isOther) assert.deepEqual(await page.data(200, 'GET', `/v1/widgets/notifications/${name}`), { count: 0 })
    }
    const messageId = [theirs]
    assert.deepEqual(await page.data(201, 'POST', '/v1/widgets/messages/mark-as', { messageId, markAs: 'read' }), [])
    const mark = { read: true }
    assert.deepEqual(await page.data(201, 'POST', '/v1/widgets/messages/markAs', { messageId, mark }), [])
    assert.equal((await page.call('DELETE', `/v1/widgets/messages/${theirs}`)).status, 404)
    const pressed = await page.call('POST', `/v1/widgets/messages/${theirs}/actions/primary`, {
      body: { status: 'done' },
    })
    assert.equal(pressed.status, 404)
    await page.data(200, 'POST', '/v1/widgets/messages/bulk/delete', { messageIds: [theirs] })
    if (isOther) for (const verb of ['read', 'seen']) await page.data(201, 'POST', `/v1/widgets/messages/${verb}`, {})
    if (isOther) await page.data(204, 'DELETE', '/v1/widgets/messages')
  }
  assert.deepEqual(await state(), before)
})

test('neither lists nor counts nor bulk marks reach another’s notifications', async () => {
  const before = await state()
  for (const page of newSubscribers.slice(0, 2)) {
    assert.deepEqual(await page.data(200, 'GET', '/notifications'), [])
    assert.equal(
      (await page.call('GET', `/notifications?after=${theirs}`)).status,
      page === newSubscribers[0] ? 400 : 200,
    )
    const filters = encodeURIComponent('[{},{"read":false,"snoozed":false}]')
    const counts: Json[] = await page.data(200, 'GET', `/notifications/count?filters=${filters}`)
    assert.deepEqual(
      counts.map(({ count }) => count),
      [0, 0],
    )
    for (const verb of ['read', 'archive', 'read-archive', 'archive/read', 'delete', 'seen']) {
      await page.data(204, 'POST', `/notifications/${verb}`)
      await page.data(204, 'POST', `/notifications/${verb}`, { notificationIds: [theirs, foreign], tags: ['orders'] })
    }
  }
  assert.deepEqual(await state(), before)
})

test('a subscriber who is named elsewhere in a call does not count', async () => {
  const [page] = newSubscribers
  for (const place of ['?subscriberId=victim', '?_subscriberId=victim', '?environmentId=x&contextKeys[]=a:b']) {
    assert.deepEqual(await page?.data(200, 'GET', `/notifications${place}`), [])
  }
  const before = await state()
  await page?.data(204, 'POST', '/notifications/read', {
    subscriberId: 'victim',
    subscriber: { subscriberId: 'victim' },
  })
  assert.deepEqual(await state(), before)
})

test('no call shows or changes anything of another, whatever of theirs it names', async () => {
  const victim = await inboxOf(app, 'victim')
  const own = await victim.data(201, 'POST', '/topics/shared/subscriptions', { identifier: '', name: 'Private name' })
  await victim.data(200, 'PATCH', '/preferences', { email: false })
  const before = await state()
  const everything = {
    ...{ subscriberId: 'victim', subscriber: { subscriberId: 'victim' }, snoozeUntil: until(), actionType: 'primary' },
    ...{ messageId: theirs, messageIds: [theirs], markAs: 'read', mark: { read: true }, status: 'done' },
    ...{ notificationIds: [theirs], identifier: own.identifier, name: 'Taken', email: true, in_app: false },
  }
  const secrets = [own.id, 'Private name', theirs]
  for (const { method, path, opensWith } of inboxRoutes) {
    if (opensWith === 'nothing') continue
    const target = path
      .replace('/v1/inbox', '')
      .replace('{notificationId}', theirs)
      .replace('{messageId}', theirs)
      .replace('{type}', 'primary')
      .replace('{topicKey}', 'shared')
      .replace('{identifier}', own.identifier)
      .replace('{workflowId}', 'orders')
    const query = `?subscriberId=victim&filters=%5B%7B%7D%5D`
    const preferences = path.endsWith('/bulk') ? { preferences: [{ workflowId: 'orders', email: true }] } : {}
    const body = method === 'GET' || method === 'DELETE' ? {} : { body: { ...everything, ...preferences } }
    const reply = await newSubscribers[0]?.call(method, `${target}${query}`, body)
    const answered = JSON.stringify(reply?.body?.data ?? null)
    for (const secret of secrets) assert.ok(!answered.includes(secret), `${method} ${path}: ${answered}`)
  }
  assert.deepEqual(await state(), before)
})

test('every route of the inbox but the session needs a session', async () => {
  for (const { method, path, opensWith } of inboxRoutes) {
    if (opensWith === 'nothing') continue
    const url = path.replaceAll(/\{\w+\}/g, 'x')
    // Failures are counted by address, one a second.
    app.world.advance(3_000)
    for (const headers of [{}, { authorization: `ApiKey ${app.developmentKey}` }, { authorization: 'Bearer x.y.z' }]) {
      const reply = await app.call(method, url, { key: null, headers })
      assert.equal(reply.status, 401, `${method} ${path}`)
    }
  }
})
