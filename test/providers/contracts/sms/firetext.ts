// FireText’s contract.
import { firetext } from '../../../../src/providers/sms/firetext.ts'
import type { ContractCall, ProviderContract } from '../../../support/provider-contract.ts'

const messageId = '0197f3a0-0000-7000-8000-000000000002'
const said = (code: unknown) => ({ status: 200, body: { code, description: 'words', responseData: [] } })
const queued = { code: 0, description: '1 SMS successfully queued', responseData: [] }

const receipt = (status: string, code: string, reference = messageId): ContractCall => ({
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams({
    reference,
    status,
    code,
    mobile: '447700900123',
    time: '2024-01-02 02:04:05',
  }).toString(),
})

const reported = { messageId, address: '447700900123' } as const
const failures: [string, string][] = [
  ['101', 'unknown subscriber (101)'],
  ['102', 'absent subscriber (102)'],
  ['103', 'subscriber busy (103)'],
  ['104', 'no memory left (104)'],
  ['201', 'invalid number (201)'],
  ['301', 'not supported (301)'],
  ['302', 'not supported (302)'],
  ['401', 'rejected (401)'],
  ['900', 'routing error (900)'],
  ['777', 'failed (777)'],
]

export const contract: ProviderContract = {
  provider: firetext,
  account: {
    apiKey: 'fake-firetext-key',
    from: 'Acme',
    webhookUrl: 'https://hooks.example.test/ft?token=inbound-key',
  },
  message: { customData: { schedule: '2027-01-02 03:04', To: '999', group: '7' } },
  variants: [{ name: 'a number at home', message: { to: '07700 900123', from: '+447700900001' } }],
  success: { answer: { status: 200, headers: { 'X-Message': 'ft-000001' }, body: queued }, id: 'ft-000001' },
  successes: [['no id', { status: 200, body: queued }, messageId]],
  errors: [
    ['a wrong key', said(1), 'misconfigured'],
    ['a destination', said(2), 'refused: bad-recipient'],
    ['a sender that the message named', said(3), 'refused: bad-content'],
    ['a group', said(4), 'refused: other'],
    ['a text', said(5), 'refused: bad-content'],
    ['a time', said(6), 'refused: other'],
    ['no credit', said(7), 'misconfigured'],
    ['an address for receipts', said(8), 'misconfigured'],
    ['a sub-account', said(9), 'misconfigured'],
    ['a repeat', said(10), 'refused: other'],
    ['another repeat', said(11), 'refused: other'],
    ['a code of tomorrow', said(99), 'refused: other'],
    ['no code', said(undefined), 'unsure'],
    ['away', { status: 503 }, 'busy'],
  ],
  check: [
    ['credit', { status: 200, body: { code: 0, description: '100 credits', responseData: { credit: 100 } } }, 'good'],
    ['a wrong key', said(1), 'bad: apiKey'],
    ['something else', said(9), 'bad'],
    ['trouble', { status: 500 }, 'bad'],
  ],
  receipts: {
    key: 'firetext-webhook-key',
    cases: [
      { name: 'delivered', call: receipt('0', '000'), expected: [{ status: 'delivered', ...reported }] },
      { name: 'pending at the network', call: receipt('2', '000'), expected: [{ status: 'queued', ...reported }] },
      ...failures.map(([code, words]) => ({
        name: words,
        call: receipt('1', code),
        expected: [{ status: 'failed' as const, ...reported, words }],
      })),
      { name: 'a status of tomorrow', call: receipt('3', '000'), expected: [] },
      { name: 'a reference that is not ours', call: receipt('0', '000', 'campaign-7'), expected: [] },
    ],
  },
}
