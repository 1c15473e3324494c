// Topics that a subscriber follows over a session: their own subscriptions, and no one else's.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { inboxOf } from '../support/inbox-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

const path = '/topics/project:42/subscriptions'

test('a subscriber follows a topic, finds the subscription, renames it and leaves', async () => {
  const page = await inboxOf(app, 'ada')
  assert.deepEqual(await page.data(200, 'GET', path), [])
  const own = `${path}/tk_project:42:si_ada`
  assert.equal((await page.call('GET', own)).status, 204)
  const made = await page.data(201, 'POST', path, { identifier: '', topic: { name: 'Project 42' }, preferences: [] })
  assert.deepEqual(made, { id: made.id, identifier: 'tk_project:42:si_ada' })
  assert.deepEqual(await page.data(201, 'POST', path, {}), made)
  assert.deepEqual(await page.data(200, 'GET', path), [made])
  assert.deepEqual(await page.data(200, 'GET', `${own}?workflowIds=a&tags=b`), made)
  assert.deepEqual(await page.data(200, 'PATCH', own, { name: 'Mine' }), { ...made, name: 'Mine' })
  const topic = (await app.call('GET', '/v2/topics/project:42')).body
  assert.equal(topic.name, 'Project 42')
  const shown = (await app.call('GET', '/v2/topics/project:42/subscriptions')).body.data
  assert.deepEqual([shown.length, shown[0].name], [1, 'Mine'])
  assert.deepEqual(await page.data(200, 'DELETE', own), { success: true })
  assert.equal((await page.call('DELETE', own)).status, 404)
  assert.equal((await page.call('PATCH', own, { body: { name: 'x' } })).status, 404)
  assert.deepEqual(await page.data(200, 'GET', path), [])
})

test('an identifier of one’s own is kept; another’s cannot be taken', async () => {
  const [page, other] = [await inboxOf(app, 'grace'), await inboxOf(app, 'mallory')]
  const made = await page.data(201, 'POST', path, { identifier: 'releases', name: 'Releases' })
  assert.deepEqual([made.identifier, made.name], ['releases', 'Releases'])
  assert.equal((await page.call('GET', `${path}/releases`)).status, 200)
  assert.equal((await page.call('GET', `${path}/tk_project:42:si_grace`)).status, 204)
  for (const identifier of ['releases', 'tk_project:42:si_grace']) {
    assert.equal((await other.call('POST', path, { body: { identifier } })).status, 400, identifier)
  }
  for (const identifier of ['releases', 'tk_project:42:si_grace']) {
    assert.equal((await other.call('GET', `${path}/${identifier}`)).status, 204)
    assert.equal((await other.call('PATCH', `${path}/${identifier}`, { body: { name: 'x' } })).status, 404)
    assert.equal((await other.call('DELETE', `${path}/${identifier}`)).status, 404)
  }
  assert.deepEqual(await other.data(200, 'GET', path), [])
  assert.deepEqual(await page.data(200, 'GET', path), [made])
})

test('a session with contexts names its subscription as public clients do', async () => {
  const page = await inboxOf(app, 'ctx', { context: { tenant: 'acme', app: 'jira' } })
  const identifier = 'tk_project:42:si_ctx:ctx_app:jira,tenant:acme'
  const made = await page.data(201, 'POST', path, { identifier })
  assert.deepEqual([made.identifier, made.contextKeys], [identifier, ['app:jira', 'tenant:acme']])
  assert.deepEqual(await page.data(200, 'GET', `${path}/${identifier}`), made)
})

test('what cannot be kept is refused and not ignored', async () => {
  const page = await inboxOf(app, 'refused')
  assert.equal((await page.call('POST', '/topics/a%20b/subscriptions', { body: {} })).status, 422)
  assert.equal((await page.call('POST', path, { body: { identifier: 'x'.repeat(513) } })).status, 422)
  assert.deepEqual(await page.data(200, 'GET', path), [])
})
