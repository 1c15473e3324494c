// The chat step: one message an entry, every way to be unreachable, and what a trigger may override.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sceneNow, stepInput, stepWith } from '../../test/support/render-scene.ts'
import type { StepTemplate } from '../domain/workflows/workflow.ts'
import { chat } from './chat.ts'

const at = sceneNow.toISOString()
const template: StepTemplate = { type: 'chat', content: 'Hello {{id}}' }

const account = (_id: string, providerId: string, credentials: object = {}) =>
  ({ _id, identifier: `${_id}-identifier`, providerId, channel: 'chat', credentials }) as const
const entry = (_integrationId: string, providerId: string, credentials: object) => ({
  providerId,
  integrationIdentifier: `${_integrationId}-identifier`,
  credentials,
  _integrationId,
})
const hook = 'https://hooks.slack.com/services/1'
const accounts = [account('s', 'slack'), account('m', 'mattermost')]

type Scene = NonNullable<Parameters<typeof stepInput>[1]>
const decide = (scene: Scene = {}) => {
  const channels = [entry('s', 'slack', { webhookUrl: hook })]
  return chat.decide(stepInput(template, { payload: { id: 7 }, integrations: accounts, channels, ...scene }))
}

function draftsOf(scene: Scene = {}) {
  const decision = decide(scene)
  assert.ok(decision.kind === 'send', JSON.stringify(decision))
  return decision.messages
}

const codes = (scene: Scene): string[] => decide(scene).details.map(({ code }) => code)

test('an entry gets a message at its address, by its integration', () => {
  assert.deepEqual(decide(), {
    kind: 'send',
    messages: [
      {
        target: 's',
        channel: 'chat',
        content: 'Hello 7',
        directWebhookUrl: hook,
        integrationId: 's',
        envelope: {
          content: 'Hello 7',
          entry: {},
          metadata: { transactionId: 'transaction-1', workflow: 'orders', subscriberId: 'ann' },
          webhookUrl: hook,
        },
      },
    ],
    details: [{ code: 'messageCreated', at }],
  })
})

test('each entry gets its own, with its channel and its other members; push entries are left alone', () => {
  const channels = [
    entry('s', 'slack', { webhookUrl: hook, alertUid: 'a', state: 'ok' }),
    entry('m', 'mattermost', { channel: 'town' }),
    entry('f', 'fcm', { deviceTokens: ['one'] }),
  ]
  const drafts = draftsOf({ channels })
  assert.deepEqual(
    drafts.map(({ target, directWebhookUrl }) => [target, directWebhookUrl]),
    [
      ['s', hook],
      ['m', undefined],
    ],
  )
  const [first, second] = drafts.map(({ envelope }) => envelope as { entry: object; channel?: string })
  assert.deepEqual([first?.entry, second?.channel], [{ alertUid: 'a', state: 'ok' }, 'town'])
  assert.deepEqual(codes({ channels }), ['messageCreated', 'messageCreated'])
})

test('a payload does not choose where a message goes, unless the account says so', () => {
  const payload = { webhookUrl: 'https://other.example/x' }
  assert.equal(draftsOf({ payload })[0]?.directWebhookUrl, hook)
  assert.ok(codes({ payload }).includes('payloadAddressIgnored'))
  const nowhere = { channels: [entry('s', 'slack', {})], payload }
  assert.deepEqual(codes(nowhere), ['messageCreated', 'noWebhookUrl', 'payloadAddressIgnored'])
  // What is no address at all is ignored as well.
  assert.equal(draftsOf({ payload: { webhookUrl: 'none' } })[0]?.directWebhookUrl, hook)
})

