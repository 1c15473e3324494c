// Netcore’s contract.
import { netcore } from '../../../../src/providers/email/netcore.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const account = { apiKey: 'nc-fake-key', from: 'hello@acme.test', senderName: 'Acme', ipPoolName: 'main' }
const event = (EVENT: string, more: object = {}) => ({
  TRANSID: 1_234_567,
  EVENT,
  EMAIL: 'zoe@example.org',
  TIMESTAMP: '1767268800',
  'X-APIHEADER': '0197f3a0-0000-7000-8000-000000000009',
  ...more,
})
const at = new Date('2026-01-01T12:00:00Z')
const about = { messageId: '0197f3a0-0000-7000-8000-000000000009', address: 'zoe@example.org', at }
const reads = (
  [
    ['sent', 'delivered'],
    ['bounced', 'bounced'],
    ['invalid', 'bounced'],
    ['dropped', 'rejected'],
    ['opened', 'opened'],
    ['clicked', 'clicked'],
    ['unsubscribed', 'unsubscribed'],
    ['abuse', 'complained'],
    ['spam', 'complained'],
  ] as const
).map(([name, status]) => ({ name, call: { body: [event(name)] }, expected: [{ ...about, status }] }))

export const contract: ProviderContract = {
  provider: netcore,
  account,
  message: { customData: { settings: { open_track: true }, bcc: [{ email: 'eve@example.org' }] } },
  variants: [
    { name: 'in Europe', account: { ...account, region: 'eu' } },
    { name: 'text alone', message: { html: '', text: 'Hi <Zoë>', customData: {} } },
    { name: 'at another address', account: { ...account, baseUrl: 'https://mail.acme.test/netcore/' } },
  ],
  success: {
    answer: { status: 202, body: { data: { message_id: 'fa6cb297' }, message: 'OK', status: 'success' } },
    id: 'fa6cb297',
  },
  successes: [['200 is one too', { status: 200, body: { data: { message_id: 'b' }, status: 'success' } }, 'b']],
  errors: [
    [
      'malformed',
      { status: 400, body: { status: 'error', error_info: [{ message: 'bad', field: 'from' }] } },
      'refused: bad-content',
    ],
    ['no key', { status: 401, body: { message: 'Unauthorized', status: 'error' } }, 'misconfigured'],
    ['not allowed', { status: 403, body: { status: 'error', error: [{ message: 'no' }] } }, 'misconfigured'],
    ['no such method', { status: 405, body: { status: 'error', message: 'no' } }, 'refused: other'],
    ['an error within a success', { status: 200, body: { status: 'error', message: 'no' } }, 'refused: other'],
    ['a success without an id', { status: 202, body: { status: 'success' } }, 'unsure'],
    ['a gateway that waited too long', { status: 504 }, 'unsure'],
  ],
  check: [
    ['it finds fault with an empty message', { status: 400, body: { status: 'error' } }, 'good'],
    ['it does not know the key', { status: 401, body: { message: 'Unauthorized' } }, 'bad: apiKey'],
    ['it is down', { status: 500 }, 'bad'],
  ],
  receipts: {
    key: 'netcore-callback-key',
    cases: [
      ...reads,
      {
        name: 'several, one of them a bounce that may pass',
        call: {
          body: [
            event('opened', { TIMESTAMP: 1_767_268_800 }),
            event('bounced', { BOUNCE_TYPE: 'SOFTBOUNCE', RESPONSE: '452 full' }),
            event('renamed'),
            event('opened', { 'X-APIHEADER': '' }),
          ],
        },
        expected: [
          { ...about, status: 'opened' },
          { ...about, status: 'deferred', words: '452 full' },
        ],
      },
      { name: 'a test of the address', call: { body: '[]' }, expected: [] },
    ],
  },
}
