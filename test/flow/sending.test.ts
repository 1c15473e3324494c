// Sending: what each outcome leads to, how often and when a provider is asked again, and that every try says the same.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript, rawOf, reported, statuses } from '../support/flow-scene.ts'
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

const newSubscriber = () => ({ subscriberId: fresh('person'), email: `${fresh('ada')}@example.org` })
/** Half of each bound: the world's random number is always 0.5. */
const waitsMs = [1_000, 4_000, 15_000, 60_000, 150_000, 300_000, 370_000]
const flagsOf = (job: Json): string[] =>
  job.executionDetails.slice(3).map((one: Json) => {
    // The time of the next try is asserted where it matters.
    const detail = one.detail.replace(/ at 20\S+Z$/, '')
    return `${detail}/${one.status}${one.isRetry ? '/retry' : ''}`
  })
const busyAndAgain = ['Unexpected provider error/Queued/retry', 'The message will be tried again/Queued/retry']
const unsureAndAgain = ['Unexpected provider error/Warning/retry', 'The message will be tried again/Queued/retry']

test('a provider’s yes ends the job, and the details report who sent it', async () => {
  await mail.account('good')
  const person = newSubscriber()
  const workflow = await scene.workflow([email('Order {{ payload.id }}'), inApp('After')])
  const notification = await scene.run(workflow, person, { payload: { id: 7 } })
  assert.deepEqual(statuses(notification), ['completed', 'completed'])
  const [job] = notification.jobs
  assert.deepEqual(reported(job), [
    ['Step queued', 'Pending'],
    ['SendGrid provider was selected', 'Pending'],
    ['Message created', 'Pending'],
    ['Message sent', 'Success'],
  ])
  assert.deepEqual(
    job.executionDetails.map((one: Json) => [one.isRetry, one.isTest, one.source]),
    Array.from({ length: 4 }, () => [false, false, 'Internal']),
  )
  assert.equal(rawOf(job, 'Message sent').id, 'good-1')
  assert.deepEqual(
    mail.asked.map((one) => [one.account, one.subject, one.to]),
    [['good', 'Order 7', [person.email]]],
  )
  const [message] = job.messages
  assert.deepEqual([message.status, message.providerId], ['sent', 'sendgrid'])
})

test('a busy provider is asked eight times with growing waits; then the job has failed', async () => {
  await mail.account('busy')
  mail.answers('busy', { status: 429, body: '{"errors":[{"message":"overloaded"}]}' })
  const workflow = await scene.workflow([email('Hello'), inApp('After')])
  const person = newSubscriber()
  const { transactionId } = await scene.run(workflow, person)
  for (const [index, waitMs] of waitsMs.entries()) {
    const next = new Date(app.world.now().getTime() + waitMs).toISOString()
    const [waiting] = (await scene.notification(transactionId)).jobs
    assert.equal(waiting.executionDetails.at(-1).detail, `The message will be tried again at ${next}`)
    await scene.advance(waitMs - 1)
    assert.equal(mail.asked.length, index + 1, `before wait ${index} was over`)
    assert.deepEqual(statuses(await scene.notification(transactionId)), ['running', 'pending'])
    await scene.advance(1)
    assert.equal(mail.asked.length, index + 2, `after wait ${index}`)
  }
  const { jobs } = await scene.notification(transactionId)
  assert.deepEqual([jobs[0].status, jobs[1].status], ['failed', 'completed'])
  assert.deepEqual(flagsOf(jobs[0]), [
    ...Array.from({ length: 7 }, () => busyAndAgain).flat(),
    'Unexpected provider error/Failed/retry',
  ])
  assert.match(rawOf(jobs[0], 'Unexpected provider error').message, /overloaded/)
  await scene.advance(3_600_000)
  assert.equal(mail.asked.length, 8)
  const [message] = jobs[0].messages
  assert.deepEqual([message.status, message.errorId], ['error', 'mail_unexpected_error'])
  assert.match(message.errorText, /overloaded/)
})

