// Outbound webhooks about subscriptions to topics: whose preferences changed, and what they are now.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { reportChoices } from '../../src/manage/people/subscription-news.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { inboxOf } from '../support/inbox-scene.ts'
import { environmentOf } from '../support/topic-scene.ts'
import type { Receiver } from '../support/webhook-scene.ts'
import { startReceiver, WebhookScene } from '../support/webhook-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let hooks: WebhookScene
let receiver: Receiver
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  receiver = await startReceiver(app)
  hooks = new WebhookScene(scene, receiver)
})
after(async () => {
  await receiver.close()
  await app.close()
})

test('changed preferences of a subscription to a topic are reported, for each workflow that has another choice', async () => {
  const one = await scene.workflow([inApp('One')])
  const two = await scene.workflow([inApp('Two')])
  const [subscriberId, key] = [fresh('person'), fresh('topic')]
  await scene.expect(201, 'POST', '/v1/subscribers', { subscriberId })
  const made = await scene.expect(201, 'POST', `/v2/topics/${key}/subscriptions`, { subscriberIds: [subscriberId] })
  const all = await hooks.endpoint({ eventTypes: ['preference.updated'], concurrency: 1 })
  const { identifier, _id } = made.data[0]
  const path = `/v2/topics/${key}/subscriptions/${encodeURIComponent(identifier)}`
  const condition = { '==': [{ var: 'payload.priority' }, 'high'] }
  await scene.expect(200, 'PATCH', path, { preferences: [{ workflowId: one, condition }] })
  // The same again, and another name, change no choice.
  await scene.expect(200, 'PATCH', path, { preferences: [{ workflowId: one, condition }] })
  await scene.expect(200, 'PATCH', path, { name: 'Mine' })
  app.world.advance(1_000)
  const page = await inboxOf(app, subscriberId)
  const own = `/subscriptions/${encodeURIComponent(identifier)}/preferences`
  await page.data(200, 'PATCH', `${own}/${two}`, { enabled: false })
  await page.data(200, 'PATCH', `${own}/${two}`, { enabled: false })
  app.world.advance(1_000)
  await scene.expect(200, 'PATCH', path, { preferences: [{ workflowId: two, enabled: false }] })
  const events = await hooks.taken(all)
  const said = events.map(({ body: { data } }) => [data.level, data.workflow.identifier, data.preferences])
  assert.deepEqual(said, [
    ['subscription', one, { enabled: true, condition }],
    ['subscription', two, { enabled: false }],
    ['subscription', one, null],
  ])
  const [{ body } = assert.fail()] = events
  assert.deepEqual(body.data.subscription, { _id, identifier, topic: { _id: made.data[0].topic._id, key } })
  assert.equal(body.data.subscriber.subscriberId, subscriberId)
  const catalogue: Json[] = await scene.expect(200, 'GET', '/v1/webhook-endpoints/event-types')
  const ajv = new Ajv2020({ strict: false })
  formats.default(ajv)
  const check = ajv.compile(catalogue.find(({ type }) => type === 'preference.updated')?.schema)
  for (const event of events) assert.ok(check(event.body), JSON.stringify(check.errors))
  await hooks.remove(all)
})

test('preferences given with a subscription are reported, whether it is new or there already', async () => {
  const workflow = await scene.workflow([inApp('One')])
  const [subscriberId, silent, key] = [fresh('person'), fresh('person'), fresh('topic')]
  for (const one of [subscriberId, silent]) await scene.expect(201, 'POST', '/v1/subscribers', { subscriberId: one })
  const all = await hooks.endpoint({ eventTypes: ['preference.updated'], concurrency: 1 })
  const path = `/v2/topics/${key}/subscriptions`
  const subscribe = (given: object) =>
    scene.expect(201, 'POST', path, { subscriptions: [{ subscriberId, ...given }, silent] })
  const made = await subscribe({ preferences: [{ workflowId: workflow, enabled: false }] })
  app.world.advance(1_000)
  await subscribe({})
  await subscribe({ preferences: [{ workflowId: workflow, enabled: false }] })
  await subscribe({ preferences: [{ workflowId: workflow, enabled: true }] })
  const events = await hooks.taken(all)
  assert.deepEqual(
    events.map(({ body: { data } }) => [data.subscriber.subscriberId, data.subscription._id, data.preferences]),
    [
      [subscriberId, made.data[0]._id, { enabled: false }],
      [subscriberId, made.data[0]._id, { enabled: true }],
    ],
  )
  await hooks.remove(all)
})

test('a condition that the database wrote in another order is the same', async () => {
  const workflow = await scene.created([inApp('One')])
  const all = await hooks.endpoint({ eventTypes: ['preference.updated'], concurrency: 1 })
  const subscriberId = fresh('person')
  await scene.expect(201, 'POST', '/v1/subscribers', { subscriberId })
  const body = { subscriptions: [subscriberId] }
  const made = await scene.expect(201, 'POST', `/v2/topics/${fresh('topic')}/subscriptions`, body)
  const environment = await environmentOf(app)
  const chosen = (condition: Readonly<Record<string, unknown>>) => ({
    [workflow._id]: { enabled: true, condition, updatedAt: '' },
  })
  const report = (condition: Readonly<Record<string, unknown>>) =>
    app.database.db.transaction((tx) => {
      const subscription = { ...made.data[0], choices: chosen({ in: [{ a: 1, b: 2 }, []] }) }
      return reportChoices(tx, app.world, environment, [{ subscription, choices: chosen(condition) }])
    })
  await report({ in: [{ b: 2, a: 1 }, []] })
  await report({ in: [{ b: 2, a: 3 }, []] })
  const events = await hooks.taken(all)
  assert.deepEqual(
    events.map(({ body: { data } }) => data.preferences.condition.in[0]),
    [{ b: 2, a: 3 }],
  )
  await hooks.remove(all)
})
