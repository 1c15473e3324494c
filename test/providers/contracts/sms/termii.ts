// Termii’s contract.
import { createHmac } from 'node:crypto'
import { termii } from '../../../../src/providers/sms/termii.ts'
import type { ContractCall, ProviderContract } from '../../../support/provider-contract.ts'

const key = 'fake-secret'
const failure = (status: number, message: string) => ({ status, body: { code: status, message } })
const signature = (body: string) => createHmac('sha512', key).update(body).digest('hex')

function report(status: string): ContractCall {
  const body = `{"type":"outbound","id":"r-1","message_id":5964465985113503103,"receiver":"2348000000001","sent_at":"2024-01-02 03:04:05","status":"${status}"}`
  return { body, headers: { 'X-Termii-Signature': signature(body) } }
}
const reported = { providerMessageId: '5964465985113503103', address: '2348000000001' }

/** A value worked out manually. */
const known: ContractCall = {
  body: '{"type":"outbound","message_id":"5964465985113503103","status":"DELIVERED"}',
  headers: {
    'X-Termii-Signature':
      'b5e188dc987846848d4ef9c6d37db64673bf35de18a460b6502f1f7fb205645744748b116c001e6b4cb11e677f1ef55c899a55e89230b77726c15e279ebbb25f',
  },
}

export const contract: ProviderContract = {
  provider: termii,
  account: { apiKey: 'TL-top-secret-0001', from: 'Shop', channelId: 'dnd', secretKey: 'account-secret-0001' },
  message: { customData: { type: 'unicode', api_key: 'other', to: '2348000000009' } },
  variants: [
    {
      name: 'the account’s own address',
      account: { apiKey: 'TL-top-secret-0001', from: 'Shop', baseUrl: 'https://v3.api.termii.com/' },
      message: { customData: undefined },
    },
  ],
  success: {
    answer: {
      status: 200,
      body: { code: 'ok', message_id: '9122821270554876574', message: 'Successfully Sent', balance: 9, user: 'Acme' },
    },
    id: '9122821270554876574',
  },
  successes: [
    [
      'an id beyond 2^53',
      { status: 200, body: '{"code":"ok","message_id":9122821270554876574,"message":"Successfully Sent"}' },
      '9122821270554876574',
    ],
    [
      'an id as a text beside the number',
      { status: 200, body: '{"code":"ok","message_id":912,"message_id_str":"9122821270554876575"}' },
      '9122821270554876575',
    ],
  ],
  errors: [
    ['a wrong key', failure(401, 'Invalid API Key'), 'misconfigured'],
    ['a validation error', failure(400, 'The to field is required'), 'refused: other'],
    ['no balance', failure(402, 'Insufficient balance'), 'misconfigured'],
    [
      'a sender of the message that is not approved',
      failure(404, 'ApplicationSenderId not found'),
      'refused: bad-content',
    ],
    ['a wrong address', failure(405, 'Method not allowed'), 'misconfigured'],
    ['invalid members', failure(422, 'Unprocessable'), 'refused: other'],
    ['too many calls', { status: 429, headers: { 'retry-after': '7' }, body: { message: 'Slow down' } }, 'busy', 7_000],
    ['an error in a success', { status: 200, body: { message: 'Insufficient', status: 'error' } }, 'refused: other'],
    ['a success without an id', { status: 200, body: { code: 'ok', message: 'Successfully Sent' } }, 'unsure'],
  ],
  check: [
    ['a balance', { status: 200, body: { user: 'Acme', balance: 0, currency: 'NGN' } }, 'good'],
    ['a wrong key', failure(401, 'Invalid API Key'), 'bad: apiKey'],
    ['something else that answers', { status: 200, body: '<html>' }, 'bad'],
  ],
  receipts: {
    key,
    cases: [
      {
        name: 'the worked value',
        call: known,
        expected: [{ status: 'delivered', providerMessageId: '5964465985113503103', words: 'DELIVERED' }],
      },
      {
        name: 'delivered, with a detail',
        call: report('Delivered | 000'),
        expected: [{ status: 'delivered', ...reported, words: 'Delivered | 000' }],
      },
      {
        name: 'sent',
        call: report('Message Sent'),
        expected: [{ status: 'sent', ...reported, words: 'Message Sent' }],
      },
      {
        name: 'failed',
        call: report('Message Failed'),
        expected: [{ status: 'failed', ...reported, words: 'Message Failed' }],
      },
      {
        name: 'rejected',
        call: report('Rejected'),
        expected: [{ status: 'rejected', ...reported, words: 'Rejected' }],
      },
      { name: 'expired', call: report('Expired'), expected: [{ status: 'failed', ...reported, words: 'Expired' }] },
      {
        name: 'do not disturb',
        call: report('DND Active on Phone Number'),
        expected: [{ status: 'failed', ...reported, words: 'DND Active on Phone Number' }],
      },
      { name: 'an unknown status', call: report('Dancing'), expected: [] },
    ],
    unbelievable: [
      {
        name: 'signed with the account’s secret where another key was set',
        call: {
          body: '{"type":"outbound"}',
          headers: {
            'X-Termii-Signature': createHmac('sha512', 'account-secret-0001')
              .update('{"type":"outbound"}')
              .digest('hex'),
          },
        },
      },
      { name: 'the key as a token', call: { body: '{"type":"outbound"}', query: `?token=${key}` } },
    ],
  },
}
