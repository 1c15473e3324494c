// Acme SMS, held to the same contract as every provider: npm test -- own-contracts
import { createHmac } from 'node:crypto'

const key = 'secret-of-the-webhook'
const time = '1767323045'
const signedReport = (report) => {
  const body = JSON.stringify(report)
  const signature = createHmac('sha256', key).update(`${time}.${body}`).digest('hex')
  return { headers: { 'content-type': 'application/json', 'x-acme-time': time, 'x-acme-signature': signature }, body }
}

export const contract = {
  account: { apiKey: 'acme-secret-key', from: '+14155550100' },
  variants: [
    {
      name: 'by way of a proxy',
      account: { apiKey: 'acme-secret-key', from: '+14155550100', baseUrl: 'http://10.0.0.1:8080/' },
    },
  ],
  success: { answer: { status: 201, body: '{"id":90071992547409931}' }, id: '90071992547409931' },
  errors: [
    ['a number nobody has', { status: 400, body: { error: { code: 'unknown_number' } } }, 'refused: bad-recipient'],
    ['no credit', { status: 402, body: { error: { code: 'no_credit' } } }, 'misconfigured'],
    ['too many calls', { status: 429, headers: { 'retry-after': '3' } }, 'busy', 3_000],
  ],
  check: [
    ['a good account', { status: 200, body: {} }, 'good'],
    ['a wrong key', { status: 401, body: { error: { message: 'Who are you?' } } }, 'bad: apiKey'],
  ],
  receipts: {
    key,
    now: '2026-01-02T03:04:05.000Z',
    cases: [
      {
        name: 'an arrival',
        call: signedReport({ reference: 'message-1', state: 'arrived' }),
        expected: [{ status: 'delivered', messageId: 'message-1' }],
      },
      { name: 'a report of something else', call: signedReport({ state: 'typing' }), expected: [] },
    ],
  },
}
