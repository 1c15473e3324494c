// Suppressed addresses in a run: nothing is sent to them, others are notified, and the activity says why.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
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
beforeEach(async () => {
  await mail.clear()
  await mail.account('good')
})

const newSubscriber = () => ({ subscriberId: fresh('person'), email: `${fresh('Ada')}@Example.org` })
const noticed = 'Nothing was sent: the address is on the suppression list'
const partly = 'Some recipients were left out: their addresses are on the suppression list'

/** When it was listed. */
async function list(address: string, reason: string, channel = 'email'): Promise<string> {
  const reply = await app.call('POST', '/v1/suppressions', { body: { channel, address, reason } })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.createdAt
}

const lastBody = (): Json => JSON.parse(mail.asked.at(-1)?.body ?? assert.fail('no one was asked'))

test('a suppressed address is sent nothing: the step is skipped, the message says why, the next step runs', async () => {
  const person = newSubscriber()
  const since = await list(person.email.toUpperCase(), 'bounced')
  const workflow = await scene.workflow([email('Order'), inApp('After')])
  const notification = await scene.run(workflow, person)
  assert.deepEqual(statuses(notification), ['skipped', 'completed'])
  assert.deepEqual(mail.asked, [])
  const [job] = notification.jobs
  assert.deepEqual(reported(job).slice(-2), [
    ['Message created', 'Pending'],
    [noticed, 'Warning'],
  ])
  const address = person.email.toLowerCase()
  assert.deepEqual(rawOf(job, noticed), { address, reason: 'bounced', since })
  const [message] = job.messages
  assert.deepEqual([message.status, message.errorId, message.email], ['warning', 'mail_unexpected_error', person.email])
  assert.equal(message.errorText, `${address} is on the suppression list (bounced)`)
})

test('an address that was taken off the list is written to again', async () => {
  const person = newSubscriber()
  const workflow = await scene.workflow([email('Order')])
  await list(person.email, 'manual')
  assert.deepEqual(statuses(await scene.run(workflow, person)), ['skipped'])
  await scene.expect(204, 'DELETE', `/v1/suppressions/email/${encodeURIComponent(person.email)}`)
  assert.deepEqual(statuses(await scene.run(workflow, person)), ['completed'])
})

test('of several recipients only the suppressed are left out', async () => {
  const person = newSubscriber()
  const [other, copied, blind] = [fresh('to'), fresh('cc'), fresh('bcc')].map((name) => `${name}@example.org`)
  await list(person.email, 'complained')
  await list(`${copied}`, 'bounced')
  const workflow = await scene.workflow([email('Order')])
  const overrides = { email: { to: [other], cc: [copied], bcc: [blind] } }
  const notification = await scene.run(workflow, person, { overrides })
  assert.deepEqual(statuses(notification), ['completed'])
  const [recipients] = lastBody().personalizations
  assert.deepEqual([recipients.to, recipients.cc, recipients.bcc], [[{ email: other }], undefined, [{ email: blind }]])
  const [job] = notification.jobs
  assert.ok(reported(job).some(([words, status]) => words === partly && status === 'Warning'))
  assert.deepEqual(
    rawOf(job, partly).addresses.map((one: Json) => [one.address, one.reason]),
    [
      [person.email.toLowerCase(), 'complained'],
      [copied, 'bounced'],
    ],
  )
  assert.equal(job.messages[0].email, other)
})

test('without anyone left in to, copies do not go out either', async () => {
  const person = newSubscriber()
  await list(person.email, 'bounced')
  const workflow = await scene.workflow([email('Order')])
  const notification = await scene.run(workflow, person, { overrides: { email: { cc: ['cc@example.org'] } } })
  assert.deepEqual(statuses(notification), ['skipped'])
  assert.deepEqual(mail.asked, [])
})

test('recipients that an event names for one provider are on no other footing', async () => {
  const names = ['to', 'cc', 'bcc', 'listed-to', 'listed-cc', 'listed-bcc'].map((name) => `${fresh(name)}@example.org`)
  const [to, cc, bcc, ...listed] = names
  for (const address of listed) await list(address, 'bounced')
  const workflow = await scene.workflow([email('Order')])
  const person = newSubscriber()
  const overrides = { sendgrid: { to: [to, listed[0]], cc: [cc, listed[1]], bcc: [bcc, listed[2]] } }
  const notification = await scene.run(workflow, person, { overrides })
  assert.deepEqual(statuses(notification), ['completed'])
  assert.deepEqual(lastBody().personalizations, [
    { to: [{ email: person.email }, { email: to }], cc: [{ email: cc }], bcc: [{ email: bcc }] },
  ])
  const reported = rawOf(notification.jobs[0], partly).addresses
  assert.deepEqual(
    reported.map((one: Json) => one.address),
    listed,
  )
})

