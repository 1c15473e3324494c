// Resend’s contract.
import { createHmac } from 'node:crypto'
import { resend } from '../../../../src/providers/email/resend.ts'
import type { ContractCall, ProviderContract } from '../../../support/provider-contract.ts'

const secret = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const account = {
  apiKey: 're_fake_key',
  from: 'hello@acme.test',
  senderName: 'Acme, Inc.',
  secretKey: `whsec_${secret}`,
}
const failure = (status: number, name: string) => ({ status, body: { statusCode: status, name, message: 'words' } })

function event(type: string, more: object = {}, { at = '1767268800', key = secret } = {}): ContractCall {
  const data = {
    email_id: 'e-1',
    from: 'a@acme.test',
    to: ['zoe@example.org'],
    tags: { message_id: '0197f3a0-0000-7000-8000-000000000009' },
    ...more,
  }
  const body = JSON.stringify({ created_at: '2026-01-01T12:00:00.000Z', data, type })
  const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(`msg_1.${at}.${body}`).digest('base64')
  return {
    headers: { 'svix-id': 'msg_1', 'svix-timestamp': at, 'svix-signature': `v1,AAAA v1,${signature}` },
    body,
  }
}
const about = {
  messageId: '0197f3a0-0000-7000-8000-000000000009',
  providerMessageId: 'e-1',
  address: 'zoe@example.org',
  at: new Date('2026-01-01T12:00:00Z'),
}
const reads = (
  [
    ['sent', 'sent'],
    ['scheduled', 'queued'],
    ['delivered', 'delivered'],
    ['delivery_delayed', 'deferred'],
    ['complained', 'complained'],
    ['suppressed', 'rejected'],
    ['opened', 'opened'],
  ] as const
).map(([name, status]) => ({ name, call: event(`email.${name}`), expected: [{ ...about, status }] }))

export const contract: ProviderContract = {
  provider: resend,
  account,
  message: { customData: { topic_id: 'topic-1', To: ['eve@example.org'] } },
  variants: [
    {
      name: 'no one is in copy, whatever the settings say',
      message: { cc: [], bcc: [], customData: { bcc: ['eve@example.org'] } },
    },
    { name: 'at another address', account: { ...account, baseUrl: 'mail.acme.test/resend' } },
  ],
  success: { answer: { status: 200, body: { id: '49a3999c-0ce1' } }, id: '49a3999c-0ce1' },
  errors: [
    ['malformed', failure(400, 'validation_error'), 'refused: bad-content'],
    ['a strange idempotency key', failure(400, 'invalid_idempotency_key'), 'refused: other'],
    ['no key', failure(401, 'missing_api_key'), 'misconfigured'],
    ['a key that may not', failure(401, 'restricted_api_key'), 'misconfigured'],
    ['a wrong key', failure(403, 'invalid_api_key'), 'misconfigured'],
    ['a wrong key, as 400', failure(400, 'invalid_api_key'), 'misconfigured'],
    ['a domain that is not verified', failure(403, 'validation_error'), 'misconfigured'],
    ['nothing there', failure(404, 'not_found'), 'refused: other'],
    ['no such method', failure(405, 'method_not_allowed'), 'refused: other'],
    ['the same key for another message', failure(409, 'invalid_idempotent_request'), 'refused: other'],
    ['the same key at the same time', failure(409, 'concurrent_idempotent_requests'), 'busy'],
    ['a member is missing', failure(422, 'missing_required_field'), 'refused: bad-content'],
    ['a file it does not take', failure(422, 'invalid_attachment'), 'refused: bad-content'],
    ['too fast', { ...failure(429, 'rate_limit_exceeded'), headers: { 'retry-after': '1' } }, 'busy', 1_000],
    ['the day’s quota', failure(429, 'daily_quota_exceeded'), 'busy', 3_600_000],
    ['the month’s quota', failure(429, 'monthly_quota_exceeded'), 'busy', 3_600_000],
    ['a security problem', failure(451, 'security_error'), 'refused: other'],
    ['a failure of its own', failure(500, 'application_error'), 'busy'],
    ['an internal failure', failure(500, 'internal_server_error'), 'busy'],
    ['a success without an id', { status: 200, body: {} }, 'unsure'],
  ],
  check: [
    ['a key', { status: 200, body: { data: [] } }, 'good'],
    ['a key that may only send', failure(401, 'restricted_api_key'), 'good'],
    ['a wrong key', failure(403, 'invalid_api_key'), 'bad: apiKey'],
    ['it is down', { status: 503 }, 'bad'],
  ],
  batch: {
    messages: [
      { attachments: [], to: ['zoe@example.org'] },
      { attachments: [], to: ['bad@example.org'], id: '0197f3a0-0000-7000-8000-000000000005' },
      { attachments: [], to: ['yan@example.org'], id: '0197f3a0-0000-7000-8000-000000000006' },
    ],
    answer: { status: 200, body: { data: [{ id: 'a' }, { id: 'b' }], errors: [{ index: 1, message: 'no' }] } },
    kinds: ['sent', 'refused: bad-content', 'sent'],
  },
  receipts: {
    now: '2026-01-01T12:01:00.000Z',
    cases: [
      ...reads,
      {
        name: 'bounced',
        call: event('email.bounced', { bounce: { message: 'no mailbox', type: 'Permanent', subType: 'General' } }),
        expected: [{ ...about, status: 'bounced', words: 'no mailbox' }],
      },
      {
        name: 'bounced for now',
        call: event('email.bounced', { bounce: { message: 'full', type: 'Transient' } }),
        expected: [{ ...about, status: 'deferred', words: 'full' }],
      },
      {
        name: 'failed',
        call: event('email.failed', { failed: { reason: 'quota' } }),
        expected: [{ ...about, status: 'failed', words: 'quota' }],
      },
      {
        name: 'clicked',
        call: event('email.clicked', { click: { link: 'https://acme.test/7' } }),
        expected: [{ ...about, status: 'clicked', words: 'https://acme.test/7' }],
      },
      {
        name: 'opened by one of two, without tags',
        call: event('email.opened', { to: ['zoe@example.org', 'yan@example.org'], tags: undefined }),
        expected: [{ status: 'opened', providerMessageId: 'e-1', at: about.at }],
      },
      { name: 'of a contact', call: event('contact.created'), expected: [] },
    ],
    unbelievable: [
      { name: 'another key', call: event('email.sent', {}, { key: 'c29tZXRoaW5nIGVsc2U=' }) },
      { name: 'an old one', call: event('email.sent', {}, { at: '1767182400' }) },
    ],
  },
}
