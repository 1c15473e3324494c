// Simulating events over the API: whom it is about, what is answered and refused, and workflows that are not saved.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { delay, email, inApp, refusals } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

const path = '/v1/events/simulate'
const simulate = (body: object): Promise<Json> => scene.expect(200, 'POST', path, body)
const person = (): Json => {
  const subscriberId = fresh('person')
  return { subscriberId, email: `${subscriberId}@example.org` }
}
const outcomes = (steps: readonly Json[]): string[] => steps.map(({ outcome }) => outcome)

test('everyone is notified once: those named first, then members of topics without the actor and the excluded', async () => {
  const [named, both, member, excluded, actor] = ['named', 'both', 'member', 'excluded', 'actor'].map((name) =>
    fresh(name),
  )
  await scene.subscribers(...([both, member, excluded, actor] as string[]))
  const topicKey = fresh('topic')
  await scene.topic(topicKey, [both, member, excluded, actor] as string[])
  const name = await scene.workflow([inApp('x')])
  const answer = await simulate({
    name,
    to: [
      named,
      both,
      both,
      { type: 'Topic', topicKey, exclude: [excluded, 'stranger'] },
      { type: 'Topic', topicKey: 'absent' },
    ],
    actor,
  })
  const reported = answer.recipients.map(({ subscriberId, isNew, topics }: Json) => [subscriberId, isNew, topics])
  assert.deepEqual(reported, [
    [named, true, []],
    [both, false, []],
    [member, false, [topicKey]],
  ])
  assert.equal(answer.recipientCount, 3)
  assert.deepEqual(answer.dropped, [
    { subscriberId: excluded, reason: 'excluded' },
    { subscriberId: actor, reason: 'actor' },
  ])
  assert.deepEqual(answer.warnings, ['Topic absent was not found'])
})

test('a topic is understood without its type, and with it in any case', async () => {
  const member = fresh('member')
  await scene.subscribers(member)
  const topicKey = fresh('topic')
  await scene.topic(topicKey, [member])
  const name = await scene.workflow([inApp('x')])
  for (const to of [{ topicKey }, [{ topicKey }], { type: 'topic', topicKey }, [{ type: 'TOPIC', topicKey }]]) {
    const { recipients } = await simulate({ name, to })
    assert.deepEqual(
      recipients.map(({ subscriberId }: Json) => subscriberId),
      [member],
      JSON.stringify(to),
    )
  }
  const named = await simulate({ name, to: { subscriberId: member, topicKey } })
  assert.deepEqual(named.recipients[0].topics, [])
})

test('more people than are shown are counted', async () => {
  const members = Array.from({ length: 5 }, () => fresh('crowd'))
  await scene.subscribers(...members)
  const topicKey = fresh('topic')
  await scene.topic(topicKey, members)
  const name = await scene.workflow([inApp('x')])
  const answer = await simulate({ name, to: [fresh('a'), fresh('b'), { type: 'Topic', topicKey }], limit: 3 })
  assert.deepEqual([answer.recipients.length, answer.recipientCount, answer.recipientCountCapped], [3, 7, false])
  const named = await simulate({ name, to: Array.from({ length: 130 }, () => fresh('many')) })
  assert.deepEqual([named.recipients.length, named.recipientCount], [100, 130])
  for (const limit of [0, 101, 1.5]) {
    assert.ok('limit' in refusals(await app.call('POST', path, { body: { name, to: 'x', limit } })))
  }
})

test('what the trigger would answer is reported, and nothing follows where nothing would run', async () => {
  const off = await scene.workflow([inApp('x')], { active: false })
  const none = await scene.workflow([])
  const name = await scene.workflow([inApp('x')])
  const statusOf = async (body: object): Promise<unknown[]> => {
    const { status, recipients, recipientCount } = await simulate({ to: fresh('person'), ...body })
    return [status, recipients, recipientCount]
  }
  assert.deepEqual(await statusOf({ name: off }), ['trigger_not_active', [], 0])
  assert.deepEqual(await statusOf({ name: none }), ['no_workflow_steps_defined', [], 0])
  assert.deepEqual(await statusOf({ name, tenant: 'nobody' }), ['no_tenant_found', [], 0])
  assert.deepEqual(await statusOf({ name, to: [] }), ['invalid_recipients', [], 0])
  const transactionId = await scene.trigger(name, fresh('person'), { transactionId: fresh('used') })
  const repeated = await simulate({ name, to: fresh('person'), transactionId })
  assert.deepEqual([repeated.status, repeated.recipients, repeated.transactionId], ['processed', [], transactionId])
  assert.match(repeated.warnings[0], /was used before/)
})

