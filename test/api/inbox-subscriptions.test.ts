// Topics that a subscriber follows over a session: their own subscriptions, and no one else's.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { json, sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { inboxOf } from '../support/inbox-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
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

const choicesIn = ({ preferences = [] }: Json): Json[] =>
  preferences.map(({ workflow, enabled, condition }: Json) => [workflow.identifier, enabled, condition])

test('a change without enabled leaves a workflow that is off switched off', async () => {
  const page = await inboxOf(app, 'silent')
  const workflow = await scene.workflow([inApp('A')])
  const made = await page.data(201, 'POST', path, { preferences: [{ workflowId: workflow, enabled: false }] })
  const set = (body: object) => page.data(200, 'PATCH', `/subscriptions/${made.id}/preferences/${workflow}`, body)
  for (const condition of [null, {}]) assert.equal((await set({ condition })).enabled, false)
  assert.equal((await set({ enabled: true })).enabled, true)
  assert.equal((await set({ condition: null })).enabled, true)
  // Of two for the same in one call the second sees the first.
  const named = { subscriptionIdentifier: made.id, workflowId: workflow }
  const preferences = [
    { ...named, enabled: false },
    { ...named, condition: null },
  ]
  const [last] = await page.data(200, 'PATCH', '/preferences/bulk', { preferences })
  assert.equal(last.enabled, false)
  const fresh = await scene.workflow([inApp('B')])
  const first = await page.data(200, 'PATCH', `/subscriptions/${made.id}/preferences/${fresh}`, { condition: null })
  assert.equal(first.enabled, true, 'without a choice it was wanted')
})

test('workflows that a page asks for are shown, chosen or not; others and unknown ones are not added', async () => {
  const page = await inboxOf(app, 'asking')
  const tags = ['asked-for']
  const [off, open, tagged, other] = [
    await scene.workflow([inApp('A')]),
    await scene.workflow([inApp('B')]),
    await scene.workflow([inApp('C')], { tags }),
    await scene.workflow([inApp('D')]),
  ]
  const made = await page.data(201, 'POST', path, { preferences: [{ workflowId: off, enabled: false }] })
  const own = `${path}/${made.identifier}`
  const choices = async (query: string) => choicesIn(await page.data(200, 'GET', `${own}${query}`))
  const chosen = [off, false, undefined]
  assert.deepEqual(await choices(''), [chosen])
  assert.deepEqual(await choices(`?workflowIds=${open}&workflowIds=${off}`), [chosen, [open, true, undefined]])
  assert.deepEqual(await choices('?tags=asked-for&tags=unknown'), [chosen, [tagged, true, undefined]])
  const both = await page.data(200, 'GET', `${own}?workflowIds=${tagged}&tags=asked-for&workflowIds=unknown`)
  assert.deepEqual(choicesIn(both), [chosen, [tagged, true, undefined]])
  assert.ok(both.preferences.every(({ subscriptionId }: Json) => subscriptionId === made.id))
  assert.ok(!(await choices(`?workflowIds=${open}`)).flat().includes(other))
  assert.deepEqual(choicesIn((await page.data(200, 'GET', path))[0]), [chosen], 'nothing of it is stored')
})

test('an identifier that subscriptions to two topics have names neither; the id does', async () => {
  const page = await inboxOf(app, 'twice')
  const workflow = await scene.workflow([inApp('A')])
  const follow = (topic: string) => page.data(201, 'POST', `/topics/${topic}/subscriptions`, { identifier: 'same' })
  const one = await follow('first')
  assert.equal(
    (await page.data(200, 'PATCH', `/subscriptions/same/preferences/${workflow}`, { enabled: true })).enabled,
    true,
  )
  const two = await follow('second')
  const reply = await page.call('PATCH', `/subscriptions/same/preferences/${workflow}`, { body: { enabled: false } })
  assert.deepEqual([reply.status, /by its id/.test(reply.body.message)], [409, true], reply.text)
  const shown = await page.data(200, 'PATCH', `/subscriptions/${two.id}/preferences/${workflow}`, { enabled: false })
  assert.equal(shown.subscriptionId, two.id)
  const [kept] = await page.data(200, 'GET', '/topics/first/subscriptions')
  assert.deepEqual([kept.id, choicesIn(kept)], [one.id, [[workflow, true, undefined]]])
})

