// Failover: when the next integration of a channel takes over, and when none is left.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript, reported, statuses } from '../support/flow-scene.ts'
import { email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let mail: MailScript
let workflow: string
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  mail = new MailScript(scene)
  workflow = await scene.workflow([email('Hello'), inApp('After')])
})
after(() => app.close())
beforeEach(() => mail.clear())

const newSubscriber = () => ({ subscriberId: fresh('person'), email: `${fresh('ada')}@example.org` })

test('after two busy answers the next integration takes over', async () => {
  await mail.account('first')
  await mail.account('second')
  mail.answers('first', 503)
  const { transactionId } = await scene.run(workflow, newSubscriber())
  assert.deepEqual(mail.accounts(), ['first'])
  await scene.advance(1_000)
  assert.deepEqual(mail.accounts(), ['first', 'first', 'second'])
  const notification = await scene.notification(transactionId)
  assert.deepEqual(statuses(notification), ['completed', 'completed'])
  const [job] = notification.jobs
  assert.deepEqual(job.executionDetails.at(-1).detail, 'Message sent')
  assert.equal(job.messages[0].status, 'sent')
  assert.equal(new Set(mail.asked.map((one) => one.subject)).size, 1)
})

test('an account that is wrong makes way at once, and its source is reported', async () => {
  await mail.account('first')
  await mail.account('second')
  mail.answers('first', { status: 401, body: '{"errors":[{"message":"bad key"}]}' })
  const notification = await scene.run(workflow, newSubscriber())
  assert.deepEqual(mail.accounts(), ['first', 'second'])
  assert.deepEqual(statuses(notification), ['completed', 'completed'])
  const wrong = notification.jobs[0].executionDetails.find((one: Json) => one.source === 'Credentials')
  assert.deepEqual([wrong.detail, wrong.status], ['Unexpected provider error', 'Failed'])
})

test('when every account is wrong the step has failed', async () => {
  await mail.account('first')
  await mail.account('second')
  mail.answers('first', 401)
  mail.answers('second', 403)
  const notification = await scene.run(workflow, newSubscriber())
  assert.deepEqual(mail.accounts(), ['first', 'second'])
  assert.deepEqual(statuses(notification), ['failed', 'completed'])
  await scene.advance(3_600_000)
  assert.equal(mail.asked.length, 2)
})

test('the last of them is asked on until the budget is used up, which they share', async () => {
  await mail.account('first')
  await mail.account('second')
  mail.answers('first', 429)
  mail.answers('second', 429)
  const { transactionId } = await scene.run(workflow, newSubscriber())
  await scene.advance(1_800_000, 10_000)
  assert.deepEqual(mail.accounts(), ['first', 'first', ...Array.from({ length: 6 }, () => 'second')])
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['failed', 'completed'])
})

test('capture never takes over: a message that a provider did not accept must not look sent', async () => {
  await mail.account('only')
  mail.answers('only', 401)
  const notification = await scene.run(workflow, newSubscriber())
  assert.deepEqual(statuses(notification), ['failed', 'completed'])
})

test('whoever wants to be left alone for more than a minute hands over at once', async () => {
  await mail.account('first')
  await mail.account('second')
  mail.answers('first', { status: 429, headers: { 'retry-after': '600' } })
  const notification = await scene.run(workflow, newSubscriber())
  assert.deepEqual(mail.accounts(), ['first', 'second'])
  assert.deepEqual(statuses(notification), ['completed', 'completed'])
})

test('while an integration wants to be left alone, new messages do not wait for it more than a minute', async () => {
  await mail.account('first')
  await mail.account('second')
  mail.answers('first', { status: 429, headers: { 'retry-after': '600' } })
  await scene.run(workflow, newSubscriber())
  const { transactionId } = await scene.run(workflow, newSubscriber())
  await scene.advance(60_000, 5_000)
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed'])
  assert.deepEqual(mail.accounts(), ['first', 'second', 'second'])
})

test('an integration that was deleted between two tries is not asked again: the next one is', async () => {
  await mail.account('first')
  await mail.account('second')
  mail.answers('first', 503)
  const { transactionId } = await scene.run(workflow, newSubscriber())
  await mail.remove('first')
  await scene.advance(1_000)
  assert.deepEqual(mail.accounts(), ['first', 'second'])
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed'])
})

test('with the last integration gone between two tries the step has failed, and the message says so', async () => {
  const builtIn: Json[] = await scene.expect(200, 'GET', '/v1/integrations')
  const capture = builtIn.find((one) => one.providerId === 'platform-email') ?? assert.fail('no capture')
  await scene.expect(200, 'PUT', `/v1/integrations/${capture._id}`, { active: false })
  await mail.account('only')
  mail.answers('only', 503)
  const { transactionId } = await scene.run(workflow, newSubscriber())
  await mail.remove('only')
  await scene.advance(1_000)
  const notification = await scene.notification(transactionId)
  assert.deepEqual(statuses(notification), ['failed', 'completed'])
  assert.deepEqual(reported(notification.jobs[0]).at(-1), ['Subscriber does not have an active integration', 'Failed'])
  assert.equal(notification.jobs[0].messages[0].status, 'error')
  await scene.expect(200, 'PUT', `/v1/integrations/${capture._id}`, { active: true })
})

test('a message a provider was busy with is not captured when that provider is gone', async () => {
  await mail.account('only')
  mail.answers('only', 503)
  const { transactionId } = await scene.run(workflow, newSubscriber())
  await mail.remove('only')
  await scene.advance(1_000)
  const { jobs } = await scene.notification(transactionId)
  assert.equal(jobs[0].messages[0].status, 'error')
})

test('an integration that is fixed in the middle is used as it is now', async () => {
  await mail.account('first')
  mail.answers('first', 503, 202)
  const { transactionId } = await scene.run(workflow, newSubscriber())
  const all: Json[] = await scene.expect(200, 'GET', '/v1/integrations')
  const { _id } = all.find((one) => one.name === 'first' && one.active) ?? assert.fail('first')
  const credentials = { apiKey: 'SG.new', from: 'hello@example.com', baseUrl: 'https://moved.example.com' }
  await scene.expect(200, 'PUT', `/v1/integrations/${_id}`, { credentials })
  await scene.advance(1_000)
  assert.deepEqual(mail.accounts(), ['first', 'moved'])
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed'])
})
