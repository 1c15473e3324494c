// Preferences of single subscriptions to topics: stored and shown, asked when an event goes to the topic, explained and simulated.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Novu } from '@novu/api'
import { findTopicMembers } from '../../src/store/people/topic-subscriptions.ts'
import { wantedMembers } from '../../src/store/people/wanted-members.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { inboxOf } from '../support/inbox-scene.ts'
import { recordStatements } from '../support/plan.ts'
import { environmentOf } from '../support/topic-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let novu: Novu
before(async () => {
  app = await createTestApp({ vendor: 'novu' })
  scene = new FlowScene(app)
  const serverURL = await app.app.listen({ port: 0, host: '127.0.0.1' })
  novu = new Novu({ secretKey: app.developmentKey, serverURL, retryConfig: { strategy: 'none' } })
})
after(() => app.close())

const isUrgent = { '==': [{ var: 'payload.priority' }, 'high'] }

async function people(count: number): Promise<string[]> {
  const names = Array.from({ length: count }, () => fresh('person'))
  await scene.subscribers(...names)
  app.world.advance(1_000)
  return names
}

const subscribe = (topic: string, body: object): Promise<Json> =>
  scene.expect(201, 'POST', `/v2/topics/${topic}/subscriptions`, body)

/** Who is notified of an event that goes to these topics. */
async function reached(workflow: string, topics: readonly string[], more: object = {}): Promise<string[]> {
  app.world.advance(1_000)
  const to = topics.map((topicKey) => ({ type: 'Topic', topicKey }))
  const transactionId = await scene.trigger(workflow, to, more)
  await scene.work()
  const found = await scene.expect(200, 'GET', `/v1/notifications?transactionId=${transactionId}&limit=50`)
  return found.data.map(({ subscriber }: Json) => subscriber.subscriberId).sort()
}

const why = (subscriberId: string, workflow: string): Promise<Json> =>
  scene.expect(200, 'GET', `/v1/subscribers/${subscriberId}/why?workflow=${workflow}`)

test('a switched off workflow does not reach a subscriber through that topic, and why says so', async () => {
  const [on = '', off = ''] = await people(2)
  const [news, other] = [await scene.workflow([inApp('News')]), await scene.workflow([inApp('Other')])]
  const topic = fresh('topic')
  await subscribe(topic, {
    subscriptions: [on, { subscriberId: off, preferences: [{ workflowId: news, enabled: false }] }],
  })
  assert.deepEqual(await reached(news, [topic]), [on])
  const { reasons, summary } = await why(off, news)
  assert.deepEqual(
    reasons.map(({ code }: Json) => code),
    ['subscriptionPreference'],
  )
  assert.match(
    summary,
    new RegExp(`left out for ${off} by their subscription: the workflow is switched off for ${topic}`),
  )
  assert.equal(reasons[0].data.subscriptions[0].topicKey, topic)
  // Other workflows, and events that name the subscriber, are not concerned.
  assert.deepEqual(await reached(other, [topic]), [on, off].sort())
  assert.equal((await scene.run(news, off)).jobs[0].status, 'completed')
})

test('a condition reads payload, subscriber, actor and context; one that cannot be evaluated does not hold', async () => {
  const [calm = '', keen = '', rich = '', fan = '', local = '', odd = '', nosy = '', actor = ''] = await people(8)
  const workflow = await scene.workflow([inApp('News')])
  const topic = fresh('topic')
  await scene.expect(200, 'PATCH', `/v2/subscribers/${rich}`, { data: { plan: 'gold' } })
  await scene.expect(200, 'PATCH', `/v2/subscribers/${actor}`, { data: { role: 'admin' }, email: 'boss@example.org' })
  const when = (condition: object) => [{ workflowId: workflow, condition }]
  const endless = { reduce: [{ var: 'payload.list' }, { cat: [{ var: 'accumulator' }, { var: 'accumulator' }] }, 'x'] }
  const subscriptions = [
    { subscriberId: calm, preferences: when({ '==': [{ var: 'payload.priority' }, 'low'] }) },
    { subscriberId: keen, preferences: when(isUrgent) },
    { subscriberId: rich, preferences: when({ '==': [{ var: 'subscriber.data.plan' }, 'gold'] }) },
    { subscriberId: fan, preferences: when({ '==': [{ var: 'actor.subscriberId' }, actor] }) },
    // Readers write conditions: what is not shown of other people cannot be found out by trying.
    {
      subscriberId: nosy,
      preferences: when({
        or: ['data.role', 'data', 'email', '_id', 'isOnline'].map((name) => ({ var: `actor.${name}` })),
      }),
    },
    { subscriberId: local, preferences: when({ '==': [{ var: 'context.tenant.id' }, 'acme'] }) },
    { subscriberId: odd, preferences: when({ '==': [endless, 'y'] }) },
  ]
  await subscribe(topic, { subscriptions })
  const list = Array.from({ length: 40 }, () => 1)
  const more = { payload: { priority: 'high', list }, actor: { subscriberId: actor }, context: { tenant: 'acme' } }
  assert.deepEqual(await reached(workflow, [topic], more), [keen, rich, fan, local].sort())
  const { reasons } = await why(calm, workflow)
  assert.equal(reasons[0].code, 'subscriptionPreference')
  assert.match(reasons[0].sentence, /the condition of the workflow does not hold/)
  const [compared] = reasons[0].data.subscriptions[0].compared
  assert.deepEqual([compared.field, compared.expected, compared.actual], ['payload.priority', 'low', 'high'])
})

