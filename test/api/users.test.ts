// Users: who may manage them, what each role may do, how their sessions end, and what the audit log says.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { createSignInLink } from '../../src/manage/operate/dashboard-sessions.ts'
import { sweep } from '../../src/manage/operate/housekeeping.ts'
import { createOrganization } from '../../src/manage/operate/organizations.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { logOf } from '../support/audit-scene.ts'
import { testAuthor } from '../support/test-author.ts'
import type { Person } from '../support/user-scene.ts'
import { dashboardHeader, goodPassword, sessionsPath, UserScene } from '../support/user-scene.ts'

let app: TestApp
let scene: UserScene
let owner: Person
let editor: Person
let viewer: Person
before(async () => {
  app = await createTestApp()
  scene = new UserScene(app)
  owner = await scene.person('Owner@Example.com', 'owner')
  editor = await scene.person('editor@example.com', 'editor')
  viewer = await scene.person('viewer@example.com', 'viewer')
})
after(() => app.close())

const feed = { body: { name: 'News' } }

test('a user has a session in every environment of the organization, as their own author', async () => {
  const production = await scene.environment('Production')
  assert.equal(owner.cookies.size, 2)
  const made = await owner.call('POST', '/v1/feeds', { ...feed, environmentId: production.id })
  assert.equal(made.status, 201, made.text)
  const [entry] = (await logOf(app, app.productionKey)).slice(-1)
  assert.deepEqual([entry.keyId, entry.keyName], [`user:${owner.id}`, 'owner@example.com'])
  const listed = await app.call('GET', sessionsPath, {
    key: null,
    headers: { ...dashboardHeader, cookie: [...owner.cookies.values()].join('; ') },
  })
  assert.deepEqual(
    listed.body.map((one: { user: { role: string }; managesUsers: boolean }) => [one.user.role, one.managesUsers]),
    [
      ['owner', true],
      ['owner', true],
    ],
  )
})

test('roles are what they say: owners do everything, editors write content, viewers read', async () => {
  const calls = [
    ['GET', '/v1/notifications', undefined, 200, 200],
    ['GET', '/v1/workflows', undefined, 200, 200],
    ['POST', '/v1/feeds', { name: 'By role' }, 201, 403],
    ['POST', '/v2/subscribers', { subscriberId: 'by-role' }, 201, 403],
    ['POST', '/v1/environments/api-keys', {}, 403, 403],
    ['POST', '/v1/environments', { name: 'By role' }, 403, 403],
    ['GET', '/v1/environments/api-keys', undefined, 403, 403],
    ['GET', '/v1/audit', undefined, 403, 403],
    ['GET', '/v1/users', undefined, 403, 403],
    ['POST', '/v1/users', { email: 'x@example.com', role: 'owner' }, 403, 403],
    ['DELETE', '/v1/outbox', undefined, 403, 403],
  ] as const
  for (const [method, path, body, asEditor, asViewer] of calls) {
    assert.equal((await editor.call(method, path, { body })).status, asEditor, `editor ${method} ${path}`)
    const refused = await viewer.call(method, path, { body })
    assert.equal(refused.status, asViewer, `viewer ${method} ${path}`)
    if (asViewer === 403) assert.match(refused.body.message, /^Your role, viewer, does not allow this/)
  }
  assert.equal((await owner.call('GET', '/v1/audit')).status, 200)
  assert.equal((await owner.call('GET', '/v1/environments/api-keys')).status, 200)
})

test('whoever may save workflows may try one that is not saved; viewers try those that are', async () => {
  const steps = [{ template: { type: 'in_app', content: 'Hello' } }]
  const unsaved = { workflow: { name: 'Not saved', steps }, to: 'ada' }
  for (const user of [owner, editor])
    assert.equal((await user.call('POST', '/v1/events/simulate', { body: unsaved })).status, 200)
  const refused = await viewer.call('POST', '/v1/events/simulate', { body: unsaved })
  assert.equal(refused.status, 403)
  assert.match(refused.body.message, /needs an API key with the scope "full", or the role editor/)
  assert.equal(
    (await editor.call('POST', '/v1/workflows', { body: { name: 'Is saved', active: true, steps } })).status,
    201,
  )
  assert.equal(
    (await viewer.call('POST', '/v1/events/simulate', { body: { name: 'is-saved', to: 'ada' } })).status,
    200,
  )
})

