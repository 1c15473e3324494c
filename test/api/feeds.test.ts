// Feeds and single notification groups over the API.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { create, inApp, refusals } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

async function feed(name: string): Promise<Json> {
  return scene.expect(201, 'POST', '/v1/feeds', { name })
}

test('a feed is created, listed and deleted, and its identifier taken once', async () => {
  const made = await feed('Order News')
  assert.equal(made.identifier, 'order-news')
  assert.equal((await app.call('POST', '/v1/feeds', { body: { name: 'Order news' } })).status, 409)
  const given = await scene.expect(201, 'POST', '/v1/feeds', { name: 'Orders', identifier: 'orders' })
  const list = (await app.call('GET', '/v1/feeds')).body
  assert.deepEqual(list.data, [made, given])
  assert.equal((await app.call('DELETE', `/v1/feeds/${made._id}`)).status, 204)
  assert.equal((await app.call('DELETE', '/v1/feeds/orders')).status, 204)
  assert.equal((await app.call('DELETE', '/v1/feeds/orders')).status, 404)
  assert.ok('identifier' in refusals(await app.call('POST', '/v1/feeds', { body: { name: 'x', identifier: 'a b' } })))
  assert.ok('name' in refusals(await app.call('POST', '/v1/feeds', { body: {} })))
})

test('the filter of the in-app feed takes a feed by id or identifier, as the step does', async () => {
  const news = await feed('news')
  const other = await feed('other')
  const feedOf = (feedId: string) => ({ template: { type: 'in_app', content: feedId, feedId } })
  const byId = await scene.workflow([feedOf(news._id)])
  const byIdentifier = await scene.workflow([feedOf('news')])
  await scene.run(byId, 'reader')
  await scene.run(byIdentifier, 'reader')
  const seen = async (name: string): Promise<string[]> => {
    const { body } = await app.call('GET', `/v1/subscribers/reader/notifications/feed?feedIdentifier=${name}`)
    return body.data.map((one: Json) => one.content)
  }
  assert.deepEqual(await seen('news'), ['news', news._id])
  assert.deepEqual(await seen(news._id), ['news', news._id])
  assert.deepEqual(await seen('other'), [])
  const unseen = await app.call('GET', `/v1/subscribers/reader/notifications/unseen?feedId=${news._id}`)
  assert.equal(unseen.body.count, 2)
  const mark = (feedIdentifier: string) =>
    app.call('POST', '/v1/subscribers/reader/messages/mark-all', { body: { markAs: 'read', feedIdentifier } })
  assert.equal((await mark(other._id)).body, 0)
  assert.equal((await mark(news._id)).body, 2)
  const refused = await app.call('DELETE', '/v1/feeds/news')
  assert.equal(refused.status, 409)
  assert.equal(refused.body.workflows.length, 2)
})

test('another environment has feeds of its own', async () => {
  const key = app.productionKey
  const mine = await feed('mine')
  assert.equal((await app.call('DELETE', `/v1/feeds/${mine._id}`, { key })).status, 404)
  assert.equal((await app.call('DELETE', '/v1/feeds/mine', { key })).status, 404)
  assert.deepEqual((await app.call('GET', '/v1/feeds', { key })).body.data, [])
})

const groups = '/v1/notification-groups'

test('a notification group is read, renamed and deleted', async () => {
  const made = await scene.expect(201, 'POST', groups, { name: 'Returns' })
  assert.deepEqual((await app.call('GET', `${groups}/${made._id}`)).body, made)
  const renamed = await scene.expect(200, 'PATCH', `${groups}/${made._id}`, { name: 'Refunds' })
  assert.deepEqual(renamed, { ...made, name: 'Refunds' })
  await scene.expect(201, 'POST', groups, { name: 'Taken' })
  assert.equal((await app.call('PATCH', `${groups}/${made._id}`, { body: { name: 'Taken' } })).status, 409)
  const gone = await app.call('DELETE', `${groups}/${made._id}`)
  assert.deepEqual([gone.status, gone.body], [200, { acknowledged: true, status: 'deleted' }])
  for (const id of [made._id, 'no-id']) {
    assert.equal((await app.call('GET', `${groups}/${id}`)).status, 404)
    assert.equal((await app.call('PATCH', `${groups}/${id}`, { body: { name: 'x' } })).status, 404)
    assert.equal((await app.call('DELETE', `${groups}/${id}`)).status, 404)
  }
})

test('a group with workflows is kept; one with only deleted workflows is deleted, and they still appear in the activity', async () => {
  const group = await scene.expect(201, 'POST', groups, { name: 'Full' })
  const workflow = await create(app, { name: 'inside', steps: [inApp()], notificationGroupId: group._id })
  const refused = await app.call('DELETE', `${groups}/${group._id}`)
  assert.deepEqual([refused.status, refused.body.workflows], [409, ['inside']])
  await app.call('DELETE', `/v1/workflows/${workflow._id}`)
  assert.equal((await app.call('DELETE', `${groups}/${group._id}`)).status, 200)
  const [row] = await scene.rows(sql`
    select g.name from workflows w join notification_groups g on g.id = w.group_id where w.id = ${workflow._id}`)
  assert.equal(row.name, 'General')
})

test('the default group keeps its name and stays', async () => {
  const workflow = await create(app, { name: 'plain', steps: [inApp()] })
  const id = workflow._notificationGroupId
  assert.equal((await app.call('PATCH', `${groups}/${id}`, { body: { name: 'Mine' } })).status, 409)
  assert.equal((await app.call('DELETE', `${groups}/${id}`)).status, 409)
  assert.equal((await app.call('GET', `${groups}/${id}`)).body.name, 'General')
})

test('another environment’s group is not there', async () => {
  const key = app.productionKey
  const group = await scene.expect(201, 'POST', groups, { name: 'Ours' })
  assert.equal((await app.call('GET', `${groups}/${group._id}`, { key })).status, 404)
  assert.equal((await app.call('PATCH', `${groups}/${group._id}`, { key, body: { name: 'x' } })).status, 404)
  assert.equal((await app.call('DELETE', `${groups}/${group._id}`, { key })).status, 404)
})
