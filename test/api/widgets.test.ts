// The routes of older inbox clients: /v1/widgets, with a session of their own.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene } from '../support/flow-scene.ts'
import type { InboxPage } from '../support/inbox-scene.ts'
import { hmac, identifierOf, inboxOf, pageOf } from '../support/inbox-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

const open = (body: object) => app.call('POST', '/v1/widgets/session/initialize', { key: null, body })

/** A page of that subscriber, in Development. */
async function widgetOf(subscriberId: string): Promise<InboxPage> {
  const reply = await open({ applicationIdentifier: await identifierOf(app), subscriberId, hmacHash: null })
  assert.equal(reply.status, 201, reply.text)
  return pageOf(app, reply.body.data)
}

const notifications = '/v1/widgets/notifications'
const messages = '/v1/widgets/messages'
const feedOf = async (page: InboxPage, query = ''): Promise<Json[]> =>
  (await page.call('GET', `${notifications}/feed${query}`)).body.data
const countOf = async (page: InboxPage, name: string): Promise<number> =>
  (await page.data(200, 'GET', `${notifications}/${name}`)).count

test('a session gives a token and who it is for; Production asks for the hash', async () => {
  await app.call('POST', '/v2/subscribers', { body: { subscriberId: 'ada', firstName: 'Ada', phone: '+1' } })
  const { session } = await widgetOf('ada')
  assert.deepEqual([session.profile.firstName, session.profile.phone], ['Ada', undefined])
  const applicationIdentifier = await identifierOf(app, 'Production')
  const refused = await open({ applicationIdentifier, subscriberId: 'ada', hmacHash: hmac(app.developmentKey, 'ada') })
  assert.deepEqual([refused.status, refused.body.message], [400, 'Please provide a valid HMAC hash'])
  const signed = { applicationIdentifier, subscriberId: 'ada', hmacHash: hmac(app.productionKey, 'ada') }
  await app.call('POST', '/v2/subscribers', { body: { subscriberId: 'ada', phone: '+2' }, key: app.productionKey })
  const { status, body } = await open(signed)
  assert.deepEqual([status, body.data.profile.phone], [201, '+2'])
  assert.equal((await open({})).status, 400)
})

test('the feed is read by page, counted, marked and deleted', async () => {
  const workflow = await scene.workflow([inApp('Hello')])
  for (const id of [1, 2, 3]) await scene.run(workflow, 'bea', { payload: { id } })
  const page = await widgetOf('bea')
  const first = await page.call('GET', `${notifications}/feed?page=0&limit=2`)
  assert.deepEqual([first.body.data.length, first.body.hasMore, first.body.pageSize], [2, true, 2])
  const [one, two, three] = await feedOf(page)
  assert.deepEqual([one?.content, one?.read, one?.cta, one?.payload], ['Hello', false, {}, undefined])
  assert.equal((await page.call('GET', `${notifications}/feed?payload=e30=`)).status, 422)
  assert.deepEqual(
    [await countOf(page, 'unseen'), await countOf(page, 'unread'), await countOf(page, 'count')],
    [3, 3, 3],
  )
  const [read] = await page.data(201, 'POST', `${messages}/markAs`, { messageId: one?._id, mark: { read: true } })
  assert.deepEqual([read._id, read.read, read.seen], [one?._id, true, true])
  await page.data(201, 'POST', `${messages}/mark-as`, { messageId: [two?._id], markAs: 'seen' })
  assert.deepEqual([await countOf(page, 'unseen'), await countOf(page, 'unread')], [1, 2])
  assert.equal((await feedOf(page, '?seen=false')).length, 1)
  assert.equal(await page.data(201, 'POST', `${messages}/seen`, {}), 1)
  assert.equal(await page.data(201, 'POST', `${messages}/read`, {}), 2)
  await page.data(200, 'DELETE', `${messages}/${one?._id}`, {})
  await page.data(200, 'POST', `${messages}/bulk/delete`, { messageIds: [two?._id, 'none'] })
  assert.deepEqual(
    (await feedOf(page)).map(({ _id }) => _id),
    [three?._id],
  )
  await page.data(204, 'DELETE', messages)
  assert.deepEqual(await feedOf(page), [])
})

