// Unifonic’s contract.
import { unifonic } from '../../../../src/providers/sms/unifonic.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const failure = (status: number, errorCode = 'ER-11', headers = {}) => ({
  status,
  headers,
  body: { success: 'false', message: 'words', errorCode, data: '' },
})
const success = (data: object, is: unknown = 'true') => ({
  status: 200,
  body: { success: is, message: '', errorCode: 'ER-00', data },
})
const messageId = '0197f3a0-0000-7000-8000-000000000002'
const receipt = { messageId, providerMessageId: '3200017889310', address: '966500000001' }
const report = (Status: string) => ({
  MessageID: 3200017889310,
  CorrelationID: messageId,
  Recipient: 966500000001,
  Status,
})

export const contract: ProviderContract = {
  provider: unifonic,
  account: {
    appSid: 'fake-app-sid',
    senderId: 'AcmeAlerts',
    user: 'acme-user',
    password: 'fake-password',
    webhookUrl: 'https://posthorn.example.com/v1/webhooks/env-1/int-1?token=k',
  },
  message: { to: '+966500000001' },
  variants: [
    {
      name: 'settings of the caller, who cannot say whose account it is',
      message: { customData: { async: true, appsid: 'x', recipient: '1', baseEncode: true, MessageType: 3 } },
    },
  ],
  success: {
    answer: success({ MessageID: 3200017889310, CorrelationID: messageId, Status: 'Queued' }),
    id: '3200017889310',
  },
  successes: [
    ['an id by its other name', success({ messageID: 7 }, true), '7'],
    [
      'an id beyond 2^53',
      { status: 200, body: '{"success":true,"errorCode":"ER-00","data":{"MessageID":32000178893103200017}}' },
      '32000178893103200017',
    ],
    ['a duplicate that was blocked', failure(409), messageId],
  ],
  errors: [
    ['a wrong app', failure(401, 'ER-01'), 'misconfigured'],
    ['a wrong app, within a success', failure(200, 'ER-01'), 'misconfigured'],
    ['no app', failure(402), 'misconfigured'],
    ['another IP address', failure(403), 'misconfigured'],
    ['a bad format', failure(406), 'refused: bad-content'],
    ['a bad number', failure(410), 'refused: bad-recipient'],
    ['too long', failure(412), 'refused: bad-content'],
    ['nothing said', failure(421), 'refused: bad-content'],
    ['nothing said, again', failure(449), 'refused: bad-content'],
    ['too many', failure(429, 'ER-11', { 'retry-after': '3' }), 'busy', 3_000],
    ['a bad sender', failure(440), 'refused: bad-content'],
    ['another bad sender', failure(480), 'refused: bad-content'],
    ['too many numbers', failure(450), 'refused: other'],
    ['a bad reference', failure(456), 'refused: other'],
    ['a bad encoding', failure(460), 'refused: bad-content'],
    ['no such number', failure(482), 'refused: bad-recipient'],
    ['no such operator', failure(483), 'refused: bad-recipient'],
    ['failed', failure(599), 'busy'],
    ['a failure within a success', failure(200, 'ER-55'), 'refused: other'],
    ['a success without an id', success({}), 'unsure'],
  ],
  check: [
    ['a good app', success({ messages: [] }), 'good'],
    ['a wrong app', failure(401, 'ER-01'), 'bad: appSid'],
    ['a wrong app, within a success', failure(200, 'ER-01'), 'bad: appSid'],
    ['another IP address', failure(403), 'bad'],
  ],
  receipts: {
    key: 'shared-webhook-key',
    cases: [
      { name: 'queued', call: { body: report('Queued') }, expected: [{ status: 'queued', ...receipt }] },
      { name: 'sent', call: { body: report('Sent') }, expected: [{ status: 'sent', ...receipt }] },
      { name: 'delivered', call: { body: report('Delivered') }, expected: [{ status: 'delivered', ...receipt }] },
      { name: 'undelivered', call: { body: report('Undelivered') }, expected: [{ status: 'failed', ...receipt }] },
      { name: 'failed', call: { body: report('Failed') }, expected: [{ status: 'failed', ...receipt }] },
      { name: 'rejected', call: { body: report('Rejected') }, expected: [{ status: 'rejected', ...receipt }] },
      {
        name: 'as a form, in other letters',
        call: { body: `messageId=3200017889310&correlationId=${messageId}&recipient=966500000001&status=DELIVERED` },
        expected: [{ status: 'delivered', ...receipt }],
      },
      {
        name: 'as a query',
        call: { method: 'GET', query: '?messageID=3200017889310&status=sent' },
        expected: [{ status: 'sent', providerMessageId: '3200017889310' }],
      },
      { name: 'an unknown status', call: { body: report('Hm') }, expected: [] },
    ],
  },
}
