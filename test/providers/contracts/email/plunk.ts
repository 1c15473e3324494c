// Plunk’s contract.
import { plunk } from '../../../../src/providers/email/plunk.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const account = { apiKey: 'sk_fake_key', from: 'hello@acme.test', senderName: 'Acme, Inc.' }
const failure = (status: number, code: string, more: object = {}) => ({
  status,
  body: { success: false, error: { code, message: 'words', statusCode: status, ...more } },
})
const success = { emails: [{ contact: { id: 'cnt_1', email: 'zoe@example.org' }, email: 'eml_9' }] }
const reads = (
  [
    ['sent', 'sent'],
    ['delivery', 'delivered'],
    ['open', 'opened'],
    ['click', 'clicked'],
    ['bounce', 'bounced'],
    ['complaint', 'complained'],
  ] as const
).map(([name, status]) => ({
  name,
  call: { body: { event: `email.${name}`, emailId: 'eml_9', email: 'zoe@example.org' } },
  expected: [{ status, providerMessageId: 'eml_9', address: 'zoe@example.org' }],
}))

export const contract: ProviderContract = {
  provider: plunk,
  account,
  message: { customData: { subscribed: false, To: 'eve@example.org' } },
  variants: [
    {
      name: 'an installation of one’s own, text alone, with braces',
      account: { ...account, baseUrl: 'https://mail.acme.test/api/' },
      message: { html: '', text: 'Hi {{name}} & <all>', subject: 'Hi {{name}}, {{{name}}}', customData: {} },
    },
    {
      name: 'placeholders of the caller’s own',
      message: { html: '<p>Hi {{name}}</p>', subject: 'Hi {{name}}', customData: { data: { name: 'Zoë' } } },
    },
  ],
  success: { answer: { status: 200, body: { success: true, data: success } }, id: 'eml_9' },
  successes: [
    ['as older installations answer', { status: 200, body: { success: true, ...success } }, 'eml_9'],
    [
      'taken at an earlier try',
      failure(409, 'IDEMPOTENCY_KEY_REUSED', { details: { originalStatusCode: 200 } }),
      '0197f3a0-0000-7000-8000-000000000001',
    ],
  ],
  errors: [
    ['malformed', failure(400, 'BAD_REQUEST'), 'refused: bad-content'],
    ['a wrong key', failure(401, 'UNAUTHORIZED'), 'misconfigured'],
    [
      'as older installations say it',
      { status: 401, body: { code: 401, error: 'Unauthorized', message: 'no' } },
      'misconfigured',
    ],
    ['nothing left to spend', failure(402, 'BILLING_LIMIT_EXCEEDED'), 'misconfigured'],
    ['a domain that is not verified', failure(403, 'FORBIDDEN'), 'misconfigured'],
    ['nothing there', failure(404, 'NOT_FOUND'), 'refused: other'],
    ['another conflict', failure(409, 'CONFLICT'), 'refused: other'],
    [
      'an earlier try that failed there',
      failure(409, 'IDEMPOTENCY_KEY_REUSED', { details: { originalStatusCode: 500 } }),
      'unsure',
    ],
    [
      'no sender',
      failure(422, 'VALIDATION_ERROR', { errors: [{ field: 'from', message: 'no' }] }),
      'refused: bad-content',
    ],
    [
      'a bad address',
      failure(422, 'VALIDATION_ERROR', { errors: [{ field: 'to.0', message: 'no' }] }),
      'refused: bad-recipient',
    ],
    ['too fast', failure(429, 'RATE_LIMIT_EXCEEDED'), 'busy'],
    ['an internal failure', failure(500, 'INTERNAL_SERVER_ERROR'), 'busy'],
    ['a failure within a success', { status: 200, body: { success: false } }, 'refused: other'],
    ['a success without an id', { status: 200, body: { success: true } }, 'unsure'],
  ],
  check: [
    ['it finds fault with an empty message', failure(422, 'VALIDATION_ERROR'), 'good'],
    ['a wrong key', failure(401, 'UNAUTHORIZED'), 'bad: apiKey'],
    ['it is down', { status: 503 }, 'bad'],
  ],
  receipts: {
    key: 'plunk-callback-key',
    cases: [
      ...reads,
      {
        name: 'with a time and a reason',
        call: { body: { event: 'email.bounce', emailId: 'eml_9', timestamp: '2026-01-01T12:00:00Z', reason: 'full' } },
        expected: [
          { status: 'bounced', providerMessageId: 'eml_9', at: new Date('2026-01-01T12:00:00Z'), words: 'full' },
        ],
      },
      { name: 'of something else', call: { body: { event: 'contact.created' } }, expected: [] },
    ],
  },
}
