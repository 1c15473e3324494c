// The contract of smsmode.
import { smsmode } from '../../../../src/providers/sms/smsmode.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const failure = (status: number, headers = {}) => ({
  status,
  headers,
  body: { title: 'Title', message: 'words', detail: 'more words', errorCode: 'E1' },
})
const id = '67c15045-1067-4588-ba3c-737cc5051438'
const message = (status: object) => ({
  messageId: id,
  acceptedAt: '2024-01-02T03:04:05',
  type: 'SMS',
  direction: 'MT',
  recipient: { to: '447700900123' },
  from: 'Acme',
  status: { deliveryDate: '2024-01-02T03:04:05', ...status },
  refClient: '0197f3a0-0000-7000-8000-000000000002',
})
const made = (status: object) => ({ status: 201, body: message(status) })
const undeliverable = (detail: string) => made({ value: 'UNDELIVERABLE', detail })
const receipt = {
  messageId: '0197f3a0-0000-7000-8000-000000000002',
  providerMessageId: id,
  address: '447700900123',
  at: new Date('2024-01-02T03:04:05.000Z'),
}

export const contract: ProviderContract = {
  provider: smsmode,
  account: {
    apiKey: 'fake-api-key',
    from: 'AcmeAlerts',
    webhookUrl: 'https://posthorn.example.com/v1/webhooks/env-1/int-1?token=k',
  },
  variants: [
    {
      name: 'settings of the caller, who cannot say where it goes',
      message: { customData: { sentDate: '2024-01-02T04:00:00', recipient: { to: '1' }, body: { text: 'x' } } },
    },
  ],
  success: { answer: made({ value: 'ENROUTE' }), id },
  successes: [['scheduled', made({ value: 'SCHEDULED' }), id]],
  errors: [
    ['no credit', undeliverable('INSUFFICIENT_CREDIT'), 'misconfigured'],
    ['enough for today', undeliverable('DAILY_LIMIT_EXCEEDED'), 'misconfigured'],
    ['enough for this month', undeliverable('ORGANISATION_MONTHLY_LIMIT_EXCEEDED'), 'misconfigured'],
    ['spam', undeliverable('SPAM'), 'refused: bad-content'],
    ['a bad number', undeliverable('INVALID_PHONE_NUMBER'), 'refused: bad-recipient'],
    ['someone who wants none', undeliverable('BLACKLISTED'), 'refused: opted-out'],
    ['undeliverable, and no more', made({ value: 'UNDELIVERABLE' }), 'refused: other'],
    ['a bad request', failure(400), 'refused: other'],
    ['a wrong key', failure(401), 'misconfigured'],
    ['no right, or no credit', failure(403), 'misconfigured'],
    ['nothing there', failure(404), 'refused: other'],
    ['too many calls', failure(429, { 'retry-after': '2' }), 'busy', 2_000],
    ['trouble', failure(500), 'busy'],
    ['a success without an id', { status: 201, body: { acceptedAt: 'x' } }, 'unsure'],
  ],
  check: [
    ['a good key', { status: 200, body: { items: [] } }, 'good'],
    ['a wrong key', failure(401), 'bad: apiKey'],
  ],
  receipts: {
    key: 'shared-webhook-key',
    cases: [
      {
        name: 'scheduled',
        call: { body: message({ value: 'SCHEDULED' }) },
        expected: [{ status: 'queued', ...receipt }],
      },
      { name: 'on its way', call: { body: message({ value: 'ENROUTE' }) }, expected: [{ status: 'sent', ...receipt }] },
      {
        name: 'delivered',
        call: { body: message({ value: 'DELIVERED' }) },
        expected: [{ status: 'delivered', ...receipt }],
      },
      {
        name: 'undelivered',
        call: { body: message({ value: 'UNDELIVERED' }) },
        expected: [{ status: 'failed', ...receipt }],
      },
      {
        name: 'undeliverable',
        call: { body: message({ value: 'UNDELIVERABLE', detail: 'SPAM' }) },
        expected: [{ status: 'failed', ...receipt, words: 'SPAM' }],
      },
      { name: 'an unknown status', call: { body: message({ value: 'HM' }) }, expected: [] },
    ],
  },
}
