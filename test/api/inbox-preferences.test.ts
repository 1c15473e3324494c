// Preferences over a session: the global one, those of workflows, many at once, hours; and no one else's.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { stepOf } from '../support/activity-scene.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { inboxOf } from '../support/inbox-scene.ts'
import { MessageScene } from '../support/message-scene.ts'

let app: TestApp
let orders: { id: string }
before(async () => {
  app = await createTestApp()
  const scene = await MessageScene.of(app, [])
  orders = scene.workflow
  app.world.advance(1_000)
  await scene.scene.addWorkflow('alarm', [stepOf('sms')], { name: 'Alarm', critical: true, tags: ['alarm'] })
  app.world.advance(1_000)
  await scene.scene.addWorkflow('news', [stepOf('email')], { name: 'News', tags: ['news'], severity: 'low' })
})
after(() => app.close())

const identifiers = (preferences: readonly Json[]): (string | undefined)[] =>
  preferences.map(({ workflow }) => workflow?.identifier)

test('the global preference comes first, then those of workflows, oldest first', async () => {
  const page = await inboxOf(app, 'reader')
  const all = await page.data(200, 'GET', '/preferences')
  assert.deepEqual(identifiers(all), [undefined, 'orders', 'news'])
  assert.deepEqual(all[0], {
    level: 'global',
    enabled: true,
    channels: { in_app: true, email: true, sms: true },
    overrides: [],
  })
  assert.deepEqual(all[1], {
    level: 'template',
    enabled: true,
    channels: { in_app: true, email: true },
    overrides: [
      { channel: 'in_app', source: 'template' },
      { channel: 'email', source: 'template' },
    ],
    workflow: {
      id: orders.id,
      identifier: 'orders',
      name: 'Orders',
      critical: false,
      tags: ['orders', 'shop'],
      severity: 'none',
    },
  })
  assert.deepEqual(await page.data(200, 'GET', '/preferences/global'), all[0])
})

test('the list is narrowed by tags, severity and criticality', async () => {
  const page = await inboxOf(app, 'reader')
  const found = async (query: string) => identifiers((await page.data(200, 'GET', `/preferences?${query}`)).slice(1))
  assert.deepEqual(await found('criticality=nonCritical'), ['orders', 'news'])
  assert.deepEqual(await found('criticality=critical'), ['alarm'])
  assert.deepEqual(await found('criticality=all'), ['orders', 'alarm', 'news'])
  assert.deepEqual(await found('tags[]=news&tags[]=alarm'), ['news'])
  assert.deepEqual(await found('severity=low'), ['news'])
  assert.deepEqual(await found('severity[]=none&severity[]=low'), ['orders', 'news'])
  for (const query of ['criticality=some', 'severity=urgent']) {
    assert.equal((await page.call('GET', `/preferences?${query}`)).status, 422, query)
  }
})

test('one channel is switched everywhere, or for one workflow by id or identifier', async () => {
  const page = await inboxOf(app, 'switcher')
  const global = await page.data(200, 'PATCH', '/preferences', { email: false, tool: true })
  assert.deepEqual(global.channels, { in_app: true, email: false, sms: true })
  const byId = await page.data(200, 'PATCH', `/preferences/${orders.id}`, { email: true })
  assert.deepEqual([byId.workflow.id, byId.channels], [orders.id, { in_app: true, email: true }])
  assert.deepEqual(byId.overrides[1], { channel: 'email', source: 'subscriber' })
  const byName = await page.data(200, 'PATCH', '/preferences/news', { enabled: false })
  assert.deepEqual([byName.enabled, byName.channels], [false, { email: false }])
  const seen = (await app.call('GET', '/v2/subscribers/switcher/preferences')).body
  assert.equal(seen.global.channels.email, false)
  const untouched = await (await inboxOf(app, 'untouched')).data(200, 'GET', '/preferences/global')
  assert.equal(untouched.channels.email, true)
  assert.equal((await page.call('PATCH', '/preferences', { body: { email: 'no' } })).status, 422)
})

test('a critical workflow cannot be changed, and one that is not there is not found', async () => {
  const page = await inboxOf(app, 'critic')
  const critical = await page.call('PATCH', '/preferences/alarm', { body: { sms: false } })
  assert.deepEqual(
    [critical.status, critical.body.message],
    [400, 'Critical workflow with id: alarm can not be updated'],
  )
  assert.equal((await page.call('PATCH', '/preferences/nothing', { body: { sms: false } })).status, 404)
})

