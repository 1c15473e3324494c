// SMS, push and chat from trigger to outcome: one message a recipient, each with its own retries.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { leaseMs } from '../../src/queue/queue.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { deadDevice, VendorScript } from '../support/channel-scene.ts'
import { FlowScene, fresh, reported, statuses } from '../support/flow-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let node: TestApp
let scene: FlowScene
let vendors: VendorScript
const workflows: Record<string, string> = {}
before(async () => {
  app = await createTestApp()
  node = await createTestApp({ nodeOf: app })
  scene = new FlowScene(app)
  vendors = new VendorScript(scene)
  const templates = {
    sms: { type: 'sms', content: 'Code {{code}} & more' },
    push: { type: 'push', title: 'Order {{id}}', content: 'On its way' },
    chat: { type: 'chat', content: 'Deployed <{{id}}>' },
  }
  for (const [type, template] of Object.entries(templates)) {
    workflows[type] = await scene.workflow([{ name: 'Tell them', template }, inApp('After')])
  }
})
after(async () => {
  await node.close()
  await app.close()
})
beforeEach(() => vendors.clear())

const run = (type: string, to: unknown, more: object = {}): Promise<Json> => scene.run(workflows[type] ?? '', to, more)
const withPhone = () => ({ subscriberId: fresh('person'), phone: '+4915112345' })
const seconds = (count: number): Promise<void> => scene.advance(count * 1_000)
const tokens = (count: number): string[] => Array.from({ length: count }, () => fresh('token'))
const storedTokens = async (subscriberId: string): Promise<string[]> =>
  (await scene.subscriber(subscriberId)).channels[0].credentials.deviceTokens

test('an SMS goes to its number, and is listed with it', async () => {
  await vendors.twilio('first')
  const { transactionId, jobs } = await run('sms', withPhone(), { payload: { code: '<7>' } })
  assert.deepEqual(vendors.asked[0]?.body, { To: '+4915112345', From: '+14155550100', Body: 'Code <7> & more' })
  assert.deepEqual(statuses({ jobs }), ['completed', 'completed'])
  assert.deepEqual(reported(jobs[0]), [
    ['Step queued', 'Pending'],
    ['Twilio provider was selected', 'Pending'],
    ['Message created', 'Pending'],
    ['Message sent', 'Success'],
  ])
  const message = (await scene.messages(transactionId)).find((one) => one.channel === 'sms')
  assert.deepEqual(
    [message?.phone, message?.content, message?.status, message?.providerId],
    ['+4915112345', 'Code <7> & more', 'sent', 'twilio'],
  )
  for (const name of ['directWebhookUrl', 'deviceTokens', 'title']) assert.equal(name in message, false, name)
})

test('without an account of its own an SMS is captured', async () => {
  const { jobs } = await run('sms', withPhone())
  assert.deepEqual([jobs[0].status, jobs[0].providerId], ['completed', 'platform-sms'])
})

test('someone without a number is skipped with a message that says so, and the next step runs', async () => {
  await vendors.twilio('first')
  const { jobs } = await run('sms', { subscriberId: fresh('person') })
  assert.deepEqual(statuses({ jobs }), ['skipped', 'completed'])
  assert.deepEqual(reported(jobs[0]).at(-1), ['Subscriber missing phone number', 'Failed'])
  assert.deepEqual([jobs[0].messages[0].status, jobs[0].messages[0].errorId], ['warning', 'no_subscriber_phone'])
  assert.equal(vendors.asked.length, 0)
})

test('a busy SMS account makes way for the next one, with what the trigger says of each provider', async () => {
  await vendors.twilio('first')
  await vendors.twilio('second')
  vendors.does('first', 503)
  const overrides = { sms: { from: '+1999' }, providers: { twilio: { statusCallback: 'https://x.example/s' } } }
  const { transactionId } = await run('sms', withPhone(), { overrides })
  await seconds(2)
  assert.deepEqual(
    vendors.asked.map(({ host }) => host),
    ['first', 'first', 'second'],
  )
  assert.equal(vendors.asked[2]?.body.From, '+1999')
  assert.equal(vendors.asked[2]?.body.StatusCallback, 'https://x.example/s')
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed'])
})