test('keys cannot manage users, not even full ones: they belong to one environment. Sign-in links can', async () => {
  const body = { email: 'by-key@example.com', role: 'owner' }
  for (const [method, path] of [
    ['GET', '/v1/users'],
    ['GET', `/v1/users/${viewer.id}`],
    ['POST', '/v1/users'],
    ['PATCH', `/v1/users/${viewer.id}`],
    ['POST', `/v1/users/${viewer.id}/password-link`],
  ] as const) {
    const reply = await app.call(method, path, method === 'GET' ? {} : { body: method === 'POST' ? body : {} })
    assert.equal(reply.status, 403, path)
    assert.match(reply.body.message, /API keys cannot manage users/)
  }
  const link = await createSignInLink(app.database.db, app.world, await scene.environment('Development'))
  const opened = await app.call('POST', sessionsPath, { key: null, body: { link }, headers: dashboardHeader })
  assert.equal(opened.body.managesUsers, true)
  const operator = scene.caller('', opened)
  assert.equal((await operator.call('GET', '/v1/users')).status, 200)
})

test('users are listed in pages, newest first, without secrets', async () => {
  const first = await owner.call('GET', '/v1/users?limit=2')
  assert.deepEqual(
    first.body.data.map((one: { email: string }) => one.email),
    ['viewer@example.com', 'editor@example.com'],
  )
  assert.deepEqual([first.body.hasMore, first.body.totalCount], [true, 3])
  const [last] = (await owner.call('GET', '/v1/users?limit=2&page=1')).body.data
  const { createdAt, lastSignInAt, ...rest } = last
  assert.deepEqual(rest, {
    _id: owner.id,
    email: 'owner@example.com',
    name: 'owner@example.com',
    role: 'owner',
    state: 'active',
    signsInBy: ['password'],
  })
  assert.ok(createdAt && lastSignInAt)
  assert.ok(!first.text.includes('scrypt'))
})

