// OneSignal’s contract.
import { oneSignal } from '../../../../src/providers/push/one-signal.ts'
import type { ContractAnswer, ProviderContract } from '../../../support/provider-contract.ts'

const target = '1dd608f2-c6a1-11e3-851d-000c2940e62c'
const other = '2dd608f2-c6a1-11e3-851d-000c2940e62c'
const id = 'b98881cc-1e94-4366-bbd9-db8f3429292b'
const failure = (status: number, ...errors: string[]): ContractAnswer => ({ status, body: { errors } })

export const contract: ProviderContract = {
  provider: oneSignal,
  account: { applicationId: '8250eaf6-1a58-489e-b136-7c74a864b434', apiKey: 'os_v2_app_secret' },
  message: {
    target,
    customData: {
      badge: 4,
      sound: 'ping',
      subtitle: 'Today',
      channelId: 'cat-1',
      icon: 'ic_order',
      categoryId: 'order',
      mutableContent: true,
      big_picture: 'https://cdn.example.test/a.png',
      ttl: 3600,
    },
  },
  variants: [
    {
      name: 'a person by an external id, and settings that do not say where it goes',
      message: {
        target: 'user-7',
        customData: {
          included_segments: ['All'],
          include_chrome_reg_ids: ['x'],
          filters: [],
          app_id: 'other',
          collapse_id: 'order-42',
        },
      },
    },
  ],
  success: { answer: { status: 200, body: { id, external_id: null } }, id },
  successes: [
    ['others were unknown', { status: 200, body: { id, errors: { invalid_player_ids: [other] } } }, id],
    ['a replay', { status: 200, headers: { 'idempotent-replayed': 'true' }, body: { id } }, id],
  ],
  errors: [
    [
      'no one is subscribed',
      { status: 200, body: { id: '', errors: ['All included players are not subscribed'] } },
      'refused: opted-out',
    ],
    [
      'an unknown subscription',
      { status: 200, body: { id, errors: { invalid_player_ids: [target] } } },
      'refused: dead-token',
    ],
    [
      'an unknown person',
      { status: 200, body: { id, errors: { invalid_aliases: { external_id: [target] } } } },
      'refused: bad-recipient',
    ],
    [
      'an unknown person, as older answers have it',
      { status: 200, body: { id, errors: { invalid_external_user_ids: [target] } } },
      'refused: bad-recipient',
    ],
    ['a success without an id', { status: 200, body: { id: '' } }, 'unsure'],
    ['nothing was created', { status: 200, body: { id: '', errors: ['No recipients'] } }, 'refused: other'],
    [
      'nothing was created, and others are named',
      { status: 200, body: { id: '', errors: { invalid_player_ids: [other] } } },
      'refused: other',
    ],
    ['no text', failure(400, 'Message Notifications must have English language content'), 'refused: bad-content'],
    ['a wrong app', failure(400, 'app_id not found. You may be missing a Content-Type header.'), 'misconfigured'],
    ['a wrong key', failure(403, 'Access denied.'), 'misconfigured'],
    ['no key', failure(401, 'Access denied.'), 'misconfigured'],
    ['an unknown resource', failure(404, 'Not found'), 'refused: other'],
    ['too large', failure(413, 'Payload too large'), 'refused: bad-content'],
    [
      'too many requests',
      { status: 429, headers: { 'retry-after': '11' }, body: { errors: ['API rate limit exceeded'], limit: 150 } },
      'busy',
      11_000,
    ],
    ['not available', failure(503, 'Service temporarily unavailable'), 'busy'],
    ['a gateway that gave up', { status: 504 }, 'unsure'],
  ],
  check: [
    ['a key of the app', { status: 200, body: { notifications: [] } }, 'good'],
    ['a wrong key', failure(403, 'Access denied.'), 'bad: apiKey'],
    ['trouble', { status: 503 }, 'bad'],
  ],
  batch: {
    messages: [{}, { target: other, id: '0197f3a0-0000-7000-8000-0000000000b2' }],
    answer: { status: 200, body: { id, errors: { invalid_player_ids: [other] } } },
    kinds: ['sent', 'refused: dead-token'],
  },
}