const notAgain = 'It is unknown whether the message was sent; it is not sent again'

test('an SMS that was perhaps sent is never repeated: its step is skipped with a warning', async () => {
  await vendors.twilio('first')
  await vendors.twilio('second')
  vendors.does('first', 'cut')
  const { transactionId, jobs } = await run('sms', withPhone())
  await scene.advance(3_600_000, 600_000)
  assert.equal(vendors.asked.length, 1)
  assert.deepEqual(statuses({ jobs }), ['skipped', 'completed'])
  assert.deepEqual(reported(jobs[0]).slice(-2), [
    ['Unexpected provider error', 'Warning'],
    [notAgain, 'Warning'],
  ])
  const message = (await scene.messages(transactionId)).find((one) => one.channel === 'sms')
  assert.equal(message?.status, 'warning')
})

test('of three devices one is gone and one is busy: only that one is tried again, and the gone one is forgotten', async () => {
  const integration = await vendors.firebase('shop')
  const subscriberId = await vendors.person({ integration, credentials: { deviceTokens: ['good', 'gone', 'busy'] } })
  vendors.does('gone', deadDevice)
  vendors.does('busy', 500, { status: 200, body: { name: 'later' } })
  const first = await run('push', subscriberId, { payload: { id: 7 } })
  assert.deepEqual(vendors.recipients().sort(), ['busy', 'gone', 'good'])
  assert.equal(vendors.asked[0]?.body.message.notification.title, 'Order 7')
  assert.deepEqual(statuses(first), ['running', 'pending'])
  assert.deepEqual(await storedTokens(subscriberId), ['good', 'busy'])
  await seconds(2)
  assert.deepEqual(vendors.recipients().slice(3), ['busy'])
  const { jobs, transactionId } = await scene.notification(first.transactionId)
  assert.deepEqual(statuses({ jobs }), ['completed', 'completed'])
  const details = reported(jobs[0]).map(([detail]) => detail)
  assert.equal(details.filter((detail) => detail === 'Message sent').length, 2)
  assert.ok(details.includes('Invalid push device token was removed from subscriber'))
  assert.equal(details.filter((detail) => /was selected/.test(detail)).length, 1)
  const messages = (await scene.messages(transactionId)).filter((one) => one.channel === 'push')
  assert.deepEqual(messages.map(({ status }) => status).sort(), ['error', 'sent', 'sent'])
  assert.deepEqual(messages[0].deviceTokens, ['good', 'gone', 'busy'])
  assert.equal(messages.find(({ status }) => status === 'error').errorId, 'unexpected_push_error')
})

test('a device that the trigger named is not taken from anyone’s entry', async () => {
  const integration = await vendors.firebase('shop')
  const subscriberId = await vendors.person({ integration, credentials: { deviceTokens: ['good'] } })
  vendors.does('gone', deadDevice)
  const { jobs } = await run('push', subscriberId, { overrides: { fcm: { deviceTokens: ['gone'] } } })
  assert.deepEqual(statuses({ jobs }), ['failed', 'completed'])
  assert.deepEqual(reported(jobs[0]).at(-1), [
    'There was one or more errors when trying to execute the notification',
    'Failed',
  ])
  assert.ok(!reported(jobs[0]).some(([detail]) => /was removed/.test(detail)))
  assert.deepEqual(await storedTokens(subscriberId), ['good'])
})

test('an account that calls nearly all its devices gone is not believed', async () => {
  const integration = await vendors.firebase('shop')
  const deviceTokens = tokens(25)
  const subscriberId = await vendors.person({ integration, credentials: { deviceTokens } })
  vendors.does('shop', deadDevice)
  const before = app.world.logged.length
  const { jobs } = await run('push', subscriberId)
  assert.deepEqual(statuses({ jobs }), ['failed', 'completed'])
  assert.deepEqual(await storedTokens(subscriberId), deviceTokens)
  const logged = app.world.logged.slice(before).map(({ message }) => message)
  assert.ok(logged.some((message) => /no token is removed/.test(message)))
})