test('an owner invites, changes, disables and enables; each log of the organization says so', async () => {
  const body = { email: 'Grace@Example.com', name: 'Grace Hopper', role: 'viewer' }
  const made = await owner.call('POST', '/v1/users', { body })
  assert.equal(made.status, 201, made.text)
  assert.deepEqual([made.body.email, made.body.state], ['grace@example.com', 'invited'])
  assert.match(made.body.link, /^\/sign-in\/password#[0-9a-f-]{36}\.[\w-]{43}$/)
  assert.equal((await owner.call('POST', '/v1/users', { body })).status, 409)
  for (const bad of [{ ...body, email: 'grace' }, { ...body, role: 'root' }, { role: 'viewer' }]) {
    assert.equal((await owner.call('POST', '/v1/users', { body: bad })).status, 422)
  }
  const path = `/v1/users/${made.body._id}`
  const changed = await owner.call('PATCH', path, { body: { role: 'editor', name: 'Rear Admiral Hopper' } })
  assert.deepEqual([changed.body.role, changed.body.name], ['editor', 'Rear Admiral Hopper'])
  assert.equal((await owner.call('PATCH', path, { body: { disabled: true } })).body.state, 'disabled')
  const link = made.body.link.split('#')[1]
  assert.equal((await scene.setPassword({ link, password: goodPassword })).status, 401, 'the invitation is void')
  assert.equal((await owner.call('POST', `${path}/password-link`)).status, 409)
  assert.equal((await owner.call('PATCH', path, { body: { disabled: false } })).body.state, 'invited')
  assert.equal((await owner.call('PATCH', `/v1/users/${crypto.randomUUID()}`, { body: {} })).status, 404)
  for (const key of [app.developmentKey, app.productionKey]) {
    const entries = (await logOf(app, key)).filter((one) => one.resourceId === made.body._id)
    assert.deepEqual(
      entries.map(({ action, keyId }) => [action, keyId]),
      ['create', 'change', 'change', 'change'].map((action) => [action, `user:${owner.id}`]),
    )
    assert.deepEqual([entries[1].before.role, entries[1].after.role], ['viewer', 'editor'])
    assert.ok(!JSON.stringify(entries).includes(link))
    assert.equal((await app.call('GET', '/v1/audit/verify', { key })).body.ok, true)
  }
})

test('the last owner stays one', async () => {
  for (const change of [{ role: 'viewer' }, { disabled: true }]) {
    const reply = await owner.call('PATCH', `/v1/users/${owner.id}`, { body: change })
    assert.equal(reply.status, 409)
    assert.match(reply.body.message, /last owner/)
  }
})

test('another role counts from the next call; disabling ends the sessions, and enabling does not bring them back', async () => {
  const ada = await scene.person('ada@example.com', 'editor')
  const path = `/v1/users/${ada.id}`
  assert.equal((await ada.call('POST', '/v1/feeds', { body: { name: 'One' } })).status, 201)
  await owner.call('PATCH', path, { body: { role: 'viewer' } })
  assert.equal((await ada.call('POST', '/v1/feeds', { body: { name: 'Two' } })).status, 403)
  assert.equal((await ada.call('GET', '/v1/feeds')).status, 200)
  await owner.call('PATCH', path, { body: { disabled: true } })
  assert.equal((await ada.call('GET', '/v1/feeds')).status, 401)
  assert.equal((await scene.signIn('ada@example.com')).status, 401)
  await owner.call('PATCH', path, { body: { disabled: false } })
  assert.equal((await ada.call('GET', '/v1/feeds')).status, 401)
  assert.equal((await scene.signIn('ADA@example.com ')).status, 201)
})

test('a reset removes the password and the sessions, and its link sets another one, once', async () => {
  const alan = await scene.person('alan@example.com', 'viewer')
  const given = await owner.call('POST', `/v1/users/${alan.id}/password-link`)
  assert.equal(given.status, 201)
  assert.equal((await alan.call('GET', '/v1/feeds')).status, 401)
  assert.equal((await scene.signIn('alan@example.com')).status, 401)
  const link = given.body.link.split('#')[1]
  const whose = { key: null, headers: dashboardHeader, body: { link } }
  assert.deepEqual((await app.call('POST', '/v1/dashboard/password/link', whose)).body, {
    email: 'alan@example.com',
    name: 'alan@example.com',
  })
  const weak = await scene.setPassword({ link, password: 'too short' })
  assert.equal(weak.status, 422)
  assert.ok(!weak.text.includes('too short'), 'what was typed is not repeated')
  const both = await Promise.all([1, 2].map(() => scene.setPassword({ link, password: 'another good password' })))
  assert.deepEqual(both.map(({ status }) => status).sort(), [201, 401])
  assert.equal((await app.call('POST', '/v1/dashboard/password/link', whose)).status, 401)
  const late = await owner.call('POST', `/v1/users/${alan.id}/password-link`)
  app.world.advance(3 * 24 * 60 * 60_000)
  const text = late.body.link.split('#')[1]
  assert.equal((await scene.setPassword({ link: text, password: goodPassword })).status, 401)
  const [entry] = (await logOf(app)).filter((one) => one.resourceId === alan.id && one.action === 'rotate')
  assert.deepEqual(entry.before, { hasPassword: true })
  // The three days ended everyone's sessions.
  assert.equal((await owner.call('GET', '/v1/users')).status, 401)
  assert.ok((await sweep(app.database.db, app.world)) >= 6)
  const [left] = await app.database.db.rows<{ count: number }>(sql`select count(*) as count from user_sessions`)
  assert.equal(left?.count, 0)
  owner = scene.caller(owner.id, await scene.signIn('owner@example.com'))
})

test('users and sessions of one organization open nothing of another; the same address is another user there', async () => {
  const acme = await createOrganization(app.database.db, app.world, { name: 'Acme', author: testAuthor })
  const [theirs] = acme.environments
  assert.ok(theirs)
  const other = await scene.person('other@acme.example', 'owner', theirs.environment)
  assert.equal(other.cookies.size, 2)
  assert.deepEqual((await other.call('GET', '/v1/users')).body.totalCount, 1)
  for (const [method, path, body] of [
    ['GET', `/v1/users/${owner.id}`, undefined],
    ['PATCH', `/v1/users/${owner.id}`, { role: 'viewer' }],
    ['POST', `/v1/users/${owner.id}/password-link`, {}],
  ] as const) {
    assert.equal((await other.call(method, path, { body })).status, 404, path)
  }
  const development = await scene.environment('Development')
  const [cookie = ''] = other.cookies.values()
  const crossing = { key: null, headers: { cookie, 'x-posthorn-dashboard': development.id } }
  assert.equal((await app.call('GET', '/v1/feeds', crossing)).status, 401)
  const { link } = await scene.invited('owner@example.com', 'viewer', theirs.environment)
  const twin = await scene.setPassword({ link, password: 'another good password' })
  assert.equal(twin.body.environment._id, theirs.environment.id)
  // Each password opens its own organization; the same one would open both.
  assert.equal((await scene.signIn('owner@example.com')).body.environment._id, development.id)
  const again = await scene.signIn('owner@example.com', 'another good password')
  assert.equal(again.body.environment._id, theirs.environment.id)
  await app.database.db.run(sql`update environments set deleted_at = now() where id = ${theirs.environment.id}`)
  assert.equal((await other.call('GET', '/v1/users')).status, 401)
})
