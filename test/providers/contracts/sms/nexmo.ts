// Vonage’s contract.
import { createHmac } from 'node:crypto'
import { nexmo } from '../../../../src/providers/sms/nexmo.ts'
import type { ContractCall, ProviderContract, ReceiptCase } from '../../../support/provider-contract.ts'

const account = { apiKey: 'abcd1234', secretKey: 'FakeSecret0001', from: '+447700900001' }
const part = (id: string) => ({ to: '447700900123', 'message-id': id, status: '0', network: '23410' })
const said = (...messages: object[]) => ({
  status: 200,
  body: { 'message-count': String(messages.length), messages },
})
const failure = (status: number) => said({ status: String(status), 'error-text': 'words' })

const key = 'fake-sig-secret'
const messageId = '0197f3a0-0000-7000-8000-000000000002'

function signature(report: Record<string, string>): string {
  const text = Object.keys(report)
    .sort()
    .map((name) => `&${name}=${report[name]?.replace(/[&=]/g, '_')}`)
    .join('')
  return createHmac('sha256', key).update(text).digest('hex')
}

function call(method: 'GET' | 'form' | 'JSON', status: string, more: Record<string, string> = {}): ContractCall {
  const report: Record<string, string> = {
    messageId: '0C000000217B7F02',
    msisdn: '447700900123',
    to: 'Acme & = Co',
    status,
    'err-code': '0',
    'message-timestamp': '2024-01-02 02:04:05 +0000',
    'client-ref': messageId,
    timestamp: '1704161045',
    nonce: 'n-7',
    ...more,
  }
  const whole = { ...report, sig: signature(report) }
  if (method === 'JSON') return { body: whole }
  const form = new URLSearchParams(whole).toString()
  return method === 'GET'
    ? { method: 'GET', query: `?${form}` }
    : { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: form }
}

const reported = {
  messageId,
  providerMessageId: '0C000000217B7F02',
  address: '447700900123',
  at: new Date('2024-01-02T02:04:05Z'),
} as const

const row = (name: string, status: ReceiptCase['expected'][number]['status'], words?: string): ReceiptCase => ({
  name,
  call: call('GET', name),
  expected: [{ status, ...reported, ...(words === undefined ? {} : { words }) }],
})

export const contract: ProviderContract = {
  provider: nexmo,
  account: { ...account, webhookUrl: 'https://hooks.example.test/sms?token=inbound-key' },
  message: { customData: { ttl: 60_000, 'message-class': 1, TO: '999', api_secret: 'other' } },
  variants: [
    { name: 'a text of the GSM alphabet', account, message: { content: 'Größe: 5 €', customData: undefined } },
  ],
  success: { answer: said(part('0C000000217B7F02')), id: '0C000000217B7F02' },
  successes: [['a text of two parts', said(part('0C01'), part('0C02')), '0C01']],
  errors: [
    ['throttled', failure(1), 'busy'],
    ['a missing parameter', failure(2), 'refused: other'],
    ['an invalid parameter', failure(3), 'refused: other'],
    ['wrong credentials', failure(4), 'misconfigured'],
    ['an error of its own', failure(5), 'busy'],
    ['an invalid message', failure(6), 'refused: bad-content'],
    ['a barred number', failure(7), 'refused: bad-recipient'],
    ['a barred account', failure(8), 'misconfigured'],
    ['no credit', failure(9), 'misconfigured'],
    ['too many binds', failure(10), 'busy'],
    ['not enabled for HTTP', failure(11), 'misconfigured'],
    ['too long', failure(12), 'refused: bad-content'],
    ['a wrong signature', failure(14), 'misconfigured'],
    ['a sender that the message named', failure(15), 'refused: bad-content'],
    ['a network code', failure(22), 'refused: other'],
    ['a callback address', failure(23), 'misconfigured'],
    ['not among the numbers of a trial', failure(29), 'misconfigured'],
    ['signed and with a secret', failure(32), 'misconfigured'],
    ['a number that is no more', failure(33), 'refused: bad-recipient'],
    ['a status of tomorrow', failure(99), 'refused: other'],
    ['half of the parts', said(part('0C01'), { status: '1', 'error-text': 'Throttled' }), 'unsure'],
    ['no id', said({ status: '0' }), 'unsure'],
    ['no part', said(), 'unsure'],
  ],
  check: [
    ['a balance', { status: 200, body: { value: 10.17, autoReload: false } }, 'good'],
    ['a wrong secret', { status: 401, body: { 'error-code': '401' } }, 'bad: secretKey'],
    ['trouble', { status: 500 }, 'bad'],
  ],
  receipts: {
    key,
    now: '2024-01-02T02:05:00Z',
    cases: [
      {
        name: 'a known signature, HMAC-SHA256',
        call: {
          method: 'GET',
          query:
            '?messageId=0A0000001234567B&nonce=n-1&status=delivered&timestamp=1704161045' +
            '&sig=3194155EE84BEC8027C62D2332F7DB5C20A17E8AA5D4EE34D0BF771FFBC9444D',
        },
        expected: [{ status: 'delivered', providerMessageId: '0A0000001234567B' }],
      },
      {
        name: 'a known signature, MD5 with the secret behind',
        call: {
          method: 'GET',
          query:
            '?messageId=0A0000001234567B&nonce=n-1&status=delivered&timestamp=1704161045' +
            '&sig=8f0e31754747bae27bffeae987ddaa16',
        },
        expected: [{ status: 'delivered', providerMessageId: '0A0000001234567B' }],
      },
      row('delivered', 'delivered'),
      row('accepted', 'sent'),
      row('buffered', 'queued'),
      row('failed', 'failed', 'failed (0)'),
      row('rejected', 'failed', 'rejected (0)'),
      row('expired', 'failed', 'expired (0)'),
      { name: 'unknown', call: call('GET', 'unknown'), expected: [] },
      { name: 'by a form', call: call('form', 'delivered'), expected: [{ status: 'delivered', ...reported }] },
      { name: 'by JSON', call: call('JSON', 'delivered'), expected: [{ status: 'delivered', ...reported }] },
      {
        name: 'a reference that is not ours',
        call: call('form', 'delivered', { 'client-ref': 'campaign-7' }),
        expected: [
          {
            status: 'delivered',
            providerMessageId: reported.providerMessageId,
            address: reported.address,
            at: reported.at,
          },
        ],
      },
    ],
    unbelievable: [
      { name: 'played again an hour later', call: call('form', 'delivered', { timestamp: '1704157445' }) },
      { name: 'without a timestamp', call: call('form', 'delivered', { timestamp: '' }) },
      { name: 'an odd signature', call: { method: 'GET', query: '?messageId=1&status=delivered&sig=abc' } },
    ],
  },
}