test('a provider that recovers gets the message once, and the error is gone', async () => {
  await mail.account('busy')
  mail.answers('busy', 'unreachable', 500, 202)
  const { transactionId } = await scene.run(await scene.workflow([email('Hello')]), newSubscriber())
  const waiting = await scene.message(transactionId)
  assert.equal(waiting.status, 'error', 'it is listed from its first outcome on')
  await scene.advance(5_000, 1_000)
  const notification = await scene.notification(transactionId)
  assert.deepEqual(statuses(notification), ['completed'])
  assert.deepEqual(flagsOf(notification.jobs[0]), [...busyAndAgain, ...busyAndAgain, 'Message sent/Success/retry'])
  const message = await scene.message(transactionId)
  assert.deepEqual([message.status, message.errorId ?? null, message.errorText ?? null], ['sent', null, null])
  assert.equal(mail.asked.length, 3)
})

test('Retry-After is respected, by the other messages of the integration too', async () => {
  await mail.account('busy')
  mail.answers('busy', { status: 429, headers: { 'retry-after': '30' } }, 202)
  const workflow = await scene.workflow([email('Hello')])
  await scene.run(workflow, newSubscriber())
  const other = await scene.trigger(workflow, newSubscriber())
  await scene.advance(29_999)
  assert.equal(mail.asked.length, 1)
  await scene.advance(1)
  await scene.advance(1_000)
  assert.equal(mail.asked.length, 3)
  const { jobs } = await scene.notification(other)
  assert.equal(jobs[0].status, 'completed')
  assert.equal(jobs[0].executionDetails.at(-1).isRetry, false, 'it was its first try')
})

test('messages that wait for a slot do not go to a provider that asked to be left alone', async () => {
  await mail.account('busy')
  mail.answers('busy', { status: 429, headers: { 'retry-after': '30' } })
  const workflow = await scene.workflow([email('Hello')])
  const people = Array.from({ length: 80 }, newSubscriber)
  await scene.trigger(workflow, people)
  await scene.work()
  assert.equal(mail.asked.length, 50, 'as many as may be asked at once')
  mail.answers('busy', 202)
  await scene.advance(32_000, 1_000)
  const sent = new Set(mail.asked.slice(50).flatMap((one) => one.to))
  assert.equal(sent.size, 80)
  assert.equal(mail.asked.length, 130)
})

test('what is refused is not tried again', async () => {
  await mail.account('strict')
  await mail.account('other')
  mail.answers('strict', { status: 400, body: '{"errors":[{"message":"Does not contain a valid address"}]}' })
  const workflow = await scene.workflow([email('Hello'), inApp('After')])
  const notification = await scene.run(workflow, newSubscriber())
  await scene.advance(3_600_000)
  assert.deepEqual(mail.accounts(), ['strict'])
  assert.deepEqual(statuses(notification), ['failed', 'completed'])
  assert.deepEqual(flagsOf(notification.jobs[0]), ['Unexpected provider error/Failed'])
})

test('a failed e-mail stops what comes after it where the step says so', async () => {
  await mail.account('strict')
  mail.answers('strict', 400)
  const workflow = await scene.workflow([email('Hello', { shouldStopOnFail: true }), inApp('After')])
  const notification = await scene.run(workflow, newSubscriber())
  assert.deepEqual(statuses(notification), ['failed', 'canceled'])
})

test('an e-mail that was perhaps sent is repeated twice, ten minutes apart, then skipped with a warning', async () => {
  await mail.account('cut')
  mail.answers('cut', 'cut')
  const workflow = await scene.workflow([email('Hello'), inApp('After')])
  const { transactionId } = await scene.run(workflow, newSubscriber())
  assert.equal((await scene.message(transactionId)).status, 'warning')
  for (const repeats of [1, 2]) {
    await scene.advance(599_999)
    assert.equal(mail.asked.length, repeats)
    await scene.advance(1)
    assert.equal(mail.asked.length, repeats + 1)
  }
  await scene.advance(3_600_000, 600_000)
  assert.equal(mail.asked.length, 3)
  const notification = await scene.notification(transactionId)
  assert.deepEqual(statuses(notification), ['skipped', 'completed'])
  assert.deepEqual(flagsOf(notification.jobs[0]), [
    ...unsureAndAgain,
    ...unsureAndAgain,
    'Unexpected provider error/Warning/retry',
    'It is unknown whether the message was sent; it is not sent again/Warning',
  ])
  const [message] = notification.jobs[0].messages
  assert.deepEqual([message.status, message.errorText], ['warning', 'The connection was cut'])
})

