// The sms step: whom it goes to, what a trigger may override, and what it may not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sceneNow, stepInput, stepWith } from '../../test/support/render-scene.ts'
import type { StepTemplate } from '../domain/workflows/workflow.ts'
import { sms } from './sms.ts'

const at = sceneNow.toISOString()
const template: StepTemplate = { type: 'sms', content: 'Order {{id}} & {{ subscriber.firstName }}' }
const twilio = { _id: 'i-1', identifier: 'main', providerId: 'twilio', channel: 'sms', credentials: {} } as const

type Scene = NonNullable<Parameters<typeof stepInput>[1]>
const decide = (scene: Scene = {}, more: Partial<StepTemplate> = {}) => {
  const known = { payload: { id: '<7>' }, phone: '+4915112345', integrations: [twilio], ...scene }
  return sms.decide(stepInput({ ...template, ...more }, known))
}

function draftOf(scene: Scene = {}) {
  const decision = decide(scene)
  assert.ok(decision.kind === 'send', JSON.stringify(decision))
  assert.equal(decision.messages.length, 1)
  return decision.messages[0] ?? assert.fail()
}

function failureOf(scene: Scene, more: Partial<StepTemplate> = {}): { field: string; message: string } {
  const decision = decide(scene, more)
  assert.ok(decision.kind === 'fail' && !decision.stops, JSON.stringify(decision))
  assert.deepEqual(
    decision.details.map(({ code }) => code),
    ['contentFailed'],
  )
  return JSON.parse(decision.details[0]?.raw ?? '')
}

test('one message goes to the subscriber’s number, as plain text', () => {
  assert.deepEqual(decide(), {
    kind: 'send',
    messages: [
      {
        target: '',
        channel: 'sms',
        content: 'Order <7> & Ann',
        phone: '+4915112345',
        envelope: {
          to: '+4915112345',
          content: 'Order <7> & Ann',
          metadata: { transactionId: 'transaction-1', workflow: 'orders', subscriberId: 'ann' },
        },
      },
    ],
    details: [{ code: 'messageCreated', at }],
  })
})

test('the override’s number comes first, then the payload’s, then the subscriber’s', () => {
  const payload = { id: 7, phone: ' +33 6 12 ' }
  assert.equal(draftOf({ payload }).phone, '+33 6 12')
  assert.equal(draftOf({ payload, overrides: { sms: { to: '+1555' } } }).phone, '+1555')
  assert.equal(draftOf({ phone: null, payload }).phone, '+33 6 12')
  for (const phone of [null, '', 5, { model: 'x' }]) {
    assert.equal(draftOf({ payload: { id: 7, phone } }).phone, '+4915112345', JSON.stringify(phone))
  }
})

test('without a number there is a message that says so, and nothing to send', () => {
  for (const phone of [null, '', '  ']) {
    assert.deepEqual(decide({ phone }), {
      kind: 'unreachable',
      message: { target: '', channel: 'sms', content: 'Order <7> & Ann' },
      error: { errorId: 'no_subscriber_phone', errorText: 'Subscriber does not have active phone' },
      details: [
        { code: 'messageCreated', at },
        { code: 'noPhone', at },
      ],
    })
  }
})

test('sender, text and custom data are taken as given, not as templates', () => {
  const { content, envelope } = draftOf({
    overrides: { sms: { from: 'Acme', content: '{{id}}!', customData: { a: [1] } } },
  })
  assert.equal(content, '{{id}}!')
  assert.deepEqual(envelope, {
    to: '+4915112345',
    from: 'Acme',
    content: '{{id}}!',
    metadata: { transactionId: 'transaction-1', workflow: 'orders', subscriberId: 'ann' },
    customData: { a: [1] },
  })
})

test('a bucket of one provider says what differs where that one sends', () => {
  const overrides = { sms: { from: 'Acme' }, twilio: { from: '+1666', statusCallback: 'x' }, nexmo: { from: 5 } }
  const { envelope } = draftOf({ overrides })
  assert.equal((envelope as { from?: string }).from, 'Acme')
  assert.deepEqual(envelope?.forProviders, {
    twilio: { message: { from: '+1666' }, customData: { statusCallback: 'x' } },
  })
})

test('an ill-formed override or number fails the step and is named', () => {
  const wrong: Record<string, Scene> = {
    'overrides.sms': { overrides: { sms: 'x' } },
    'overrides.sms.to': { overrides: { sms: { to: '+1\n555' } } },
    'overrides.sms.from': { overrides: { sms: { from: 5 } } },
    'overrides.sms.content': { overrides: { sms: { content: 'x'.repeat(5_001) } } },
    'overrides.sms.customData': { overrides: { sms: { customData: [] } } },
    'overrides.twilio.to': { overrides: { twilio: { to: 5 } } },
    'payload.phone': { payload: { id: 7, phone: '1'.repeat(51) } },
  }
  for (const [field, scene] of Object.entries(wrong)) assert.equal(failureOf(scene).field, field)
})

test('a text that comes out empty or far too long fails the step', () => {
  assert.match(failureOf({ payload: {} }, { content: ' {{id}} ' }).message, /renders to nothing/)
  assert.match(failureOf({ payload: { id: 'x'.repeat(6_000) } }).message, /more than 5000/)
})

test('what no phone shows is left out of the text, and lines stay', () => {
  const decision = decide({ payload: { id: 'a\r\nb\u0000\u0007\tc' } }, { content: '{{id}}' })
  assert.equal(decision.kind === 'send' && decision.messages[0]?.content, 'a\nb\tc')
})

test('a step needs a text', () => {
  const paths = (content: StepTemplate['content']) => {
    const step = stepWith(content === undefined ? { type: 'sms' } : { type: 'sms', content })
    return sms.mistakes(step).map(({ path }) => path)
  }
  assert.deepEqual(paths('Hello'), [])
  for (const content of [undefined, '', ' ', [], [{ type: 'text', content: 'x' }]] as StepTemplate['content'][]) {
    assert.deepEqual(paths(content), ['template.content'], JSON.stringify(content))
  }
})
