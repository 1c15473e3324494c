// The contract of WhatsApp Business.
import { createHmac } from 'node:crypto'
import { whatsappBusiness } from '../../../../src/providers/chat/whatsapp-business.ts'
import type { ContractCall, ProviderContract, ReceiptCase } from '../../../support/provider-contract.ts'

const account = {
  apiToken: 'EAA-top-secret-0001',
  phoneNumberIdentification: '106540352242922',
  secretKey: 'app-secret-0001',
  token: 'verify-token-0001',
}
const ownId = '0197f3a0-0000-7000-8000-000000000004'
const failure = (code: number, status = 400, more: object = {}) => ({
  status,
  body: { error: { message: `(#${code}) words`, type: 'OAuthException', code, fbtrace_id: 'A4FAKE', ...more } },
})
const kinds: Readonly<Record<string, readonly number[]>> = {
  misconfigured: [0, 190, 3, 10, 200, 299, 33, 368, 131031, 131037, 131042, 131045, 131048, 133010],
  busy: [1, 2, 4, 80007, 130429, 131000, 131016, 133004],
  'refused: bad-content': [
    100, 131008, 131009, 131047, 131051, 131052, 131053, 132000, 132001, 132005, 132007, 132012, 132015, 132016, 132068,
    132069,
  ],
  'refused: bad-recipient': [131021, 131026],
  'refused: opted-out': [131050],
  'refused: other': [131030, 131049, 130472, 135000],
}

const wamid = 'wamid.HBgLMTY1FAKE'

function signedCall(body: object, key = account.secretKey): ContractCall {
  const text = JSON.stringify(body)
  const signature = createHmac('sha256', key).update(text).digest('hex')
  return { headers: { 'X-Hub-Signature-256': `sha256=${signature}` }, body: text }
}

const reports = (...statuses: readonly object[]) => ({
  object: 'whatsapp_business_account',
  entry: [{ id: '1', changes: [{ field: 'messages', value: { messaging_product: 'whatsapp', statuses } }] }],
})

const report = (status: string, more: object = {}) => ({
  id: wamid,
  status,
  timestamp: '1767323045',
  recipient_id: '447700900123',
  biz_opaque_callback_data: ownId,
  ...more,
})
const known = {
  messageId: ownId,
  providerMessageId: wamid,
  address: '447700900123',
  at: new Date('2026-01-02T03:04:05.000Z'),
} as const

function caseOf(status: string, expected: ReceiptCase['expected'][number], more: object = {}): ReceiptCase {
  return {
    name: `${status} is ${expected.status}`,
    call: signedCall(reports(report(status, more))),
    expected: [expected],
  }
}

const question = (token: string, more = '') =>
  ({ method: 'GET', query: `?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=1158201444${more}` }) as const

export const contract: ProviderContract = {
  provider: whatsappBusiness,
  account,
  message: { phone: '+44 7700 900123', customData: { preview_url: true, context: { message_id: 'wamid.1' }, to: '1' } },
  variants: [
    {
      name: 'a template',
      message: {
        customData: {
          template: {
            name: 'order_shipped',
            language: { code: 'en' },
            components: [{ type: 'body', parameters: [{ type: 'text', text: '42' }] }],
          },
          image: { link: 'https://example.com/a.png' },
        },
      },
    },
    { name: 'an image', message: { content: '', customData: { image: { link: 'https://example.com/a.png' } } } },
  ],
  success: {
    answer: {
      status: 200,
      body: { messaging_product: 'whatsapp', contacts: [{ wa_id: '447700900123' }], messages: [{ id: wamid }] },
    },
    id: wamid,
  },
  successes: [
    [
      'a message that is held',
      { status: 200, body: { messages: [{ id: wamid, message_status: 'held_for_quality_assessment' }] } },
      wamid,
    ],
    [
      'a message that is accepted',
      { status: 200, body: { messages: [{ id: wamid, message_status: 'accepted' }] } },
      wamid,
    ],
  ],
  errors: [
    ...Object.entries(kinds).flatMap(([kind, codes]) =>
      codes.map((code) => [`code ${code}`, failure(code), kind] as const),
    ),
    ['no such number id', failure(100, 400, { error_subcode: 33 }), 'misconfigured'],
    ['too many to one person', failure(131056), 'busy', 6_000],
    ['a code that is new', failure(199_999), 'refused: other'],
    ['a code that is new, and a status', failure(199_999, 503), 'busy'],
    ['a success without an id', { status: 200, body: { messages: [] } }, 'unsure'],
  ],
  check: [
    ['a good account', { status: 200, body: { id: '106540352242922', verified_name: 'Acme' } }, 'good'],
    ['a wrong token', failure(190, 401), 'bad: apiToken'],
    ['a wrong number id', failure(100, 400, { error_subcode: 33 }), 'bad: phoneNumberIdentification'],
    ['down', { status: 503 }, 'bad'],
  ],
  receipts: {
    cases: [
      caseOf('sent', { status: 'sent', ...known }),
      caseOf('delivered', { status: 'delivered', ...known }),
      caseOf('read', { status: 'opened', ...known }),
      caseOf('played', { status: 'opened', ...known }),
      caseOf(
        'failed',
        { status: 'failed', ...known, words: 'Message undeliverable (131026)' },
        { errors: [{ code: 131026, title: 'Message undeliverable' }] },
      ),
      caseOf(
        'failed',
        { status: 'rejected', ...known, words: 'More than 24 hours have passed (131047)' },
        {
          errors: [
            { code: 131047, title: 'Re-engagement message', error_data: { details: 'More than 24 hours have passed' } },
          ],
        },
      ),
      {
        name: 'two reports, one of someone else’s message, and one that is new',
        call: signedCall(
          reports(report('delivered'), report('sent', { biz_opaque_callback_data: 'theirs' }), report('pondered')),
        ),
        expected: [
          { status: 'delivered', ...known },
          { status: 'sent', providerMessageId: wamid, address: known.address, at: known.at },
        ],
      },
      {
        name: 'a message of a person’s is no report',
        call: signedCall({ entry: [{ changes: [{ field: 'messages', value: { messages: [{ id: 'wamid.x' }] } }] }] }),
        expected: [],
      },
    ],
    unbelievable: [
      { name: 'signed with another secret', call: signedCall(reports(report('sent')), 'another-secret') },
      { name: 'signed with nothing', call: signedCall(reports(report('sent')), '') },
    ],
    greetings: [
      { name: 'the right token', call: question('verify-token-0001'), answer: '1158201444' },
      { name: 'a wrong token', call: question('another-token'), answer: undefined },
      { name: 'no token', call: question(''), answer: undefined },
      { name: 'a challenge that is markup', call: question('verify-token-0001', '%3Cb%3E'), answer: undefined },
      { name: 'a report', call: signedCall(reports(report('sent'))), answer: undefined },
    ],
  },
}
