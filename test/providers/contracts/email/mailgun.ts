// Mailgun’s contract.
import { createHmac } from 'node:crypto'
import { mailgun } from '../../../../src/providers/email/mailgun.ts'
import { fullMessages, type ProviderContract, type ReceiptCase } from '../../../support/provider-contract.ts'

const key = 'mailgun-signing-key'
const now = '2026-01-01T12:00:00Z'
const seconds = String(Date.parse(now) / 1000)
const token = 'c1eb0b9d8b4b3d6f2f0e9a7c5d3b1a'

const signatureOf = (secret: string, timestamp = seconds) => ({
  timestamp,
  token,
  signature: createHmac('sha256', secret).update(`${timestamp}${token}`).digest('hex'),
})

const eventOf = (event: string, more: object = {}) => ({
  event,
  id: 'ev-1',
  timestamp: 1767268790.25,
  recipient: 'zoe@example.org',
  message: { headers: { 'message-id': '20260101120000.1.ABC@mg.acme.test', to: 'zoe@example.org' } },
  'user-variables': { message_id: fullMessages.email.id, workflow: 'order-shipped' },
  ...more,
})

// The signature last: it is what a tampered call differs in, since Mailgun does not sign the event.
const callOf = (event: object, signature: object = signatureOf(key)) => ({ body: { 'event-data': event, signature } })

const receipt = {
  messageId: fullMessages.email.id,
  providerMessageId: '20260101120000.1.ABC@mg.acme.test',
  address: 'zoe@example.org',
  at: new Date(1767268790250),
}

const status = (event: string, expected: string, more: object = {}, words?: string): ReceiptCase => ({
  name: `${event} is ${expected}`,
  call: callOf(eventOf(event, more)),
  expected: [
    { status: expected, ...receipt, ...(words === undefined ? {} : { words }) } as ReceiptCase['expected'][number],
  ],
})

const boundary = 'b1b2b3'
const formOf = (fields: Record<string, string>, file = '') =>
  `${Object.entries(fields)
    .map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    .join('')}${file}--${boundary}--\r\n`

const reply = {
  recipient: 'reply+42@mg.acme.test',
  sender: 'bounces@mail.example.org',
  from: '"Zoë, of Example" <zoe@example.org>',
  To: 'Acme <reply+42@mg.acme.test>, help@acme.test',
  subject: 'Re: Invoice 7',
  'body-plain': 'Thanks!\r\n> Hi',
  'body-html': '<p>Thanks!</p>',
  'message-headers': JSON.stringify([
    ['Message-Id', '<m1@example.org>'],
    ['In-Reply-To', '<20260101120000.1.ABC@mg.acme.test>'],
    ['Subject', 'Re: Invoice 7'],
  ]),
  'attachment-count': '1',
  ...signatureOf(key),
}

const file =
  `--${boundary}\r\nContent-Disposition: form-data; name="attachment-1"; filename="note.txt"\r\n` +
  'Content-Type: text/plain\r\n\r\nHello\r\n'

const mail = {
  from: 'zoe@example.org',
  to: ['reply+42@mg.acme.test', 'help@acme.test'],
  subject: 'Re: Invoice 7',
  text: 'Thanks!\r\n> Hi',
  html: '<p>Thanks!</p>',
  headers: {
    'Message-Id': '<m1@example.org>',
    'In-Reply-To': '<20260101120000.1.ABC@mg.acme.test>',
    Subject: 'Re: Invoice 7',
  },
  messageId: 'm1@example.org',
  inReplyTo: '20260101120000.1.ABC@mg.acme.test',
}

const account = {
  apiKey: 'key-top-secret',
  domain: 'mg.acme.test',
  from: 'hello@acme.test',
  senderName: 'Acme, Inc.',
  region: 'eu',
  ipPoolName: 'pool-1',
  secretKey: 'webhook-signing-0001',
}

const failure = (code: number, message: string) => ({ status: code, body: { message } })

