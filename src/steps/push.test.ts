// The push step: one message a device, every way to be unreachable, and what a trigger may override.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sceneNow, stepInput, stepWith } from '../../test/support/render-scene.ts'
import type { StepTemplate } from '../domain/workflows/workflow.ts'
import { push } from './push.ts'

const at = sceneNow.toISOString()
const template: StepTemplate = { type: 'push', title: 'Order\n{{id}}', content: 'It is <b>{{ id }}</b>' }

const account = (_id: string, providerId: string) =>
  ({ _id, identifier: `${_id}-identifier`, providerId, channel: 'push', credentials: {} }) as const
const entry = (_integrationId: string, providerId: string, deviceTokens?: string[]) => ({
  providerId,
  integrationIdentifier: `${_integrationId}-identifier`,
  credentials: deviceTokens === undefined ? {} : { deviceTokens },
  _integrationId,
})
const accounts = [account('f', 'fcm'), account('w', 'push-webhook')]

type Scene = NonNullable<Parameters<typeof stepInput>[1]>
const decide = (scene: Scene = {}, more: Partial<StepTemplate> = {}) => {
  const channels = [entry('f', 'fcm', ['one', 'two'])]
  return push.decide(
    stepInput({ ...template, ...more }, { payload: { id: 7 }, integrations: accounts, channels, ...scene }),
  )
}

function draftsOf(scene: Scene = {}) {
  const decision = decide(scene)
  assert.ok(decision.kind === 'send', JSON.stringify(decision))
  return decision.messages
}

const devices = (scene: Scene): string[] =>
  draftsOf(scene).map(({ integrationId, envelope }) => `${integrationId}:${(envelope as { target: string }).target}`)
const codes = (scene: Scene): string[] => decide(scene).details.map(({ code }) => code)

test('each device of an entry gets a message of its own, by the entry’s integration', () => {
  const shared = {
    channel: 'push',
    content: 'It is <b>7</b>',
    title: 'Order 7',
    deviceTokens: ['one', 'two'],
    integrationId: 'f',
  }
  const envelope = {
    title: 'Order 7',
    content: 'It is <b>7</b>',
    subscriberId: 'ann',
    metadata: { transactionId: 'transaction-1', workflow: 'orders', subscriberId: 'ann' },
  }
  assert.deepEqual(decide(), {
    kind: 'send',
    messages: ['one', 'two'].map((token) => ({
      ...shared,
      target: `f/${token}`,
      envelope: { ...envelope, target: token },
    })),
    details: [{ code: 'messageCreated', at }],
  })
})

test('every entry is reported, each device once, and chat entries are left alone', () => {
  const channels = [
    entry('f', 'fcm', ['one', 'one']),
    entry('w', 'push-webhook', ['one']),
    { ...entry('s', 'slack'), credentials: { webhookUrl: 'https://x.example' } },
  ]
  assert.deepEqual(devices({ channels }), ['f:one', 'w:one'])
  assert.deepEqual(codes({ channels }), ['messageCreated'])
})

test('every way to be unreachable is reported', () => {
  const noEntry = decide({ channels: [] })
  assert.ok(noEntry.kind === 'unreachable')
  assert.deepEqual(noEntry.message, { target: '', channel: 'push', content: 'It is <b>7</b>', title: 'Order 7' })
  assert.deepEqual(codes({ channels: [] }), ['messageCreated', 'noPushChannel'])
  const noTokens = { channels: [entry('f', 'fcm', []), entry('w', 'push-webhook')] }
  assert.equal(decide(noTokens).kind, 'unreachable')
  assert.deepEqual(codes(noTokens), ['messageCreated', 'noDeviceTokens', 'noDeviceTokens'])
  const gone = { channels: [entry('gone', 'fcm', ['one']), entry('', 'apns', ['one'])] }
  assert.equal(decide(gone).kind, 'fail')
  assert.deepEqual(codes(gone), ['noIntegration', 'noIntegration'])
  const both = { channels: [entry('gone', 'fcm', ['one']), entry('w', 'push-webhook', [])] }
  assert.equal(decide(both).kind, 'unreachable')
  assert.deepEqual(codes(both), ['messageCreated', 'noIntegration', 'noDeviceTokens'])
})

