// Postmark’s contract.
import { postmark } from '../../../../src/providers/email/postmark.ts'
import { fullMessages, type ProviderContract, type ReceiptCase } from '../../../support/provider-contract.ts'

const failure = (code: number, message = 'words', status = 422) => ({
  status,
  body: { ErrorCode: code, Message: message },
})
const taken = (id: string, message = 'OK') => ({
  To: 'zoe@example.org',
  SubmittedAt: '2026-01-01T12:00:00.1Z',
  MessageID: id,
  ErrorCode: 0,
  Message: message,
})

const id = 'b7bc2f4a-e38e-4336-af7d-e6c392c2f817'
const echoed = {
  MessageID: id,
  Metadata: { message_id: fullMessages.email.id },
  Tag: 'invoice',
  MessageStream: 'outbound',
}
const receipt = {
  messageId: fullMessages.email.id,
  providerMessageId: id,
  address: 'zoe@example.org',
  at: new Date('2026-01-01T12:00:05Z'),
}

const event = (name: string, status: string | undefined, body: object, words?: string): ReceiptCase => ({
  name,
  call: { body: { ...echoed, ...body } },
  expected:
    status === undefined
      ? []
      : [{ status, ...receipt, ...(words === undefined ? {} : { words }) } as ReceiptCase['expected'][number]],
})

const bounce = (type: string, status: string | undefined): ReceiptCase =>
  event(
    `the bounce ${type}`,
    status,
    {
      RecordType: 'Bounce',
      ID: 692560173,
      Type: type,
      Email: 'zoe@example.org',
      Details: 'smtp; 550 no',
      BouncedAt: '2026-01-01T12:00:05Z',
    },
    'smtp; 550 no',
  )

const inbound = {
  FromName: 'Zoë',
  From: 'zoe@example.org',
  FromFull: { Email: 'zoe@example.org', Name: 'Zoë', MailboxHash: '' },
  ToFull: [{ Email: 'reply+42@inbound.acme.test', Name: '', MailboxHash: '42' }],
  CcFull: [{ Email: 'amy@example.org', Name: '' }],
  BccFull: [],
  OriginalRecipient: 'reply+42@inbound.acme.test',
  MessageID: '73e6d360-66eb-11e1-8e72-a8904824019b',
  MessageStream: 'inbound',
  Subject: 'Re: Invoice 7',
  TextBody: 'Thanks!',
  HtmlBody: '<p>Thanks!</p>',
  Headers: [
    { Name: 'Message-ID', Value: '<m1@example.org>' },
    { Name: 'In-Reply-To', Value: `<${id}@mtasv.net>` },
  ],
  Attachments: [{ Name: 'note.txt', Content: 'SGVsbG8=', ContentType: 'text/plain', ContentLength: 5 }],
}

const account = {
  apiKey: 'server-token-0001',
  from: 'hello@acme.test',
  senderName: 'Acme',
  channelId: 'invoices',
}

const plain = { attachments: [] }

