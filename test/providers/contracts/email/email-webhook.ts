// The contract of e-mail by webhook.
import { createHmac } from 'node:crypto'
import { emailWebhook } from '../../../../src/providers/email/email-webhook.ts'
import { receiptStatuses } from '../../../../src/providers/inbound/receipt.ts'
import { fullMessages, type ProviderContract, type ReceiptCase } from '../../../support/provider-contract.ts'

const key = 'receipts-key-0001'
const now = '2026-01-01T12:00:00Z'
const seconds = Date.parse(now) / 1000

const signed = (body: unknown, { by = key, at = seconds } = {}) => {
  const text = JSON.stringify(body)
  const signature = createHmac('sha256', by).update(`${at}.${text}`).digest('hex')
  return {
    headers: { 'content-type': 'application/json', 'x-posthorn-signature': `t=${at},v1=${signature}` },
    body: text,
  }
}
const report = (status: string) => ({
  id: fullMessages.email.id,
  status,
  timestamp: '2026-01-01T11:59:58Z',
  address: 'zoe@example.org',
  reason: 'words',
})
const receipt = (status: string) =>
  ({
    status,
    messageId: fullMessages.email.id,
    providerMessageId: fullMessages.email.id,
    address: 'zoe@example.org',
    at: new Date('2026-01-01T11:59:58Z'),
    words: 'words',
  }) as ReceiptCase['expected'][number]

const account = {
  webhookUrl: 'https://ops.acme.test/hooks/email?team=1',
  secretKey: 'whsec-top-secret',
  from: 'hello@acme.test',
  senderName: 'Acme',
  apiKeyRequestHeader: 'X-Api-Key',
  apiKey: 'static-key-0001',
  idPath: '$.data.id',
}

export const contract: ProviderContract = {
  provider: emailWebhook,
  account,
  variants: [
    {
      name: 'settings go along, for whoever sends it on',
      account: { webhookUrl: account.webhookUrl, secretKey: account.secretKey },
      message: { attachments: [], customData: { campaign: 'x' } },
    },
  ],
  success: { answer: { status: 200, body: { data: { id: 'ext-77' } } }, id: 'ext-77' },
  successes: [
    ['an id that counts far', { status: 201, body: '{"data":{"id":12345678901234567890}}' }, '12345678901234567890'],
    ['nothing', { status: 204 }, fullMessages.email.id],
  ],
  // Any success is one, whatever it says.
  bodyIsIgnored: true,
  errors: [
    ['a wrong address', { status: 404, body: 'Not Found' }, 'misconfigured'],
    ['no POST', { status: 405 }, 'misconfigured'],
    ['moved', { status: 302, headers: { location: 'https://elsewhere.example/' } }, 'misconfigured'],
    ['refused', { status: 400, body: { message: 'no such template' } }, 'refused: other'],
    ['gone', { status: 410, body: { error: 'gone' } }, 'refused: other'],
    ['too early', { status: 425 }, 'busy'],
    ['a timeout of its own', { status: 408 }, 'busy'],
    ['too many calls', { status: 429, headers: { 'retry-after': '7' } }, 'busy', 7_000],
    ['a queue that is down', { status: 500, body: { message: 'queue down' } }, 'busy'],
    ['a gateway that gave up', { status: 504 }, 'unsure'],
  ],
  check: [
    ['someone is there', { status: 200 }, 'good'],
    ['someone is there and takes no HEAD', { status: 405 }, 'good'],
  ],
  receipts: {
    key,
    now,
    cases: [
      ...receiptStatuses.map((status) => ({
        name: status,
        call: signed(report(status)),
        expected: [receipt(status)],
      })),
      {
        name: 'a list, by the id of the receiver, one of them unknown',
        call: signed([
          { id: 'ext-77', status: 'opened', timestamp: seconds },
          { id: 'ext-77', status: 'lost' },
          { status: 'opened' },
        ]),
        expected: [{ status: 'opened', providerMessageId: 'ext-77', at: new Date(now) }],
      },
    ],
    unbelievable: [
      { name: 'another key', call: signed(report('opened'), { by: 'another-key' }) },
      { name: 'an hour old', call: signed(report('opened'), { at: seconds - 3_600 }) },
      {
        name: 'the secret of our calls, where there is a key',
        call: signed(report('opened'), { by: account.secretKey }),
      },
    ],
  },
}