test('many are changed at once, or none', async () => {
  const page = await inboxOf(app, 'bulk')
  const bulk = (preferences: readonly object[]) => page.call('PATCH', '/preferences/bulk', { body: { preferences } })
  const reply = await bulk([
    { workflowId: 'news', email: true },
    { workflowId: 'orders', email: false },
    { workflowId: orders.id, in_app: false },
  ])
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(identifiers(reply.body.data), ['news', 'orders'])
  assert.deepEqual(reply.body.data[1].channels, { in_app: false, email: true }, 'of two the last counts')
  const off = { workflowId: 'news', email: false }
  assert.equal((await bulk([])).status, 400)
  assert.equal((await bulk(Array.from({ length: 101 }, () => off))).status, 422)
  assert.equal((await bulk([off, { workflowId: 'nothing' }])).status, 404)
  assert.equal((await bulk([off, { workflowId: 'alarm', sms: false }])).status, 400)
  assert.equal((await bulk([{ ...off, subscriptionIdentifier: 'tk_a:si_bulk' }])).status, 404)
  assert.equal((await page.call('PATCH', '/preferences/news', { body: { condition: {} } })).status, 422)
  const left = await page.data(200, 'GET', '/preferences')
  assert.deepEqual(left[2].channels, { email: true })
})

test('hours are set, shown and refused when they are none', async () => {
  const page = await inboxOf(app, 'hours')
  const schedule = {
    isEnabled: true,
    weeklySchedule: { monday: { isEnabled: true, hours: [{ start: '09:00 AM', end: '5:00PM' }] } },
  }
  assert.deepEqual((await page.data(200, 'PATCH', '/preferences', { schedule })).schedule, schedule)
  assert.deepEqual((await page.data(200, 'GET', '/preferences'))[0].schedule, schedule)
  assert.deepEqual((await inboxOf(app, 'hours')).session.schedule, schedule)
  const off = await page.data(200, 'PATCH', '/preferences', { schedule: { isEnabled: false } })
  assert.equal(off.schedule.isEnabled, false)
  for (const wrong of [
    { isEnabled: true, weeklySchedule: {} },
    { isEnabled: true, weeklySchedule: { caturday: { isEnabled: true } } },
    { isEnabled: true, weeklySchedule: { monday: { isEnabled: true, hours: [{ start: '9', end: '10' }] } } },
    { isEnabled: 'yes' },
  ]) {
    const reply = await page.call('PATCH', '/preferences', { body: { schedule: wrong } })
    assert.equal(reply.status, 422, JSON.stringify(wrong))
  }
})

test('with a subscriptionIdentifier only that subscription changes, never the workflow as a whole', async () => {
  const page = await inboxOf(app, 'narrow')
  const made = await page.data(201, 'POST', '/topics/a/subscriptions', {})
  const set = (body: object) => page.call('PATCH', '/preferences/news', { body })
  const before = await page.data(200, 'GET', '/preferences')
  for (const subscriptionIdentifier of [made.identifier, made.id]) {
    const reply = await set({ enabled: false, subscriptionIdentifier })
    assert.equal(reply.status, 200, reply.text)
    const { subscriptionId, enabled, workflow } = reply.body.data
    assert.deepEqual([subscriptionId, enabled, workflow.identifier], [made.id, false, 'news'])
  }
  assert.deepEqual(await page.data(200, 'GET', '/preferences'), before)
  const condition = { '==': [{ var: 'payload.a' }, 1] }
  const conditional = await set({ condition, subscriptionIdentifier: made.id })
  assert.deepEqual(conditional.body.data.condition, condition)
  const [kept] = await page.data(200, 'GET', '/topics/a/subscriptions')
  assert.deepEqual(kept.preferences[0].condition, condition)
  assert.equal((await set({ enabled: false, subscriptionIdentifier: 'tk_b:si_narrow' })).status, 404)
  assert.equal((await set({ enabled: false, subscriptionIdentifier: '' })).status, 422)
  assert.equal((await set({ subscriptionIdentifier: made.id })).status, 422)
  assert.equal((await set({ condition, subscriptionIdentifier: null })).status, 422)
  assert.deepEqual(await page.data(200, 'GET', '/preferences'), before)
  const other = await inboxOf(app, 'other')
  const foreign = { body: { enabled: false, subscriptionIdentifier: made.id } }
  assert.equal((await other.call('PATCH', '/preferences/news', foreign)).status, 404)
  // Null is for the workflow.
  assert.equal((await set({ enabled: false, subscriptionIdentifier: null })).status, 200)
  assert.equal((await page.data(200, 'GET', '/preferences'))[2].enabled, false)
})
