// MailerSend’s contract.
import { createHmac } from 'node:crypto'
import { mailersend } from '../../../../src/providers/email/mailersend.ts'
import type { ContractCall, ProviderContract } from '../../../support/provider-contract.ts'

const account = {
  apiKey: 'mlsn.fake-token',
  from: 'hello@acme.test',
  senderName: 'Acme',
  secretKey: 'mailersend-signing-secret',
}
const ownId = '0197f3a0-0000-7000-8000-000000000009'
const failure = (status: number, message: string, errors: object = {}) => ({ status, body: { message, errors } })
const taken = (body: unknown = '', id = '5e42957d51f1') => ({ status: 202, headers: { 'X-Message-Id': id }, body })
const suppressed = (type: string, reason: string) => ({
  message: 'There are some warnings for your request.',
  warnings: [{ type, recipients: [{ email: 'zoe@example.org', reasons: [reason] }] }],
})

function event(type: string, morph: object | null = null, key = account.secretKey): ContractCall {
  const email = {
    message: { id: '5e42957d51f1' },
    recipient: { email: 'zoe@example.org' },
    tags: ['invoice', ownId],
  }
  const data = { id: 'ev-1', created_at: '2026-01-01T12:00:00.000000Z', email, morph }
  const body = JSON.stringify({ data, type })
  return { headers: { Signature: createHmac('sha256', key).update(body).digest('hex') }, body }
}
const about = {
  messageId: ownId,
  providerMessageId: '5e42957d51f1',
  address: 'zoe@example.org',
  at: new Date('2026-01-01T12:00:00Z'),
}
const reads = (
  [
    ['sent', 'sent'],
    ['delivered', 'delivered'],
    ['deferred', 'deferred'],
    ['soft_bounced', 'deferred'],
    ['hard_bounced', 'bounced'],
    ['opened', 'opened'],
    ['opened_unique', 'opened'],
    ['clicked', 'clicked'],
    ['clicked_unique', 'clicked'],
    ['spam_complaint', 'complained'],
    ['unsubscribed', 'unsubscribed'],
  ] as const
).map(([name, status]) => ({ name, call: event(`activity.${name}`), expected: [{ ...about, status }] }))

export const contract: ProviderContract = {
  provider: mailersend,
  account,
  message: { customData: { settings: { track_opens: false }, BCC: [{ email: 'eve@example.org' }] } },
  variants: [{ name: 'at another address', account: { ...account, baseUrl: 'https://mail.acme.test' } }],
  success: { answer: taken(), id: '5e42957d51f1' },
  successes: [['some are left out', taken(suppressed('SOME_SUPPRESSED', 'hard_bounced')), '5e42957d51f1']],
  errors: [
    [
      'all are left out: they wanted no more',
      { status: 202, body: suppressed('ALL_SUPPRESSED', 'unsubscribed') },
      'refused: opted-out',
    ],
    [
      'all are left out: they bounced',
      { status: 202, body: suppressed('ALL_SUPPRESSED', 'hard_bounced') },
      'refused: bad-recipient',
    ],
    ['malformed', failure(400, 'Bad request'), 'refused: bad-content'],
    ['a wrong token', failure(401, 'Unauthenticated.'), 'misconfigured'],
    ['a token that may not', failure(403, 'This action is unauthorized.'), 'misconfigured'],
    ['nothing there', failure(404, 'Not found'), 'refused: other'],
    ['no such method', failure(405, 'Not allowed'), 'refused: other'],
    ['it waited too long', failure(408, 'Timeout'), 'busy'],
    ['maintenance', failure(421, 'Service isn’t available'), 'busy'],
    [
      'a domain that is not verified',
      failure(422, 'The given data was invalid.', { 'from.email': ['The domain must be verified. #MS42207'] }),
      'misconfigured',
    ],
    [
      'a bad address',
      failure(422, 'Invalid. #MS42210', { 'to.0.email': ['Not an address'] }),
      'refused: bad-recipient',
    ],
    ['no subject', failure(422, 'Invalid. #MS42208', { subject: ['Required'] }), 'refused: bad-content'],
    ['the day’s quota', failure(429, 'Quota reached. #MS42901'), 'busy', 3_600_000],
    ['too fast', { ...failure(429, 'Too many'), headers: { 'retry-after': '59' } }, 'busy', 59_000],
    ['an internal failure', failure(500, 'Server Error'), 'busy'],
    ['taken, without an id', { status: 202 }, 'unsure'],
  ],
  check: [
    ['a token', { status: 200, body: { quota: 100_000, remaining: 99_000 } }, 'good'],
    ['a wrong token', failure(401, 'Unauthenticated.'), 'bad: apiKey'],
    ['it is down', { status: 503 }, 'bad'],
  ],
  receipts: {
    cases: [
      ...reads,
      {
        name: 'bounced, with its reason',
        call: event('activity.hard_bounced', { object: 'recipient_bounce', reason: 'no mailbox' }),
        expected: [{ ...about, status: 'bounced', words: 'no mailbox' }],
      },
      { name: 'of something else', call: event('sender_identity.verified'), expected: [] },
    ],
    unbelievable: [{ name: 'another key', call: event('activity.sent', null, 'another-signing-secret') }],
    greetings: [
      { name: 'a test', call: { body: { type: 'webhook.test' } }, answer: 'ok' },
      { name: 'a report is no test', call: event('activity.sent'), answer: undefined },
    ],
  },
}