test('what a trigger is refused for is refused', async () => {
  const name = await scene.workflow([inApp('x')])
  const refused = async (body: object): Promise<Json> => {
    const reply = await app.call('POST', path, { body })
    assert.equal(reply.status, 422, reply.text)
    return reply.body
  }
  assert.deepEqual((await refused({ name: 'absent', to: 'x' })).errors.event.messages, [
    'workflow_not_found',
    'there is no workflow absent in this environment',
  ])
  assert.match((await refused({ name })).message, /to/)
  assert.match((await refused({ to: 'x' })).message, /name/)
  assert.match((await refused({ name, to: { subscriberId: 'x', email: 7 } })).message, /email/)
  for (const at of ['soon', '2026-02-30', '1969-01-01']) {
    assert.match((await refused({ name, to: 'x', at })).errors.at.messages[0], /ISO 8601/)
  }
  assert.ok(
    'assume.webhookConditions' in (await refused({ name, to: 'x', assume: { webhookConditions: 'yes' } })).errors,
  )
})

test('a workflow that is not saved is refused for what saving refuses, at its place in the body', async () => {
  const bodies: Json[] = [
    { name: 'x', steps: [{ template: { type: 'fax', content: 'x' } }] },
    {
      name: 'x',
      steps: [{ template: { type: 'email', subject: '{{ open', contentType: 'customHtml', content: 'x' } }],
    },
    { name: 'x', steps: [{ template: { type: 'delay' } }] },
    { name: 'x', steps: [{ ...email(), template: { ...email().template, layoutId: 'nowhere' } }] },
    { steps: [] },
  ]
  for (const workflow of bodies) {
    const saved = refusals(await app.call('POST', '/v1/workflows', { body: workflow }))
    const tried = refusals(await app.call('POST', path, { body: { workflow, to: 'x' } }))
    assert.deepEqual(
      Object.keys(tried),
      Object.keys(saved).map((field) => `workflow.${field}`),
    )
  }
})

test('a workflow that is not saved runs as it would, active unless it says otherwise', async () => {
  const workflow = { name: 'Not saved', steps: [inApp('Hello {{ payload.n }}'), delay(), email()] }
  const answer = await simulate({ workflow, to: person(), payload: { n: 7 } })
  assert.deepEqual(answer.workflow, { identifier: 'not-saved', name: 'Not saved', isSaved: false })
  assert.deepEqual(outcomes(answer.recipients[0].steps), ['run', 'wait', 'run'])
  assert.equal(answer.recipients[0].steps[0].messages[0].content, 'Hello 7')
  assert.equal((await simulate({ workflow: { ...workflow, active: false }, to: 'x' })).status, 'trigger_not_active')
  assert.equal((await app.call('GET', '/v1/workflows/not-saved')).status, 404)
})

test('a key needs to read; another environment knows none of it', async () => {
  const keyOf = async (scope: string): Promise<string> =>
    (await scene.expect(201, 'POST', '/v1/environments/api-keys', { name: scope, scopes: [scope] })).key
  const name = await scene.workflow([inApp('x')])
  const body = { name, to: 'x' }
  assert.equal((await app.call('POST', path, { body, key: app.productionKey })).status, 422)
  assert.equal((await app.call('POST', path, { body, key: null })).status, 401)
  assert.equal((await app.call('POST', path, { body, key: await keyOf('read') })).status, 200)
  // What it would say shows what is known of people.
  assert.equal((await app.call('POST', path, { body, key: await keyOf('trigger') })).status, 403)
})

test('a workflow that is not saved needs a key that may do everything', async () => {
  const body = { workflow: { name: 'not saved', steps: [inApp('x')] }, to: 'x' }
  for (const scopes of [['read'], ['read', 'trigger', 'workflows:write']]) {
    const { key } = await scene.expect(201, 'POST', '/v1/environments/api-keys', { name: 'reader', scopes })
    assert.equal((await app.call('POST', path, { body, key })).status, 403, scopes.join())
  }
  await scene.expect(200, 'POST', path, body)
})