test('where the one provider’s recipient is suppressed the step is skipped, though the subscriber is not', async () => {
  const toRecipient = `${fresh('listed')}@example.org`
  await list(toRecipient, 'complained')
  const workflow = await scene.workflow([email('Order')])
  const notification = await scene.run(workflow, newSubscriber(), { overrides: { sendgrid: { toRecipient } } })
  assert.deepEqual([statuses(notification), mail.asked], [['skipped'], []])
  assert.equal(rawOf(notification.jobs[0], noticed).address, toRecipient)
})

test('where the subscriber is suppressed and the one provider’s recipient is not, that one is notified', async () => {
  const person = newSubscriber()
  const toRecipient = `${fresh('other')}@example.org`
  await list(person.email, 'bounced')
  const workflow = await scene.workflow([email('Order')])
  const notification = await scene.run(workflow, person, { overrides: { sendgrid: { toRecipient } } })
  assert.deepEqual(statuses(notification), ['completed'])
  assert.deepEqual(mail.asked.at(-1)?.to, [toRecipient])
  assert.ok(reported(notification.jobs[0]).every(([words]) => words !== partly))
  assert.equal(notification.jobs[0].messages[0].email, toRecipient)
})

test('a provider that takes over reaches no one who is suppressed either', async () => {
  await mail.webhook('second')
  mail.answers('good', 401)
  const listed = `${fresh('listed')}@example.org`
  await list(listed, 'manual')
  const workflow = await scene.workflow([email('Order')])
  const person = newSubscriber()
  const copied = await scene.run(workflow, person, { overrides: { 'email-webhook': { cc: [listed] } } })
  assert.deepEqual([statuses(copied), mail.accounts()], [['completed'], ['good', 'second']])
  assert.deepEqual([lastBody().to, lastBody().cc], [[person.email], []])
  const replaced = { 'email-webhook': { toRecipient: listed } }
  assert.deepEqual(statuses(await scene.run(workflow, person, { overrides: replaced })), ['failed'])
  assert.deepEqual(mail.accounts(), ['good', 'second', 'good'])
})

test('critical workflows reach who opted out, and no one who bounced, complained or was listed manually', async () => {
  const critical = await scene.workflow([email('Password')], { critical: true })
  const optional = await scene.workflow([email('News')])
  for (const [reason, expected] of [
    ['opted_out', 'completed'],
    ['bounced', 'skipped'],
    ['complained', 'skipped'],
    ['manual', 'skipped'],
  ] as const) {
    const person = newSubscriber()
    await list(person.email, reason)
    assert.deepEqual(statuses(await scene.run(critical, person)), [expected], reason)
    assert.deepEqual(statuses(await scene.run(optional, person)), ['skipped'], reason)
  }
})

test('the list of one environment and of one channel says nothing of the others', async () => {
  const person = newSubscriber()
  const body = { channel: 'email', address: person.email }
  const reply = await app.call('POST', '/v1/suppressions', { body, key: app.productionKey })
  assert.equal(reply.status, 201)
  // No API would list such a number; the table could hold it.
  await scene.rows(sql`
    insert into suppressions (environment_id, channel, address, reason, source, created_at)
    select environment_id, 'sms', ${person.email.toLowerCase()}, 'manual', 'caller', now() from api_keys`)
  const workflow = await scene.workflow([email('Order')])
  assert.deepEqual(statuses(await scene.run(workflow, person)), ['completed'])
})

test('one of many people in a batch is left out, and the others are notified', async () => {
  const people = Array.from({ length: 20 }, newSubscriber)
  await list(people[7]?.email ?? '', 'bounced')
  const workflow = await scene.workflow([email('Order')])
  const transactionId = await scene.trigger(workflow, people)
  await scene.work()
  const all = await scene.notifications(transactionId)
  assert.deepEqual(
    all.filter((one) => one.jobs[0].status !== 'completed').map((one) => one.subscriber.subscriberId),
    [people[7]?.subscriberId],
  )
  assert.equal(mail.asked.length, 19)
})

const sms = { template: { type: 'sms', content: 'Your parcel is here' } }

/** Twilio, which answers each message with this code, or takes it. */
async function withTwilio(code: number | undefined, run: (asked: string[]) => Promise<void>): Promise<void> {
  const credentials = { accountSid: 'AC1', token: 'secret', from: '+15550100' }
  const body = { providerId: 'twilio', channel: 'sms', name: 'Twilio', active: true, credentials }
  const account = await scene.expect(201, 'POST', '/v1/integrations', body)
  const [asked, before] = [[] as string[], app.world.onFetch]
  app.world.onFetch = async (request) => {
    asked.push(new URLSearchParams(await request.text()).get('To') ?? '')
    const answer = code === undefined ? { sid: 'SM1', status: 'queued' } : { code, message: 'Unsubscribed recipient' }
    return { status: code === undefined ? 201 : 400, headers: new Headers(), body: JSON.stringify(answer) }
  }
  try {
    await run(asked)
  } finally {
    app.world.onFetch = before
    await scene.expect(200, 'DELETE', `/v1/integrations/${account._id}`)
  }
}

