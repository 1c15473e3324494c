// Signing in by an identity provider, against a real one on loopback: who gets in, who does not, and what cannot be replayed.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { nilId } from '../../src/domain/nil-id.ts'
import type { TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { logOf } from '../support/audit-scene.ts'
import type { Account } from '../support/identity-provider.ts'
import { IdentityProvider, oidcClient } from '../support/identity-provider.ts'
import { UserScene } from '../support/user-scene.ts'

const home = 'http://localhost:3000'
const path = '/v1/dashboard/oidc'
const ada: Account = { sub: 'subject-of-ada', email: 'Ada@example.com', email_verified: true, name: 'Ada Lovelace' }

let provider: IdentityProvider
let app: TestApp
/** A second node, at which unknown people become viewers. */
let open: TestApp
let scene: UserScene
before(async () => {
  provider = await IdentityProvider.start(`${home}${path}/callback`)
  const oidc = { issuer: provider.issuer, ...oidcClient, name: 'Example Corp', domains: ['example.com'] }
  app = await createTestApp({ oidc: { ...oidc, defaultRole: 'none' } })
  open = await createTestApp({ nodeOf: app, oidc: { ...oidc, defaultRole: 'viewer' } })
  app.world.onFetch = async (request, options) => {
    assert.equal(options.reach, 'operator')
    const answer = await fetch(request)
    return { status: answer.status, headers: answer.headers, body: await answer.text() }
  }
  scene = new UserScene(app)
})
after(async () => {
  await open.close()
  await app.close()
  await provider.close()
})
beforeEach(() => {
  provider.account = ada
  // Every refusal counts against the one address of these tests.
  app.world.advance(20_000)
})

const cookiesIn = (reply: TestReply): string[] => [reply.headers['set-cookie'] ?? []].flat().map(String)

async function begun(at = app, query = ''): Promise<{ url: string; cookie: string }> {
  const reply = await at.call('GET', `${path}/start${query}`, { key: null })
  assert.equal(reply.status, 302, reply.text)
  const [cookie = ''] = cookiesIn(reply)
  assert.match(cookie, /; Max-Age=600; Path=\/v1\/dashboard\/oidc; HttpOnly; SameSite=Lax$/)
  return { url: String(reply.headers['location']), cookie: cookie.split(';')[0] ?? '' }
}
const back = (callback: string, cookie: string, at = app): Promise<TestReply> =>
  at.call('GET', callback.slice(home.length), { key: null, headers: { cookie } })
async function signedIn(at = app, query = ''): Promise<TestReply> {
  const { url, cookie } = await begun(at, query)
  return back(await provider.visit(url), cookie, at)
}
function refusedFor(reply: TestReply, reason: string): void {
  assert.equal(reply.status, 302)
  assert.equal(reply.headers['location'], `/sign-in?error=${reason}`)
  assert.ok(
    cookiesIn(reply).every((cookie) => cookie.startsWith('posthorn_oidc=; Max-Age=0')),
    'no session was opened',
  )
}
const sealer = () => app.world.sealer
const opened = (cookie: string) =>
  JSON.parse(sealer().open(nilId, 'oidc-state', nilId, Buffer.from(cookie.split('=')[1] ?? '', 'base64url')))
const sealed = (waiting: object): string =>
  `posthorn_oidc=${sealer().seal(nilId, 'oidc-state', nilId, JSON.stringify(waiting)).toString('base64url')}`

test('the sign-in page knows the provider; its address carries PKCE, state and nonce', async () => {
  assert.equal((await app.call('GET', '/v1/dashboard/sign-in', { key: null })).body.oidc, 'Example Corp')
  const { searchParams } = new URL((await begun()).url)
  assert.deepEqual(
    ['response_type', 'client_id', 'code_challenge_method', 'redirect_uri'].map((name) => searchParams.get(name)),
    ['code', 'posthorn', 'S256', `${home}${path}/callback`],
  )
  for (const name of ['code_challenge', 'state', 'nonce']) assert.ok((searchParams.get(name) ?? '').length > 40, name)
})

test('someone without a user is refused; whom an owner invited is linked by the verified address', async () => {
  refusedFor(await signedIn(), 'unknown')
  const { id } = await scene.invited('ada@example.com', 'editor')
  const reply = await signedIn(app, '?to=/development/activity%3Fa=1')
  assert.equal(reply.headers['location'], '/development/activity?a=1')
  const person = scene.caller(id, {
    ...reply,
    headers: { 'set-cookie': cookiesIn(reply).filter((one) => one.startsWith('posthorn_session_')) },
  })
  assert.equal(person.cookies.size, 2)
  assert.equal((await person.call('POST', '/v1/feeds', { body: { name: 'By OIDC' } })).status, 201)
  assert.equal((await person.call('GET', '/v1/audit')).status, 403)
  const entries = (await logOf(app)).filter((one) => one.keyId === `user:${id}`)
  assert.deepEqual(
    entries.map(({ action, resourceKind }) => [action, resourceKind]),
    [
      ['change', 'user'],
      ['create', 'feed'],
    ],
  )
  assert.deepEqual(entries[0].after.signsInBy, ['oidc'])
})

test('from then on the subject counts: another address of the same person gets in, another person with the address does not', async () => {
  provider.account = { ...ada, email: 'ada.king@example.com' }
  assert.equal((await signedIn()).headers['location'], '/')
  provider.account = { ...ada, sub: 'someone-else' }
  refusedFor(await signedIn(), 'unknown')
  refusedFor(await signedIn(open), 'unknown')
})

test('an address that is not verified, or of another domain, is refused', async () => {
  provider.account = { ...ada, email_verified: false }
  refusedFor(await signedIn(), 'unverified')
  const { email: _none, ...rest } = ada
  provider.account = rest
  refusedFor(await signedIn(), 'unverified')
  for (const email of ['ada@elsewhere.example', 'ada@notexample.com', 'ada@sub.example.com']) {
    provider.account = { sub: email, email, email_verified: true }
    refusedFor(await signedIn(open), 'domain')
  }
})

test('who declines at the provider comes back with that', async () => {
  provider.account = undefined
  refusedFor(await signedIn(), 'denied')
})

test('a default role lets unknown people in, once as a new user and then as that user', async () => {
  provider.account = { sub: 'subject-of-grace', email: 'grace@example.com', email_verified: true, name: 'Grace Hopper' }
  for (const _time of [1, 2]) assert.equal((await signedIn(open)).headers['location'], '/')
  const found = (await logOf(app)).filter((one) => one.resourceName === 'grace@example.com')
  assert.equal(found.length, 1)
  const { keyName, after: made } = found[0]
  assert.deepEqual([keyName, made.role], ['Grace Hopper (grace@example.com)', 'viewer'])
})

test('a disabled user is refused, whatever the provider says', async () => {
  const owner = await scene.person('owner@example.com', 'owner')
  const { data } = (await owner.call('GET', '/v1/users?limit=100')).body
  const id = data.find((one: { email: string }) => one.email === 'ada@example.com')._id
  assert.equal((await owner.call('PATCH', `/v1/users/${id}`, { body: { disabled: true } })).status, 200)
  refusedFor(await signedIn(), 'disabled')
  refusedFor(await signedIn(open), 'disabled')
  await owner.call('PATCH', `/v1/users/${id}`, { body: { disabled: false } })
  assert.equal((await signedIn()).headers['location'], '/')
})

test('another state, another nonce, another verifier, another browser and a changed cookie are refused', async () => {
  const { url, cookie } = await begun()
  const waiting = opened(cookie)
  const callsBefore = provider.tokenCalls
  const callback = await provider.visit(url)
  refusedFor(await back(callback, ''), 'expired')
  refusedFor(await back(callback, (await begun()).cookie), 'provider')
  refusedFor(await back(callback, sealed({ ...waiting, state: 'x'.repeat(43) })), 'provider')
  refusedFor(await back(callback.replace(/state=[^&]+/, 'state=x'), cookie), 'provider')
  refusedFor(await back(callback.replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fevil.example'), cookie), 'provider')
  refusedFor(
    await back(
      callback,
      cookie.replace(/.(?=.{9}$)/, (one) => (one === 'A' ? 'B' : 'A')),
    ),
    'expired',
  )
  assert.equal(provider.tokenCalls, callsBefore, 'the code was not even shown to the provider')
  refusedFor(await back(callback, sealed({ ...waiting, nonce: 'x'.repeat(43) })), 'provider')
  const second = await begun()
  const other = await provider.visit(second.url)
  refusedFor(await back(other, sealed({ ...opened(second.cookie), verifier: 'x'.repeat(43) })), 'provider')
})

test('a code is good once, and a sign-in has ten minutes', async () => {
  const { url, cookie } = await begun()
  const callback = await provider.visit(url)
  assert.equal((await back(callback, cookie)).headers['location'], '/')
  refusedFor(await back(callback, cookie), 'provider')
  const late = await begun()
  const answer = await provider.visit(late.url)
  app.world.advance(10 * 60_000)
  refusedFor(await back(answer, late.cookie), 'expired')
})

test('pages of others are not gone to, and what cannot be read is no page', async () => {
  for (const to of [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    'development',
    `/${'a'.repeat(600)}`,
  ]) {
    assert.equal((await signedIn(app, `?to=${encodeURIComponent(to)}`)).headers['location'], '/', to)
  }
})

test('a provider that does not answer refuses, and is asked again with the next sign-in', async () => {
  const { onFetch } = app.world
  // Past the hour for which it is known.
  app.world.advance(61 * 60_000)
  app.world.onFetch = () => ({ status: 503, headers: new Headers(), body: '' })
  refusedFor(await app.call('GET', `${path}/start`, { key: null }), 'provider')
  app.world.onFetch = onFetch
  assert.equal((await signedIn()).headers['location'], '/')
})

test('who is refused often is not let through to the provider any more', async () => {
  let status = 302
  for (let tries = 0; tries < 70 && status === 302; tries += 1) {
    status = (await app.call('GET', `${path}/callback?code=x&state=y`, { key: null })).status
  }
  assert.equal(status, 429)
})
