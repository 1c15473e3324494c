// Capturing: what an integration or a whole environment keeps instead of sending, on every channel; and what continues
// as before.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { VendorScript } from '../support/channel-scene.ts'
import { fresh, MailScript, statuses } from '../support/flow-scene.ts'
import { mailStep, OutboxScene, smsStep } from '../support/outbox-scene.ts'
import { createTestPipeline } from '../support/pipeline.ts'
import { inApp, refusals } from '../support/workflow-scene.ts'

let app: TestApp
let scene: OutboxScene
let mail: string
let sms: string
before(async () => {
  app = await createTestApp()
  scene = new OutboxScene(app)
  mail = await scene.workflow([mailStep('Hello {{ payload.n }}')])
  sms = await scene.workflow([smsStep('Hello')])
})
after(() => app.close())

/** What the tests made, so that none chooses another's. */
const made: string[] = []
beforeEach(async () => {
  for (const id of made.splice(0)) await scene.expect(200, 'DELETE', `/v1/integrations/${id}`)
  await scene.expect(200, 'DELETE', '/v1/outbox')
  app.world.onFetch = (request) => assert.fail(`${request.url} was asked`)
})
const integration = async (body: Json): Promise<Json> => {
  const one = await scene.integration(body)
  made.push(one._id)
  return one
}
const good = { apiKey: 'SG.key', from: 'hello@example.com', senderName: 'Example' }
const sendgrid = (capture: boolean | undefined, credentials: object = good): Promise<Json> =>
  integration({
    providerId: 'sendgrid',
    channel: 'email',
    credentials,
    ...(capture === undefined ? {} : { configurations: { capture } }),
  })

test('an integration that captures keeps what it would send, and its provider is never asked', async () => {
  const account = await sendgrid(true)
  assert.deepEqual(account.configurations, { capture: true })
  const person = await scene.person()
  const notification = await scene.run(mail, person, { payload: { n: 1 } })
  assert.deepEqual(statuses(notification), ['completed'])
  const kept = await scene.newest({ recipient: person })
  assert.deepEqual([kept.providerId, kept.integration.identifier], ['sendgrid', account.identifier])
  assert.deepEqual([kept.message.from, kept.message.senderName], ['hello@example.com', 'Example'])
  const [message] = await scene.messages(notification.transactionId)
  assert.deepEqual([message.status, message.identifier], ['sent', message._id])
})

test('one whose credentials are missing or wrong captures all the same', async () => {
  for (const credentials of [{}, { apiKey: '', from: 'no address' }]) {
    await sendgrid(true, credentials)
    const person = await scene.person()
    assert.deepEqual(statuses(await scene.run(mail, person)), ['completed'])
    assert.equal((await scene.newest({ recipient: person })).providerId, 'sendgrid')
  }
})

test('without capture an account must be complete, at first and when capture ends', async () => {
  const create = (configurations: object): Promise<TestReply> =>
    app.call('POST', '/v1/integrations', {
      body: { providerId: 'sendgrid', channel: 'email', active: true, credentials: {}, configurations },
    })
  assert.ok('credentials.apiKey' in refusals(await create({ capture: false })))
  const account = await sendgrid(true, {})
  const change = (body: object): Promise<TestReply> => app.call('PUT', `/v1/integrations/${account._id}`, { body })
  assert.ok('credentials.apiKey' in refusals(await change({ configurations: { capture: false } })))
  const asked: string[] = []
  app.world.onFetch = (request) => {
    asked.push(new URL(request.url).hostname)
    return { status: 202, headers: new Headers(), body: '' }
  }
  const whole = await change({ credentials: good, configurations: { capture: false } })
  assert.equal(whole.status, 200, whole.text)
  const person = await scene.person()
  await scene.run(mail, person)
  assert.deepEqual(asked, ['api.sendgrid.com'])
  assert.deepEqual(await scene.found({ recipient: person }), [])
})

test('capture is true or false, and nothing else', async () => {
  const account = await sendgrid(undefined)
  for (const capture of ['true', 1, null, {}]) {
    const body = { configurations: { capture } }
    const created = await app.call('POST', '/v1/integrations', {
      body: { providerId: 'sendgrid', channel: 'email', ...body },
    })
    assert.deepEqual(Object.keys(refusals(created)), ['configurations.capture'])
    const changed = await app.call('PUT', `/v1/integrations/${account._id}`, { body })
    assert.deepEqual(Object.keys(refusals(changed)), ['configurations.capture'])
    const environment = await app.call('PATCH', '/v1/environments/me', { body })
    assert.deepEqual(Object.keys(refusals(environment)), ['configurations.capture'])
  }
  assert.deepEqual(Object.keys(refusals(await app.call('PATCH', '/v1/environments/me', { body: {} }))), [
    'configurations',
  ])
})

