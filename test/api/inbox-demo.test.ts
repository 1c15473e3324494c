// The demo inbox of Development, and the files that pages load.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { inboxOf, openSession, pageOf } from '../support/inbox-scene.ts'

let app: TestApp
let everywhere: TestApp
before(async () => {
  app = await createTestApp({ works: true, inboxDemo: 'local' })
  everywhere = await createTestApp({ nodeOf: app, inboxDemo: 'on' })
})
after(async () => {
  await everywhere.close()
  await app.close()
})

test('a page without identifiers opens the demo inbox and sends itself a notification', async () => {
  const reply = await openSession(app, {})
  assert.equal(reply.status, 201, reply.text)
  const { applicationIdentifier, isDevelopmentMode } = reply.body.data
  assert.match(applicationIdentifier, /^pk_keyless_/)
  assert.equal(isDevelopmentMode, true)
  const page = pageOf(app, reply.body.data)
  const payload = { subject: 'Hi', body: 'First' }
  for (let sent = 0; sent < 2; sent += 1) await page.data(201, 'POST', '/events', { name: 'hello-world', payload })
  await app.pipeline.work()
  const listed = await page.data(200, 'GET', '/notifications')
  assert.deepEqual([listed.length, listed[0].subject, listed[0].body], [2, 'Hi', 'First'])
  // As public clients come back: with what they were given.
  const again = await openSession(app, { applicationIdentifier, subscriber: { subscriberId: '' } })
  assert.equal(again.body.data.unreadCount.total, 2)
})

test('other inboxes send themselves nothing, and other identifiers open nothing', async () => {
  const page = await inboxOf(app, 'ada')
  assert.equal((await page.call('POST', '/events', { body: { payload: {} } })).status, 403)
  assert.equal((await openSession(app, { subscriberId: 'ada' })).status, 422)
  assert.equal((await openSession(app, { applicationIdentifier: 'nothing' })).status, 400)
})

test('only callers on this machine are let in, unless it is switched on', async () => {
  const session = { method: 'POST', url: '/v1/inbox/session', payload: {} } as const
  const page = { method: 'GET', url: '/demo/inbox' } as const
  const callers = [
    [{ remoteAddress: '127.0.0.1' }, 201, 200],
    [{ remoteAddress: '::1', headers: { host: '[::1]:3000' } }, 201, 200],
    [{ remoteAddress: '192.0.2.7' }, 400, 404],
    [{ headers: { 'x-forwarded-for': '192.0.2.7' } }, 400, 404],
    [{ headers: { host: 'rebound.example' } }, 400, 404],
  ] as const
  for (const [from, sessionStatus, pageStatus] of callers) {
    assert.equal((await app.app.inject({ ...session, ...from })).statusCode, sessionStatus, JSON.stringify(from))
    assert.equal((await app.app.inject({ ...page, ...from })).statusCode, pageStatus, JSON.stringify(from))
  }
  for (const [from] of callers) {
    assert.equal((await everywhere.app.inject({ ...session, ...from })).statusCode, 201, JSON.stringify(from))
  }
})

test('the script and the client are served to pages of every origin, compressed, and once for each visitor', async () => {
  for (const url of ['/inbox.js', '/inbox/client.js']) {
    const plain = await app.app.inject({ url, headers: { origin: 'https://shop.example' } })
    assert.equal(plain.statusCode, 200)
    assert.match(String(plain.headers['content-type']), /^text\/javascript/)
    assert.equal(plain.headers['access-control-allow-origin'], '*')
    assert.equal(plain.headers['cross-origin-resource-policy'], 'cross-origin')
    const zipped = await app.app.inject({ url, headers: { 'accept-encoding': 'br, gzip' } })
    assert.equal(zipped.headers['content-encoding'], 'gzip')
    assert.deepEqual(gunzipSync(zipped.rawPayload), plain.rawPayload)
    const again = await app.app.inject({ url, headers: { 'if-none-match': String(plain.headers['etag']) } })
    assert.deepEqual([again.statusCode, again.body], [304, ''])
  }
})
