// SparkPost’s contract.
import { sparkpost } from '../../../../src/providers/email/sparkpost.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const account = { apiKey: 'sp-fake-key', from: 'hello@acme.test', senderName: 'Acme', ipPoolName: 'main' }
const ownId = '0197f3a0-0000-7000-8000-000000000009'
const failure = (status: number, code?: string) => ({
  status,
  body: { errors: [{ message: 'words', description: 'more words', ...(code === undefined ? {} : { code }) }] },
})
const taken = (accepted: number, rejected: number, status = 200) => ({
  status,
  body: {
    results: { total_rejected_recipients: rejected, total_accepted_recipients: accepted, id: '11668787484950529' },
  },
})
const event = (type: string, member = 'message_event', more: object = {}) => ({
  msys: {
    [member]: {
      type,
      transmission_id: '11668787484950529',
      rcpt_meta: { message_id: ownId },
      rcpt_to: 'zoe@example.org',
      raw_rcpt_to: 'Zoe@example.org',
      timestamp: '1767268800',
      ...more,
    },
  },
})
const about = {
  messageId: ownId,
  providerMessageId: '11668787484950529',
  address: 'Zoe@example.org',
  at: new Date('2026-01-01T12:00:00Z'),
}
const reads = (
  [
    ['injection', 'queued', 'message_event'],
    ['delivery', 'delivered', 'message_event'],
    ['delay', 'deferred', 'message_event'],
    ['bounce', 'bounced', 'message_event'],
    ['out_of_band', 'bounced', 'message_event'],
    ['policy_rejection', 'rejected', 'message_event'],
    ['spam_complaint', 'complained', 'message_event'],
    ['generation_failure', 'failed', 'gen_event'],
    ['generation_rejection', 'rejected', 'gen_event'],
    ['open', 'opened', 'track_event'],
    ['initial_open', 'opened', 'track_event'],
    ['click', 'clicked', 'track_event'],
    ['list_unsubscribe', 'unsubscribed', 'unsubscribe_event'],
    ['link_unsubscribe', 'unsubscribed', 'unsubscribe_event'],
  ] as const
).map(([name, status, member]) => ({
  name,
  call: { body: [event(name, member)] },
  expected: [{ ...about, status }],
}))

export const contract: ProviderContract = {
  provider: sparkpost,
  account,
  message: {
    customData: {
      description: 'Invoices',
      options: { open_tracking: false, ip_pool: 'other' },
      recipients: [{ address: 'eve@example.org' }],
    },
  },
  variants: [
    { name: 'in Europe', account: { ...account, region: 'eu' } },
    { name: 'in Europe, as accounts from elsewhere say it', account: { ...account, region: 'true' } },
    { name: 'at another address', account: { ...account, baseUrl: 'https://acme.sparkpostelite.test' } },
  ],
  success: { answer: taken(4, 0), id: '11668787484950529' },
  successes: [
    ['one of them was turned down', taken(3, 1), '11668787484950529'],
    ['the same, as an error', taken(3, 1, 422), '11668787484950529'],
    [
      'the same, without an id',
      { status: 422, body: { results: { total_rejected_recipients: 1, total_accepted_recipients: 3 } } },
      '0197f3a0-0000-7000-8000-000000000001',
    ],
  ],
  errors: [
    ['all were turned down', taken(0, 4), 'refused: bad-recipient'],
    ['all were turned down, as an error', taken(0, 4, 422), 'refused: bad-recipient'],
    ['all were turned down, and SparkPost has trouble', taken(0, 4, 503), 'busy'],
    ['malformed', failure(400), 'refused: bad-content'],
    ['a domain that is not set up', failure(400, '7001'), 'misconfigured'],
    ['a wrong key', failure(401), 'misconfigured'],
    ['a key that may not', failure(403), 'misconfigured'],
    ['nothing there', failure(404), 'refused: other'],
    ['no such method', failure(405), 'refused: other'],
    ['a conflict', failure(409), 'refused: other'],
    ['another kind of content', failure(415), 'refused: other'],
    ['a member is missing', failure(422, '1400'), 'refused: bad-content'],
    ['more than the account may send', failure(420), 'busy'],
    ['too fast', { ...failure(429), headers: { 'retry-after': '3' } }, 'busy', 3_000],
    ['an internal failure', failure(500), 'busy'],
    ['a success without an id', { status: 200, body: { results: {} } }, 'unsure'],
  ],
  check: [
    ['a key', { status: 200, body: { results: {} } }, 'good'],
    ['a key that may not look', failure(403), 'good'],
    ['a wrong key', failure(401), 'bad: apiKey'],
    ['it is down', failure(503), 'bad'],
  ],
  receipts: {
    key: 'sparkpost-callback-key',
    cases: [
      ...reads,
      {
        name: 'several, one of them a bounce that may pass',
        call: {
          body: [
            event('bounce', 'message_event', { bounce_class: '22', raw_reason: '452 full' }),
            event('bounce', 'message_event', { bounce_class: '10', raw_reason: '550 no' }),
            event('renamed'),
          ],
        },
        expected: [
          { ...about, status: 'deferred', words: '452 full' },
          { ...about, status: 'bounced', words: '550 no' },
        ],
      },
      { name: 'a test of the address', call: { body: [{ msys: {} }] }, expected: [] },
    ],
  },
}