export const contract: ProviderContract = {
  provider: postmark,
  account,
  variants: [
    {
      name: 'settings of Postmark’s own, metadata that is too long, another base address',
      account: { ...account, senderName: 'Acme, "Inc."', baseUrl: 'http://10.0.0.5:8080/' },
      message: {
        ...plain,
        metadata: { fits: 'x', 'a-name-of-more-than-20-characters': 'x', long: 'x'.repeat(81) },
        customData: {
          TrackOpens: true,
          MessageStream: 'other',
          bcc: 'eve@example.org',
          Metadata: { message_id: 'forged' },
        },
      },
    },
  ],
  success: { answer: { status: 200, body: taken(id) }, id },
  successes: [
    [
      'some of the recipients are inactive',
      {
        status: 200,
        body: taken('id-2', 'Message OK, but will not deliver to these inactive addresses: ben@example.org.'),
      },
      'id-2',
    ],
  ],
  errors: [
    ['a bad token', failure(10, 'Bad or missing API token', 401), 'misconfigured'],
    ['maintenance', failure(100, 'Maintenance', 503), 'busy'],
    ['maintenance in a success', failure(100, 'Maintenance', 200), 'busy'],
    ['a bad recipient', failure(300, "Invalid 'To' address: 'zoe'."), 'refused: bad-recipient'],
    ['an invalid request', failure(300, 'Provide either email TextBody or HtmlBody or both.'), 'refused: bad-content'],
    ['an unknown sender', failure(400), 'misconfigured'],
    ['a sender that is not confirmed', failure(401), 'misconfigured'],
    ['bad JSON', failure(402), 'refused: other'],
    ['a bad field', failure(403), 'refused: bad-content'],
    ['no credits', failure(405), 'misconfigured'],
    ['an inactive recipient', failure(406, 'You tried to send to recipient(s) …'), 'refused: bad-recipient'],
    ['no JSON', failure(409), 'refused: other'],
    ['a file of a forbidden type', failure(411), 'refused: bad-content'],
    ['a pending account', failure(412), 'misconfigured'],
    ['an account that may not send', failure(413), 'misconfigured'],
    ['an unknown code', failure(9999), 'refused: other'],
    ['the same, as in a batch', failure(9999, 'words', 200), 'refused: other'],
    ['a success without an id', { status: 200, body: { ErrorCode: 0, Message: 'OK' } }, 'unsure'],
    ['too many calls', { ...failure(429, 'Rate Limit Exceeded', 429), headers: { 'retry-after': '7' } }, 'busy', 7_000],
    ['trouble at Postmark', { status: 500, body: { Message: 'words' } }, 'busy'],
    ['a gateway that gave up', { status: 504 }, 'unsure'],
  ],
  check: [
    ['a server', { status: 200, body: { ID: 1, Name: 'Staging' } }, 'good'],
    ['a wrong token', failure(10, 'Bad or missing API token', 401), 'bad: apiKey'],
    ['trouble', { status: 500 }, 'bad'],
  ],
  batch: {
    messages: [
      { ...plain, id: '0197f3a0-0000-7000-8000-00000000000a', to: ['zoe@example.org'], cc: [], bcc: [] },
      { ...plain, id: '0197f3a0-0000-7000-8000-00000000000b', to: ['yan@example.org'], cc: [], bcc: [], text: '' },
      { ...plain, id: '0197f3a0-0000-7000-8000-00000000000d', to: ['amy@example.org'], cc: [], bcc: [] },
    ],
    answer: { status: 200, body: [taken('id-1'), { ErrorCode: 406, Message: 'inactive' }, taken('id-3')] },
    kinds: ['sent', 'refused: bad-recipient', 'sent'],
  },
  receipts: {
    key: 'postmark-shared-key',
    cases: [
      event(
        'Delivery',
        'delivered',
        {
          RecordType: 'Delivery',
          Recipient: 'zoe@example.org',
          DeliveredAt: '2026-01-01T12:00:05Z',
          Details: '250 OK',
        },
        '250 OK',
      ),
      ...['HardBounce', 'BadEmailAddress'].map((type) => bounce(type, 'bounced')),
      ...['SoftBounce', 'VirusNotification'].map((type) => bounce(type, 'failed')),
      ...['Transient', 'DnsError'].map((type) => bounce(type, 'deferred')),
      ...['Blocked', 'ManuallyDeactivated', 'DMARCPolicy', 'Unconfirmed'].map((type) => bounce(type, 'rejected')),
      bounce('SpamNotification', 'complained'),
      bounce('AutoResponder', undefined),
      event('SpamComplaint', 'complained', {
        RecordType: 'SpamComplaint',
        Email: 'zoe@example.org',
        BouncedAt: '2026-01-01T12:00:05Z',
      }),
      event('Open', 'opened', { RecordType: 'Open', Recipient: 'zoe@example.org', ReceivedAt: '2026-01-01T12:00:05Z' }),
      event('Click', 'clicked', {
        RecordType: 'Click',
        Recipient: 'zoe@example.org',
        ReceivedAt: '2026-01-01T12:00:05Z',
      }),
      event(
        'SubscriptionChange',
        'unsubscribed',
        {
          RecordType: 'SubscriptionChange',
          Recipient: 'zoe@example.org',
          ChangedAt: '2026-01-01T12:00:05Z',
          SuppressSending: true,
          SuppressionReason: 'ManualSuppression',
        },
        'ManualSuppression',
      ),
      event('a subscription taken up again', undefined, { RecordType: 'SubscriptionChange', SuppressSending: false }),
      { name: 'a mail to us', call: { body: inbound }, expected: [] },
    ],
  },
  replies: {
    key: 'postmark-shared-key',
    cases: [
      {
        name: 'a reply',
        call: { body: inbound },
        expected: {
          from: 'zoe@example.org',
          to: ['reply+42@inbound.acme.test', 'amy@example.org'],
          subject: 'Re: Invoice 7',
          text: 'Thanks!',
          html: '<p>Thanks!</p>',
          headers: { 'Message-ID': '<m1@example.org>', 'In-Reply-To': `<${id}@mtasv.net>` },
          messageId: 'm1@example.org',
          inReplyTo: `${id}@mtasv.net`,
          attachments: [{ name: 'note.txt', mime: 'text/plain', content: 'SGVsbG8=' }],
        },
      },
      {
        name: 'a receipt',
        call: {
          body: {
            ...echoed,
            RecordType: 'Bounce',
            From: 'hello@acme.test',
            Subject: 'Invoice 7',
            Email: 'zoe@example.org',
          },
        },
        expected: undefined,
      },
    ],
  },
}