test('one feed of several is read, marked and deleted alone', async () => {
  const { body: feed } = await app.call('POST', '/v1/feeds', { body: { name: 'Shop' } })
  const inShop = { template: { type: 'in_app', content: 'Sale', feedId: feed._id } }
  await scene.run(await scene.workflow([inShop]), 'cyd')
  await scene.run(await scene.workflow([inApp('Other')]), 'cyd')
  const page = await widgetOf('cyd')
  assert.deepEqual(
    (await feedOf(page, `?feedIdentifier=${feed._id},none`)).map(({ content }) => content),
    ['Sale'],
  )
  assert.equal(await countOf(page, `unseen?feedIdentifier=${feed._id}`), 1)
  assert.equal(await page.data(201, 'POST', `${messages}/read`, { feedId: feed._id }), 1)
  assert.equal(await countOf(page, 'unread'), 1)
  await page.data(204, 'DELETE', `${messages}?feedId=${feed._id}`)
  assert.deepEqual(
    (await feedOf(page)).map(({ content }) => content),
    ['Other'],
  )
})

test('a button is answered, and a message without one notes it', async () => {
  const buttons = [{ type: 'primary', content: 'Yes' }]
  const asking = { template: { type: 'in_app', content: 'Well?', cta: { action: { buttons } } } }
  await scene.run(await scene.workflow([asking]), 'dee')
  await scene.run(await scene.workflow([inApp('Plain')]), 'dee')
  const page = await widgetOf('dee')
  const [plain, asked] = await feedOf(page)
  const press = (id: string, type: string) =>
    page.call('POST', `${messages}/${id}/actions/${type}`, {
      body: { executedType: type, status: 'done', payload: {} },
    })
  assert.equal((await press(asked?._id, 'primary')).body.data.cta.action.status, 'done')
  assert.equal((await press(plain?._id, 'primary')).body.data.cta.action.result.type, 'primary')
  assert.equal((await press(asked?._id, 'secondary')).status, 400)
})

test('preferences are read and changed', async () => {
  const page = await widgetOf('eve')
  const preferences = '/v1/widgets/preferences'
  const [{ template, preference }] = await page.data(200, 'GET', preferences)
  assert.equal(preference.channels.in_app, true)
  assert.deepEqual(await page.data(200, 'GET', `${preferences}/template`), await page.data(200, 'GET', preferences))
  const channel = { type: 'in_app', enabled: false }
  const changed = await page.data(200, 'PATCH', `${preferences}/${template._id}`, { channel })
  assert.deepEqual([changed.template._id, changed.preference.channels.in_app], [template._id, false])
  const all = { preferences: [{ type: 'sms', channelType: 'sms', enabled: false }] }
  assert.equal((await page.data(200, 'PATCH', preferences, all)).preference.channels.sms, false)
  const [global] = await page.data(200, 'GET', `${preferences}/global`)
  assert.equal(global.preference.channels.sms, false)
})

test('pages of every origin may call it, and usage reports are accepted', async () => {
  const page = await widgetOf('fay')
  const headers = {
    origin: 'https://shop.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  }
  const preflight = await app.call('OPTIONS', `${messages}/read`, { key: null, headers })
  assert.equal(preflight.headers['access-control-allow-origin'], '*')
  assert.deepEqual(await page.data(201, 'POST', '/v1/widgets/usage/log', { name: 'x', payload: {} }), { success: true })
  assert.deepEqual((await page.data(200, 'GET', '/v1/widgets/organization')).branding, {})
})

test('a session with a context sees its messages only, here too', async () => {
  const workflow = await scene.workflow([inApp('For Acme')])
  await scene.run(workflow, 'gus', { context: { tenant: 'acme' } })
  assert.deepEqual(await feedOf(await widgetOf('gus')), [])
  const page = await inboxOf(app, 'gus', { context: { tenant: 'acme' } })
  assert.equal((await feedOf(page)).length, 1)
})