test('more devices than slots are sent in groups, each once, and the job ends when all are done', async () => {
  const accounts = [await vendors.firebase('one'), await vendors.firebase('two')]
  const [mine = [], others = []] = [tokens(100), tokens(20)]
  const subscriberId = await vendors.person(
    { integration: accounts[0], credentials: { deviceTokens: mine } },
    { integration: accounts[1], credentials: { deviceTokens: others } },
  )
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
  vendors.meanwhile = settled
  const { transactionId, jobs } = await run('push', subscriberId)
  assert.deepEqual(vendors.recipients().sort(), [...mine, ...others].sort())
  assert.deepEqual([...vendors.mostAtOnce].sort(), [
    ['one', 50],
    ['two', 20],
  ])
  assert.deepEqual(statuses({ jobs }), ['completed', 'completed'])
  const messages = (await scene.messages(transactionId)).filter((one) => one.channel === 'push')
  assert.equal(messages.length, 120)
  assert.ok(messages.every(({ status }) => status === 'sent'))
})

test('many people with many devices share the slots of an account, and no one is left out', async () => {
  const integration = await vendors.firebase('one')
  const people = await Promise.all(
    Array.from({ length: 6 }, () => vendors.person({ integration, credentials: { deviceTokens: tokens(30) } })),
  )
  vendors.meanwhile = () => new Promise((resolve) => setImmediate(resolve))
  const transactionId = await scene.trigger(workflows['push'] ?? '', people)
  await scene.work()
  assert.equal(new Set(vendors.recipients()).size, 180)
  assert.equal(vendors.asked.length, 180)
  // Fifty at first; twice as many once all of those were answered as quickly.
  assert.ok((vendors.mostAtOnce.get('one') ?? 0) <= 100)
  for (const notification of await scene.notifications(transactionId)) {
    assert.deepEqual(statuses(notification), ['completed', 'completed'])
  }
})

test('each chat entry gets its own message; one that fails does not fail the step', async () => {
  const slack = await vendors.chat('slack')
  const hook = await vendors.chat('chat-webhook')
  const places = ['https://hooks.slack.com/services/1', 'https://chat.example.com/room']
  const subscriberId = await vendors.person(
    { integration: slack, credentials: { webhookUrl: places[0] } },
    { integration: hook, credentials: { webhookUrl: places[1] } },
  )
  vendors.does(places[0] ?? '', 404)
  const { transactionId, jobs } = await run('chat', subscriberId, { payload: { id: 7 } })
  assert.deepEqual(vendors.recipients().sort(), [...places].sort())
  assert.equal(vendors.asked.find(({ to }) => to === places[1])?.body.content, 'Deployed <7>')
  assert.deepEqual(statuses({ jobs }), ['completed', 'completed'])
  const messages = (await scene.messages(transactionId)).filter((one) => one.channel === 'chat')
  assert.deepEqual(messages.map(({ directWebhookUrl, status }) => [directWebhookUrl, status]).sort(), [
    [places[1], 'sent'],
    [places[0], 'error'],
  ])
})

test('when every chat entry fails the step has failed', async () => {
  const slack = await vendors.chat('slack')
  const place = 'https://hooks.slack.com/services/1'
  const subscriberId = await vendors.person({ integration: slack, credentials: { webhookUrl: place } })
  vendors.does(place, 404)
  const { jobs } = await run('chat', subscriberId)
  assert.deepEqual(statuses({ jobs }), ['failed', 'completed'])
  assert.deepEqual(reported(jobs[0]).at(-1), ['All chat channels failed to send the message', 'Failed'])
})

test('an entry whose integration is gone is skipped, and no other provider takes over', async () => {
  const slack = await vendors.chat('slack')
  const hook = await vendors.chat('chat-webhook')
  const subscriberId = await vendors.person(
    { integration: slack, credentials: { webhookUrl: 'https://hooks.slack.com/services/1' } },
    { integration: hook, credentials: { webhookUrl: 'https://chat.example.com/room' } },
  )
  await vendors.remove(slack)
  const { jobs } = await run('chat', subscriberId)
  assert.deepEqual(vendors.recipients(), ['https://chat.example.com/room'])
  assert.deepEqual(statuses({ jobs }), ['completed', 'completed'])
  assert.deepEqual(reported(jobs[0]).slice(3, 5), [
    ['Subscriber does not have an active integration', 'Failed'],
    ['Some chat channels skipped to send the message', 'Warning'],
  ])
})

