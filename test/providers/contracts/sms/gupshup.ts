// Gupshup’s contract.
import { gupshup } from '../../../../src/providers/sms/gupshup.ts'
import type { ProviderContract, ReceiptCase } from '../../../support/provider-contract.ts'

const id = '728014710863298817-1234567890'
const said = (status: string, given: string | undefined) => ({
  status: 200,
  body: { response: { id: given, phone: '447700900123', details: 'words', status } },
})
const failure = (code: number) => said('error', String(code))

const reported = {
  providerMessageId: id,
  address: '447700900123',
  at: new Date('2024-01-02T02:04:05.123Z'),
} as const

function byGet(status: string, expected: ReceiptCase['expected']): ReceiptCase {
  const query = new URLSearchParams({
    externalId: id,
    deliveredTS: '1704161045123',
    status,
    cause: 'ABSENT_SUBSCRIBER',
    phoneNo: '447700900123',
    errCode: '003',
    noOfFrags: '1',
    mask: 'ACME',
  })
  return { name: `${status} by GET`, call: { method: 'GET', query: `?${query}` }, expected }
}

const event = (eventType: string, externalId: unknown = id) => ({
  externalId,
  eventType,
  eventTs: 1_704_161_045_123,
  destAddr: 447_700_900_123,
  srcAddr: 'ACME',
  cause: 'ABSENT_SUBSCRIBER',
  errCode: '003',
  channel: 'SMS',
})

const byPost = (response: string): ReceiptCase['call'] => ({
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams({ response }).toString(),
})

export const contract: ProviderContract = {
  provider: gupshup,
  account: { user: '2000000001', password: 'fake-password-gupshup', from: 'ACME' },
  message: { from: undefined, customData: { principalEntityId: '1101', dltTemplateId: '1107', SEND_TO: '999' } },
  variants: [{ name: 'a text of the GSM alphabet', message: { content: 'Your code is 4821', from: 'OTHER' } }],
  success: { answer: said('success', id), id },
  successes: [['as text', { status: 200, body: `success | 447700900123 | ${id}` }, id]],
  errors: [
    ['try later', failure(100), 'busy'],
    ['a missing parameter', failure(101), 'refused: other'],
    ['a wrong password', failure(102), 'misconfigured'],
    ['an invalid parameter', failure(103), 'refused: other'],
    ['a wrong number', failure(105), 'refused: bad-recipient'],
    ['a wrong mask', failure(106), 'misconfigured'],
    ['no international service', failure(175), 'misconfigured'],
    ['a code of tomorrow', failure(999), 'refused: other'],
    ['a wrong password, as text', { status: 200, body: 'error | 102 | Authentication failed' }, 'misconfigured'],
    ['a success without an id', said('success', undefined), 'unsure'],
    ['neither', said('perhaps', '1'), 'unsure'],
    ['away', { status: 503 }, 'busy'],
  ],
  receipts: {
    key: 'gupshup-webhook-key',
    cases: [
      byGet('SUCCESS', [{ status: 'delivered', ...reported }]),
      byGet('FAILURE', [{ status: 'failed', ...reported, words: 'ABSENT_SUBSCRIBER (003)' }]),
      byGet('UNKNOWN', []),
      {
        name: 'several by POST',
        call: byPost(JSON.stringify([event('DELIVERED'), event('FAILED', 'other-id'), event('UNKNOWN'), null])),
        expected: [
          { status: 'delivered', ...reported },
          { status: 'failed', ...reported, providerMessageId: 'other-id', words: 'ABSENT_SUBSCRIBER (003)' },
        ],
      },
      {
        name: 'an id of many digits',
        call: byPost('[{"externalId":728014710863298817,"eventType":"DELIVERED"}]'),
        expected: [{ status: 'delivered', providerMessageId: '728014710863298817' }],
      },
      { name: 'no list', call: byPost('{'), expected: [] },
    ],
  },
}