test('an unsure outcome that is followed by a yes is sent', async () => {
  await mail.account('cut')
  mail.answers('cut', 504, 202)
  const { transactionId } = await scene.run(await scene.workflow([email('Hello')]), newSubscriber())
  await scene.advance(600_000)
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed'])
  assert.equal((await scene.message(transactionId)).status, 'sent')
})

test('a provider that knows repeats is asked again after every unsure outcome, always with the same key', async () => {
  await mail.webhook('hook')
  mail.answers('hook', 'cut', 'cut', 'cut', 'cut', 200)
  const { transactionId } = await scene.run(await scene.workflow([email('Hello')]), newSubscriber())
  for (const waitMs of waitsMs.slice(0, 4)) await scene.advance(waitMs)
  assert.equal(mail.asked.length, 5)
  const message = await scene.message(transactionId)
  assert.deepEqual([...new Set(mail.asked.map((one) => one.idempotencyKey))], [message._id])
  assert.equal(message.status, 'sent')
})

test('every try says the same words, whatever was changed meanwhile', async () => {
  await mail.account('busy')
  mail.answers('busy', 503, 503, 202)
  const created = await scene.created([email('Order {{ payload.id }} for {{ subscriber.firstName }}')])
  const person = { ...newSubscriber(), firstName: 'Ada' }
  await scene.run(created.triggers[0].identifier, person, { payload: { id: 7 } })
  const change = { firstName: 'Grace', email: 'other@example.org' }
  await scene.expect(200, 'PATCH', `/v2/subscribers/${person.subscriberId}`, change)
  const steps = [{ ...created.steps[0], template: { ...created.steps[0].template, subject: 'New' } }]
  await scene.expect(200, 'PATCH', `/v1/workflows/${created._id}`, { steps })
  await scene.advance(5_000, 1_000)
  assert.equal(mail.asked.length, 3)
  const [first, ...others] = mail.asked.map((one) => JSON.parse(one.body))
  for (const other of others) assert.deepEqual(other, first)
  assert.deepEqual([mail.asked[2]?.subject, mail.asked[2]?.to], ['Order 7 for Ada', [person.email]])
})

test('no more calls are under way at once than an integration takes, and all are made', async () => {
  await mail.account('slow')
  let underWay = 0
  let most = 0
  mail.meanwhile = async () => {
    underWay += 1
    most = Math.max(most, underWay)
    await new Promise(setImmediate)
    underWay -= 1
  }
  const people = Array.from({ length: 300 }, newSubscriber)
  const transactionId = await scene.trigger(await scene.workflow([email('Hello')]), people)
  await scene.work()
  await scene.advance(2_000, 500)
  // Fifty, and twice as many after each round that was answered as quickly as the one before.
  assert.ok(most >= 50 && most <= 200, String(most))
  assert.equal(new Set(mail.asked.flatMap((one) => one.to)).size, 300)
  assert.equal(mail.asked.length, 300)
  assert.equal((await scene.progress(transactionId)).counts.byOutcome.completed, 300)
})

test('no secret of an account is reported in details or messages', async () => {
  await mail.account('chatty')
  mail.answers('chatty', { status: 400, body: '{"errors":[{"message":"The key SG.chatty may not do that"}]}' })
  const notification = await scene.run(await scene.workflow([email('Hello')]), newSubscriber())
  assert.equal(JSON.stringify(notification).includes('SG.chatty'), false)
  assert.match(rawOf(notification.jobs[0], 'Unexpected provider error').message, /may not do that/)
})