test('an integration that goes while one of its messages waits fails that one, and the others continue', async () => {
  const accounts = [await vendors.firebase('one'), await vendors.firebase('two')]
  const subscriberId = await vendors.person(
    { integration: accounts[0], credentials: { deviceTokens: ['a'] } },
    { integration: accounts[1], credentials: { deviceTokens: ['b'] } },
  )
  vendors.does('a', 500)
  vendors.does('b', 500, { status: 200, body: { name: 'later' } })
  const { transactionId } = await run('push', subscriberId)
  await vendors.remove(accounts[0])
  await seconds(2)
  assert.deepEqual(vendors.recipients(), ['a', 'b', 'b'])
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed'])
  const messages = (await scene.messages(transactionId)).filter((one) => one.channel === 'push')
  assert.deepEqual(messages.map(({ status }) => status).sort(), ['error', 'sent'])
})

test('while one account rests, the devices of another are notified', async () => {
  const accounts = [await vendors.firebase('one'), await vendors.firebase('two')]
  const subscriberId = await vendors.person(
    { integration: accounts[0], credentials: { deviceTokens: ['a'] } },
    { integration: accounts[1], credentials: { deviceTokens: ['b'] } },
  )
  vendors.does('a', { status: 429, headers: { 'retry-after': '30' } }, { status: 200, body: { name: 'later' } })
  const first = await run('push', subscriberId)
  const second = await run('push', subscriberId)
  assert.deepEqual(vendors.recipients().sort(), ['a', 'b', 'b'])
  await scene.advance(31_000, 1_000)
  for (const { transactionId } of [first, second]) {
    assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed'])
  }
  assert.deepEqual(vendors.recipients().sort(), ['a', 'a', 'a', 'b', 'b'])
})

/** The first node asks so many and never hears the end of it, until it is let go. */
async function stuck(count: number): Promise<{ letGo(): Promise<void> }> {
  let letGo: () => void = () => {}
  let allAsked: () => void = () => {}
  const gate = new Promise<void>((resolve) => (letGo = resolve))
  const asked = new Promise<void>((resolve) => (allAsked = resolve))
  vendors.meanwhile = () => {
    if (vendors.asked.length === count) allAsked()
    return gate
  }
  const working = app.pipeline.work()
  await asked
  vendors.meanwhile = undefined
  return {
    letGo: async () => {
      letGo()
      await working
    },
  }
}

test('an SMS that was being sent when its node ended is perhaps sent, and not repeated', async () => {
  await vendors.twilio('first')
  const transactionId = await scene.trigger(workflows['sms'] ?? '', withPhone())
  const first = await stuck(1)
  app.world.advance(leaseMs)
  await node.pipeline.work()
  await node.pipeline.advance(3_600_000, 600_000)
  assert.equal(vendors.asked.length, 1)
  const over = await scene.notification(transactionId)
  assert.deepEqual(statuses(over), ['skipped', 'completed'])
  assert.deepEqual(reported(over.jobs[0]).at(-1), [notAgain, 'Warning'])
  assert.equal(over.jobs[0].messages[0].status, 'warning')
  await first.letGo()
  assert.deepEqual(await scene.notification(transactionId), over, 'who lost the lease changes nothing')
})

test('push messages that were being sent when their node ended are repeated, those that waited are sent', async () => {
  const integration = await vendors.firebase('shop')
  const deviceTokens = tokens(60)
  const subscriberId = await vendors.person({ integration, credentials: { deviceTokens } })
  const transactionId = await scene.trigger(workflows['push'] ?? '', subscriberId)
  const first = await stuck(50)
  const begun = vendors.recipients()
  app.world.advance(leaseMs)
  await node.pipeline.work()
  await node.pipeline.advance(3_600_000, 60_000)
  const counts = new Map(deviceTokens.map((token) => [token, 0]))
  for (const to of vendors.recipients()) counts.set(to, (counts.get(to) ?? 0) + 1)
  for (const [token, count] of counts) assert.equal(count, begun.includes(token) ? 2 : 1, token)
  const over = await scene.notification(transactionId)
  assert.deepEqual(statuses(over), ['completed', 'completed'])
  await first.letGo()
})
