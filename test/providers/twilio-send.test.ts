// Twilio: the request that sends, and what its answers mean.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import type { SmsMessage } from '../../src/domain/messages/outbound-message.ts'
import { formMistakes } from '../../src/providers/form.ts'
import { twilio } from '../../src/providers/sms/twilio.ts'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import type { VendorAnswer } from '../support/provider-scene.ts'
import { kindOf, sendWith, smsMessage, vendorAnswering } from '../support/provider-scene.ts'

const account = { accountSid: 'ACtest', token: 'top-secret-token', from: '+14155550100' }
const accepted: VendorAnswer = {
  status: 201,
  body: { sid: 'SMfake', status: 'queued', error_code: null, error_message: null },
}

async function send(
  t: TestContext,
  change: Partial<SmsMessage> = {},
  answer: VendorAnswer = accepted,
  credentials: object = account,
) {
  const vendor = await vendorAnswering(t, answer)
  const outcome = await sendWith(vendor, twilio, { ...smsMessage, ...change }, credentials)
  const [call] = vendor.seen
  return { outcome, asked: vendor.asked, call, form: Object.fromEntries(new URLSearchParams(call?.body)) }
}

test('a message is a form with whom, from whom and what, by the account’s token', async (t) => {
  const { outcome, asked, call, form } = await send(t)
  assert.deepEqual(outcome, { kind: 'sent', providerMessageId: 'SMfake' })
  assert.deepEqual(asked, ['POST https://api.twilio.com/2010-04-01/Accounts/ACtest/Messages.json'])
  assert.equal(call?.headers.authorization, `Basic ${Buffer.from('ACtest:top-secret-token').toString('base64')}`)
  assert.equal(call?.headers['content-type'], 'application/x-www-form-urlencoded')
  assert.deepEqual(form, { To: '+14155550101', From: '+14155550100', Body: 'Your code is 4821' })
})

