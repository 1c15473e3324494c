// Pusher Beams’ contract.
import { createHmac } from 'node:crypto'
import { pusherBeams } from '../../../../src/providers/push/pusher-beams.ts'
import type { ContractAnswer, ContractCall, ProviderContract } from '../../../support/provider-contract.ts'

const publishId = 'pubid-1df0b272-910b-43f7-9271-7345036aa739'
const key = 'webhook-secret-1'
const failure = (status: number): ContractAnswer => ({ status, body: { error: 'Error', description: 'words' } })
const at = '2026-01-02T03:04:05.000Z'

function event(type: string, payload: object, hash = 'sha1', prefix = ''): ContractCall {
  const body = JSON.stringify({
    metadata: { created_at: at, event_type: type, event_id: 'ev-1', product: 'beams' },
    payload: { instance_id: 'i', publish_id: publishId, ...payload },
  })
  const signature = createHmac(hash, key).update(body).digest('hex')
  return { headers: { 'Webhook-Event-Type': type, 'Webhook-Signature': `${prefix}${signature}` }, body }
}

const seen = { providerMessageId: publishId, at: new Date(at) }
const attempt = { users_delivered_to_gateway: ['user-1'], users_no_devices: ['user-2'], users_gateway_failed: ['3'] }

export const contract: ProviderContract = {
  provider: pusherBeams,
  account: { instanceId: '9c83c1b2-77ac-49c5-94c2-bfc96f9bec49', secretKey: 'beams-secret-key' },
  message: {
    target: 'user-001',
    customData: {
      badge: 2,
      sound: 'ping',
      categoryId: 'order',
      channelId: 'orders',
      clickAction: 'OPEN',
      color: '#ff0000',
      icon: 'ic_order',
      tag: 'order-42',
      ttl: 3600,
      web: { notification: { deep_link: 'https://shop.example.test/orders/42' } },
    },
  },
  variants: [
    {
      name: 'settings do not say where it goes',
      message: { customData: { users: ['x'], interests: ['all'], webhookUrl: 'https://ops.example.test/beams' } },
    },
  ],
  success: { answer: { status: 200, body: { publishId } }, id: publishId },
  errors: [
    ['too many users', failure(400), 'refused: bad-content'],
    [
      'a wrong secret',
      { status: 401, body: { error: 'Unauthorized', description: 'Incorrect API Key' } },
      'misconfigured',
    ],
    ['no such instance', failure(404), 'misconfigured'],
    ['too large', failure(413), 'refused: bad-content'],
    ['not valid', failure(422), 'refused: bad-content'],
    ['too many', { status: 429, headers: { 'retry-after': '4' }, body: {} }, 'busy', 4_000],
    ['trouble', failure(503), 'busy'],
    ['a gateway that gave up', failure(504), 'unsure'],
    ['a success without an id', { status: 200, body: {} }, 'unsure'],
  ],
  check: [
    ['a publish to no one', { status: 200, body: { publishId } }, 'good'],
    ['a wrong secret', failure(401), 'bad: secretKey'],
    ['no such instance', failure(404), 'bad: instanceId'],
    ['trouble', failure(500), 'bad'],
  ],
  batch: {
    messages: [{}, { target: 'user-002' }],
    answer: { status: 200, body: { publishId } },
    kinds: ['sent', 'sent'],
  },
  receipts: {
    key,
    cases: [
      {
        name: 'a publish to three users',
        call: event('v1.PublishToUsersAttempt', attempt),
        expected: [
          { status: 'sent', address: 'user-1', ...seen },
          { status: 'failed', address: 'user-2', words: 'The user has no device', ...seen },
          { status: 'failed', address: '3', words: 'The push service of the device did not accept it', ...seen },
        ],
      },
      {
        name: 'a user’s device got it',
        call: event('v1.UserNotificationAcknowledgement', { user_id: 'user-1' }, 'sha256'),
        expected: [{ status: 'delivered', address: 'user-1', ...seen }],
      },
      {
        name: 'a user opened it',
        call: event('v1.UserNotificationOpen', { user_id: 'user-1' }, 'sha1', 'sha1='),
        expected: [{ status: 'opened', address: 'user-1', ...seen }],
      },
      {
        name: 'another event',
        call: event('v1.Unheard', { user_id: 'user-1' }),
        expected: [],
      },
      { name: 'an event by the name of anything', call: event('constructor', { user_id: 'user-1' }), expected: [] },
    ],
    unbelievable: [
      {
        name: 'a digest of no hash we know',
        call: { ...event('v1.UserNotificationOpen', {}), headers: { 'webhook-signature': 'abc' } },
      },
      { name: 'neither signature nor key', call: { body: '{}' } },
    ],
  },
}