test('who is subscribed already gets the preferences that are given, and keeps their own if none are', async () => {
  const page = await inboxOf(app, 'again')
  const [one, two] = [await scene.workflow([inApp('A')]), await scene.workflow([inApp('B')])]
  const made = await page.data(201, 'POST', path, { preferences: [{ workflowId: one, enabled: false }] })
  const kept = await page.data(201, 'POST', path, { name: 'ignored' })
  assert.deepEqual(kept, made)
  const changed = await page.data(201, 'POST', path, { preferences: [{ workflowId: two, enabled: false }] })
  assert.deepEqual([changed.id, choicesIn(changed)], [made.id, [[two, false, undefined]]])
  assert.deepEqual(await page.data(200, 'GET', path), [changed])
  // Of several in one call each as it says.
  const body = {
    subscriptions: ['ada', 'again', 'refused'].map((subscriberId) =>
      subscriberId === 'again' ? { subscriberId, preferences: [] } : { subscriberId },
    ),
    preferences: [one],
  }
  const { data } = await scene.expect(201, 'POST', '/v2/topics/project:42/subscriptions', body)
  assert.deepEqual(data.map(choicesIn), [[[one, true, undefined]], [], [[one, true, undefined]]])
  assert.deepEqual(choicesIn((await page.data(200, 'GET', path))[0]), [])
})

test('choices for workflows that were deleted do not count for the limit', async () => {
  const page = await inboxOf(app, 'old')
  const [gone, left] = [await scene.created([inApp('A')]), await scene.created([inApp('B')])]
  const made = await page.data(201, 'POST', path, { preferences: [gone._id, left._id] })
  await app.call('DELETE', `/v1/workflows/${gone._id}`)
  const choice = { enabled: true, updatedAt: app.world.now().toISOString() }
  const ids = Array.from({ length: 199 }, () => app.world.newId(app.world.now()))
  const old = Object.fromEntries([gone._id, ...ids].map((id) => [id, choice]))
  await app.database.db.run(
    sql`update topic_subscriptions set preferences = preferences || ${json(old)}::jsonb where id = ${made.id}`,
  )
  const third = await scene.workflow([inApp('C')])
  await page.data(200, 'PATCH', `/subscriptions/${made.id}/preferences/${third}`, { enabled: false })
  const row = await app.database.db.row<{ preferences: object }>(
    sql`select preferences from topic_subscriptions where id = ${made.id}`,
  )
  assert.equal(Object.keys(row?.preferences ?? {}).length, 2)
  const [kept] = await page.data(200, 'GET', path)
  assert.deepEqual(choicesIn(kept), [
    [left.triggers[0].identifier, true, undefined],
    [third, false, undefined],
  ])
})

test('the data of a workflow is not repeated in the preferences of subscriptions', async () => {
  const page = await inboxOf(app, 'brief')
  const workflow = await scene.workflow([inApp('A')], { data: { large: 'x'.repeat(1_000) }, tags: ['brief'] })
  const made = await page.data(201, 'POST', path, { preferences: [workflow] })
  const changed = await page.data(200, 'PATCH', `/subscriptions/${made.id}/preferences/${workflow}`, { enabled: false })
  const listed = (await app.call('GET', '/v2/topics/project:42/subscriptions?subscriberId=brief')).body.data
  for (const { workflow: shown } of [made.preferences[0], changed, listed[0].preferences[0]]) {
    assert.deepEqual(Object.keys(shown).sort(), ['critical', 'id', 'identifier', 'name', 'severity', 'tags'])
  }
  const [, whole] = await page.data(200, 'GET', '/preferences?tags=brief')
  assert.equal(whole.workflow.data.large.length, 1_000)
})