test('one subscription that lets it through is enough, and the notification names its topic only', async () => {
  const [both = '', neither = ''] = await people(2)
  const workflow = await scene.workflow([inApp('News')])
  const [quiet, loud] = [fresh('quiet'), fresh('loud')]
  const off = [{ workflowId: workflow, enabled: false }]
  await subscribe(quiet, { subscriptions: [both, neither], preferences: off })
  await subscribe(loud, { subscriptions: [both, { subscriberId: neither, preferences: off }] })
  app.world.advance(1_000)
  assert.deepEqual(await reached(workflow, [quiet, loud]), [both])
  const [{ topics }] = (await scene.expect(200, 'GET', `/v1/notifications?subscriberIds=${both}`)).data
  assert.deepEqual(
    topics.map(({ topicKey }: Json) => topicKey),
    [loud],
  )
  assert.equal((await why(neither, workflow)).reasons[0].code, 'subscriptionPreference')
})

test('a critical workflow reaches everyone, and cannot be switched off', async () => {
  const [person = ''] = await people(1)
  const created = await scene.created([inApp('Alarm')], { tags: ['alarms'] })
  const workflow = created.triggers[0].identifier
  const topic = fresh('topic')
  await subscribe(topic, { subscriptions: [person], preferences: [{ workflowId: workflow, enabled: false }] })
  assert.deepEqual(await reached(workflow, [topic]), [])
  await scene.expect(200, 'PUT', `/v1/workflows/${created._id}`, { ...created, critical: true })
  assert.deepEqual(await reached(workflow, [topic]), [person])
  const change = { body: { preferences: [{ workflowId: workflow, enabled: false }] } }
  const refused = await app.call('PATCH', `/v2/topics/${topic}/subscriptions/tk_${topic}:si_${person}`, change)
  assert.deepEqual(
    [refused.status, refused.body.message],
    [400, `Critical workflow with id: ${workflow} can not be updated`],
  )
  // By a tag it is passed over.
  const tagged = { preferences: [{ filter: { tags: ['alarms'] }, enabled: false }] }
  const path = `/v2/topics/${topic}/subscriptions/tk_${topic}:si_${person}`
  assert.equal((await scene.expect(200, 'PATCH', path, tagged)).preferences, undefined)
})

test('a simulation leaves out whom the trigger would leave out', async () => {
  const [on = '', off = '', low = ''] = await people(3)
  const workflow = await scene.workflow([inApp('News')])
  const topic = fresh('topic')
  const subscriptions = [
    on,
    { subscriberId: off, preferences: [{ workflowId: workflow, enabled: false }] },
    { subscriberId: low, preferences: [{ workflowId: workflow, condition: isUrgent }] },
  ]
  await subscribe(topic, { subscriptions })
  const event = { name: workflow, to: { type: 'Topic', topicKey: topic }, payload: { priority: 'low' } }
  const simulated = await scene.expect(200, 'POST', '/v1/events/simulate', event)
  const shown = simulated.recipients.map(({ subscriberId }: Json) => subscriberId)
  assert.deepEqual([shown, simulated.recipientCount], [[on], 1])
  assert.deepEqual(
    simulated.dropped.map(({ subscriberId, reason }: Json) => [subscriberId, reason]).sort(),
    [
      [off, 'subscription'],
      [low, 'subscription'],
    ].sort(),
  )
  assert.deepEqual(await reached(workflow, [topic], { payload: { priority: 'low' } }), [on])
})

