// The contract of Burst SMS.
import { burstSms } from '../../../../src/providers/sms/burst-sms.ts'
import type { ProviderContract, ReceiptCase } from '../../../support/provider-contract.ts'

const taken = (more: object) => ({
  status: 200,
  body: {
    message_id: 339_683_245,
    send_at: '2024-01-02 03:04:05',
    recipients: 1,
    cost: 0.087,
    sms: 1,
    error: { code: 'SUCCESS', description: 'OK' },
    ...more,
  },
})
const failure = (status: number, code: string) => ({ status, body: { error: { code, description: 'words' } } })

const report = (status: string, reported: string | undefined, words?: string): ReceiptCase => ({
  name: status,
  call: {
    method: 'GET',
    query: `?message_id=339683245&mobile=447700900123&datetime=2024-01-02+02%3A04%3A05&status=${status}&user_id=7`,
  },
  expected:
    reported === undefined
      ? []
      : [
          {
            status: reported as never,
            providerMessageId: '339683245',
            address: '447700900123',
            at: new Date('2024-01-02T02:04:05Z'),
            ...(words === undefined ? {} : { words }),
          },
        ],
})

export const contract: ProviderContract = {
  provider: burstSms,
  account: {
    apiKey: 'fake-burst-key',
    secretKey: 'fake-burst-secret',
    from: '+61491570156',
    webhookUrl: 'https://hooks.example.test/burst?token=inbound-key',
  },
  message: { from: undefined, customData: { validity: 60, countrycode: 'au', To: '999', list_id: 7 } },
  variants: [{ name: 'a name', message: { from: 'Acme', customData: undefined } }],
  success: { answer: taken({}), id: '339683245' },
  successes: [
    [
      'an id of many digits',
      { ...taken({}), body: '{"message_id":12345678901234567890,"error":{"code":"SUCCESS"}}' },
      '12345678901234567890',
    ],
  ],
  errors: [
    ['wrong credentials', failure(401, 'AUTH_FAILED'), 'misconfigured'],
    ['no credentials', failure(401, 'AUTH_FAILED_NO_DATA'), 'misconfigured'],
    ['too fast', { ...failure(429, 'OVER_LIMIT'), headers: { 'retry-after': '7' } }, 'busy', 7_000],
    ['no such call', failure(404, 'NOT_IMPLEMENTED'), 'refused: other'],
    ['an empty field', failure(400, 'FIELD_EMPTY'), 'refused: other'],
    ['an invalid field', failure(400, 'FIELD_INVALID'), 'refused: other'],
    ['no access', failure(400, 'NO_ACCESS'), 'misconfigured'],
    ['it is there already', failure(400, 'KEY_EXISTS'), 'refused: other'],
    ['no funds', failure(400, 'LEDGER_ERROR'), 'misconfigured'],
    ['a sender of the account', failure(400, 'BAD_CALLER_ID'), 'misconfigured'],
    ['an error within a success', failure(200, 'LEDGER_ERROR'), 'misconfigured'],
    ['a code of tomorrow', failure(200, 'PONDERED'), 'refused: other'],
    ['a number that was left out', taken({ recipients: 0 }), 'refused: bad-recipient'],
    ['no id', taken({ message_id: null }), 'unsure'],
    ['neither', { status: 200, body: { message_id: 1 } }, 'unsure'],
    ['an error of its own', failure(500, 'FIELD_EMPTY'), 'busy'],
  ],
  check: [
    ['a balance', { status: 200, body: { balance: 73.9, currency: 'AUD', error: { code: 'SUCCESS' } } }, 'good'],
    ['a wrong secret', failure(401, 'AUTH_FAILED'), 'bad: secretKey'],
    ['something else', failure(400, 'NO_ACCESS'), 'bad'],
    ['trouble', { status: 500 }, 'bad'],
  ],
  receipts: {
    key: 'burst-webhook-key',
    cases: [
      report('delivered', 'delivered'),
      report('pending', 'sent'),
      report('soft-bounce', 'failed', 'soft-bounce'),
      report('hard-bounce', 'bounced', 'hard-bounce'),
      report('pondered', undefined),
    ],
  },
}
