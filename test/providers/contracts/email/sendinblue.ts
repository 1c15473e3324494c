// Brevo’s contract.
import { sendinblue } from '../../../../src/providers/email/sendinblue.ts'
import { fullMessages, type ProviderContract, type ReceiptCase } from '../../../support/provider-contract.ts'

const id = '<202601011200.123@smtp-relay.mailin.fr>'
const failure = (status: number, code: string, message = 'words') => ({ status, body: { code, message } })

const receipt = (status: string, words?: string) =>
  ({
    status,
    messageId: fullMessages.email.id,
    providerMessageId: id,
    address: 'zoe@example.org',
    at: new Date('2026-01-01T12:00:05.250Z'),
    ...(words === undefined ? {} : { words }),
  }) as ReceiptCase['expected'][number]

const eventOf = (event: string, more: object = {}) => ({
  event,
  email: 'zoe@example.org',
  id: 26224,
  date: '2026-01-01 13:00:05',
  ts: 1767268805,
  ts_epoch: 1767268805250,
  'message-id': id,
  'X-Mailin-custom': JSON.stringify({ workflow: 'order-shipped', message_id: fullMessages.email.id }),
  ...more,
})

const event = (name: string, status: string, more: object = {}, words?: string): ReceiptCase => ({
  name: `${name} is ${status}`,
  call: { body: eventOf(name, more) },
  expected: [receipt(status, words)],
})

const account = {
  apiKey: 'xkeysib-top-secret',
  from: 'hello@acme.test',
  senderName: 'Acme',
  ipPoolName: '192.0.2.7',
}

export const contract: ProviderContract = {
  provider: sendinblue,
  account,
  variants: [
    {
      name: 'text alone, settings of Brevo’s own, another base address',
      account: { ...account, senderName: 'A'.repeat(80), baseUrl: 'https://proxy.example.test/' },
      message: {
        html: '',
        text: 'a < b\nc',
        attachments: [],
        headers: { 'x-kind': 'invoice' },
        metadata: { workflow: 'größe' },
        customData: {
          params: { a: 1 },
          templateId: 7,
          bcc: [{ email: 'eve@example.org' }],
          messageVersions: [{ to: [{ email: 'eve@example.org' }] }],
          headers: { idempotencyKey: 'forged' },
        },
      },
    },
  ],
  success: { answer: { status: 201, body: { messageId: id } }, id },
  successes: [
    ['a scheduled one', { status: 202, body: { messageId: id, batchId: 'b' } }, id],
    ['a list of one', { status: 201, body: { messageIds: [id] } }, id],
    ['a repeat in words', failure(400, 'x', 'This idempotencyKey was already used'), fullMessages.email.id],
    ['a repeat', failure(400, 'duplicate_request', 'Idempotency key was used'), fullMessages.email.id],
  ],
  errors: [
    ['a bad recipient', failure(400, 'invalid_parameter', 'email is not valid in to'), 'refused: bad-recipient'],
    ['a bad parameter', failure(400, 'invalid_parameter', 'subject is not valid'), 'refused: bad-content'],
    ['a key that is none', failure(400, 'invalid_parameter', 'Invalid idempotencyKey'), 'refused: bad-content'],
    ['a sender that is not allowed', failure(400, 'invalid_parameter', 'Sender is not valid'), 'misconfigured'],
    ['a missing one', failure(400, 'missing_parameter', 'htmlContent is missing'), 'refused: bad-content'],
    ['a bad key', failure(401, 'unauthorized', 'Key not found'), 'misconfigured'],
    ['no credits', failure(402, 'not_enough_credits'), 'misconfigured'],
    ['an account that is being looked at', failure(400, 'account_under_validation'), 'misconfigured'],
    ['no right', failure(403, 'permission_denied'), 'misconfigured'],
    ['no such template', failure(404, 'document_not_found'), 'refused: other'],
    ['a wrong method', failure(405, 'method_not_allowed'), 'refused: other'],
    ['a wrong type', failure(406, 'not_acceptable'), 'refused: other'],
    ['a success without an id', { status: 201, body: {} }, 'unsure'],
    ['too many calls, with Retry-After', { status: 429, headers: { 'retry-after': '7' } }, 'busy', 7_000],
    [
      'too many calls',
      { ...failure(429, 'too_many_requests'), headers: { 'x-sib-ratelimit-reset': '12' } },
      'busy',
      12_000,
    ],
    ['trouble at Brevo', { status: 500, body: { message: 'words' } }, 'busy'],
    ['a gateway that gave up', { status: 504 }, 'unsure'],
  ],
  check: [
    ['an account', { status: 200, body: { email: 'ops@acme.test' } }, 'good'],
    ['a wrong key', failure(401, 'unauthorized', 'Key not found'), 'bad: apiKey'],
    ['trouble', { status: 500 }, 'bad'],
  ],
  receipts: {
    key: 'brevo-shared-key',
    cases: [
      event('request', 'queued'),
      event('delivered', 'delivered'),
      event('deferred', 'deferred', { reason: 'busy' }, 'busy'),
      event('soft_bounce', 'deferred', { reason: 'full' }, 'full'),
      event('hard_bounce', 'bounced', { reason: 'unknown user' }, 'unknown user'),
      event('hardBounce', 'bounced'),
      event('invalid_email', 'bounced'),
      event('blocked', 'rejected'),
      event('error', 'failed'),
      event('spam', 'complained'),
      event('complaint', 'complained'),
      event('unsubscribed', 'unsubscribed'),
      event('unsubscribe', 'unsubscribed'),
      event('opened', 'opened'),
      event('unique_opened', 'opened'),
      event('proxy_open', 'opened'),
      event('unique_proxy_open', 'opened'),
      event('click', 'clicked'),
      {
        name: 'many events, one unknown and one of another sender',
        call: {
          body: [eventOf('opened'), eventOf('list_addition'), eventOf('click', { 'X-Mailin-custom': 'their own' })],
        },
        expected: [
          receipt('opened'),
          {
            status: 'clicked',
            providerMessageId: id,
            address: 'zoe@example.org',
            at: new Date('2026-01-01T12:00:05.250Z'),
          },
        ],
      },
    ],
  },
}
