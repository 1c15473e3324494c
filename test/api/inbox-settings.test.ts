// What an installation sets for its inboxes: whose pages may call, and how long a session lasts.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { WebSocket } from 'ws'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { inboxOf, openSession, pageOf } from '../support/inbox-scene.ts'
import { addressOf } from '../support/stream-scene.ts'

const own = 'https://shop.example'
const ofApp = 'capacitor://localhost'
const others = ['https://elsewhere.example', 'ionic://localhost', 'capacitor://localhost.elsewhere.example', 'null']

let app: TestApp
before(async () => {
  app = await createTestApp({ inboxOrigins: [own, ofApp], inboxSessionDays: 2 })
})
after(() => app.close())

test('where origins are named, pages of others get no leave from the browser', async () => {
  const leave = async (origin: string, method: string, path: string): Promise<unknown> => {
    const headers = { origin, ...(method === 'OPTIONS' ? { 'access-control-request-method': 'PATCH' } : {}) }
    return (await app.call(method, path, { key: null, headers })).headers['access-control-allow-origin']
  }
  const calls = [
    ['OPTIONS', '/v1/inbox/notifications/x/read'],
    ['OPTIONS', '/v1/widgets/session/initialize'],
    ['GET', '/v1/inbox/notifications'],
    ['GET', '/v1/inbox/stream'],
    ['GET', '/v1/inbox/ws'],
  ] as const
  for (const [method, path] of calls) {
    for (const origin of [own, ofApp]) assert.equal(await leave(origin, method, path), origin, path)
    for (const other of others) assert.equal(await leave(other, method, path), undefined, path)
  }
  assert.equal(
    await leave('https://elsewhere.example', 'GET', '/inbox/client.js'),
    '*',
    'the script holds nothing of anyone',
  )
})

test('sockets of pages of other origins are 403; apps name no origin', async (t) => {
  const address = (await addressOf(app)).replace('http', 'ws')
  const { token } = await inboxOf(app, 'ada')
  const open = (path: string, origin: string | undefined): WebSocket => {
    const socket = new WebSocket(`${address}${path}?token=${token}&EIO=4&transport=websocket`, {
      ...(origin === undefined ? {} : { origin }),
    })
    t.after(() => socket.terminate())
    return socket
  }
  for (const path of ['/v1/inbox/ws', '/socket.io/']) {
    for (const origin of [own, ofApp, undefined]) await once(open(path, origin), 'open')
    for (const other of others) {
      const [error] = await once(open(path, other), 'error')
      assert.match(error.message, /403/)
    }
  }
})

test('where unknown members are refused, what public clients send is not among them', async (t) => {
  const strict = await createTestApp({ unknownMembers: 'refuse', inboxDemo: 'on' })
  t.after(() => strict.close())
  const page = await inboxOf(strict, 'strict')
  assert.equal((await page.call('PATCH', '/preferences', { body: { email: false, tool: true } })).status, 200)
  assert.equal((await page.call('PATCH', '/preferences', { body: { email: false, tools: true } })).status, 422)
  const demo = pageOf(strict, (await openSession(strict, { subscriber: { subscriberId: '' } })).body.data)
  const buttons = { primaryActionText: 'A', primaryActionUrl: '/a', secondaryActionText: 'B', secondaryActionUrl: '/b' }
  const body = {
    name: 'hello-world',
    to: { subscriberId: 'keyless-subscriber-id' },
    payload: { subject: 'Hello', body: 'World', ...buttons },
  }
  assert.equal((await demo.call('POST', '/events', { body })).status, 201)
})

test('a session lasts as many days as are set', async () => {
  const page = await inboxOf(app, 'brief')
  const dayMs = 24 * 60 * 60 * 1000
  app.world.advance(2 * dayMs - 5_000)
  assert.equal((await page.call('GET', '/notifications')).status, 200)
  app.world.advance(10_000)
  assert.equal((await page.call('GET', '/notifications')).status, 401)
})