test('the payload’s address stands in for the entry’s on the hosts that the account lists', () => {
  const integrations = accounts.map((one) => ({ ...one, configurations: { payloadWebhookHosts: ['other.example'] } }))
  const elsewhere = { integrations, payload: { webhookUrl: 'https://other.example.evil.example/x' } }
  assert.ok(codes(elsewhere).includes('payloadAddressRefused'))
  const [draft] = draftsOf({ integrations, payload: { id: 7, webhookUrl: 'https://other.example/x' } })
  assert.equal(draft?.directWebhookUrl, 'https://other.example/x')
  for (const webhookUrl of ['ftp://x', 'nowhere', `https://${'a'.repeat(2_050)}`, 'https://x\n.example']) {
    const decision = decide({ integrations, payload: { webhookUrl } })
    assert.equal(decision.kind, 'fail', webhookUrl)
    assert.equal(JSON.parse(decision.details[0]?.raw ?? '{}').field, 'payload.webhookUrl')
  }
  for (const webhookUrl of [null, '', 5]) assert.equal(draftsOf({ payload: { webhookUrl } })[0]?.directWebhookUrl, hook)
})

test('every way to be unreachable is reported', () => {
  const none = decide({ channels: [] })
  assert.ok(none.kind === 'unreachable')
  assert.deepEqual(none.message, { target: '', channel: 'chat', content: 'Hello 7' })
  assert.equal(none.error.errorId, 'no_subscriber_chat_channel_id')
  assert.deepEqual(codes({ channels: [] }), ['messageCreated', 'noChannel'])
  const noAddress = { channels: [entry('s', 'slack', {})] }
  assert.equal(decide(noAddress).kind, 'unreachable')
  assert.deepEqual(codes(noAddress), ['messageCreated', 'noWebhookUrl'])
  const gone = { channels: [entry('gone', 'slack', { webhookUrl: hook })] }
  assert.equal(decide(gone).kind, 'fail')
  assert.deepEqual(codes(gone), ['noIntegration'])
})

test('an account with a place of its own reaches entries that name none', () => {
  const channels = [entry('s', 'slack', {})]
  const integrations = [account('s', 'slack', { channelId: 'C1' })]
  assert.equal(draftsOf({ channels, integrations }).length, 1)
})

test('an entry that cannot be reached does not keep the others from being notified', () => {
  const channels = [
    entry('gone', 'slack', { webhookUrl: hook }),
    entry('m', 'mattermost', {}),
    entry('s', 'slack', { webhookUrl: hook }),
  ]
  assert.deepEqual(
    draftsOf({ channels }).map(({ target }) => target),
    ['s'],
  )
  assert.deepEqual(codes({ channels }), ['messageCreated', 'noIntegration', 'noWebhookUrl', 'someChatSkipped'])
})

test('where people are reached by number, the number is enough', () => {
  const integrations = [account('old', 'whatsapp-business'), account('new', 'whatsapp-business')]
  const [draft, ...others] = draftsOf({ channels: [], integrations, phone: '+49151' })
  assert.deepEqual([draft?.target, draft?.phone, others], ['new', '+49151', []])
  assert.equal(draftsOf({ channels: [], integrations, payload: { phone: '+33' } })[0]?.phone, '+33')
  const without = decide({ channels: [], integrations })
  assert.ok(without.kind === 'unreachable')
  assert.equal(without.error.errorId, 'no_subscriber_chat_phone_number')
  assert.equal(without.details.at(-1)?.words, 'Subscriber is missing a phone number')
})

test('a trigger may name the integration, and add to the request', () => {
  const channels = [entry('s', 'slack', { webhookUrl: hook }), entry('m', 'mattermost', { webhookUrl: hook })]
  const overrides = { chat: { integrationIdentifier: 'm-identifier', icon: 'x' } }
  const [draft, ...others] = draftsOf({ channels, overrides })
  assert.deepEqual([draft?.target, others.length], ['m', 0])
  assert.deepEqual((draft?.envelope as { customData?: object } | undefined)?.customData, { icon: 'x' })
})

test('a step needs a text', () => {
  assert.deepEqual(chat.mistakes(stepWith(template)), [])
  assert.deepEqual(
    chat.mistakes(stepWith({ type: 'chat' })).map(({ path }) => path),
    ['template.content'],
  )
})
