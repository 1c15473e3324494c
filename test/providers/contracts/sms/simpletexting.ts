// SimpleTexting’s contract.
import { simpletexting } from '../../../../src/providers/sms/simpletexting.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const failure = (status: number, word: string, errorCode: string) => ({
  status,
  headers: { 'content-type': 'application/problem+json' },
  body: {
    status: word,
    errorCode,
    code: errorCode,
    message: 'words',
    errorDetails: [],
    path: '/v2/api/messages',
    timestamp: 1704161045.1,
  },
})

const report = (type: string) => ({
  reportId: 'r1',
  webhookId: 'w1',
  type,
  values: {
    messageId: '507f191e810c19729de860ea',
    category: 'SMS',
    accountPhone: '8005551234',
    contactPhone: '4155550101',
    carrier: 'Example Wireless',
  },
})

export const contract: ProviderContract = {
  provider: simpletexting,
  account: { apiKey: 'fake-api-token', from: '+18005551234' },
  message: { to: '+14155550101', from: '+18005550199' },
  variants: [
    { name: 'a setting of the caller', message: { customData: { mode: 'SINGLE_SMS_STRICTLY', contactPhone: '1' } } },
  ],
  success: {
    answer: { status: 201, body: { id: '507f191e810c19729de860ea', credits: 994 } },
    id: '507f191e810c19729de860ea',
  },
  errors: [
    ['no token', failure(401, 'UNAUTHORIZED', 'ERR_AUTH_TOKEN_MISSING'), 'misconfigured'],
    ['a bad request', failure(400, 'BAD_REQUEST', 'ERR_VALIDATION'), 'refused: other'],
    ['a malformed route', { status: 404, body: { code: 'x', errorCode: 'x', message: 'words' } }, 'refused: other'],
    ['a success without an id', { status: 201, body: { credits: 994 } }, 'unsure'],
  ],
  check: [
    ['a good token', { status: 200, body: { email: 'ops@acme.test' } }, 'good'],
    ['no good one', failure(401, 'UNAUTHORIZED', 'ERR_AUTH_TOKEN_MISSING'), 'bad: apiKey'],
    ['a vendor in trouble', { status: 503 }, 'bad'],
  ],
  receipts: {
    key: 'shared-webhook-key',
    cases: [
      {
        name: 'delivered',
        call: { body: report('DELIVERY_REPORT') },
        expected: [{ status: 'delivered', providerMessageId: '507f191e810c19729de860ea', address: '+14155550101' }],
      },
      {
        name: 'not delivered',
        call: { body: report('NON_DELIVERED_REPORT') },
        expected: [{ status: 'failed', providerMessageId: '507f191e810c19729de860ea', address: '+14155550101' }],
      },
      { name: 'a message that came in', call: { body: report('INCOMING_MESSAGE') }, expected: [] },
    ],
  },
}