test('the public client writes and reads them with its own models', async () => {
  const [person = ''] = await people(1)
  const topic = fresh('topic')
  const tag = fresh('tag')
  const [first, second] = [await scene.workflow([inApp('A')], { tags: [tag] }), await scene.workflow([inApp('B')])]
  const made = await novu.topics.subscriptions.create(
    {
      subscriptions: [person],
      preferences: [second, { filter: { tags: [tag] }, condition: isUrgent }],
    },
    topic,
  )
  const [subscription] = made.result.data
  const shown = subscription?.preferences?.map(({ workflow, enabled, condition }) => [
    workflow?.identifier,
    enabled,
    condition,
  ])
  assert.deepEqual(shown, [
    [first, true, isUrgent],
    [second, true, undefined],
  ])
  const identifier = `tk_${topic}:si_${person}`
  const read = await novu.topics.subscriptions.getSubscription(topic, identifier)
  assert.deepEqual(read.result.preferences, subscription?.preferences)
  const updated = await novu.topics.subscriptions.update({
    topicKey: topic,
    identifier,
    updateTopicSubscriptionRequestDto: { preferences: [{ workflowId: first, enabled: false }] },
  })
  assert.deepEqual(
    updated.result.preferences?.map(({ workflow, enabled }) => [workflow?.identifier, enabled]),
    [[first, false]],
  )
  const listed = await novu.topics.subscriptions.list({ topicKey: topic })
  assert.deepEqual(listed.result.data[0]?.preferences, updated.result.preferences)
  const ofPerson = await novu.subscribers.topics.list({ subscriberId: person })
  assert.deepEqual(ofPerson.result.data[0]?.preferences, updated.result.preferences)
  const none = { topicKey: topic, identifier, updateTopicSubscriptionRequestDto: { preferences: [] } }
  assert.equal((await novu.topics.subscriptions.update(none)).result.preferences, undefined)
})

test('a reader sets them over a session, one by one and in bulk, for their own subscriptions only', async () => {
  const [ada, bob] = [fresh('ada'), fresh('bob')]
  const [page, other] = [await inboxOf(app, ada), await inboxOf(app, bob)]
  const [first, second] = [await scene.created([inApp('A')]), await scene.created([inApp('B')])]
  const [one, two] = [first.triggers[0].identifier, second.triggers[0].identifier]
  const topic = fresh('topic')
  const path = `/topics/${topic}/subscriptions`
  const made = await page.data(201, 'POST', path, {
    identifier: '',
    preferences: [one, { workflowId: two, enabled: false }],
  })
  assert.deepEqual(
    made.preferences.map(({ subscriptionId, workflow, enabled }: Json) => [subscriptionId, workflow.id, enabled]),
    [
      [made.id, first._id, true],
      [made.id, second._id, false],
    ],
  )
  assert.deepEqual(await page.data(200, 'GET', `${path}/${made.identifier}?workflowIds=${one}`), made)
  const set = `/subscriptions/${made.identifier}/preferences`
  const all = (on: boolean) => ({ enabled: on, email: on, sms: on, in_app: on, chat: on, push: on })
  const off = await page.data(200, 'PATCH', `${set}/${first._id}`, all(false))
  assert.deepEqual(
    [off.level, off.enabled, off.subscriptionId, off.channels, off.workflow.identifier],
    ['template', false, made.id, { in_app: false }, one],
  )
  // By the subscription's id as well: that is what a preference says of itself.
  const conditional = await page.data(200, 'PATCH', `/subscriptions/${made.id}/preferences/${one}`, {
    condition: isUrgent,
  })
  assert.deepEqual([conditional.enabled, conditional.condition], [true, isUrgent])
  assert.deepEqual(await reached(one, [topic], { payload: { priority: 'low' } }), [])
  assert.deepEqual(await reached(one, [topic], { payload: { priority: 'high' } }), [ada])
  const bulk = [
    { subscriptionIdentifier: made.identifier, workflowId: one, ...all(true) },
    { subscriptionIdentifier: made.id, workflowId: two, ...all(true) },
  ]
  const changed = await page.data(200, 'PATCH', '/preferences/bulk', { preferences: bulk })
  assert.deepEqual(
    changed.map(({ workflow, enabled, condition }: Json) => [workflow.identifier, enabled, condition]),
    [
      [one, true, undefined],
      [two, true, undefined],
    ],
  )
  for (const name of [made.identifier, made.id]) {
    const answer = await other.call('PATCH', `/subscriptions/${name}/preferences/${one}`, { body: all(false) })
    assert.equal(answer.status, 404, name)
    const many = { preferences: [{ subscriptionIdentifier: name, workflowId: one, enabled: false }] }
    assert.equal((await other.call('PATCH', '/preferences/bulk', { body: many })).status, 404)
  }
  const [kept] = await page.data(200, 'GET', path)
  assert.deepEqual(
    kept.preferences.map(({ enabled }: Json) => enabled),
    [true, true],
  )
})

