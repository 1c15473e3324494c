// Sinch’s contract.
import { createHmac } from 'node:crypto'
import { sinch } from '../../../../src/providers/sms/sinch.ts'
import type { ContractCall, ProviderContract } from '../../../support/provider-contract.ts'

const failure = (status: number, code: string, text = 'words', headers = {}) => ({
  status,
  headers,
  body: { code, text },
})
const messageId = '0197f3a0-0000-7000-8000-000000000002'
const key = 'fake-secret'

function signed(body: string, secret = key, timestamp = '1704161045'): ContractCall {
  const nonce = 'nonce123'
  const signature = createHmac('sha256', secret).update(`${body}.${nonce}.${timestamp}`).digest('base64')
  return {
    body,
    headers: {
      'x-sinch-webhook-signature': signature,
      'x-sinch-webhook-signature-nonce': nonce,
      'x-sinch-webhook-signature-timestamp': timestamp,
      'x-sinch-webhook-signature-algorithm': 'HmacSHA256',
    },
  }
}

const report = (status: string, code: number) =>
  JSON.stringify({
    type: 'recipient_delivery_report_sms',
    batch_id: '01FC66621',
    recipient: '447700900123',
    code,
    status,
    at: '2024-01-02T02:04:05.445Z',
    operator_status_at: '2024-01-02T02:04:05.000Z',
    client_reference: messageId,
  })
const receipt = {
  messageId,
  providerMessageId: '01FC66621',
  address: '447700900123',
  at: new Date('2024-01-02T02:04:05.445Z'),
}
const kinds = [
  ['Queued', 400, 'queued'],
  ['Dispatched', 401, 'sent'],
  ['Delivered', 0, 'delivered'],
  ['Failed', 402, 'failed'],
  ['Expired', 406, 'failed'],
  ['Rejected', 403, 'rejected'],
  ['Aborted', 407, 'failed'],
  ['Cancelled', 408, 'failed'],
  ['Deleted', 404, 'failed'],
] as const

const account = {
  accountSid: 'fakeplan',
  apiToken: 'fake-api-token',
  region: 'eu',
  from: '+46700000000',
  webhookUrl: 'https://posthorn.example.com/v1/webhooks/env-1/int-1?token=k',
  secretKey: 'fake-webhook-secret',
}

export const contract: ProviderContract = {
  provider: sinch,
  account,
  variants: [
    { name: 'by another region', account: { ...account, region: 'br' } },
    {
      name: 'settings of the caller, who cannot say where it goes',
      message: { customData: { expire_at: '2024-01-03T03:04:05Z', to: ['+1'], client_reference: 'x' } },
    },
  ],
  success: {
    answer: {
      status: 201,
      body: {
        id: '01FC66621XXXXX119Z8PMV1QPQ',
        to: ['447700900123'],
        from: 'Acme',
        canceled: false,
        type: 'mt_text',
        created_at: '2024-01-02T03:04:05.445Z',
      },
    },
    id: '01FC66621XXXXX119Z8PMV1QPQ',
  },
  errors: [
    [
      'a bad number',
      failure(400, 'syntax_invalid_parameter_format', "The number is not valid MSISDN: '447700900123'"),
      'refused: bad-recipient',
    ],
    ['another bad parameter', failure(400, 'syntax_invalid_parameter_format'), 'refused: other'],
    ['bad JSON', failure(400, 'syntax_invalid_json'), 'refused: other'],
    ['beyond a limit', failure(400, 'syntax_constraint_violation'), 'refused: bad-content'],
    ['no callback address', failure(400, 'missing_callback_url'), 'misconfigured'],
    ['no such group', failure(400, 'unknown_group'), 'refused: bad-recipient'],
    ['a wrong token', { status: 401 }, 'misconfigured'],
    ['a wrong token, in words', failure(401, 'unauthorized'), 'misconfigured'],
    ['no right', failure(403, 'forbidden'), 'misconfigured'],
    ['no such plan', failure(404, 'not_found'), 'misconfigured'],
    ['a conflict', failure(409, 'conflict'), 'refused: other'],
    ['too many calls', failure(429, 'too_many_requests', 'words', { 'retry-after': '4' }), 'busy', 4_000],
    ['trouble', { status: 503 }, 'busy'],
    ['a success without an id', { status: 201, body: { to: [] } }, 'unsure'],
  ],
  check: [
    ['a good token', { status: 200, body: { count: 0, batches: [] } }, 'good'],
    ['a wrong token', { status: 401 }, 'bad: apiToken'],
    ['no such plan', failure(404, 'not_found'), 'bad'],
  ],
  receipts: {
    key,
    now: '2024-01-02T02:04:05.000Z',
    cases: [
      ...kinds.map(([given, code, status]) => ({
        name: given,
        call: signed(report(given, code)),
        expected: [code <= 401 ? { status, ...receipt } : { status, ...receipt, words: `Sinch reports code ${code}` }],
      })),
      { name: 'a status that says nothing', call: signed(report('Unknown', 400)), expected: [] },
      {
        name: 'the worked example',
        call: {
          ...signed('{"type":"recipient_delivery_report_sms"}'),
          headers: {
            ...signed('').headers,
            'x-sinch-webhook-signature': 'VSQrP8CKTwQpH+gqKaEOBaxYEsZF3X8NSJoahYMt5x4=',
          },
        },
        expected: [],
      },
      {
        name: 'signed with the account’s secret instead',
        call: signed(report('Delivered', 0), 'fake-webhook-secret'),
        expected: [{ status: 'delivered', ...receipt }],
      },
      {
        name: 'on a batch',
        call: signed(
          JSON.stringify({
            type: 'delivery_report_sms',
            batch_id: '01FC66621',
            total_message_count: 1,
            client_reference: messageId,
            statuses: [{ code: 0, status: 'Delivered', count: 1, recipients: ['447700900123'] }],
          }),
        ),
        expected: [{ status: 'delivered', messageId, providerMessageId: '01FC66621' }],
      },
    ],
    unbelievable: [
      { name: 'signed with another key', call: signed(report('Delivered', 0), 'another-key') },
      { name: 'played again later', call: signed(report('Delivered', 0), key, '1704160000') },
      { name: 'neither signed nor with the key', call: { query: '?token=wrong', body: report('Delivered', 0) } },
    ],
  },
}