test('a suppressed number is sent nothing, however it is written', async () => {
  const workflow = await scene.workflow([sms])
  const since = await list('+49 30 555-01', 'bounced', 'sms')
  await withTwilio(undefined, async (asked) => {
    const notification = await scene.run(workflow, { subscriberId: fresh('person'), phone: '+49 (30) 55501' })
    assert.deepEqual([statuses(notification), asked], [['skipped'], []])
    const [job] = notification.jobs
    assert.deepEqual(rawOf(job, noticed), { address: '+493055501', reason: 'bounced', since })
    assert.deepEqual([job.messages[0].status, job.messages[0].errorId], ['warning', 'unexpected_sms_error'])
    assert.deepEqual(statuses(await scene.run(workflow, { subscriberId: fresh('person'), phone: '+493055502' })), [
      'completed',
    ])
  })
})

test('a number that a provider refuses because its owner opted out is listed, and not tried again', async () => {
  const workflow = await scene.workflow([sms])
  const person = { subscriberId: fresh('person'), phone: '+49 30 777' }
  await withTwilio(21610, async (asked) => {
    assert.deepEqual(statuses(await scene.run(workflow, person)), ['failed'])
    assert.deepEqual(statuses(await scene.run(workflow, person)), ['skipped'])
    assert.equal(asked.length, 1)
  })
  const { data } = await scene.expect(200, 'GET', '/v1/suppressions?address=%2B4930777')
  assert.deepEqual(
    data.map((one: Json) => [one.channel, one.address, one.reason, one.source]),
    [['sms', '+4930777', 'opted_out', 'provider']],
  )
})

test('an opt-out that a provider’s refusal reveals is an event for the customer’s backend', async () => {
  const endpoint = { url: 'https://api.example.com/hook', eventTypes: ['subscriber.unsubscribed'] }
  const { _id } = await scene.expect(201, 'POST', '/v1/webhook-endpoints', endpoint)
  const workflow = await scene.workflow([sms])
  const person = { subscriberId: fresh('person'), phone: '+49 30 778' }
  await withTwilio(21610, () => scene.run(workflow, person))
  const { data } = await scene.expect(200, 'GET', `/v1/webhook-endpoints/${_id}/deliveries`)
  assert.deepEqual(
    data.map((one: Json) => [one.type, one.body.data.subscriber.subscriberId, one.body.data.channel]),
    [['subscriber.unsubscribed', person.subscriberId, 'sms']],
  )
  assert.deepEqual([data[0].body.data.workflow, data[0].body.data.source], [null, 'provider'])
  await scene.expect(204, 'DELETE', `/v1/webhook-endpoints/${_id}`)
})

test('a number that an event names for one provider is looked up, and is the one listed after an opt-out', async () => {
  const workflow = await scene.workflow([sms])
  const person = { subscriberId: fresh('person'), phone: '+49 30 5550' }
  await list('+49 30 5551', 'bounced', 'sms')
  await withTwilio(undefined, async (asked) => {
    const overrides = { twilio: { to: '+49 30 5551' } }
    assert.deepEqual([statuses(await scene.run(workflow, person, { overrides })), asked], [['skipped'], []])
    assert.deepEqual(statuses(await scene.run(workflow, person)), ['completed'])
  })
  await withTwilio(21610, async (asked) => {
    const overrides = { twilio: { to: '+49 30 5552' } }
    assert.deepEqual(statuses(await scene.run(workflow, person, { overrides })), ['failed'])
    assert.deepEqual(asked, ['+49 30 5552'])
  })
  assert.equal((await scene.expect(200, 'GET', '/v1/suppressions?address=%2B49305552')).totalCount, 1)
  assert.equal((await scene.expect(200, 'GET', '/v1/suppressions?address=%2B49305550')).totalCount, 0)
})

test('a passthrough cannot name the number', async () => {
  const workflow = await scene.workflow([sms])
  const person = { subscriberId: fresh('person'), phone: '+49 30 5553' }
  await withTwilio(undefined, async (asked) => {
    const overrides = { providers: { twilio: { _passthrough: { body: { To: '+49 30 5554' } } } } }
    assert.deepEqual([statuses(await scene.run(workflow, person, { overrides })), asked], [['failed'], []])
  })
})

test('a number that a provider refuses for another reason is not listed', async () => {
  const workflow = await scene.workflow([sms])
  await withTwilio(21211, async () => {
    assert.deepEqual(statuses(await scene.run(workflow, { subscriberId: fresh('person'), phone: '+49 30 888' })), [
      'failed',
    ])
  })
  assert.equal((await scene.expect(200, 'GET', '/v1/suppressions?address=%2B4930888')).totalCount, 0)
})
