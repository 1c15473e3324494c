// Sessions of the inbox: who may open one, what it says, what its token opens, and how it ends.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeJwt, SignJWT } from 'jose'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { hmac, identifierOf, inboxOf, openSession, pageOf } from '../support/inbox-scene.ts'
import { MessageScene } from '../support/message-scene.ts'

let app: TestApp
let development: string
let production: string
before(async () => {
  app = await createTestApp()
  development = await identifierOf(app)
  production = await identifierOf(app, 'Production')
})
after(() => app.close())

const subscriberOf = async (subscriberId: string, key = app.developmentKey): Promise<Json> =>
  (await app.call('GET', `/v2/subscribers/${subscriberId}`, { key })).body

async function setHmac(key: string, hmac: boolean | undefined): Promise<void> {
  const all = (await app.call('GET', '/v1/integrations', { key })).body
  const { _id } = all.find(({ channel }: Json) => channel === 'in_app')
  const credentials = hmac === undefined ? {} : { hmac }
  const reply = await app.call('PUT', `/v1/integrations/${_id}`, { key, body: { credentials } })
  assert.equal(reply.status, 200, reply.text)
}

test('a session of Development says what pages read', async () => {
  const reply = await openSession(app, {
    applicationIdentifier: development,
    subscriber: { subscriberId: 'first', firstName: 'Ada', timezone: 'Europe/Berlin' },
  })
  assert.equal(reply.status, 201, reply.text)
  const { token, ...rest } = reply.body.data
  assert.deepEqual(rest, {
    applicationIdentifier: development,
    totalUnreadCount: 0,
    unreadCount: { total: 0, severity: { high: 0, medium: 0, low: 0, none: 0 } },
    removeNovuBranding: true,
    isDevelopmentMode: true,
    maxSnoozeDurationHours: 8760,
    contextKeys: [],
  })
  const { firstName, timezone } = await subscriberOf('first')
  assert.deepEqual([firstName, timezone], ['Ada', 'Europe/Berlin'])
  const claims = decodeJwt(token)
  assert.deepEqual([claims.aud, claims['subscriberId']], ['widget_user', 'first'])
  assert.equal(Number(claims.exp) - Number(claims.iat), 15 * 24 * 60 * 60)
})

test('the older flat body, a text as subscriber, and a slash at the end are understood', async () => {
  const flat = await openSession(app, {
    applicationIdentifier: development,
    subscriberId: 'flat',
    subscriberHash: null,
  })
  assert.equal(flat.status, 201, flat.text)
  const text = await openSession(app, { applicationIdentifier: development, subscriber: 'text' })
  assert.equal(text.status, 201, text.text)
  const body = { applicationIdentifier: development, subscriberId: 'flat' }
  assert.equal((await app.call('POST', '/v1/inbox/session/', { key: null, body })).status, 201)
})

test('what a browser says of its zone is left out when it is none', async () => {
  const subscriber = { subscriberId: 'strange', timezone: 'Etc/Unknown', locale: '!' }
  const reply = await openSession(app, { applicationIdentifier: development, subscriber })
  assert.equal(reply.status, 201, reply.text)
  assert.equal((await subscriberOf('strange')).timezone, null)
})

test('what is missing is named in the words that clients know', async () => {
  const refused: [object, number, string][] = [
    [
      { subscriber: { subscriberId: 'ada' } },
      422,
      'A valid application identifier is required when providing subscriber information',
    ],
    [{}, 400, 'Please provide a valid application identifier'],
    [{ applicationIdentifier: 'nothing', subscriberId: 'ada' }, 400, 'Please provide a valid application identifier'],
    [{ applicationIdentifier: development }, 422, 'Subscriber ID is required'],
    [{ applicationIdentifier: development, subscriber: { subscriberId: '  ' } }, 422, 'Subscriber ID is required'],
    [{ applicationIdentifier: production, subscriberId: 'ada' }, 400, 'Please provide a valid HMAC hash'],
  ]
  for (const [body, status, message] of refused) {
    const reply = await openSession(app, body)
    assert.deepEqual([reply.status, reply.body.message], [status, message])
  }
  for (const subscriber of [{ subscriberId: 'a', email: 'nobody' }, { subscriberId: 'a\nb' }, 5]) {
    const reply = await openSession(app, { applicationIdentifier: development, subscriber })
    assert.equal(reply.status, 422, JSON.stringify(subscriber))
  }
})

