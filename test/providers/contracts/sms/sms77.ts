// The contract of seven.io.
import { createHash, createHmac } from 'node:crypto'
import { sms77 } from '../../../../src/providers/sms/sms77.ts'
import type { ContractCall, ProviderContract, ReceiptCase } from '../../../support/provider-contract.ts'
import { webhookAddress } from '../../../support/provider-contract.ts'

const message = (more: object) => ({
  sender: 'Acme',
  recipient: '447700900123',
  encoding: 'gsm',
  parts: 1,
  price: 0.075,
  success: true,
  error: null,
  error_text: null,
  ...more,
})
const answer = (success: string, more: object = { id: '77229135982' }) => ({
  status: 200,
  body: { success, total_price: 0.075, balance: 593.99, sms_type: 'direct', messages: [message(more)] },
})
const failure = (code: number) => answer('101', { id: null, success: false, error: String(code), error_text: 'words' })

const key = 'fake-signing-key'
const messageId = '0197f3a0-0000-7000-8000-000000000002'
const nonce = 'fpPRhAd1s8GXacfR39mWqKPynmmXfJnc'

function call(event: string, data: object, seconds = '1704161045'): ContractCall {
  const body = JSON.stringify({ data, webhook_event: event, webhook_timestamp: '2024-01-02 02:04:05' })
  const digest = createHash('md5').update(body).digest('hex')
  const text = [seconds, nonce, 'POST', webhookAddress, digest].join('\n')
  return {
    headers: {
      'Content-Type': 'application/json',
      'X-Timestamp': seconds,
      'X-Nonce': nonce,
      'X-Signature': createHmac('sha256', key).update(text).digest('hex'),
    },
    body,
  }
}

const report = (status: string) => ({
  msg_id: '77229135982',
  status,
  timestamp: '1704161045',
  foreign_id: messageId,
})

const row = (name: string, status: ReceiptCase['expected'][number]['status']): ReceiptCase => ({
  name,
  call: call('dlr', report(name)),
  expected: [
    {
      status,
      messageId,
      providerMessageId: '77229135982',
      at: new Date('2024-01-02T02:04:05Z'),
      ...(status === 'failed' ? { words: name } : {}),
    },
  ],
})

export const contract: ProviderContract = {
  provider: sms77,
  account: { apiKey: 'FAKEKEY-seven', from: 'Acme', secretKey: key },
  message: { customData: { ttl: 60, label: 'codes', to: '999', From: 'x' } },
  success: { answer: answer('100'), id: '77229135982' },
  successes: [
    ['a code and nothing else', { status: 200, body: '100' }, messageId],
    ['an id that is a number', answer('100', { id: 77229135983 }), '77229135983'],
    ['some failed, not this one', answer('101'), '77229135982'],
  ],
  errors: [
    ['a country code', failure(201), 'refused: bad-recipient'],
    ['a recipient', failure(202), 'refused: bad-recipient'],
    ['nobody', failure(301), 'refused: bad-recipient'],
    ['no authentication', { status: 200, body: '300' }, 'misconfigured'],
    ['no type', { status: 200, body: { success: '304' } }, 'refused: other'],
    ['no text', failure(305), 'refused: bad-content'],
    ['a sender that the message named', failure(306), 'refused: bad-content'],
    ['no address', failure(307), 'refused: other'],
    ['a type', failure(400), 'refused: other'],
    ['too long', failure(401), 'refused: bad-content'],
    ['the same again', failure(402), 'refused: other'],
    ['the limit of the day for a number', failure(403), 'refused: other'],
    ['no credit', { status: 200, body: { success: '500' } }, 'misconfigured'],
    ['a carrier that failed', failure(600), 'busy'],
    ['unknown', { status: 200, body: { success: '700' } }, 'busy'],
    ['media', failure(801), 'refused: bad-content'],
    ['more media', failure(802), 'refused: bad-content'],
    ['yet more media', failure(803), 'refused: bad-content'],
    ['a wrong key', { status: 200, body: { success: '900' } }, 'misconfigured'],
    ['a wrong key, bare', { status: 200, body: '900' }, 'misconfigured'],
    ['a wrong key, by status', { status: 401, body: '900' }, 'misconfigured'],
    ['a signature', { status: 200, body: '901' }, 'misconfigured'],
    ['a key without rights', { status: 200, body: '902' }, 'misconfigured'],
    ['a blocked address', { status: 200, body: '903' }, 'misconfigured'],
    ['a code of tomorrow', failure(977), 'refused: other'],
    ['a success that names nothing', { status: 200, body: { success: '100', messages: [] } }, 'unsure'],
  ],
  check: [
    ['a balance', { status: 200, body: { amount: 12.3, currency: 'EUR' } }, 'good'],
    ['a wrong key', { status: 200, body: '900' }, 'bad: apiKey'],
    ['a wrong key, by status', { status: 401, body: '' }, 'bad: apiKey'],
    ['trouble', { status: 500 }, 'bad'],
  ],
  receipts: {
    key,
    now: '2024-01-02T02:05:00Z',
    cases: [
      row('DELIVERED', 'delivered'),
      row('NOTDELIVERED', 'failed'),
      row('EXPIRED', 'failed'),
      row('REJECTED', 'failed'),
      row('FAILED', 'failed'),
      row('TRANSMITTED', 'sent'),
      row('ACCEPTED', 'sent'),
      row('BUFFERED', 'queued'),
      {
        name: 'a date without its zone',
        call: call('dlr', { ...report('DELIVERED'), timestamp: '2024-01-02 02:04:05.000000' }),
        expected: [{ status: 'delivered', messageId, providerMessageId: '77229135982' }],
      },
      { name: 'a status of tomorrow', call: call('dlr', report('PONDERED')), expected: [] },
      { name: 'another event', call: call('sms_mo', report('DELIVERED')), expected: [] },
    ],
    unbelievable: [{ name: 'played again an hour later', call: call('dlr', report('DELIVERED'), '1704157445') }],
  },
}
