// Bandwidth’s contract.
import { bandwidth } from '../../../../src/providers/sms/bandwidth.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const messageId = '0197f3a0-0000-7000-8000-000000000002'
const id = '1589228074636lm4k2je7j7jklbn2'
const failure = (status: number, type: string) => ({ status, body: { type, description: 'In words.' } })
const invalid = (fieldName: string) => ({
  status: 400,
  body: {
    type: 'request-validation',
    description: 'Your request could not be accepted',
    fieldErrors: [{ fieldName, description: 'must be replaced' }],
  },
})
const report = (type: string, more: object = {}) => ({
  type,
  time: '2024-01-02T03:04:05.278Z',
  description: 'Incoming',
  to: '+447700900123',
  message: { id, tag: messageId, applicationId: '93de2206-9669-4e07-948d-329f4b722ee2' },
  ...more,
})
const reported = {
  messageId,
  providerMessageId: id,
  address: '+447700900123',
  at: new Date('2024-01-02T03:04:05.278Z'),
  words: 'Incoming',
}

export const contract: ProviderContract = {
  provider: bandwidth,
  account: {
    user: 'api-user',
    password: 'top-secret-0001',
    accountSid: '9900001',
    applicationId: '93de2206-9669-4e07-948d-329f4b722ee2',
    from: '+15553332222',
  },
  message: { from: '+15553332223', customData: { priority: 'high', to: ['+15554443339'], tag: 'other' } },
  success: {
    answer: { status: 202, body: { id, owner: '+15553332222', segmentCount: 1, direction: 'out', tag: messageId } },
    id,
  },
  errors: [
    ['an invalid recipient', invalid('to'), 'refused: bad-recipient'],
    ['an invalid recipient by its place', invalid('to[0]'), 'refused: bad-recipient'],
    ['an invalid sender of the message', invalid('from'), 'refused: bad-content'],
    ['an invalid text', invalid('text'), 'refused: bad-content'],
    ['an unknown application', invalid('applicationId'), 'misconfigured'],
    ['another field', invalid('priority'), 'refused: other'],
    ['no field', failure(400, 'request-validation'), 'refused: other'],
    ['wrong credentials', failure(401, 'unauthorized'), 'misconfigured'],
    ['forbidden', failure(403, 'forbidden'), 'misconfigured'],
    ['an unknown account', failure(404, 'resource-not-found'), 'misconfigured'],
    ['another content type', failure(415, 'unsupported-media-type'), 'refused: other'],
    ['too many calls', { ...failure(429, 'too-many-requests'), headers: { 'retry-after': '7' } }, 'busy', 7_000],
    ['trouble', failure(500, 'internal-server-error'), 'busy'],
    ['a success without an id', { status: 202, body: { direction: 'out' } }, 'unsure'],
  ],
  check: [
    ['media', { status: 200, body: [] }, 'good'],
    ['no media', { status: 204 }, 'good'],
    ['wrong credentials', failure(401, 'unauthorized'), 'bad: password'],
    ['forbidden', failure(403, 'forbidden'), 'bad: password'],
    ['trouble', failure(500, 'internal-server-error'), 'bad'],
  ],
  receipts: {
    key: 'inbound-key-0001',
    cases: [
      { name: 'sending', call: { body: [report('message-sending')] }, expected: [{ status: 'sent', ...reported }] },
      { name: 'sent', call: { body: [report('message-sent')] }, expected: [{ status: 'sent', ...reported }] },
      {
        name: 'delivered',
        call: { body: [report('message-delivered')] },
        expected: [{ status: 'delivered', ...reported }],
      },
      {
        name: 'failed, with its code',
        call: { body: [report('message-failed', { errorCode: 4432 })] },
        expected: [{ status: 'failed', ...reported, words: 'Incoming (4432)' }],
      },
      {
        name: 'not in a list',
        call: { body: report('message-delivered') },
        expected: [{ status: 'delivered', ...reported }],
      },
      { name: 'a message that came in', call: { body: [report('message-received')] }, expected: [] },
    ],
  },
}