test('Production needs the hash under one of its own keys that may sign, in lower-case hex', async () => {
  const open = (subscriberHash: string) =>
    openSession(app, { applicationIdentifier: production, subscriber: { subscriberId: 'signed' }, subscriberHash })
  const good = hmac(app.productionKey, 'signed')
  const opened = await open(good)
  assert.equal(opened.status, 201, opened.text)
  assert.equal(opened.body.data.isDevelopmentMode, false)
  const wrong = [
    hmac(app.developmentKey, 'signed'),
    hmac(app.productionKey, 'another'),
    good.toUpperCase(),
    `${good} `,
    good.slice(1),
    '',
  ]
  for (const hash of wrong) {
    const reply = await open(hash)
    assert.deepEqual([reply.status, reply.body.message], [400, 'Please provide a valid HMAC hash'], hash)
  }
})

test('a second key signs as well, until it is revoked; one without a copy does not', async () => {
  const make = async (body: object): Promise<Json> =>
    (await app.call('POST', '/v1/environments/api-keys', { key: app.productionKey, body })).body
  const [second, plain] = [await make({ signing: true }), await make({})]
  const reply = (key: string) =>
    openSession(app, {
      applicationIdentifier: production,
      subscriberId: 'second',
      subscriberHash: hmac(key, 'second'),
    })
  const open = async (key: string): Promise<number> => (await reply(key)).status
  assert.equal(await open(second.key), 201)
  const { status, body } = await reply(plain.key)
  assert.equal(status, 400)
  assert.match(body.message, /^Please provide a valid HMAC hash: .* Keys created without `--signing` have no copy/)
  const revoke = ({ _id }: Json) => app.call('DELETE', `/v1/environments/api-keys/${_id}`, { key: app.productionKey })
  await revoke(second)
  assert.equal(await open(second.key), 400)
  await revoke(plain)
  assert.equal((await reply(plain.key)).body.message, 'Please provide a valid HMAC hash')
})

test('where no key may sign, the error says so and what to do', async (t) => {
  const other = await createTestApp()
  t.after(() => other.close())
  await other.database.db.run(sql`update api_keys set sealed_key = null`)
  const reply = await openSession(other, {
    applicationIdentifier: await identifierOf(other, 'Production'),
    subscriberId: 'ada',
    subscriberHash: hmac(other.productionKey, 'ada'),
  })
  assert.equal(reply.status, 400)
  assert.match(reply.body.message, /^Please provide a valid HMAC hash: no API key .* `posthorn keys create --signing`/)
})

test('hmac: false opens Production without a hash, hmac: true closes Development, and saying nothing does neither', async (t) => {
  t.after(() => setHmac(app.productionKey, undefined))
  t.after(() => setHmac(app.developmentKey, undefined))
  const status = async (applicationIdentifier: string): Promise<number> =>
    (await openSession(app, { applicationIdentifier, subscriberId: 'switched' })).status
  assert.deepEqual([await status(production), await status(development)], [400, 201])
  await setHmac(app.productionKey, false)
  await setHmac(app.developmentKey, true)
  assert.deepEqual([await status(production), await status(development)], [201, 400])
})

test('a subscriber who exists is changed by a signed request only', async () => {
  const open = (firstName: string, subscriberHash?: string) =>
    openSession(app, {
      applicationIdentifier: development,
      subscriber: { subscriberId: 'kept', firstName },
      subscriberHash,
    })
  assert.equal((await open('First')).status, 201)
  assert.equal((await open('Second')).status, 201)
  assert.equal((await subscriberOf('kept')).firstName, 'First')
  assert.equal((await open('Third', hmac('wrong', 'kept'))).status, 201)
  assert.equal((await subscriberOf('kept')).firstName, 'First')
  assert.equal((await open('Fourth', hmac(app.developmentKey, 'kept'))).status, 201)
  assert.equal((await subscriberOf('kept')).firstName, 'Fourth')
})

test('a context needs its own hash where hashes are needed, and is made where it is unknown', async () => {
  const context = { tenant: 'acme', app: { id: 'jira', data: { plan: 'pro' } } }
  const text = '{"app":{"data":{"plan":"pro"},"id":"jira"},"tenant":"acme"}'
  const open = (contextHash: string | undefined, given: object = context) =>
    openSession(app, {
      applicationIdentifier: production,
      subscriberId: 'contextual',
      subscriberHash: hmac(app.productionKey, 'contextual'),
      context: given,
      contextHash,
    })
  for (const hash of [undefined, hmac(app.productionKey, 'other'), hmac(app.developmentKey, text)]) {
    const reply = await open(hash)
    assert.deepEqual([reply.status, reply.body.message], [400, 'Please provide a valid context HMAC hash'])
  }
  assert.equal((await open(hmac(app.productionKey, text), { ...context, tenant: 'other' })).status, 400)
  const reply = await open(hmac(app.productionKey, text))
  assert.deepEqual(reply.body.data?.contextKeys, ['app:jira', 'tenant:acme'], reply.text)
  const made = await app.call('GET', '/v2/contexts/app/jira', { key: app.productionKey })
  assert.deepEqual([made.status, made.body.data], [200, { plan: 'pro' }])
  for (const wrong of [{ a: 1 }, { 'a b': 'c' }, { a: 'b', b: 'b', c: 'b', d: 'b', e: 'b', f: 'b' }]) {
    assert.equal(
      (await openSession(app, { applicationIdentifier: development, subscriberId: 'x', context: wrong })).status,
      422,
    )
  }
})

