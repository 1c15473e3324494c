// Brevo’s contract for SMS.
import { brevoSms } from '../../../../src/providers/sms/brevo-sms.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const failure = (status: number, code: string, headers = {}) => ({ status, headers, body: { code, message: 'words' } })
const messageId = '0197f3a0-0000-7000-8000-000000000002'

const report = (msg_status: string, more: object = {}) => ({
  id: 123456,
  to: '447700900123',
  sms_count: 1,
  credits_used: 0.7,
  messageId: 1511882900176220,
  remaining_credit: 82.85,
  msg_status,
  date: '2024-01-02 03:04:05',
  type: 'transactional',
  reference: { 1: 'ab1cde2fgh3i4jklmno' },
  ts_event: 1704164645,
  tag: messageId,
  ...more,
})
const receipt = {
  providerMessageId: '1511882900176220',
  messageId,
  address: '447700900123',
  at: new Date('2024-01-02T03:04:05.000Z'),
}
const kinds = {
  accepted: 'sent',
  sent: 'sent',
  delivered: 'delivered',
  soft_bounce: 'failed',
  hard_bounce: 'bounced',
  rejected: 'rejected',
  blacklisted: 'rejected',
  skip: 'rejected',
  unsubscribe: 'unsubscribed',
} as const

export const contract: ProviderContract = {
  provider: brevoSms,
  account: {
    apiKey: 'xkeysib-fake-key',
    from: '+33612345678',
    webhookUrl: 'https://posthorn.example.com/v1/webhooks/env-1/int-1?token=k',
  },
  variants: [
    {
      name: 'settings of the caller',
      message: {
        customData: { type: 'marketing', tag: 'sale', organisationPrefix: 'Acme', recipient: '1', Sender: 'x' },
      },
    },
  ],
  success: {
    answer: {
      status: 201,
      body: {
        reference: 'ab1cde2fgh3i4jklmno',
        messageId: 1511882900176220,
        smsCount: 1,
        usedCredits: 0.7,
        remainingCredits: 82.85,
      },
    },
    id: '1511882900176220',
  },
  successes: [
    ['an id beyond 2^53', { status: 201, body: '{"messageId":91511882900176220001}' }, '91511882900176220001'],
  ],
  errors: [
    ['a bad parameter', failure(400, 'invalid_parameter'), 'refused: other'],
    ['a missing one', failure(400, 'missing_parameter'), 'refused: bad-content'],
    ['a wrong key', failure(401, 'unauthorized'), 'misconfigured'],
    ['no credits', failure(402, 'not_enough_credits'), 'misconfigured'],
    ['no right', failure(403, 'permission_denied'), 'misconfigured'],
    ['nothing there', failure(404, 'document_not_found'), 'refused: other'],
    ['too many calls', failure(429, 'too_many_requests', { 'x-sib-ratelimit-reset': '12' }), 'busy', 12_000],
    ['a success without an id', { status: 201, body: { reference: 'x' } }, 'unsure'],
  ],
  check: [
    ['a good key', { status: 200, body: { plan: [{ type: 'sms', credits: 10 }] } }, 'good'],
    ['a wrong key', failure(401, 'unauthorized'), 'bad: apiKey'],
  ],
  receipts: {
    key: 'shared-webhook-key',
    cases: [
      ...Object.entries(kinds).map(([given, status]) => ({
        name: given,
        call: { body: report(given) },
        expected: [{ status, ...receipt }],
      })),
      {
        name: 'a tag of the caller’s, and an error in words',
        call: { body: report('rejected', { tag: 'sale', description: 'words' }) },
        expected: [
          {
            status: 'rejected',
            providerMessageId: receipt.providerMessageId,
            address: receipt.address,
            at: receipt.at,
            words: 'words',
          },
        ],
      },
      { name: 'an answer of the recipient’s', call: { body: report('replied') }, expected: [] },
    ],
  },
}
