// Telnyx’s contract.
import { generateKeyPairSync, sign } from 'node:crypto'
import { telnyx } from '../../../../src/providers/sms/telnyx.ts'
import type { ContractCall, ProviderContract, ReceiptCase } from '../../../support/provider-contract.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const key = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64')

const account = {
  apiKey: 'KEYFAKE-telnyx',
  from: '+14155550100',
  messageProfileId: '4000eba1-a0c0-4563-9925-b25e842a7cb6',
}
const id = '40385f64-5717-4562-b3fc-2c963f66afa6'
const taken = (status: string, errors: object[] = []) => ({
  status: 200,
  body: {
    data: { record_type: 'message', id, to: [{ phone_number: '+447700900123', status }], parts: 1, errors },
  },
})
const failure = (status: number, code: string) => ({
  status,
  body: { errors: [{ code, title: 'title', detail: 'words' }] },
})

function call(type: string, status: string, errors: object[] = [], seconds = '1704161045'): ContractCall {
  const body = JSON.stringify({
    data: {
      event_type: type,
      id: 'event-1',
      occurred_at: '2024-01-02T02:04:05.000+00:00',
      payload: { id, to: [{ phone_number: '+447700900123', status }], errors },
    },
    meta: { attempt: 1 },
  })
  const signature = sign(null, Buffer.from(`${seconds}|${body}`), privateKey).toString('base64')
  return {
    headers: {
      'Content-Type': 'application/json',
      'Telnyx-Timestamp': seconds,
      'Telnyx-Signature-Ed25519': signature,
    },
    body,
  }
}

const reported = { providerMessageId: id, address: '+447700900123', at: new Date('2024-01-02T02:04:05Z') } as const

const row = (name: string, status: ReceiptCase['expected'][number]['status']): ReceiptCase => ({
  name,
  call: call('message.finalized', name),
  expected: [{ status, ...reported, ...(status === 'failed' ? { words: name } : {}) }],
})

export const contract: ProviderContract = {
  provider: telnyx,
  account: { ...account, secretKey: key, webhookUrl: 'https://hooks.example.test/sms' },
  message: { customData: { auto_detect: true, media_urls: ['https://a.example/1.png'], TO: '+1999' } },
  success: { answer: taken('queued'), id },
  errors: [
    ['a wrong key', failure(401, '10009'), 'misconfigured'],
    ['no rights', failure(403, '10010'), 'misconfigured'],
    ['forbidden otherwise', failure(403, '77777'), 'misconfigured'],
    ['only numbers that were verified', failure(403, '10039'), 'misconfigured'],
    ['too fast', { ...failure(429, '10011'), headers: { 'retry-after': '7' } }, 'busy', 7_000],
    ['someone who opted out', failure(400, '40300'), 'refused: opted-out'],
    ['a sender that the message named', failure(400, '40305'), 'refused: bad-content'],
    ['a sender that carriers do not know', failure(400, '40013'), 'refused: bad-content'],
    ['an invalid number', failure(400, '40310'), 'refused: bad-recipient'],
    ['a number that is not in E.164', failure(422, '10016'), 'refused: bad-recipient'],
    ['a number that is none', failure(422, '10002'), 'refused: bad-recipient'],
    ['a text that is none', failure(422, '40009'), 'refused: bad-content'],
    ['something else', failure(422, '10015'), 'refused: other'],
    ['an error of its own', failure(500, '10007'), 'busy'],
    ['a gateway that waited too long', failure(504, '10008'), 'unsure'],
    [
      'taken and failed',
      taken('sending_failed', [{ code: '40001', detail: 'Not routable' }]),
      'refused: bad-recipient',
    ],
    ['taken and failed without a word', taken('delivery_failed'), 'refused: other'],
    ['no id', { status: 200, body: { data: {} } }, 'unsure'],
  ],
  check: [
    ['a balance', { status: 200, body: { data: { balance: '300.00' } } }, 'good'],
    ['a wrong key', failure(401, '10009'), 'bad: apiKey'],
    ['trouble', { status: 500 }, 'bad'],
  ],
  receipts: {
    key,
    now: '2024-01-02T02:05:00Z',
    cases: [
      row('delivered', 'delivered'),
      row('delivery_failed', 'failed'),
      row('sending_failed', 'failed'),
      row('expired', 'failed'),
      row('delivery_unconfirmed', 'sent'),
      row('sent', 'sent'),
      row('queued', 'queued'),
      row('sending', 'queued'),
      { name: 'on its way', call: call('message.sent', 'sent'), expected: [{ status: 'sent', ...reported }] },
      {
        name: 'a failure with its reason',
        call: call('message.finalized', 'delivery_failed', [{ code: '40001', title: 'Not routable' }]),
        expected: [{ status: 'failed', ...reported, words: 'Not routable (40001)' }],
      },
      { name: 'a message to us', call: call('message.received', 'delivered'), expected: [] },
      { name: 'a status of tomorrow', call: call('message.finalized', 'pondered'), expected: [] },
    ],
    unbelievable: [
      { name: 'played again an hour later', call: call('message.finalized', 'delivered', [], '1704157445') },
      {
        name: 'signed by another',
        call: {
          ...call('message.finalized', 'delivered'),
          headers: {
            'telnyx-timestamp': '1704161045',
            'telnyx-signature-ed25519': sign(
              null,
              Buffer.from(`1704161045|${call('message.finalized', 'delivered').body}`),
              generateKeyPairSync('ed25519').privateKey,
            ).toString('base64'),
          },
        },
      },
    ],
  },
}