test('the page’s hours become those of a subscriber who has none', async () => {
  const hours = (start: string) => ({
    isEnabled: true,
    weeklySchedule: { monday: { isEnabled: true, hours: [{ start, end: '05:00 PM' }] } },
  })
  const open = (defaultSchedule: object) =>
    openSession(app, { applicationIdentifier: development, subscriberId: 'hours', defaultSchedule })
  assert.deepEqual((await open(hours('09:00 AM'))).body.data.schedule, hours('09:00 AM'))
  assert.deepEqual((await open(hours('10:00 AM'))).body.data.schedule, hours('09:00 AM'))
  for (const wrong of [
    { isEnabled: true, weeklySchedule: {} },
    { isEnabled: true, weeklySchedule: { someday: { isEnabled: true } } },
    hours('25:00 AM'),
  ]) {
    assert.equal((await open(wrong)).status, 422, JSON.stringify(wrong))
  }
})

test('the counts are of what is unread, by severity', async () => {
  const scene = await MessageScene.of(app, ['counted'])
  await scene.say('counted', { event: { severity: 'high' } })
  await scene.say('counted')
  const { session } = await inboxOf(app, 'counted')
  assert.equal(session.totalUnreadCount, 2)
  assert.deepEqual(session.unreadCount, { total: 2, severity: { high: 1, medium: 0, low: 0, none: 1 } })
})

test('a token opens the inbox and nothing else; a key does not open the inbox', async () => {
  const page = await inboxOf(app, 'opener')
  assert.equal((await page.call('GET', '/notifications')).status, 200)
  for (const scheme of ['Bearer', 'ApiKey']) {
    const headers = { authorization: `${scheme} ${page.token}` }
    for (const path of ['/v2/subscribers/opener', '/v1/environments/me', '/v1/messages']) {
      assert.equal((await app.call('GET', path, { key: null, headers })).status, 401, `${scheme} ${path}`)
    }
    const asKey = { authorization: `${scheme} ${app.developmentKey}` }
    assert.equal((await app.call('GET', '/v1/inbox/notifications', { key: null, headers: asKey })).status, 401)
  }
  assert.equal((await app.call('GET', '/v1/inbox/notifications', { key: null })).status, 401)
})

test('tokens that are forged, foreign, expired or of someone gone are refused, and never repeated', async () => {
  const page = await inboxOf(app, 'goes')
  const [header = '', payload = '', signature = ''] = page.token.split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  const claiming = (more: object): string => Buffer.from(JSON.stringify({ ...claims, ...more })).toString('base64url')
  const unsigned = Buffer.from('{"alg":"none"}').toString('base64url')
  const foreign = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.alloc(32, 7))
  const other = (await inboxOf(app, 'stays')).token.split('.')
  const forged = [
    `${header}.${claiming({ contextKeys: ['a:b'] })}.${signature}`,
    `${header}.${claiming({ _id: JSON.parse(Buffer.from(other[1] ?? '', 'base64url').toString())._id })}.${signature}`,
    `${header}.${claiming({ environmentId: '0199c0de-0000-7000-8000-000000000000' })}.${signature}`,
    `${header}.${payload}.${other[2]}`,
    `${unsigned}.${payload}.`,
    foreign,
    `${page.token}x`,
    'x'.repeat(10_000),
    'nonsense',
  ]
  for (const token of forged) {
    const reply = await pageOf(app, { token }).call('GET', '/notifications')
    assert.deepEqual([reply.status, reply.body.message], [401, 'Unauthorized'], token.slice(0, 40))
    assert.equal(reply.text.includes(token), false)
  }
  assert.equal((await page.call('GET', '/notifications')).status, 200)
  await app.call('DELETE', '/v2/subscribers/goes')
  app.world.advance(1_000)
  assert.equal((await page.call('GET', '/notifications')).status, 401)
  const again = await inboxOf(app, 'goes')
  assert.equal((await again.call('GET', '/notifications')).status, 200)
  assert.equal((await page.call('GET', '/notifications')).status, 401, 'whoever has the id now is another')
  app.world.advance(15 * 24 * 60 * 60 * 1000 + 1_000)
  assert.equal((await again.call('GET', '/notifications')).status, 401)
})

