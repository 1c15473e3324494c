// Why, asked of messages: who was to send them, what was answered, what is tried again, and what was reported later.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { deadDevice, VendorScript } from '../support/channel-scene.ts'
import { FlowScene, fresh, MailScript } from '../support/flow-scene.ts'
import { PostmarkScript } from '../support/postmark-script.ts'
import { assertStep, whyOf } from '../support/why-scene.ts'
import { email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let mail: MailScript
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())
beforeEach(async () => {
  await mail?.clear()
  mail = new MailScript(scene)
})

const why = (notification: Json): Promise<Json> => whyOf(scene, notification)
const newSubscriber = () => ({ subscriberId: fresh('person'), email: `${fresh('ada')}@example.org` })
const sms = { template: { type: 'sms', content: 'Hi' } }
const push = { template: { type: 'push', title: 'Hi', content: 'There' } }
const chat = { template: { type: 'chat', content: 'Hi' } }
const ran = async (steps: readonly object[], to: unknown = newSubscriber(), more: object = {}): Promise<Json> =>
  why(await scene.run(await scene.workflow(steps), to, more))

test('a message that was taken names its provider and what that calls it', async () => {
  await mail.account('good')
  const reported = await ran([email('Hello')])
  const data = assertStep(reported, 0, {
    status: 'completed',
    says: /^Sent: sendgrid accepted the e-mail with the id good-1\.$/,
    code: 'messageSent',
  })
  assert.deepEqual(data, { id: 'good-1', providerId: 'sendgrid' })
  assert.equal(
    assertStep(reported, 0, { status: 'completed', says: /./, code: 'providerSelected' })['integrationIdentifier'],
    mail.identifier('good'),
  )
  const [message] = reported.steps[0].messages
  assert.deepEqual([message.channel, message.status, message.providerId], ['email', 'sent', 'sendgrid'])
  assert.equal(reported.summary, 'The subscriber was notified by e-mail.')
})

test('a busy provider is reported with its answer and the time of the next try; then what was tried before', async () => {
  await mail.account('busy')
  mail.answers('busy', 503, 202)
  const notification = await scene.run(await scene.workflow([email('Hello'), inApp('After')]), newSubscriber())
  const waiting = await why(notification)
  const { nextAttemptAt } = waiting.steps[0]
  assert.ok(Date.parse(nextAttemptAt) > app.world.now().getTime())
  assertStep(waiting, 0, {
    status: 'running',
    says: new RegExp(`could not accept the e-mail for now.*next attempt is at ${nextAttemptAt}`),
    code: 'providerBusy',
  })
  assertStep(waiting, 1, { status: 'pending', says: /Not reached yet: the step “e-mail” \(email\) is not finished/ })
  await scene.advance(60_000)
  assertStep(await why(notification), 0, { status: 'completed', says: /^Sent: .* Before that, one attempt failed\.$/ })
})

test('a provider that stays busy, refuses or rejects our account is reported with its own words', async () => {
  await mail.account('first')
  mail.answers('first', 429)
  const busy = await scene.run(await scene.workflow([email('Hello')]), newSubscriber())
  await scene.advance(1_800_000, 10_000)
  assertStep(await why(busy), 0, { status: 'failed', says: /sendgrid rejected the e-mail/, code: 'providerError' })
  mail.answers('first', { status: 400, body: '{"errors":[{"message":"Does not contain a valid address"}]}' })
  const refused = await ran([email('Hello', { shouldStopOnFail: true }), inApp('After')])
  assertStep(refused, 0, { status: 'failed', says: /“.*Does not contain a valid address.*”/, code: 'providerError' })
  assertStep(refused, 1, { status: 'canceled', says: /the step “e-mail” \(email\) failed/ })
  assert.match(refused.steps[0].messages[0].errorText, /valid address/)
  mail.answers('first', { status: 401, body: '{"errors":[{"message":"bad key"}]}' })
  assertStep(await ran([email('Hello')]), 0, {
    status: 'failed',
    says: /rejected the account.*bad key/,
    code: 'misconfigured',
  })
})

