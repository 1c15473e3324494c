// Mailjet’s contract.
import { mailjet } from '../../../../src/providers/email/mailjet.ts'
import { fullMessages, type ProviderContract, type ReceiptCase } from '../../../support/provider-contract.ts'

const uuid = '1ab23cd4-e567-8901-2345-6789f0gh1i2j'
const success = (id = uuid) => ({
  Status: 'success',
  CustomID: fullMessages.email.id,
  To: [
    {
      Email: 'zoe@example.org',
      MessageUUID: id,
      MessageID: 70650219165027410,
      MessageHref: 'https://api.mailjet.com/v3/message/70650219165027410',
    },
  ],
  Cc: [],
  Bcc: [],
})
const error = (status: number, code: string, ...members: string[]) => ({
  Status: 'error',
  Errors: [
    { ErrorIdentifier: 'f987', ErrorCode: code, StatusCode: status, ErrorMessage: 'words', ErrorRelatedTo: members },
  ],
})
const failure = (status: number, code: string, ...members: string[]) => ({
  status,
  body: { Messages: [error(status, code, ...members)] },
})
const whole = (status: number, code?: string) => ({
  status,
  body: {
    ErrorIdentifier: 'f987',
    ...(code === undefined ? {} : { ErrorCode: code }),
    StatusCode: status,
    ErrorMessage: 'words',
  },
})

const event = (name: string, status: string, more: object = {}, words?: string): ReceiptCase => ({
  name: `${name} is ${status}`,
  call: {
    body: {
      event: name,
      time: 1767268805,
      MessageID: 70650219165027410,
      Message_GUID: uuid,
      email: 'zoe@example.org',
      CustomID: fullMessages.email.id,
      Payload: '{"workflow":"order-shipped"}',
      ...more,
    },
  },
  expected: [receipt(status, words)],
})

const receipt = (status: string, words?: string) =>
  ({
    status,
    messageId: fullMessages.email.id,
    providerMessageId: uuid,
    address: 'zoe@example.org',
    at: new Date('2026-01-01T12:00:05Z'),
    ...(words === undefined ? {} : { words }),
  }) as ReceiptCase['expected'][number]

const account = { apiKey: 'public-key', secretKey: 'private-key-0001', from: 'hello@acme.test', senderName: 'Acme' }
const plain = { attachments: [] }

export const contract: ProviderContract = {
  provider: mailjet,
  account: { ...account, region: 'us' },
  variants: [
    {
      name: 'settings of Mailjet’s own, another base address',
      account: { ...account, baseUrl: 'proxy.example.test' },
      message: {
        attachments: [{ name: '', mime: 'text/plain; charset=utf-8', content: 'SGVsbG8=' }],
        customData: {
          TemplateLanguage: true,
          SandboxMode: true,
          Bcc: [{ Email: 'eve@example.org' }],
          globals: { Bcc: [{ Email: 'eve@example.org' }] },
          CustomID: 'forged',
        },
      },
    },
  ],
  success: { answer: { status: 200, body: { Messages: [success()] } }, id: uuid },
  errors: [
    ['a bad recipient', failure(400, 'mj-0013', 'To[0].Email'), 'refused: bad-recipient'],
    ['a bad copy', failure(400, 'mj-0013', 'Cc[0].Email'), 'refused: bad-recipient'],
    ['a sender that is not allowed', failure(403, 'send-0008', 'From'), 'misconfigured'],
    ['a bad member', failure(400, 'mj-0004', 'HTMLPart'), 'refused: bad-content'],
    ['a message that is too large', failure(413, 'mj-0015'), 'refused: other'],
    [
      'a message that failed within a success',
      { status: 200, body: { Messages: [error(400, 'mj-0013', 'To[0].Email')] } },
      'refused: bad-recipient',
    ],
    [
      'a failed message with a strange status',
      { status: 200, body: { Messages: [error(200, 'mj-0001')] } },
      'refused: other',
    ],
    ['a message that Mailjet had trouble with', failure(500, 'mj-0001'), 'busy'],
    ['bad JSON', whole(400, 'mj-0002'), 'refused: other'],
    ['bad keys', whole(401), 'misconfigured'],
    ['a blocked account', whole(403, 'mj-0014'), 'misconfigured'],
    ['a success without an id', { status: 200, body: { Messages: [{ Status: 'success', To: [] }] } }, 'unsure'],
    ['an unreadable entry', { status: 400, body: { Messages: [{ Status: 'other' }] } }, 'unsure'],
    ['too many calls', { ...whole(429), headers: { 'retry-after': '7' } }, 'busy', 7_000],
    ['a gateway that gave up', { status: 504 }, 'unsure'],
  ],
  check: [
    ['an account', { status: 200, body: { Count: 1, Data: [] } }, 'good'],
    ['wrong keys', whole(401), 'bad: secretKey'],
    ['trouble', { status: 500 }, 'bad'],
  ],
  batch: {
    messages: [
      { ...plain, id: '0197f3a0-0000-7000-8000-00000000000a', to: ['zoe@example.org'], cc: [], bcc: [] },
      { ...plain, id: '0197f3a0-0000-7000-8000-00000000000b', to: ['yan@example.org'], cc: [], bcc: [], text: '' },
      { ...plain, id: '0197f3a0-0000-7000-8000-00000000000c', to: ['amy@example.org'], cc: [], bcc: [] },
    ],
    // The status is the failed one's; the others went out.
    answer: {
      status: 400,
      body: { Messages: [success('id-1'), error(400, 'mj-0013', 'To[0].Email'), success('id-3')] },
    },
    kinds: ['sent', 'refused: bad-recipient', 'sent'],
  },
  receipts: {
    key: 'mailjet-shared-key',
    cases: [
      event('sent', 'delivered'),
      event('open', 'opened'),
      event('click', 'clicked'),
      event('bounce', 'bounced', { hard_bounce: true, error: 'user unknown', comment: '550' }, 'user unknown: 550'),
      event('bounce', 'deferred', { hard_bounce: false, error: 'mailbox full', comment: '' }, 'mailbox full'),
      event('blocked', 'rejected', { error: 'preblocked' }, 'preblocked'),
      event('spam', 'complained'),
      event('unsub', 'unsubscribed'),
      {
        name: 'many events, one of them of no message and one unknown',
        call: {
          body: [
            { event: 'open', time: 1767268805, Message_GUID: uuid, email: 'zoe@example.org', CustomID: 'not-ours' },
            { event: 'open', time: 1767268805 },
            { event: 'other', Message_GUID: uuid },
          ],
        },
        expected: [
          {
            status: 'opened',
            providerMessageId: uuid,
            address: 'zoe@example.org',
            at: new Date('2026-01-01T12:00:05Z'),
          },
        ],
      },
    ],
  },
}