test('messages that would share a request are all kept', async () => {
  await integration({
    providerId: 'postmark',
    channel: 'email',
    credentials: { apiKey: 'token', from: 'hello@example.com' },
    configurations: { capture: true },
  })
  const people = [await scene.person(), await scene.person(), await scene.person()]
  const transactionId = await scene.trigger(mail, people, { payload: { n: 'all' } })
  await scene.work()
  assert.deepEqual(await scene.found({ transactionId }), ['Hello all', 'Hello all', 'Hello all'])
})

test('what another provider did not take is not captured instead', async () => {
  const script = new MailScript(scene)
  const first = fresh('mail')
  await script.account(first)
  script.answers(first, 401)
  const spare = await sendgrid(true)
  const person = await scene.person()
  assert.deepEqual(statuses(await scene.run(mail, person)), ['failed'])
  assert.deepEqual(script.accounts(), [first])
  assert.deepEqual(await scene.found({ recipient: person }), [])
  // Named by the trigger it is the first choice.
  const overrides = { email: { integrationIdentifier: spare.identifier } }
  assert.deepEqual(statuses(await scene.run(mail, person, { overrides })), ['completed'])
  assert.equal((await scene.newest({ recipient: person })).integration.identifier, spare.identifier)
  await script.remove(first)
})

test('an environment keeps all that would go out, from the next message on, and sends again when it is switched back', async () => {
  const vendors = new VendorScript(scene)
  const channels = {
    sms: await vendors.twilio('sms'),
    push: await vendors.firebase('project'),
    chat: await vendors.chat('discord'),
  }
  const account = await sendgrid(undefined)
  const token = fresh('token')
  const person = await vendors.person(
    { integration: channels.push, credentials: { deviceTokens: [token] } },
    { integration: channels.chat, credentials: { webhookUrl: 'https://discord.com/api/webhooks/1/abc' } },
  )
  await scene.expect(200, 'PATCH', `/v2/subscribers/${person}`, { email: `${person}@example.org` })
  const workflow = await scene.workflow([
    mailStep('Mail'),
    smsStep('Sms'),
    { template: { type: 'push', title: 'Push', content: 'Pushed {{ payload.n }}' } },
    { template: { type: 'chat', content: 'Chat' } },
    inApp('In the app'),
  ])
  await scene.capture(true)
  assert.deepEqual((await scene.expect(200, 'GET', '/v1/environments/me')).configurations, { capture: true })
  const notification = await scene.run(workflow, person, { payload: { n: 7 } })
  assert.deepEqual(statuses(notification), Array(5).fill('completed'))
  assert.deepEqual(vendors.asked, [])
  const kept = (await scene.list({ recipient: person })).data
  assert.deepEqual(kept.map((item: Json) => [item.channel, item.providerId]).sort(), [
    ['chat', 'discord'],
    ['email', 'sendgrid'],
    ['push', 'fcm'],
    ['sms', 'twilio'],
  ])
  const push = await scene.newest({ recipient: token })
  assert.deepEqual(
    [push.message.target, push.message.title, push.message.content, push.message.payload],
    [token, 'Push', 'Pushed 7', { n: 7 }],
  )
  const chat = await scene.newest({ recipient: 'https://discord.com/api/webhooks/1/abc' })
  assert.deepEqual(
    [chat.channel, chat.message.content, chat.to],
    ['chat', 'Chat', ['https://discord.com/api/webhooks/1/abc']],
  )
  assert.deepEqual(await scene.texts(person), ['In the app'])
  await scene.capture(false)
  vendors.does('api', 202)
  await scene.run(workflow, person)
  assert.deepEqual(vendors.asked.length, 4)
  await scene.expect(200, 'DELETE', `/v1/integrations/${account._id}`)
  made.splice(0)
  await vendors.clear()
})

/** An account that cannot take a message for now, and another that could. */
async function busyAccount(answer: { status: number; headers?: Record<string, string> }) {
  const script = new MailScript(scene)
  const first = fresh('first')
  const id = await script.account(first)
  await script.account(fresh('spare'))
  script.answers(first, answer)
  const person = await scene.person()
  await scene.run(mail, person, { payload: { n: 'first' } })
  assert.equal(script.accounts()[0], first)
  return { script, person, id }
}

