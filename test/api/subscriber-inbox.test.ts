// A subscriber's inbox by an API key: /v2/subscribers/{subscriberId}/notifications, the list, counts, bulk marks and buttons.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Novu } from '@novu/api'
import { ErrorDto } from '@novu/api/models/errors/index.js'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { inboxOf } from '../support/inbox-scene.ts'
import { MessageScene } from '../support/message-scene.ts'

let app: TestApp
let novu: Novu
let scene: MessageScene
before(async () => {
  app = await createTestApp({ vendor: 'novu' })
  const serverURL = await app.app.listen({ port: 0, host: '127.0.0.1' })
  novu = new Novu({ secretKey: app.developmentKey, serverURL, retryConfig: { strategy: 'none' } })
  scene = await MessageScene.of(app, ['ada', 'grace', 'carl', 'dora', 'eve'])
})
after(() => app.close())

const action = { status: 'pending', buttons: [{ type: 'primary', content: 'Yes' }] } as const
const withButton = { cta: { type: 'redirect', data: { url: '/x' }, action } } as const
const pathOf = (subscriberId: string): string => `/v2/subscribers/${subscriberId}/notifications`
const listed = async (subscriberId: string, query = ''): Promise<string[]> => {
  const reply = await app.call('GET', `${pathOf(subscriberId)}?${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data.map((one: { id: string }) => one.id)
}

test('the client lists, counts, marks, answers a button and deletes', async () => {
  const { notifications } = novu.subscribers
  const first = await scene.say('ada', { draft: { ...withButton, data: { orderId: 7 } }, event: { severity: 'high' } })
  const second = await scene.say('ada')
  const subscriberId = 'ada'
  const page = await notifications.list({ subscriberId, limit: 1, severity: ['high', 'none'], data: '{}' })
  assert.deepEqual(
    page.result.data.map(({ id }) => id),
    [second.id],
  )
  assert.equal(page.result.hasMore, true)
  const next = await notifications.list({ subscriberId, after: second.id, data: '{"orderId": 7}', read: false })
  assert.equal(next.result.data[0]?.primaryAction?.isCompleted, false)
  const counts = await notifications.count(subscriberId, '[{"read": false}, {"severity": "high"}, {"archived": true}]')
  assert.deepEqual(
    counts.result.map(({ count }) => count),
    [2, 1, 0],
  )
  assert.deepEqual(counts.result[1]?.filter, { severity: 'high' })
  await notifications.markAsSeen({ notificationIds: [first.id] }, subscriberId)
  assert.deepEqual(await listed('ada', 'seen=true'), [first.id])
  await notifications.markAllAsRead({ tags: {}, data: '{"orderId": 7}' }, subscriberId)
  assert.deepEqual(await listed('ada', 'read=true'), [first.id])
  await notifications.archiveAllRead({}, subscriberId)
  assert.deepEqual(await listed('ada', 'archived=true'), [first.id])
  const named = { subscriberId, notificationId: first.id, actionType: 'primary' } as const
  assert.equal((await notifications.completeAction(named)).result.primaryAction?.isCompleted, true)
  assert.equal((await notifications.revertAction(named)).result.primaryAction?.isCompleted, false)
  await assert.rejects(notifications.completeAction({ ...named, actionType: 'secondary' }), ErrorDto)
  await notifications.archiveAll({}, subscriberId)
  assert.deepEqual(await listed('ada', 'archived=true'), [second.id, first.id])
  await notifications.delete({ subscriberId, notificationId: first.id })
  await assert.rejects(notifications.delete({ subscriberId, notificationId: first.id }), ErrorDto)
  await notifications.deleteAll({}, subscriberId)
  assert.deepEqual(await listed('ada'), [])
})

test('without contextKeys all contexts are meant, with them exactly these, and with none those without', async () => {
  const plain = await scene.say('grace')
  const inContext = await scene.say('grace', { message: { contextKeys: ['app:web', 'tenant:acme'] } })
  assert.deepEqual(await listed('grace'), [inContext.id, plain.id])
  assert.deepEqual(await listed('grace', 'contextKeys=tenant:acme&contextKeys=app:web'), [inContext.id])
  assert.deepEqual(await listed('grace', 'contextKeys='), [plain.id])
  assert.deepEqual(await listed('grace', 'contextKeys=app:web'), [])
  const read = (body: object) => app.call('POST', `${pathOf('grace')}/read`, { body })
  assert.equal((await read({ contextKeys: ['app:web', 'tenant:acme'] })).status, 204)
  assert.deepEqual(await listed('grace', 'read=true'), [inContext.id])
  const outside = await app.call('DELETE', `${pathOf('grace')}/${plain.id}?contextKeys=app:web`)
  assert.equal(outside.status, 404)
  assert.equal((await app.call('GET', `${pathOf('grace')}?contextKeys=web`)).status, 422)
})

test('another subscriber’s notifications are unknown, and their inbox is unchanged', async () => {
  const { id } = await scene.say('carl', { draft: withButton })
  const paths = [`${id}/actions/primary/complete`, `${id}/actions/primary/revert`]
  for (const path of paths) assert.equal((await app.call('PATCH', `${pathOf('dora')}/${path}`)).status, 404)
  assert.equal((await app.call('DELETE', `${pathOf('dora')}/${id}`)).status, 404)
  assert.equal((await app.call('GET', `${pathOf('dora')}?after=${id}`)).status, 400)
  const seen = await app.call('POST', `${pathOf('dora')}/seen`, { body: { notificationIds: [id, 'x'] } })
  assert.equal(seen.status, 204)
  const none = await app.call('POST', `${pathOf('carl')}/seen`, { body: { notificationIds: [] } })
  assert.equal(none.status, 204)
  for (const verb of ['read', 'archive', 'read-archive', 'delete', 'seen']) {
    assert.equal((await app.call('POST', `${pathOf('dora')}/${verb}`, { body: {} })).status, 204, verb)
    assert.equal((await app.call('POST', `${pathOf('unknown')}/${verb}`, { body: {} })).status, 404, verb)
  }
  assert.deepEqual(await listed('carl', 'seen=false&read=false&archived=false'), [id])
  for (const path of ['', '/count?filters=[]']) {
    assert.equal((await app.call('GET', `${pathOf('unknown')}${path}`)).status, 404)
  }
})

test('bad input is refused with 4xx', async () => {
  const bad = [
    ['GET', '?limit=101'],
    ['GET', '?read=maybe'],
    ['GET', '?data={'],
    ['GET', '?read=false&archived=true'],
    ['GET', '?after=x'],
    ['GET', '/count'],
    ['GET', '/count?filters={}'],
    ['GET', `/count?filters=${encodeURIComponent(JSON.stringify(Array.from({ length: 31 }, () => ({}))))}`],
    ['POST', '/read', { tags: 'a' }],
    ['POST', '/archive', { data: '{' }],
    ['POST', '/seen', { notificationIds: Array.from({ length: 101 }, String) }],
    ['PATCH', '/x/actions/tertiary/complete'],
    ['PATCH', '/x/actions/primary/complete'],
  ] as const
  for (const [method, path, body] of bad) {
    const reply = await app.call(method, `${pathOf('dora')}${path}`, body === undefined ? {} : { body })
    assert.ok(reply.status >= 400 && reply.status < 500, `${method} ${path}: ${reply.status} ${reply.text}`)
  }
})

test('a repeat with the same idempotency key changes nothing that came since', async () => {
  const first = await scene.say('dora')
  const headers = { 'idempotency-key': 'archive-once' }
  const archive = () => app.call('POST', `${pathOf('dora')}/archive`, { body: {}, headers })
  assert.equal((await archive()).status, 204)
  const second = await scene.say('dora')
  assert.equal((await archive()).headers['idempotency-replay'], 'true')
  assert.deepEqual(await listed('dora', 'archived=false'), [second.id])
  assert.deepEqual(await listed('dora', 'archived=true'), [first.id])
})

test('the subscriber’s own page sees what the key changed', async () => {
  const { id } = await scene.say('eve')
  const page = await inboxOf(app, 'eve')
  const unread = () => page.call('GET', `/notifications/count?filters=${encodeURIComponent('[{"read":false}]')}`)
  assert.equal((await unread()).body.data[0].count, 1)
  assert.equal((await app.call('POST', `${pathOf('eve')}/read`, { body: {} })).status, 204)
  assert.equal((await unread()).body.data[0].count, 0)
  assert.equal((await app.call('DELETE', `${pathOf('eve')}/${id}`)).status, 204)
  assert.equal((await page.call('GET', '/notifications')).body.data.length, 0)
})
