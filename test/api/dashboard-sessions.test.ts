// Sessions of the dashboard over the API: how they are opened, what they count for, and how they end.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { createSignInLink } from '../../src/manage/operate/dashboard-sessions.ts'
import { sweep } from '../../src/manage/operate/housekeeping.ts'
import { findSession } from '../../src/store/operate/dashboard-sessions.ts'
import { listEnvironments } from '../../src/store/operate/installation.ts'
import type { TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

const path = '/v1/dashboard/sessions'
const all = { 'x-posthorn-dashboard': '*' }
const local = { ...all, host: 'localhost:3000' }

const opened = (body: object, headers: Record<string, string> = local): Promise<TestReply> =>
  app.call('POST', path, { key: null, body, headers })
const cookieOf = (reply: TestReply): string => String(reply.headers['set-cookie']).split(';')[0] ?? ''
const link = async (): Promise<string> => {
  const [development] = await listEnvironments(app.database.db)
  assert.ok(development)
  return createSignInLink(app.database.db, app.world, development)
}
const asSession = (reply: TestReply) => ({
  key: null,
  headers: { cookie: cookieOf(reply), 'x-posthorn-dashboard': reply.body.environment._id },
})

test('an API key opens a session, which may do what the key may do', async () => {
  const reply = await opened({ apiKey: app.developmentKey })
  assert.equal(reply.status, 201)
  assert.equal(reply.body.environment.name, 'Development')
  assert.deepEqual(reply.body.scopes, ['full'])
  assert.match(String(reply.headers['set-cookie']), /; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/)
  assert.equal((await app.call('GET', '/v1/environments', asSession(reply))).status, 200)
  const made = await app.call('POST', '/v1/environments/api-keys', { body: { scopes: ['read'] } })
  const reader = await opened({ apiKey: made.body.key })
  assert.equal((await app.call('GET', '/v1/notifications', asSession(reader))).status, 200)
  assert.equal((await app.call('POST', '/v1/feeds', { ...asSession(reader), body: { name: 'x' } })).status, 403)
})

test('the cookie alone counts for nothing, nor does it with the header of another environment or page', async () => {
  const reply = await opened({ apiKey: app.developmentKey })
  const { cookie, 'x-posthorn-dashboard': environment } = asSession(reply).headers
  const ask = async (headers: Record<string, string>) =>
    (await app.call('GET', '/v1/environments', { key: null, headers })).status
  assert.equal(await ask({ cookie }), 401)
  assert.equal(await ask({ cookie, 'x-posthorn-dashboard': '*' }), 401)
  assert.equal(await ask({ cookie, 'x-posthorn-dashboard': '019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21' }), 401)
  const own = { cookie, 'x-posthorn-dashboard': environment, host: 'localhost:3000' }
  assert.equal(await ask(own), 200)
  assert.equal(await ask({ ...own, 'sec-fetch-site': 'same-origin', origin: 'http://localhost:3000' }), 200)
  assert.equal(await ask({ ...own, 'sec-fetch-site': 'same-site' }), 403)
  assert.equal(await ask({ ...own, 'sec-fetch-site': 'cross-site' }), 403)
  assert.equal(await ask({ ...own, origin: 'https://evil.example' }), 403)
  // Not the last character: some of its bits stand for nothing.
  const changed = cookie.replace(/.(?=.{9}$)/, (one) => (one === 'A' ? 'B' : 'A'))
  assert.equal(await ask({ ...own, cookie: changed }), 401)
})

test('a session is limited as its key is: by addresses that are set later, and by a rate', async () => {
  const made = await app.call('POST', '/v1/environments/api-keys', { body: { scopes: ['full'], ratePerSecond: 1 } })
  const reply = await opened({ apiKey: made.body.key })
  assert.equal((await app.call('GET', '/v1/environments', asSession(reply))).status, 200)
  const { _id: environmentId } = reply.body.environment
  const [session] = await app.database.db.rows<{ id: string }>(sql`select id from dashboard_sessions order by id desc`)
  const found = await findSession(app.database.db, environmentId, session?.id ?? '', app.world.now())
  assert.equal(found?.ratePerSecond, 1)
  const narrow = { body: { ratePerSecond: null, allowedAddresses: ['203.0.113.0/24'] } }
  assert.equal((await app.call('PATCH', `/v1/environments/api-keys/${made.body._id}`, narrow)).status, 200)
  assert.equal((await app.call('GET', '/v1/environments', asSession(reply))).status, 403)
})

test('a deleted environment is closed to its sessions and links at once', async () => {
  const made = await app.call('POST', '/v1/environments', { body: { name: 'Short-lived' } })
  const { id, organizationId } = { id: made.body._id, organizationId: made.body._organizationId }
  const environment = { id, organizationId, name: 'Short-lived' }
  const [used, unused] = [
    await createSignInLink(app.database.db, app.world, environment),
    await createSignInLink(app.database.db, app.world, environment),
  ]
  const reply = await opened({ link: used })
  assert.equal((await app.call('GET', '/v1/notifications', asSession(reply))).status, 200)
  await app.database.db.run(sql`update environments set deleted_at = now() where id = ${id}`)
  assert.equal((await app.call('GET', '/v1/notifications', asSession(reply))).status, 401)
  assert.equal((await opened({ link: unused })).status, 401)
})

test('a link opens one session, on this machine alone, for ten minutes', async () => {
  const first = await link()
  assert.equal((await opened({ link: first }, { ...all, host: 'posthorn.example.com' })).status, 403)
  const reply = await opened({ link: first })
  assert.equal(reply.status, 201)
  assert.equal((await app.call('GET', '/v1/environments', asSession(reply))).status, 200)
  assert.equal((await opened({ link: first })).status, 401)
  assert.equal((await opened({ link: 'nonsense' })).status, 401)
  const late = await link()
  app.world.advance(10 * 60_000)
  assert.equal((await opened({ link: late })).status, 401)
})

test('of two who use a link at once, one gets in', async () => {
  const once = await link()
  const statuses = (await Promise.all([1, 2, 3].map(() => opened({ link: once })))).map(({ status }) => status)
  assert.deepEqual(statuses.sort(), [201, 401, 401])
})

test('a session ends by signing out, with its key, and after twelve hours', async () => {
  const made = await app.call('POST', '/v1/environments/api-keys', { body: { name: 'Short' } })
  const byKey = await opened({ apiKey: made.body.key })
  const leaving = await opened({ apiKey: app.developmentKey })
  const staying = await opened({ apiKey: app.developmentKey })
  const status = async (reply: TestReply) => (await app.call('GET', '/v1/environments', asSession(reply))).status
  const listed = await app.call('GET', path, { key: null, headers: { ...all, cookie: cookieOf(leaving) } })
  assert.deepEqual(
    listed.body.map((one: { environment: { name: string } }) => one.environment.name),
    ['Development'],
  )
  const left = await app.call('DELETE', path, { key: null, headers: { ...all, cookie: cookieOf(leaving) } })
  assert.equal(left.status, 204)
  assert.match(String(left.headers['set-cookie']), /=; Max-Age=0;/)
  assert.equal(await status(leaving), 401)
  assert.equal(await status(staying), 200)
  await app.call('DELETE', `/v1/environments/api-keys/${made.body._id}`)
  assert.equal(await status(byKey), 401)
  app.world.advance(12 * 60 * 60_000)
  assert.equal(await status(staying), 401)
  assert.ok((await sweep(app.database.db, app.world)) > 0)
})

test('calls about sessions need the header, and a wrong key is refused as anywhere', async () => {
  assert.equal((await opened({ apiKey: app.developmentKey }, {})).status, 403)
  assert.equal((await app.call('GET', path, { key: null })).status, 403)
  assert.equal((await app.call('DELETE', path, { key: null })).status, 403)
  assert.equal((await opened({ apiKey: 'a key that no one has' })).status, 401)
  assert.equal((await opened({})).status, 422)
  assert.equal((await opened({ apiKey: 'x', link: 'y' })).status, 422)
})

test('what a session changes is in the audit log under the name of its key, or of its link', async () => {
  const byLink = await opened({ link: await link() })
  await app.call('POST', '/v1/feeds', { ...asSession(byLink), body: { name: 'from a link' } })
  const { body } = await app.call('GET', '/v1/audit?limit=1')
  assert.equal(body.data[0].keyName, 'Dashboard, by sign-in link')
})