test('a subscriber’s sessions are revoked at once and for good; others’ continue', async () => {
  const [page, other] = [await inboxOf(app, 'revoked'), await inboxOf(app, 'not-revoked')]
  assert.equal((await page.call('GET', '/notifications')).status, 200)
  assert.equal((await app.call('DELETE', '/v2/subscribers/revoked/sessions')).status, 204)
  const again = await inboxOf(app, 'revoked')
  assert.equal((await again.call('GET', '/notifications')).status, 200)
  app.world.advance(1_000)
  assert.equal((await page.call('GET', '/notifications')).status, 401)
  assert.equal((await again.call('GET', '/notifications')).status, 200)
  assert.equal((await other.call('GET', '/notifications')).status, 200)
  assert.equal((await app.call('DELETE', '/v2/subscribers/nobody-at-all/sessions')).status, 404)
  assert.equal((await app.call('DELETE', '/v2/subscribers/revoked/sessions', { key: app.productionKey })).status, 404)
})

test('revoked sessions end where the clock is set back, too, and all of them with their environment', async () => {
  const page = await inboxOf(app, 'set-back')
  assert.equal((await page.call('GET', '/notifications')).status, 200)
  assert.equal((await app.call('DELETE', '/v2/subscribers/set-back/sessions')).status, 204)
  app.world.advance(-60_000)
  assert.equal((await page.call('GET', '/notifications')).status, 401)
  app.world.advance(60_000)
  const made = (await app.call('POST', '/v1/environments', { body: { name: 'Brief', color: '#ff8800' } })).body
  const [{ key }] = made.apiKeys
  assert.equal((await app.call('POST', '/v1/subscribers', { key, body: { subscriberId: 'brief' } })).status, 201)
  await setHmac(key, false)
  const applicationIdentifier = await identifierOf(app, 'Brief')
  const opened = await openSession(app, { applicationIdentifier, subscriber: { subscriberId: 'brief' } })
  assert.equal(opened.status, 201, opened.text)
  const brief = pageOf(app, opened.body.data)
  assert.equal((await brief.call('GET', '/notifications')).status, 200)
  const gone = await app.call('DELETE', `/v1/environments/${made._id}?confirm=Brief`, { key })
  assert.equal(gone.status, 200, gone.text)
  app.world.advance(1_000)
  assert.equal((await brief.call('GET', '/notifications')).status, 401)
})

test('without an active in-app integration there is no inbox', async (t) => {
  const other = await createTestApp()
  t.after(() => other.close())
  await other.database.db.run(sql`update integrations set active = false where channel = 'in_app'`)
  const reply = await openSession(other, { applicationIdentifier: await identifierOf(other), subscriberId: 'ada' })
  assert.deepEqual([reply.status, reply.body.message], [404, 'The active in-app integration could not be found'])
})

test('pages of any origin may call the inbox, and nothing else unless it is configured', async () => {
  const headers = {
    origin: 'https://shop.example',
    'access-control-request-method': 'PATCH',
    'access-control-request-headers': 'authorization,content-type,novu-client-version',
  }
  for (const path of ['/v1/inbox/session', '/v1/inbox/notifications/x/read', '/v1/inbox/session/']) {
    const reply = await app.call('OPTIONS', path, { key: null, headers })
    assert.equal(reply.status, 204, path)
    assert.equal(reply.headers['access-control-allow-origin'], '*')
    assert.match(String(reply.headers['access-control-allow-methods']), /PATCH/)
    assert.equal(reply.headers['access-control-allow-headers'], headers['access-control-request-headers'])
    assert.equal(reply.headers['access-control-max-age'], '86400')
  }
  const refused = await app.call('GET', '/v1/inbox/notifications', { key: null, headers: { origin: headers.origin } })
  assert.deepEqual([refused.status, refused.headers['access-control-allow-origin']], [401, '*'])
  const preflight = await app.call('OPTIONS', '/v2/subscribers', { key: null, headers })
  assert.deepEqual([preflight.status, preflight.headers['access-control-allow-origin']], [404, undefined])
  const plain = await app.call('GET', '/v2/subscribers', { headers: { origin: headers.origin } })
  assert.deepEqual(
    [plain.status, plain.headers['access-control-allow-origin'], plain.headers['vary']],
    [200, undefined, undefined],
  )
})
