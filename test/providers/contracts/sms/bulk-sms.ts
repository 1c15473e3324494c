// BulkSMS’s contract.
import { bulkSms } from '../../../../src/providers/sms/bulk-sms.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const messageId = '0197f3a0-0000-7000-8000-000000000002'
const problem = (status: number, title: string) => ({
  status,
  body: { type: 'https://developer.bulksms.com/json/v1/errors#problem', title, status, detail: 'In words.' },
})
const accepted = (type: string, subtype: string | null = null) => ({
  status: 201,
  body: [{ id: '1128374', to: '447700900123', status: { id: `${type}.${subtype}`, type, subtype } }],
})
const report = (type: string, subtype: string | null = null) => [
  {
    id: '1128374',
    to: '447700900123',
    userSuppliedId: messageId,
    status: { id: `${type}.${subtype}`, type, subtype },
    submission: { id: '2-1', date: '2024-01-02T03:04:05Z' },
  },
]
const reported = { messageId, providerMessageId: '1128374', address: '447700900123' }

export const contract: ProviderContract = {
  provider: bulkSms,
  account: { apiToken: 'TOKENID-1:top-secret-0001', from: 'Acme' },
  message: { customData: { deliveryReports: 'ALL', to: '+15550000000', userSuppliedId: 'another' } },
  variants: [
    { name: 'a token that is ready for the header', account: { apiToken: 'VE9LRU5JRC0xOnRvcC1zZWNyZXQ=' } },
    { name: 'a text of more than three parts', message: { content: 'x'.repeat(460) } },
  ],
  success: { answer: accepted('ACCEPTED'), id: '1128374' },
  successes: [
    ['scheduled', accepted('SCHEDULED'), '1128374'],
    ['sent at once', accepted('SENT'), '1128374'],
    [
      'an id of many digits',
      { status: 201, body: '[{"id":12345678901234567890,"status":{"type":"ACCEPTED"}}]' },
      '12345678901234567890',
    ],
  ],
  errors: [
    ['a bad request', problem(400, 'Bad Request'), 'refused: other'],
    ['a wrong token', problem(401, 'Unauthorized'), 'misconfigured'],
    ['no credits', problem(403, 'Insufficient Credits'), 'misconfigured'],
    ['a failure within a success', accepted('FAILED', 'NOT_SENT'), 'refused: other'],
    ['a success without an id', { status: 201, body: [{ status: { type: 'ACCEPTED' } }] }, 'unsure'],
  ],
  check: [
    ['a profile', { status: 200, body: { credits: { balance: 12 } } }, 'good'],
    ['a wrong token', problem(401, 'Unauthorized'), 'bad: apiToken'],
    ['trouble', problem(500, 'Internal Error'), 'bad'],
  ],
  receipts: {
    key: 'inbound-key-0001',
    cases: [
      {
        name: 'delivered',
        call: { body: report('DELIVERED') },
        expected: [{ status: 'delivered', ...reported }],
      },
      {
        name: 'expired',
        call: { body: report('FAILED', 'EXPIRED') },
        expected: [{ status: 'failed', ...reported, words: 'EXPIRED' }],
      },
      {
        name: 'a handset that cannot',
        call: { body: report('FAILED', 'HANDSET_ERROR') },
        expected: [{ status: 'failed', ...reported, words: 'HANDSET_ERROR' }],
      },
      {
        name: 'blocked',
        call: { body: report('FAILED', 'BLOCKED') },
        expected: [{ status: 'failed', ...reported, words: 'BLOCKED' }],
      },
      {
        name: 'not sent',
        call: { body: report('FAILED', 'NOT_SENT') },
        expected: [{ status: 'failed', ...reported, words: 'NOT_SENT' }],
      },
      { name: 'sent', call: { body: report('SENT') }, expected: [{ status: 'sent', ...reported }] },
      { name: 'accepted', call: { body: report('ACCEPTED') }, expected: [{ status: 'sent', ...reported }] },
      { name: 'unknown is no news', call: { body: report('UNKNOWN') }, expected: [] },
      {
        name: 'two at once, one of them not ours',
        call: { body: [...report('DELIVERED'), { id: 7, status: { type: 'SENT' }, userSuppliedId: 'theirs' }] },
        expected: [
          { status: 'delivered', ...reported },
          { status: 'sent', providerMessageId: '7' },
        ],
      },
    ],
  },
}
