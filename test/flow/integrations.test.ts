// Without an active integration nothing is said on a channel, and the job reports so.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript, reported, statuses } from '../support/flow-scene.ts'
import { email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let mail: MailScript
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  mail = new MailScript(scene)
})
after(() => app.close())
beforeEach(() => mail.clear())

const newSubscriber = (more: object = {}) => ({ subscriberId: fresh('person'), email: 'ada@example.org', ...more })

async function switchBuiltIn(providerId: string, active: boolean): Promise<void> {
  const all: Json[] = await scene.expect(200, 'GET', '/v1/integrations')
  const { _id } = all.find((one) => one.providerId === providerId) ?? assert.fail(providerId)
  await scene.expect(200, 'PUT', `/v1/integrations/${_id}`, { active })
}

test('without an active e-mail integration the step fails, and the next one runs', async () => {
  await switchBuiltIn('platform-email', false)
  const workflow = await scene.workflow([email('Hello'), inApp('After')])
  const notification = await scene.run(workflow, newSubscriber())
  assert.deepEqual(statuses(notification), ['failed', 'completed'])
  assert.deepEqual(reported(notification.jobs[0]).at(-1), ['Subscriber does not have an active integration', 'Failed'])
  assert.equal(notification.jobs[0].executionDetails.at(-1).source, 'Credentials')
  await switchBuiltIn('platform-email', true)
})

test('without an active in-app integration there is no feed to write to', async () => {
  await switchBuiltIn('platform', false)
  const workflow = await scene.workflow([inApp('Hello'), email('After')])
  const person = newSubscriber()
  const notification = await scene.run(workflow, person)
  assert.deepEqual(statuses(notification), ['failed', 'completed'])
  assert.deepEqual(reported(notification.jobs[0]).at(-1), ['Subscriber does not have an active integration', 'Failed'])
  assert.deepEqual(await scene.feed(person.subscriberId), [])
  await switchBuiltIn('platform', true)
})

const forPlan = (plan: string) => [
  {
    isNegated: false,
    type: 'GROUP',
    value: 'AND',
    children: [{ field: 'plan', value: plan, operator: 'EQUAL', on: 'payload' }],
  },
]

test('an integration whose conditions hold is chosen before the primary one', async () => {
  await mail.account('usual')
  await mail.account('gold', { conditions: forPlan('gold') })
  const workflow = await scene.workflow([email('Hello')])
  await scene.run(workflow, newSubscriber(), { payload: { plan: 'gold' } })
  await scene.run(workflow, newSubscriber(), { payload: { plan: 'silver' } })
  assert.deepEqual(mail.accounts(), ['gold', 'usual'])
})

test('an event may name the integration, and only that one is asked', async () => {
  await mail.account('primary')
  await mail.account('second')
  mail.answers('second', 401)
  const workflow = await scene.workflow([email('Hello')])
  const overrides = { email: { integrationIdentifier: mail.identifier('second') } }
  const notification = await scene.run(workflow, newSubscriber(), { overrides })
  assert.deepEqual(mail.accounts(), ['second'])
  assert.deepEqual(statuses(notification), ['failed'])
  const unknown = { email: { integrationIdentifier: 'nobody-knows-it' } }
  assert.deepEqual(statuses(await scene.run(workflow, newSubscriber(), { overrides: unknown })), ['failed'])
  assert.deepEqual(mail.accounts(), ['second'])
})

test('an integration whose condition cannot be rendered does not fit, and the next one sends', async () => {
  await mail.account('usual')
  await mail.account('broken', { conditions: forPlan('{% for i in (1..100000000) %}{{ i }}{% endfor %}') })
  const workflow = await scene.workflow([email('Hello'), inApp('After')])
  const notification = await scene.run(workflow, newSubscriber(), { payload: { plan: 'gold' } })
  assert.deepEqual(statuses(notification), ['completed', 'completed'])
  assert.deepEqual(mail.accounts(), ['usual'])
})

test('what capture takes is reported as a test, and what a provider takes is not', async () => {
  const workflow = await scene.workflow([email('Hello')])
  const captured = await scene.run(workflow, newSubscriber())
  assert.equal(captured.jobs[0].executionDetails.at(-1).isTest, true)
  await mail.account('real')
  const sent = await scene.run(workflow, newSubscriber())
  assert.equal(sent.jobs[0].executionDetails.at(-1).isTest, false)
  assert.deepEqual([sent.jobs[0].providerId, mail.accounts()], ['sendgrid', ['real']])
})