test('an entry that cannot be reached does not keep the others from being notified', () => {
  const channels = [entry('gone', 'fcm', ['one']), entry('f', 'fcm', []), entry('w', 'push-webhook', ['two'])]
  assert.deepEqual(devices({ channels }), ['w:two'])
  assert.deepEqual(codes({ channels }), ['messageCreated', 'noIntegration', 'noDeviceTokens', 'somePushSkipped'])
})

test('a trigger may name the devices of a provider, also of someone without an entry', () => {
  const overrides = { fcm: { deviceTokens: ['nine', 'nine'] } }
  assert.deepEqual(devices({ overrides }), ['f:nine'])
  assert.deepEqual(devices({ overrides, channels: [entry('w', 'push-webhook', ['two'])] }), ['w:two', 'f:nine'])
  assert.deepEqual(devices({ overrides, channels: [] }), ['f:nine'])
  assert.deepEqual(codes({ overrides, channels: [entry('f', 'fcm', [])] }), ['messageCreated'])
  assert.equal(draftsOf({ overrides })[0]?.envelope?.forProviders, undefined)
  assert.equal(decide({ overrides: { apns: { deviceTokens: ['nine'] } }, channels: [] }).kind, 'unreachable')
})

test('a trigger may name the integration', () => {
  const channels = [entry('f', 'fcm', ['one']), entry('w', 'push-webhook', ['two'])]
  assert.deepEqual(devices({ channels, overrides: { push: { integrationIdentifier: 'w-identifier' } } }), ['w:two'])
  assert.equal(decide({ channels, overrides: { push: { integrationIdentifier: 'x' } } }).kind, 'unreachable')
})

test('the bucket is custom data, and single providers get theirs', () => {
  const overrides = { push: { sound: 'ping', customData: { badge: 1 } }, fcm: { badge: 2 } }
  const [draft] = draftsOf({ overrides })
  assert.deepEqual((draft?.envelope as { customData?: object } | undefined)?.customData, { badge: 1, sound: 'ping' })
  assert.deepEqual(draft?.envelope?.forProviders, { fcm: { customData: { badge: 2 } } })
})

test('an ill-formed override fails the step and is named', () => {
  const wrong: Record<string, Record<string, unknown>> = {
    'overrides.fcm.deviceTokens': { fcm: { deviceTokens: 'one' } },
    'overrides.fcm.deviceTokens[1]': { fcm: { deviceTokens: ['one', 5] } },
    'overrides.push': { push: [] },
    overrides: { push: { large: 'x'.repeat(40_000) } },
  }
  for (const [field, overrides] of Object.entries(wrong)) {
    const decision = decide({ overrides })
    assert.equal(decision.kind, 'fail', field)
    assert.equal(JSON.parse(decision.details[0]?.raw ?? '{}').field, field)
  }
  const many = Array.from({ length: 101 }, (_, index) => `t${index}`)
  assert.match(decide({ overrides: { fcm: { deviceTokens: many } } }).details[0]?.raw ?? '', /more than 100 devices/)
})

test('a message may have a title alone, but not neither', () => {
  const only = push.decide(
    stepInput(
      { type: 'push', title: 'Hi', content: '{{x}}' },
      { integrations: accounts, channels: [entry('f', 'fcm', ['one'])] },
    ),
  )
  assert.equal(only.kind, 'send')
  assert.equal(decide({}, { title: '', content: '{{x}}' }).kind, 'fail')
  assert.deepEqual(
    push.mistakes(stepWith({ type: 'push', title: 'Hi' })).map(({ path }) => path),
    ['template.content'],
  )
  assert.deepEqual(push.mistakes(stepWith(template)), [])
})
