// Why over the API: the shape of the answer, what is not there or ill-formed, and why someone has no notification.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { whyNotification, whySubscriber } from '../../src/read/why/why.ts'
import { listEnvironments } from '../../src/store/operate/installation.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { recordStatements } from '../support/plan.ts'
import { delay, digest, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

const unknownId = '019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21'
const statementsMax = 5

const path = (subscriberId: string, workflow: string, at?: string): string =>
  `/v1/subscribers/${encodeURIComponent(subscriberId)}/why?${new URLSearchParams({ workflow, ...(at && { at }) })}`
const ask = (subscriberId: string, workflow: string, at?: string): Promise<Json> =>
  scene.expect(200, 'GET', path(subscriberId, workflow, at))
const codes = (answer: Json): string[] => answer.reasons.map(({ code }: Json) => code)

/** Someone who is there before whatever follows. */
async function newSubscriber(): Promise<string> {
  const subscriberId = fresh('person')
  await scene.subscribers(subscriberId)
  app.world.advance(1_000)
  return subscriberId
}

test('a notification is reported with its workflow, its subscriber and its steps', async () => {
  const workflow = await scene.created([inApp('Hello', { name: 'Bell' }), delay()])
  const person = fresh('person')
  const notification = await scene.run(workflow.triggers[0].identifier, person)
  const why = await scene.expect(200, 'GET', `/v1/notifications/${notification._id}/why`)
  const { steps, summary, ...rest } = why
  assert.deepEqual(rest, {
    notificationId: notification._id,
    transactionId: notification.transactionId,
    workflow: { _id: workflow._id, identifier: workflow.triggers[0].identifier, name: workflow.name },
    subscriberId: person,
    at: notification.createdAt,
  })
  assert.match(summary, /^The subscriber was notified by in-app message\. The step “delay” \(delay\): Waits until /)
  const [message] = notification.jobs[0].messages
  assert.deepEqual(
    { ...steps[0], reasons: steps[0].reasons.map(({ code, data }: Json) => [code, data]) },
    {
      stepId: workflow.steps[0]._id,
      name: 'Bell',
      type: 'in_app',
      status: 'completed',
      sentence: 'Sent: the message is in the subscriber’s feed.',
      reasons: [
        ['messageCreated', { providerId: 'platform' }],
        ['messageSent', { providerId: 'platform' }],
      ],
      messages: [{ _id: message._id, channel: 'in_app', status: 'sent', providerId: 'platform' }],
    },
  )
  assert.equal(steps[1].nextAttemptAt, steps[1].reasons[0].data.untilDate)
})

test('the last notification at or before the time is reported', async () => {
  const workflow = await scene.workflow([inApp('Hello')])
  const person = fresh('person')
  const [first, second] = [await scene.run(workflow, person), await scene.run(workflow, person)]
  await scene.run(await scene.workflow([inApp('Other')]), person)
  assert.equal((await ask(person, workflow)).notificationId, second._id)
  assert.equal((await ask(person, workflow, second.createdAt)).notificationId, second._id)
  const between = new Date(Date.parse(second.createdAt) - 1).toISOString()
  assert.equal((await ask(person, workflow, between)).notificationId, first._id)
  const before = new Date(Date.parse(first.createdAt) - 1).toISOString()
  const none = await ask(person, workflow, before)
  assert.equal('notificationId' in none, false)
  assert.deepEqual([codes(none), none.at, none.steps], [['noEvent'], before, []])
})

test('notifications of earlier versions of the workflow count', async () => {
  const made = await scene.created([inApp('Hello')])
  const person = fresh('person')
  const notification = await scene.run(made.triggers[0].identifier, person)
  const body = { name: made.name, active: true, steps: [inApp('Changed')] }
  const reply = await app.call('PUT', `/v1/workflows/${made._id}`, { body })
  assert.equal(reply.status, 200, reply.text)
  assert.equal((await ask(person, made.triggers[0].identifier)).notificationId, notification._id)
})

test('someone unknown, and someone who was deleted, are reported as that', async () => {
  const workflow = await scene.workflow([inApp('Hello')])
  assert.deepEqual(codes(await ask(fresh('nobody'), workflow)), ['subscriberUnknown'])
  const gone = fresh('person')
  await scene.run(workflow, gone)
  await scene.expect(200, 'DELETE', `/v2/subscribers/${gone}`)
  const answer = await ask(gone, workflow)
  assert.deepEqual(codes(answer), ['subscriberUnknown'])
  assert.match(answer.summary, new RegExp(`no notification of ${workflow} for ${gone}\\..*or it was deleted`))
})

test('without any event that is reported, and whether the workflow is off', async () => {
  const person = await newSubscriber()
  assert.deepEqual(codes(await ask(person, await scene.workflow([inApp('Hello')]))), ['noEvent'])
  const off = await scene.workflow([inApp('Hello')], { active: false })
  assert.deepEqual(codes(await ask(person, off)), ['noEvent', 'workflowInactive'])
})

test('an event that named others alone is reported with its transaction', async () => {
  const person = await newSubscriber()
  const workflow = await scene.workflow([inApp('Hello')])
  const { transactionId } = await scene.run(workflow, fresh('other'))
  const answer = await ask(person, workflow)
  assert.deepEqual(codes(answer), ['notNamed'])
  assert.deepEqual(answer.reasons[0].data, { transactionId, notified: 1 })
})

test('for an event to a topic, why explains who is not in it, joined later, is excluded or is the actor', async () => {
  const [outside, late, excluded, actor, member] = await Promise.all(Array.from({ length: 5 }, newSubscriber))
  const topicKey = fresh('topic')
  await scene.topic(topicKey, [`${excluded}`, `${actor}`, `${member}`])
  const workflow = await scene.workflow([inApp('Hello')])
  app.world.advance(1_000)
  const to = [{ type: 'Topic', topicKey, exclude: [excluded] }]
  const transactionId = await scene.trigger(workflow, to, { actor })
  const early = await ask(`${member}`, workflow)
  assert.deepEqual(codes(early), ['eventExpanding'])
  await scene.work()
  app.world.advance(1_000)
  await scene.topic(topicKey, [`${late}`])
  assert.equal((await ask(`${member}`, workflow)).transactionId, transactionId)
  for (const [person, code] of [
    [outside, 'notInTopic'],
    [late, 'joinedTopicLater'],
    [excluded, 'excluded'],
    [actor, 'actor'],
  ] as const) {
    const answer = await ask(`${person}`, workflow)
    assert.deepEqual(codes(answer), [code])
    assert.deepEqual(answer.reasons[0].data.topics, [topicKey])
  }
})

test('an event whose topic is unknown, or that was cancelled before it began, is reported', async () => {
  const person = await newSubscriber()
  const lost = await scene.workflow([inApp('Hello')])
  await scene.trigger(lost, [{ type: 'Topic', topicKey: 'no-such-topic' }])
  await scene.work()
  const answer = await ask(person, lost)
  assert.deepEqual(codes(answer), ['topicUnknown'])
  assert.match(answer.summary, /no-such-topic/)
  const topicKey = fresh('topic')
  await scene.topic(topicKey, [person])
  app.world.advance(1_000)
  const called = await scene.workflow([inApp('Hello')])
  const transactionId = await scene.trigger(called, [{ type: 'Topic', topicKey }])
  await scene.expect(200, 'DELETE', `/v1/events/trigger/${transactionId}`)
  await scene.work()
  assert.deepEqual(codes(await ask(person, called)), ['eventCanceled'])
})

test('someone who was made after the last event is reported as that first', async () => {
  const workflow = await scene.workflow([inApp('Hello')])
  await scene.run(workflow, fresh('other'))
  app.world.advance(1_000)
  assert.deepEqual(codes(await ask(await newSubscriber(), workflow)), ['subscriberCreatedLater', 'notNamed'])
})

test('what is not there is 404', async () => {
  const person = await newSubscriber()
  for (const address of [`/v1/notifications/${unknownId}/why`, path(person, 'no-such-workflow')]) {
    const reply = await app.call('GET', address)
    assert.equal(reply.status, 404, reply.text)
  }
  const workflow = await scene.workflow([inApp('Hello')])
  const { _id } = await scene.run(workflow, person)
  for (const address of [`/v1/notifications/${_id}/why`, path(person, workflow)]) {
    assert.equal((await app.call('GET', address, { key: app.productionKey })).status, 404)
  }
})

test('what is ill-formed is 422 and names the field', async () => {
  const person = await newSubscriber()
  const workflow = await scene.workflow([inApp('Hello')])
  const wrong: [string, string][] = [
    ['/v1/notifications/not-an-id/why', 'notificationId'],
    [path(person, workflow, 'yesterday'), 'at'],
    [path(person, workflow, '2026-02-30T00:00:00Z'), 'at'],
    [path(person, workflow, '1969-12-31T23:59:59Z'), 'at'],
    [`/v1/subscribers/${person}/why`, 'workflow'],
    [path(person, ''), 'workflow'],
  ]
  for (const [address, field] of wrong) {
    const reply = await app.call('GET', address)
    assert.equal(reply.status, 422, `${address}: ${reply.text}`)
    assert.deepEqual(Object.keys(reply.body.errors), [field])
  }
})

test(`no answer takes more than ${statementsMax} statements`, async () => {
  const { db } = app.database
  const person = await newSubscriber()
  const steps = [digest(), inApp('One'), email('Two'), delay(), inApp('Three')]
  const workflow = await scene.workflow(steps)
  await scene.run(workflow, person)
  const merged = await scene.run(workflow, person)
  await scene.advance(300_000)
  const topicKey = fresh('topic')
  await scene.topic(topicKey, [fresh('other')].slice(1))
  const other = await scene.workflow([inApp('Hello')])
  await scene.trigger(other, [{ type: 'Topic', topicKey }])
  await scene.work()
  const environment = (await listEnvironments(db)).find(({ id }) => id === merged._environmentId)
  assert.ok(environment)
  const counted = async (read: (db: ReturnType<typeof recordStatements>) => Promise<unknown>): Promise<number> => {
    const recording = recordStatements(db)
    await read(recording)
    return recording.statements.length
  }
  const one = await counted((sql) => whyNotification(sql, environment, merged._id))
  const found = await counted((sql) => whySubscriber(sql, environment, { subscriberId: person, workflow }))
  const absent = await counted((sql) => whySubscriber(sql, environment, { subscriberId: person, workflow: other }))
  assert.deepEqual([one, found, absent], [4, 5, 3])
  assert.ok(Math.max(one, found, absent) <= statementsMax)
})