test('what was on its way when the switch was made is kept at its next try, and never goes out', async () => {
  for (const state of ['ready', 'calling']) {
    const { script, person } = await busyAccount({ status: 503 })
    await scene.rows(sql`update messages set state = ${state} where state = 'ready'`)
    await scene.capture(true)
    await scene.advance(40 * 60_000, 1_000)
    assert.deepEqual(await scene.found({ recipient: person }), ['Hello first'], state)
    await scene.capture(false)
    await scene.advance(40 * 60_000, 60_000)
    assert.equal(script.asked.length, 1, state)
    await script.clear()
  }
})

test('an integration in a pause still captures at once, and no other sends the message', async () => {
  const { script, person, id } = await busyAccount({ status: 429, headers: { 'retry-after': '600' } })
  await scene.expect(200, 'PUT', `/v1/integrations/${id}`, { configurations: { capture: true } })
  await scene.run(mail, person, { payload: { n: 'second' } })
  assert.deepEqual(await scene.found({ recipient: person }), ['Hello second'])
  assert.deepEqual([...new Set(script.asked.map(({ subject }) => subject))], ['Hello first'])
  await script.clear()
})

test('another environment sends as before while this one captures', async () => {
  await scene.capture(true)
  const production = await app.call('GET', '/v1/environments/me', { key: app.productionKey })
  assert.deepEqual(production.body.configurations, { capture: false })
  const listed = (await scene.expect(200, 'GET', '/v1/environments')).map((one: Json) => one.configurations.capture)
  assert.deepEqual(listed, [true, false])
  // What is not given stays as it is.
  assert.deepEqual((await scene.expect(200, 'PATCH', '/v1/environments/me', { configurations: {} })).configurations, {
    capture: true,
  })
  await scene.capture(false)
})

test('the operator’s mail server is not asked for what is captured', async () => {
  const builtIn = (await scene.expect(200, 'GET', '/v1/integrations')).find(
    (one: Json) => one.providerId === 'platform-email',
  )
  // A server that no one could reach: without capture the message would not be completed.
  const operatorMail = { host: '127.0.0.1', port: '1', from: 'operator@example.com', secure: false, ignoreTls: true }
  const pipeline = createTestPipeline(app.database.db, app.world, { operatorMail })
  const change = (configurations: object): Promise<Json> =>
    scene.expect(200, 'PUT', `/v1/integrations/${builtIn._id}`, { configurations })
  const person = await scene.person()
  await change({ capture: true })
  const transactionId = await scene.trigger(mail, person)
  await pipeline.work()
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed'])
  assert.equal((await scene.newest({ recipient: person })).providerId, 'platform-email')
  await change({ capture: false })
})

test('no one is asked later what became of a message that was kept', async () => {
  const vendors = new VendorScript(scene)
  const account = await integration({ providerId: 'expo', channel: 'push', credentials: { apiKey: 'key' } })
  const person = await vendors.person({
    integration: account,
    credentials: { deviceTokens: ['ExponentPushToken[aaaaaaaaaaaaaaaaaaaaaa]'] },
  })
  const workflow = await scene.workflow([{ template: { type: 'push', title: 'Push', content: 'Pushed' } }])
  await scene.capture(true)
  await scene.run(workflow, person)
  await scene.capture(false)
  assert.equal((await scene.list({ recipient: person })).totalCount, 1)
  assert.deepEqual(await scene.rows(sql`select id from messages where poll_at is not null`), [])
  await scene.advance(60 * 60_000, 60_000)
  assert.deepEqual(vendors.asked, [])
})

test('a custom step calls out as it is', async () => {
  const asked: string[] = []
  app.world.onFetch = (request) => {
    asked.push(request.url)
    return { status: 200, headers: new Headers(), body: '{}' }
  }
  const workflow = await scene.workflow([
    { template: { type: 'custom' }, metadata: { type: 'http', url: 'https://own.example.com/step' } },
  ])
  await scene.capture(true)
  await scene.run(workflow, await scene.person())
  await scene.capture(false)
  assert.deepEqual(asked, ['https://own.example.com/step'])
})

test('what was sent is not in the outbox', async () => {
  const script = new MailScript(scene)
  const name = fresh('mail')
  await script.account(name)
  const person = await scene.person()
  await scene.run(mail, person)
  assert.deepEqual(script.accounts(), [name])
  assert.deepEqual(await scene.found({ recipient: person }), [])
  await script.remove(name)
  await scene.run(sms, person)
  assert.deepEqual(await scene.found({ recipient: person }), ['Hello'])
})