test('a message that is held reports since when its provider is down, and when it is asked again', async () => {
  await mail.account('down')
  mail.answers('down', 503)
  const notification = await scene.run(await scene.workflow([email('Hello')]), newSubscriber())
  await scene.advance(600_000, 5_000)
  const reported = await why(notification)
  assertStep(reported, 0, {
    status: 'running',
    says: /^The e-mail is held: sendgrid has been down since 20.*Z\. The next attempt is at 20.*Z\.$/,
    code: 'providerDown',
  })
})

test('when another integration takes over, both are notified', async () => {
  await mail.account('first')
  await mail.account('second')
  mail.answers('first', 401)
  const reported = await ran([email('Hello')])
  assertStep(reported, 0, {
    status: 'completed',
    says: /^Sent: .*Before that, one attempt failed/,
    code: 'misconfigured',
  })
  const chosen = reported.steps[0].reasons.filter((one: Json) => one.code === 'providerSelected')
  assert.deepEqual(
    chosen.map(({ data }: Json) => data.integrationIdentifier),
    [mail.identifier('first'), mail.identifier('second')],
  )
})

test('a message that was perhaps sent is reported as that', async () => {
  await mail.account('cut')
  mail.answers('cut', 'cut')
  const notification = await scene.run(await scene.workflow([email('Hello')]), newSubscriber())
  await scene.advance(3_600_000, 600_000)
  const reported = await why(notification)
  assertStep(reported, 0, { status: 'skipped', says: /unknown whether the e-mail was sent/, code: 'leftUnsure' })
  assert.ok(reported.steps[0].reasons.some(({ code }: Json) => code === 'perhapsSent'))
  assert.match(reported.summary, /not notified\..*unknown whether/)
})