test('what cannot be kept is refused, and nothing of it is stored', async () => {
  const ada = fresh('ada')
  const page = await inboxOf(app, ada)
  const workflow = await scene.workflow([inApp('A')])
  const path = `/topics/${fresh('topic')}/subscriptions`
  const refused: [number, unknown][] = [
    [404, ['no-such-workflow']],
    [404, [{ filter: { workflowIds: ['no-such-workflow'] } }]],
    [422, [{ workflowId: workflow, condition: { startWith: [1, 2] } }]],
    [422, [{ workflowId: workflow, condition: 'always' }]],
    [422, [{ enabled: false }]],
    [422, [{ workflowId: workflow, filter: {} }]],
    [422, [7]],
    [422, Array.from({ length: 201 }, () => workflow)],
    [422, [{ workflowId: workflow, condition: { in: ['x', Array.from({ length: 30 }, () => 'x'.repeat(4_000))] } }]],
  ]
  for (const [status, preferences] of refused) {
    const answer = await page.call('POST', path, { body: { preferences } })
    assert.equal(answer.status, status, `${JSON.stringify(preferences).slice(0, 80)} ${answer.text}`)
  }
  assert.deepEqual(await page.data(200, 'GET', path), [])
  const made = await page.data(201, 'POST', path, { preferences: [workflow] })
  const mixed = [
    { subscriptionIdentifier: made.id, workflowId: workflow, enabled: false },
    { workflowId: workflow, email: false },
  ]
  assert.equal((await page.call('PATCH', '/preferences/bulk', { body: { preferences: mixed } })).status, 422)
  assert.equal(
    (await page.call('PATCH', `/subscriptions/${made.id}/preferences/${workflow}`, { body: {} })).status,
    422,
  )
  const condition = await page.call('PATCH', `/preferences/${workflow}`, { body: { condition: isUrgent } })
  assert.equal(condition.status, 422)
})

test('choices of a page of members are judged without a statement; conditions take two, however many there are', async () => {
  const names = await people(30)
  const workflow = await scene.created([inApp('News')])
  const environment = await environmentOf(app)
  const { db } = app.database
  const judged = async (choice: object): Promise<[found: number, wanted: number, statements: number]> => {
    const topic = fresh('topic')
    await subscribe(topic, { subscriptions: names, preferences: [{ workflowId: workflow._id, ...choice }] })
    const topicIds = [(await scene.expect(200, 'GET', `/v2/topics/${topic}`))._id]
    const page = { topicIds, workflowId: workflow._id, after: null, limit: 500 }
    const found = await findTopicMembers(db, environment, page)
    const recording = recordStatements(db)
    const event = { payload: { priority: 'high' }, actorId: null, contextKeys: ['tenant:acme'] }
    const asked = { isCritical: false, event: async () => event, now: app.world.now() }
    const { wanted } = await wantedMembers(recording, environment, found, asked)
    return [found.length, wanted.length, recording.statements.length]
  }
  assert.deepEqual(await judged({ enabled: false }), [30, 0, 0])
  assert.deepEqual(await judged({ condition: isUrgent }), [30, 30, 2])
})

test('conditions that take long cut the page of members, and the event goes on with the rest', async () => {
  const names = await people(40)
  const workflow = await scene.created([inApp('News')])
  const topic = fresh('topic')
  const long = { all: [{ var: 'payload.list' }, { '<': [{ var: '' }, 1e9] }] }
  await subscribe(topic, { subscriptions: names, preferences: [{ workflowId: workflow._id, condition: long }] })
  const payload = { list: Array.from({ length: 1_800 }, (_, place) => place) }
  const environment = await environmentOf(app)
  const topicIds = [(await scene.expect(200, 'GET', `/v2/topics/${topic}`))._id]
  const page = { topicIds, workflowId: workflow._id, after: null, limit: 500 }
  const found = await findTopicMembers(app.database.db, environment, page)
  const judged = async (given: object, isCritical = false) => {
    const event = async () => ({ payload: { ...given }, actorId: null, contextKeys: null })
    const asked = { isCritical, event, now: app.world.now() }
    const outcome = await wantedMembers(app.database.db, environment, found, asked)
    return [outcome.wanted.length, outcome.judged]
  }
  assert.deepEqual(await judged(payload), [28, 28])
  assert.deepEqual(await judged({ list: [1] }), [40, 40])
  assert.deepEqual(await judged(payload, true), [40, 40])
  const { identifier } = workflow.triggers[0]
  const event = { name: identifier, to: { type: 'Topic', topicKey: topic }, payload }
  const simulated = await scene.expect(200, 'POST', '/v1/events/simulate', event)
  assert.deepEqual([simulated.recipientCount, simulated.dropped], [40, []])
  assert.deepEqual(await reached(identifier, [topic], { payload }), [...names].sort())
})
