// 46elks’ contract.
import { fortySixElks } from '../../../../src/providers/sms/forty-six-elks.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const id = 's3633fa8e62f823e52fbc67ebf6925ab5'
const answered = (status: string) => ({
  status: 200,
  body: { status, direction: 'outgoing', from: 'Acme', created: '2024-01-02T03:04:05.116000', parts: 1, id },
})

export const contract: ProviderContract = {
  provider: fortySixElks,
  account: {
    user: 'u-acme',
    password: 'top-secret-0001',
    from: 'Shop',
    webhookUrl: 'https://hooks.example.test/46?token=inbound-key-0001',
  },
  message: { customData: { flashsms: 'yes', to: '+46700000009' } },
  success: { answer: answered('created'), id },
  successes: [['sent at once', answered('sent'), id]],
  errors: [
    ['wrong credentials', { status: 401, body: 'API access requires Basic HTTP authentication' }, 'misconfigured'],
    ['no credit', { status: 403, body: 'Not enough credits' }, 'misconfigured'],
    ['an invalid parameter', { status: 400, body: 'Invalid to number' }, 'refused: other'],
    ['a failure within a success', answered('failed'), 'refused: other'],
    ['a success without an id', { status: 200, body: { status: 'created' } }, 'unsure'],
  ],
  check: [
    ['an account', { status: 200, body: { balance: 100, currency: 'SEK' } }, 'good'],
    ['wrong credentials', { status: 401, body: 'No' }, 'bad: password'],
    ['trouble', { status: 500 }, 'bad'],
  ],
  receipts: {
    key: 'inbound-key-0001',
    cases: [
      {
        name: 'delivered',
        call: { body: `id=${id}&status=delivered&delivered=2024-01-02T03%3A04%3A09.116000` },
        expected: [{ status: 'delivered', providerMessageId: id, at: new Date('2024-01-02T03:04:09.116Z') }],
      },
      {
        name: 'sent',
        call: { body: `id=${id}&status=sent` },
        expected: [{ status: 'sent', providerMessageId: id }],
      },
      {
        name: 'created',
        call: { body: `id=${id}&status=created` },
        expected: [{ status: 'queued', providerMessageId: id }],
      },
      {
        name: 'failed',
        call: { body: `id=${id}&status=failed` },
        expected: [{ status: 'failed', providerMessageId: id }],
      },
      { name: 'an unknown status', call: { body: `id=${id}&status=dancing` }, expected: [] },
    ],
  },
}