export const contract: ProviderContract = {
  provider: mailgun,
  account,
  // Files go as they are: text can be read in the golden file.
  message: {
    attachments: [
      { name: 'terms.txt', mime: 'text/plain', content: 'SGVsbG8=' },
      { name: 'logo.svg', mime: 'image/svg+xml', content: 'PHN2Zy8+', cid: 'logo', disposition: 'inline' },
    ],
  },
  variants: [
    {
      name: 'settings of Mailgun’s own, beside which the message decides who gets it',
      account: { ...account, region: 'us' },
      message: {
        ipPoolName: undefined,
        attachments: [],
        customData: {
          'o:testmode': 'yes',
          'o:tag': ['more'],
          't:variables': { a: 1 },
          To: 'eve@example.org',
          'h:Bcc': 'eve@example.org',
          'v:message_id': 'forged',
        },
      },
    },
    {
      name: 'another base address and user',
      account: { ...account, baseUrl: 'https://mail.example.test/v3/', user: 'proxy' },
      message: { attachments: [] },
    },
  ],
  success: {
    answer: {
      status: 200,
      body: { id: '<20260101120000.1.ABC@mg.acme.test>', message: 'Queued. Thank you.' },
    },
    id: '20260101120000.1.ABC@mg.acme.test',
  },
  errors: [
    [
      'a bad recipient',
      failure(400, 'to parameter is not a valid address. please check documentation'),
      'refused: bad-recipient',
    ],
    ['a bad recipient, quoted', failure(400, "'to' parameter is not a valid address."), 'refused: bad-recipient'],
    ['a bad parameter', failure(400, 'from parameter is missing'), 'refused: bad-content'],
    ['a bad key, as plain text', { status: 401, body: 'Forbidden' }, 'misconfigured'],
    ['a bill that is not paid', failure(402, 'Payment required'), 'misconfigured'],
    ['a domain that may not send', failure(403, 'Domain is not allowed to send'), 'misconfigured'],
    ['a domain of another region', failure(404, 'Domain not found: mg.acme.test'), 'misconfigured'],
    ['too large', failure(413, 'Request Entity Too Large'), 'refused: bad-content'],
    ['a wrong path', { status: 200, body: 'Mailgun Magnificent API' }, 'misconfigured'],
    ['a success without an id', { status: 200, body: { message: 'Queued. Thank you.' } }, 'unsure'],
    ['too many calls', { status: 429, headers: { 'retry-after': '7' }, body: { message: 'slow down' } }, 'busy', 7_000],
    ['trouble at Mailgun', failure(503, 'try later'), 'busy'],
    ['a gateway that gave up', failure(504, 'timeout'), 'unsure'],
  ],
  check: [
    ['an active domain', { status: 200, body: { domain: { name: 'mg.acme.test', state: 'active' } } }, 'good'],
    ['a disabled one', { status: 200, body: { domain: { state: 'disabled' } } }, 'bad: domain'],
    ['a wrong key', { status: 401, body: 'Forbidden' }, 'bad: apiKey'],
    ['a domain that is not there', failure(404, 'Domain not found'), 'bad: domain'],
    ['trouble', failure(500, 'oh'), 'bad'],
  ],
  receipts: {
    key,
    now,
    cases: [
      status('accepted', 'queued'),
      status('delivered', 'delivered', { 'delivery-status': { code: 250, message: 'OK' } }, 'OK'),
      status(
        'failed',
        'bounced',
        { severity: 'permanent', 'delivery-status': { description: 'no such user' } },
        'no such user',
      ),
      status('failed', 'deferred', { severity: 'temporary', 'delivery-status': { message: 'try again' } }, 'try again'),
      status('rejected', 'rejected', { reason: 'generic' }, 'generic'),
      status('opened', 'opened'),
      status('clicked', 'clicked'),
      status('complained', 'complained'),
      status('unsubscribed', 'unsubscribed'),
      { name: 'an event of another kind', call: callOf(eventOf('stored')), expected: [] },
      {
        name: 'a subaccount’s, by the key of the account above it',
        call: callOf(eventOf('opened'), {
          ...signatureOf('a-subaccount-key'),
          'parent-signature': signatureOf(key).signature,
        }),
        expected: [{ status: 'opened', ...receipt }],
      },
      {
        name: 'one that is repeated six hours later',
        call: callOf(eventOf('opened'), signatureOf(key, String(Number(seconds) - 6 * 3_600))),
        expected: [{ status: 'opened', ...receipt }],
      },
    ],
    unbelievable: [
      { name: 'a day old', call: callOf(eventOf('opened'), signatureOf(key, String(Number(seconds) - 86_400))) },
      { name: 'another key', call: callOf(eventOf('opened'), signatureOf('another-key')) },
      { name: 'no key was used', call: callOf(eventOf('opened'), signatureOf('')) },
    ],
  },
  replies: {
    key,
    now,
    cases: [
      {
        name: 'a reply with a file',
        call: {
          headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
          body: formOf(reply, file),
        },
        expected: { ...mail, attachments: [{ name: 'note.txt', mime: 'text/plain', content: 'SGVsbG8=' }] },
      },
      {
        name: 'a reply without one',
        call: {
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams(reply).toString(),
        },
        expected: { ...mail, attachments: [] },
      },
      {
        name: 'an event of an older account',
        call: {
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams({ ...reply, event: 'opened' }).toString(),
        },
        expected: undefined,
      },
    ],
  },
}