test('a suppressed address is reported with its reason, and so is one that was only left out', async () => {
  await mail.account('good')
  const person = newSubscriber()
  await scene.expect(201, 'POST', '/v1/suppressions', { channel: 'email', address: person.email, reason: 'bounced' })
  const data = assertStep(await ran([email('Hello')], person), 0, {
    status: 'skipped',
    says: /suppression list: ada.*\(bounced, since/,
    code: 'suppressed',
  })
  assert.equal(data['reason'], 'bounced')
  const overrides = { email: { to: [`${fresh('other')}@example.org`] } }
  assertStep(await ran([email('Hello')], person, { overrides }), 0, {
    status: 'completed',
    says: /^Sent: .* Some addresses were left out because they are on the suppression list: ada/,
  })
})

test('whoever has no address, number, device or chat account is reported as that', async () => {
  const vendors = new VendorScript(scene)
  const withoutAddress = fresh('person')
  assertStep(await ran([email('Hello')], withoutAddress), 0, {
    status: 'skipped',
    says: /no e-mail address/,
    code: 'noEmail',
  })
  assertStep(await ran([sms], withoutAddress), 0, { status: 'skipped', says: /no phone number/, code: 'noPhone' })
  const integration = await vendors.firebase('shop')
  assertStep(await ran([push], withoutAddress), 0, { status: 'skipped', says: /no device/, code: 'noPushChannel' })
  const empty = await vendors.person({ integration, credentials: { deviceTokens: [] } })
  assertStep(await ran([push], empty), 0, {
    status: 'skipped',
    says: /fcm was left out: the subscriber has no device tokens/,
    code: 'noDeviceTokens',
  })
  assertStep(await ran([chat], withoutAddress), 0, { status: 'skipped', says: /no chat account/, code: 'noChannel' })
  await vendors.clear()
})

test('a device that is gone and a failure of all devices are reported', async () => {
  const vendors = new VendorScript(scene)
  const integration = await vendors.firebase('shop')
  const token = 'a-device-token-that-is-gone'
  const person = await vendors.person({ integration, credentials: { deviceTokens: [token] } })
  vendors.does(token, deadDevice)
  const reported = await ran([push], person)
  assertStep(reported, 0, {
    status: 'failed',
    says: /fcm rejected the push message because the device is no longer registered/,
    code: 'allPushFailed',
  })
  assertStep(reported, 0, { status: 'failed', says: /./, code: 'deviceTokenRemoved' })
  const stored = await scene.rows(sql`select details::text from jobs where details::text like '%…-is-gone%'`)
  assert.equal(stored.length, 1, 'the end of the token is named')
  assert.ok(!stored[0]?.details.includes(token), 'and not all of it')
  await vendors.clear()
})

test('chat accounts that cannot be reached or do not take it are reported', async () => {
  const vendors = new VendorScript(scene)
  const slack = await vendors.chat('slack')
  const place = 'https://hooks.slack.com/services/1'
  const person = await vendors.person({ integration: slack, credentials: { webhookUrl: place } })
  vendors.does(place, 404)
  const failed = await ran([chat], person)
  assertStep(failed, 0, { status: 'failed', says: /slack .*the chat message/, code: 'allChatFailed' })
  const empty = await vendors.person({ integration: slack, credentials: {} })
  const missing = await ran([chat], empty)
  assertStep(missing, 0, { status: 'skipped', says: /slack was left out: .* is missing/, code: 'noWebhookUrl' })
  await vendors.clear()
})

test('a step that was being sent when its event was canceled reports how it ended, and the next one why it did not run', async () => {
  await mail.account('good')
  const transactionId = fresh('transaction')
  mail.meanwhile = async () => {
    await scene.expect(200, 'DELETE', `/v1/events/trigger/${transactionId}`)
  }
  const reported = await ran([email('Hello'), inApp('After')], newSubscriber(), { transactionId })
  assertStep(reported, 0, { status: 'completed', says: /^Sent: sendgrid accepted/ })
  assertStep(reported, 1, { status: 'canceled', says: /canceled by request/, code: 'canceled' })
})

test('a message that was perhaps sent, and whose repeat was canceled, is reported as that', async () => {
  await mail.account('cut')
  mail.answers('cut', 'cut')
  const notification = await scene.run(await scene.workflow([email('Hello'), inApp('After')]), newSubscriber())
  await scene.expect(200, 'DELETE', `/v1/events/trigger/${notification.transactionId}`)
  const reported = await why(notification)
  assertStep(reported, 0, {
    status: 'canceled',
    says: /^Canceled: the event was canceled by request\. .*may have been sent/,
    code: 'perhapsSent',
  })
  assert.match(reported.summary, /^The subscriber was not notified\..*may have been sent/)
  assertStep(reported, 1, {
    status: 'canceled',
    says: /^Canceled: the event was canceled by request\.$/,
    code: 'canceled',
  })
})

test('a step of which one device was reached before the rest was canceled says so', async () => {
  const vendors = new VendorScript(scene)
  const integration = await vendors.firebase('shop')
  const person = await vendors.person({ integration, credentials: { deviceTokens: ['near', 'far'] } })
  vendors.does('far', 503)
  const notification = await scene.run(await scene.workflow([push, inApp('After')]), person)
  const waiting = await why(notification)
  assert.match(waiting.summary, /^The subscriber was notified by push message\. .*next attempt/)
  await scene.expect(200, 'DELETE', `/v1/events/trigger/${notification.transactionId}`)
  const reported = await why(notification)
  assertStep(reported, 0, {
    status: 'canceled',
    says: /^Canceled: the event was canceled by request\. Before that, 1 of 2 messages was sent\.$/,
  })
  assert.match(reported.summary, /^The subscriber was notified by push message\. The step “push message” .*Canceled/)
  await vendors.clear()
})

test('an integration that is not there is reported, by name where one was asked for', async () => {
  await mail.account('only')
  const overrides = { email: { integrationIdentifier: 'elsewhere' } }
  const reported = await ran([email('Hello')], newSubscriber(), { overrides })
  const data = assertStep(reported, 0, {
    status: 'failed',
    says: /requested integration elsewhere does not exist/,
    code: 'noIntegration',
  })
  assert.equal(data['integrationIdentifier'], 'elsewhere')
})

test('a service that is busy, refuses or answers is reported for custom steps', async () => {
  const answers: (number | OutboundError)[] = [
    503,
    200,
    404,
    new OutboundError('refused-address', '10.0.0.1 is a private address'),
  ]
  app.world.onFetch = async () => {
    const answer = answers.shift() ?? 200
    if (answer instanceof OutboundError) throw answer
    return { status: answer, headers: new Headers(), body: '{"ok":true}' }
  }
  const custom = { template: { type: 'custom' }, metadata: { type: 'http', url: 'https://api.example.com/hook' } }
  const notification = await scene.run(await scene.workflow([custom, inApp('After')]), fresh('person'))
  const waiting = await why(notification)
  const data = assertStep(waiting, 0, { status: 'running', says: /status 503.*called again at/, code: 'callBusy' })
  assert.equal(waiting.steps[0].nextAttemptAt, data['nextAttemptAt'])
  await scene.advance(60_000)
  assertStep(await why(notification), 0, { status: 'completed', says: /responded: status 200/, code: 'callFinished' })
  assertStep(await ran([custom, inApp('After')]), 0, {
    status: 'failed',
    says: /did not succeed: status 404/,
    code: 'callFailed',
  })
  const refused = await ran([custom, inApp('After')])
  assertStep(refused, 0, { status: 'failed', says: /10.0.0.1 is a private address/, code: 'callFailed' })
  assertStep(refused, 1, { status: 'canceled', says: /the step “custom step” \(custom\) failed/ })
})

test('conditions that ask a service report that it was silent, and that it stayed so', async () => {
  app.world.onFetch = async () => ({ status: 503, headers: new Headers(), body: '' })
  const webhook = {
    on: 'webhook',
    webhookUrl: 'https://rules.example.com/x',
    field: 'a',
    operator: 'EQUAL',
    value: '1',
  }
  const filters = [{ isNegated: false, type: 'GROUP', value: 'AND', children: [webhook] }]
  const notification = await scene.run(await scene.workflow([inApp('Hi', { filters })]), fresh('person'))
  const waiting = await why(notification)
  assertStep(waiting, 0, {
    status: 'queued',
    says: /answered 503.*it will be called again\. The next attempt is at/,
    code: 'webhookRetried',
  })
  await scene.advance(10_000, 1_000)
  assertStep(await why(notification), 0, {
    status: 'failed',
    says: /did not respond after all retries/,
    code: 'webhookFailed',
  })
})

test('what the provider reports later is reported after what it answered', async () => {
  const postmark = new PostmarkScript(scene)
  await postmark.account()
  const person = newSubscriber()
  const workflow = await scene.workflow([email('Hello')])
  const good = await scene.run(workflow, person)
  const delivered = (await scene.message(good.transactionId)).identifier
  await postmark.reports({ RecordType: 'Delivery', MessageID: delivered, Recipient: person.email, Details: 'Taken in' })
  assertStep(await why(good), 0, {
    status: 'completed',
    says: /^Sent: postmark accepted.* postmark reported that it was delivered.*Taken in/,
    code: 'receiptGood',
  })
  const bad = await scene.run(workflow, person)
  const bounced = (await scene.message(bad.transactionId)).identifier
  const report = {
    RecordType: 'Bounce',
    Type: 'HardBounce',
    MessageID: bounced,
    Email: person.email,
    Description: 'No such mailbox',
  }
  await postmark.reports(report)
  const reported = await why(bad)
  assertStep(reported, 0, {
    status: 'completed',
    says: /was not delivered or was unwanted: “No such mailbox - \(bounced\)”/,
    code: 'receiptFailed',
  })
  assert.match(reported.summary, /^The subscriber was not notified\./)
  assert.equal(reported.steps[0].messages[0].status, 'error')
  await postmark.remove()
})
