// The contract of Azure Communication Services.
import { azureSms } from '../../../../src/providers/sms/azure-sms.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const key = 'ZmFrZS1zaGFyZWQta2V5'
const messageId = '0197f3a0-0000-7000-8000-000000000002'
const row = (more: object) => ({ to: '+447700900123', ...more })
const failed = (httpStatusCode: number) => ({
  status: 202,
  body: { value: [row({ httpStatusCode, errorMessage: 'words', successful: false })] },
})
const whole = (status: number, code: string, headers = {}) => ({
  status,
  headers,
  body: { error: { code, message: 'words' } },
})

const event = (eventType: string, data: object) => ({
  id: 'e1',
  topic: '/subscriptions/x',
  subject: '/phonenumber/+18335550100',
  eventType,
  eventTime: '2024-01-02T03:04:06Z',
  data,
})
const report = (deliveryStatus: string, more: object = {}) =>
  event('Microsoft.Communication.SMSDeliveryReportReceived', {
    messageId: 'Outgoing_1',
    from: '+18335550100',
    to: '+447700900123',
    deliveryStatus,
    deliveryStatusDetails: 'words of a carrier',
    deliveryAttempts: [],
    receivedTimestamp: '2024-01-02T03:04:05.000Z',
    tag: messageId,
    ...more,
  })
const receipt = {
  providerMessageId: 'Outgoing_1',
  messageId,
  address: '+447700900123',
  at: new Date('2024-01-02T03:04:05.000Z'),
  words: 'words of a carrier',
}
const greeting = [
  event('Microsoft.EventGrid.SubscriptionValidationEvent', {
    validationCode: '512d38b6-c7b8-40c8-89fe-f46f9e9622b6',
    validationUrl: 'https://rp-eastus2.eventgrid.azure.net:553/',
  }),
]

export const contract: ProviderContract = {
  provider: azureSms,
  account: {
    accessKey: `endpoint=https://contoso.communication.azure.com/;accesskey=${key}`,
    from: '+18335550100',
  },
  variants: [
    {
      name: 'settings of the caller, by a resource of a geography',
      account: {
        accessKey: `Endpoint=https://contoso.europe.communication.azure.com;AccessKey=${key}`,
        from: '+18335550100',
      },
      message: {
        customData: {
          smsSendOptions: { deliveryReportTimeoutInSeconds: 300, tag: 'x' },
          smsRecipients: [{ to: '+1' }],
        },
      },
    },
  ],
  success: {
    answer: {
      status: 202,
      body: {
        value: [
          row({ messageId: 'Outgoing_1', httpStatusCode: 202, repeatabilityResult: 'accepted', successful: true }),
        ],
      },
    },
    id: 'Outgoing_1',
  },
  successes: [
    [
      'a repeat of one that was taken',
      {
        status: 202,
        body: {
          value: [
            row({ messageId: 'Outgoing_1', httpStatusCode: 202, repeatabilityResult: 'rejected', successful: false }),
          ],
        },
      },
      'Outgoing_1',
    ],
  ],
  errors: [
    ['a bad number', failed(400), 'refused: bad-recipient'],
    ['a number that is not there', failed(404), 'refused: other'],
    ['no right to this one', failed(403), 'misconfigured'],
    ['one too many', failed(429), 'busy'],
    ['trouble with one', failed(500), 'busy'],
    ['trouble for a while', failed(503), 'busy'],
    ['trouble on the way', failed(504), 'unsure'],
    [
      'a repeat of which nothing is known',
      {
        status: 202,
        body: { value: [row({ httpStatusCode: 400, repeatabilityResult: 'rejected', successful: false })] },
      },
      'unsure',
    ],
    ['denied', whole(401, 'Denied'), 'misconfigured'],
    ['a bad request', whole(400, 'BadRequest'), 'refused: other'],
    ['no such resource', whole(404, 'NotFound'), 'misconfigured'],
    ['too many calls', whole(429, 'TooManyRequests', { 'retry-after': '9' }), 'busy', 9_000],
    ['trouble', whole(500, 'InternalServerError'), 'busy'],
  ],
  check: [
    ['a good key', { status: 200, body: { phoneNumbers: [] } }, 'good'],
    ['a wrong key', whole(401, 'Denied'), 'bad: accessKey'],
    ['a key without rights', whole(403, 'Forbidden'), 'bad: accessKey'],
  ],
  batch: {
    messages: [{}, { id: '0197f3a0-0000-7000-8000-000000000012', to: '+447700900124' }],
    answer: {
      status: 202,
      body: {
        value: [
          { to: '+447700900124', httpStatusCode: 400, errorMessage: 'words', successful: false },
          row({ messageId: 'Outgoing_1', httpStatusCode: 202, repeatabilityResult: 'accepted', successful: true }),
        ],
      },
    },
    kinds: ['sent', 'refused: bad-recipient'],
  },
  receipts: {
    key: 'shared-webhook-key',
    cases: [
      { name: 'delivered', call: { body: [report('Delivered')] }, expected: [{ status: 'delivered', ...receipt }] },
      { name: 'failed', call: { body: [report('Failed')] }, expected: [{ status: 'failed', ...receipt }] },
      { name: 'another way', call: { body: [report('Expired')] }, expected: [{ status: 'failed', ...receipt }] },
      {
        name: 'a tag that is not ours, and no details',
        call: { body: [report('Delivered', { tag: 'sale', deliveryStatusDetails: '' })] },
        expected: [{ status: 'delivered', providerMessageId: 'Outgoing_1', address: receipt.address, at: receipt.at }],
      },
      { name: 'an event of another kind', call: { body: greeting }, expected: [] },
    ],
    greetings: [
      {
        name: 'a handshake',
        call: { query: '?token=shared-webhook-key', body: greeting },
        answer: '{"validationResponse":"512d38b6-c7b8-40c8-89fe-f46f9e9622b6"}',
      },
      { name: 'a handshake without the key', call: { body: greeting }, answer: undefined },
      {
        name: 'a report is no handshake',
        call: { query: '?token=shared-webhook-key', body: [report('Delivered')] },
        answer: undefined,
      },
    ],
  },
}
