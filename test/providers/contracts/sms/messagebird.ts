// MessageBird’s contract.
import { createHash, createHmac } from 'node:crypto'
import { messagebird } from '../../../../src/providers/sms/messagebird.ts'
import type { ContractCall, ProviderContract } from '../../../support/provider-contract.ts'
import { webhookAddress } from '../../../support/provider-contract.ts'

const messageId = '0197f3a0-0000-7000-8000-000000000002'
const id = 'e8077d803532c0b5937c639b60216938'
const key = 'signing-key-0001'
const now = '2024-01-02T03:04:05Z'
const seconds = Date.parse(now) / 1000

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

interface Signing {
  readonly alg?: string
  readonly digest?: string
  readonly claims?: object
  readonly secret?: string
}

function signed({ query = '', body = '', ...call }: ContractCall, signing: Signing = {}): ContractCall {
  const { alg = 'HS256', digest = 'sha256', claims = {}, secret = key } = signing
  const text = `${encoded({ alg, typ: 'JWT' })}.${encoded({
    iss: 'MessageBird',
    nbf: seconds - 1,
    exp: seconds + 59,
    jti: 'jti-1',
    url_hash: sha256(`${webhookAddress}${query}`),
    ...(body === '' ? {} : { payload_hash: sha256(String(body)) }),
    ...claims,
  })}`
  const jwt = `${text}.${createHmac(digest, secret).update(text).digest('base64url')}`
  return { ...call, query, body, headers: { 'MessageBird-Signature-JWT': jwt } }
}

const report = (status: string, more = ''): ContractCall => ({
  method: 'GET',
  query: `?id=${id}&reference=${messageId}&recipient=447700900123&status=${status}&statusDatetime=2024-01-02T03:04:04%2B00:00${more}`,
})
const reported = {
  messageId,
  providerMessageId: id,
  address: '447700900123',
  at: new Date('2024-01-02T03:04:04Z'),
}
const error = (status: number, code: number, parameter: string | null = null) => ({
  status,
  body: { errors: [{ code, description: 'In words.', parameter }] },
})
const answered = (state: string) => ({
  status: 201,
  body: {
    id,
    href: `https://rest.messagebird.com/messages/${id}`,
    reference: messageId,
    recipients: { totalCount: 1, items: [{ recipient: 447_700_900_123, status: state }] },
  },
})

export const contract: ProviderContract = {
  provider: messagebird,
  account: {
    accessKey: 'top-secret-0001',
    from: 'Shop',
    webhookUrl: 'https://hooks.example.test/mb',
    secretKey: 'account-signing-0001',
  },
  message: { customData: { validity: 3600, recipients: ['31600000009'], reference: 'other', groupIds: ['g-1'] } },
  variants: [{ name: 'from a number', message: { from: '+31 6 12345678', customData: { datacoding: 'unicode' } } }],
  success: { answer: answered('sent'), id },
  successes: [['buffered', answered('buffered'), id]],
  errors: [
    ['a wrong key', error(401, 2, 'access_key'), 'misconfigured'],
    ['a missing recipient', error(422, 9, 'recipients'), 'refused: bad-recipient'],
    ['an invalid recipient', error(422, 10, 'recipient'), 'refused: bad-recipient'],
    ['an invalid originator of the message', error(422, 10, 'originator'), 'refused: bad-content'],
    ['a missing text', error(422, 9, 'body'), 'refused: bad-content'],
    ['another parameter', error(422, 10, 'validity'), 'refused: other'],
    ['not found', error(404, 20), 'refused: other'],
    ['a bad request', error(400, 21), 'refused: other'],
    ['no balance', error(422, 25), 'misconfigured'],
    ['an unknown API', error(404, 98), 'misconfigured'],
    ['trouble of theirs', error(500, 99), 'busy'],
    ['another method', error(405, 20), 'refused: other'],
    ['a failure within a success', answered('delivery_failed'), 'refused: other'],
    ['a success without an id', { status: 201, body: { reference: messageId } }, 'unsure'],
  ],
  check: [
    ['a balance', { status: 200, body: { payment: 'prepaid', type: 'credits', amount: 9.2 } }, 'good'],
    ['a wrong key', error(401, 2, 'access_key'), 'bad: accessKey'],
    ['trouble', error(500, 99), 'bad'],
  ],
  receipts: {
    key,
    now,
    cases: [
      { name: 'delivered', call: signed(report('delivered')), expected: [{ status: 'delivered', ...reported }] },
      {
        name: 'not delivered, with its code',
        call: signed(report('delivery_failed', '&statusReason=unknown+subscriber&statusErrorCode=1'), {
          alg: 'HS512',
          digest: 'sha512',
        }),
        expected: [{ status: 'failed', ...reported, words: 'unknown subscriber (1)' }],
      },
      {
        name: 'expired',
        call: signed(report('expired'), { alg: 'HS384', digest: 'sha384' }),
        expected: [{ status: 'failed', ...reported }],
      },
      { name: 'sent', call: signed(report('sent')), expected: [{ status: 'sent', ...reported }] },
      { name: 'scheduled', call: signed(report('scheduled')), expected: [{ status: 'queued', ...reported }] },
      { name: 'buffered', call: signed(report('buffered')), expected: [{ status: 'queued', ...reported }] },
      { name: 'an unknown status', call: signed(report('dancing')), expected: [] },
      {
        name: 'as a form, whose hash is signed too',
        call: signed({ body: `id=${id}&status=delivered` }),
        expected: [{ status: 'delivered', providerMessageId: id }],
      },
      {
        name: 'by a clock that is four seconds ahead',
        call: signed(report('sent'), { claims: { nbf: seconds + 4 } }),
        expected: [{ status: 'sent', ...reported }],
      },
    ],
    unbelievable: [
      { name: 'another key', call: signed(report('sent'), { secret: 'account-signing-0001' }) },
      { name: 'another issuer', call: signed(report('sent'), { claims: { iss: 'Somebody' } }) },
      { name: 'too early', call: signed(report('sent'), { claims: { nbf: seconds + 6 } }) },
      { name: 'too late', call: signed(report('sent'), { claims: { exp: seconds - 6 } }) },
      { name: 'without an end', call: signed(report('sent'), { claims: { exp: undefined } }) },
      { name: 'a signature that is none', call: signed(report('sent'), { alg: 'none' }) },
      { name: 'another digest than it names', call: signed(report('sent'), { alg: 'HS512' }) },
      { name: 'a body that was not signed', call: signed({ body: 'id=1' }, { claims: { payload_hash: undefined } }) },
      {
        name: 'the hash of a body that is not there',
        call: signed(report('sent'), { claims: { payload_hash: sha256('') } }),
      },
      { name: 'the key as a token', call: { ...report('sent'), query: `${report('sent').query}&token=${key}` } },
    ],
  },
}