test('a pair of key and secret stands for the token, half of one does not', async (t) => {
  const whole = await send(t, {}, accepted, { ...account, apiKey: 'SK1', secretKey: 'key-secret' })
  assert.equal(whole.call?.headers.authorization, `Basic ${Buffer.from('SK1:key-secret').toString('base64')}`)
  assert.match(whole.call?.path ?? '', /\/Accounts\/ACtest\//)
  const half = await send(t, {}, accepted, { ...account, apiKey: 'SK1', secretKey: '' })
  assert.equal(half.call?.headers.authorization, `Basic ${Buffer.from('ACtest:top-secret-token').toString('base64')}`)
})

const senders: [string, Partial<SmsMessage>, object, object][] = [
  ['the account’s', {}, {}, { From: '+14155550100' }],
  ['the message’s', { from: 'Acme' }, { messageProfileId: 'MG1' }, { From: 'Acme' }],
  ['the service of the account', {}, { messageProfileId: 'MG1' }, { MessagingServiceSid: 'MG1' }],
  ['a service as the account’s sender', {}, { from: 'MG2' }, { MessagingServiceSid: 'MG2' }],
  ['a service as the message’s sender', { from: 'MG3' }, {}, { MessagingServiceSid: 'MG3' }],
]
for (const [what, change, credentials, expected] of senders) {
  test(`the sender is ${what}`, async (t) => {
    const { form } = await send(t, change, accepted, { ...account, ...credentials })
    const { To: _to, Body: _body, ...sender } = form
    assert.deepEqual(sender, expected)
  })
}

test('region, base address and status callback go where Twilio looks for them', async (t) => {
  const region = await send(t, {}, accepted, { ...account, region: 'dublin.ie1' })
  assert.deepEqual(region.asked, ['POST https://api.dublin.ie1.twilio.com/2010-04-01/Accounts/ACtest/Messages.json'])
  const proxy = await send(t, {}, accepted, { ...account, baseUrl: 'http://10.0.0.1:8080/twilio/' })
  assert.deepEqual(proxy.asked, ['POST http://10.0.0.1:8080/twilio/2010-04-01/Accounts/ACtest/Messages.json'])
  const callback = await send(t, {}, accepted, { ...account, webhookUrl: 'https://hooks.example.test/sms' })
  assert.equal(callback.form['StatusCallback'], 'https://hooks.example.test/sms')
})

test('settings are parameters in either spelling, and cannot change who gets what from whom', async (t) => {
  const { call } = await send(t, {
    customData: {
      validityPeriod: 60,
      smart_encoded: true,
      MediaUrl: ['https://a.example/1.png', 'https://a.example/2.png'],
      contentVariables: { 1: 'Zoe' },
      to: '+1999',
      TO: '+1998',
      tO: '+1997',
      Body: 'other',
      messagingServiceSid: 'MGother',
      from: '+1888',
      attempt: null,
    },
  })
  const form = new URLSearchParams(call?.body)
  assert.deepEqual(
    [...form.keys()],
    ['To', 'From', 'Body', 'ValidityPeriod', 'SmartEncoded', 'MediaUrl', 'MediaUrl', 'ContentVariables'],
  )
  assert.deepEqual(form.getAll('MediaUrl'), ['https://a.example/1.png', 'https://a.example/2.png'])
  assert.deepEqual(
    ['To', 'From', 'Body', 'ValidityPeriod', 'SmartEncoded', 'ContentVariables'].map((name) => form.get(name)),
    ['+14155550101', '+14155550100', 'Your code is 4821', '60', 'true', '{"1":"Zoe"}'],
  )
})

test('a message that goes to no one or says nothing is not sent; one with a picture alone is', async (t) => {
  const withoutNumber = await send(t, { to: '' })
  assert.deepEqual([kindOf(withoutNumber.outcome), withoutNumber.asked.length], ['refused: bad-recipient', 0])
  const nothing = await send(t, { content: '' })
  assert.deepEqual([kindOf(nothing.outcome), nothing.asked.length], ['refused: bad-content', 0])
  const picture = await send(t, { content: '', customData: { mediaUrl: 'https://a.example/1.png' } })
  assert.equal(picture.outcome.kind, 'sent')
  assert.equal('Body' in picture.form, false)
})

test('a passthrough sets parameters of the form', async (t) => {
  const { form, call } = await send(t, {
    passthrough: { body: { ProvideFeedback: true, Body: 'other' }, query: { trace: '1' } },
  })
  assert.deepEqual([form['ProvideFeedback'], form['Body']], ['true', 'other'])
  assert.match(call?.path ?? '', /Messages\.json\?trace=1$/)
})

test('a passthrough does not say who gets it', async (t) => {
  for (const body of [{ To: '+1999' }, { to: '+1999' }]) {
    const { outcome, asked } = await send(t, { passthrough: { body } })
    assert.deepEqual([kindOf(outcome), asked], ['refused: bad-content', []])
  }
})

const codes: [number, number, string][] = [
  [401, 20003, 'misconfigured'],
  [403, 20006, 'misconfigured'],
  [404, 20404, 'misconfigured'],
  [429, 20429, 'busy'],
  [500, 20500, 'busy'],
  [503, 20503, 'busy'],
  [400, 21211, 'refused: bad-recipient'],
  [400, 21612, 'refused: bad-recipient'],
  [400, 21614, 'refused: bad-recipient'],
  [400, 21610, 'refused: opted-out'],
  [400, 21617, 'refused: bad-content'],
  [400, 21408, 'misconfigured'],
  [400, 21608, 'misconfigured'],
  [400, 21212, 'misconfigured'],
  [400, 21606, 'misconfigured'],
  [400, 21611, 'busy'],
  [400, 29999, 'refused: other'],
  [504, 29999, 'unsure'],
]
for (const [status, code, kind] of codes) {
  test(`${status} with code ${code}: ${kind}`, async (t) => {
    const { outcome } = await send(t, {}, { status, body: { code, message: 'because of top-secret-token', status } })
    assert.equal(kindOf(outcome), kind)
    assert.equal('detail' in outcome && outcome.detail, `Twilio answered ${status}: because of [redacted] (${code})`)
  })
}

test('a sender that the message named is the message’s fault', async (t) => {
  const { outcome } = await send(t, { from: '+1' }, { status: 400, body: { code: 21212, message: 'Invalid From' } })
  assert.equal(kindOf(outcome), 'refused: bad-content')
})

test('Retry-After is respected', async (t) => {
  const { outcome } = await send(t, {}, { status: 429, headers: { 'retry-after': '7' }, body: { code: 20429 } })
  assert.equal(outcome.kind === 'busy' && outcome.retryAfterMs, 7_000)
})

test('a success that holds a failure is one', async (t) => {
  const failures: [object, string][] = [
    [{ sid: 'SM1', status: 'failed', error_code: 30006, error_message: 'Landline' }, 'refused: bad-recipient'],
    [{ sid: 'SM1', status: 'queued', error_code: 30007, error_message: 'Filtered' }, 'refused: bad-content'],
    [{ sid: 'SM1', status: 'undelivered', error_code: null }, 'refused: other'],
    [{ sid: 'SM1', status: 'failed', error_code: 30001 }, 'busy'],
    [{ status: 'queued', error_code: null }, 'unsure'],
    [{}, 'unsure'],
  ]
  for (const [body, kind] of failures) {
    const { outcome } = await send(t, {}, { status: 201, body })
    assert.equal(kindOf(outcome), kind, JSON.stringify(body))
  }
  const { outcome } = await send(t, {}, { status: 200, body: { sid: 'SM1' } })
  assert.equal(outcome.kind, 'unsure')
})

test('the check uses the auth token and the vendor’s own place, whatever keys there are', async (t) => {
  const vendor = await vendorAnswering(t, { status: 200, body: { status: 'active' } })
  const result = await twilio.check?.(vendor.world, { ...account, apiKey: 'SK1', secretKey: 'x', region: '' })
  assert.deepEqual(result, { kind: 'good' })
  assert.deepEqual(vendor.asked, ['GET https://api.twilio.com/2010-04-01/Accounts/ACtest.json'])
  assert.equal(
    vendor.seen[0]?.headers.authorization,
    `Basic ${Buffer.from('ACtest:top-secret-token').toString('base64')}`,
  )
})

test('an account that is ill-formed is reported by its fields', () => {
  const mistakes = (change: object) => Object.keys(formMistakes(twilio.form, { ...account, ...change }))
  assert.deepEqual(mistakes({}), [])
  for (const [field, value] of [
    ['accountSid', 'SK1'],
    ['accountSid', 'AC1/../x'],
    ['messageProfileId', 'XX1'],
    ['region', 'evil.example.com/x'],
    ['baseUrl', 'http://169.254.169.254'],
    ['webhookUrl', 'ftp://x'],
    ['token', 'a\nb'],
  ] as const) {
    assert.deepEqual(mistakes({ [field]: value }), [`credentials.${field}`], value)
  }
})

test('a Twilio that is away is busy', async () => {
  const world = createFakeWorld()
  world.onFetch = () => {
    throw new OutboundError('not-sent', 'away')
  }
  assert.equal((await sendWith({ world }, twilio, smsMessage, account)).kind, 'busy')
})
