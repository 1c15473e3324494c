// SendGrid’s contract.
import { generateKeyPairSync, sign } from 'node:crypto'
import { sendgrid } from '../../../../src/providers/email/sendgrid.ts'
import { fullMessages, type ProviderContract, type ReceiptCase } from '../../../support/provider-contract.ts'

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const key = publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
const { privateKey: anotherKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** The example that SendGrid publishes with its libraries; the clock of all others is set by it. */
const published = {
  key: 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==',
  signature: 'MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM=',
  timestamp: '1600112502',
  body: `${JSON.stringify([
    {
      email: 'hello@world.com',
      event: 'dropped',
      reason: 'Bounced Address',
      sg_event_id: 'ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA',
      sg_message_id: 'LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0',
      'smtp-id': '<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>',
      timestamp: 1600112492,
    },
  ])}\r\n`,
}

const signed = (events: unknown, { by = privateKey, at = published.timestamp } = {}) => {
  const body = `${JSON.stringify(events)}\r\n`
  return {
    headers: {
      'content-type': 'application/json',
      'X-Twilio-Email-Event-Webhook-Signature': sign('sha256', Buffer.from(at + body), by).toString('base64'),
      'X-Twilio-Email-Event-Webhook-Timestamp': at,
    },
    body,
  }
}

const eventOf = (event: string, more: object = {}) => ({
  email: 'zoe@example.org',
  event,
  timestamp: 1600112490,
  sg_event_id: 'ev-1',
  sg_message_id: '14c5d75ce93.filter-7.0',
  message_id: fullMessages.email.id,
  workflow: 'order-shipped',
  ...more,
})

const receipt = (status: string, words?: string) =>
  ({
    status,
    messageId: fullMessages.email.id,
    providerMessageId: '14c5d75ce93',
    address: 'zoe@example.org',
    at: new Date('2020-09-14T19:41:30Z'),
    ...(words === undefined ? {} : { words }),
  }) as ReceiptCase['expected'][number]

const event = (name: string, status: string, more: object = {}, words?: string): ReceiptCase => ({
  name: `${name} is ${status}`,
  call: signed([eventOf(name, more)]),
  expected: [receipt(status, words)],
})

const boundary = 'xYzZY'
const field = (name: string, value: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const parsed = (fields: Record<string, string>, file = '') => ({
  query: '?token=parse-shared-key',
  headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  body: `${Object.entries(fields)
    .map(([name, value]) => field(name, value))
    .join('')}${file}--${boundary}--\r\n`,
})
const mail = {
  headers:
    'Received: by mx.sendgrid.net\r\nMessage-ID: <m1@example.org>\r\nIn-Reply-To: <14c5d75ce93@ismtpd>\r\n\t<older@ismtpd>\r\nSubject: Re: Invoice 7\r\n',
  to: '"Acme, Replies" <reply+42@parse.acme.test>, help@acme.test',
  from: 'Zoë <zoe@example.org>',
  subject: 'Re: Invoice 7 – “paid”',
  text: 'Thanks!',
  html: '<p>Thanks!</p>',
  envelope: '{"to":["reply+42@parse.acme.test"],"from":"bounces@mail.example.org"}',
  charsets: '{"to":"UTF-8","html":"UTF-8","subject":"UTF-8","from":"UTF-8","text":"UTF-8"}',
  attachments: '1',
}

const failure = (status: number, message: string, name: string | null = null) => ({
  status,
  body: { errors: [{ message, field: name, help: null }] },
})

const account = {
  apiKey: 'SG.top-secret',
  from: 'hello@acme.test',
  senderName: 'Acme',
  region: 'eu',
  ipPoolName: 'other-pool',
  secretKey: published.key,
}

export const contract: ProviderContract = {
  provider: sendgrid,
  account,
  variants: [
    {
      name: 'settings of SendGrid’s own, another base address',
      account: { ...account, baseUrl: 'http://10.0.0.5:3000/' },
      message: {
        attachments: [],
        ipPoolName: undefined,
        customData: {
          asm: { group_id: 7 },
          mail_settings: { sandbox_mode: { enable: true }, bcc: { enable: true, email: 'eve@example.org' } },
          personalizations: [{ to: [{ email: 'eve@example.org' }] }],
        },
      },
    },
  ],
  success: { answer: { status: 202, headers: { 'x-message-id': '14c5d75ce93' } }, id: '14c5d75ce93' },
  // 202 with nothing in it is SendGrid's whole success.
  bodyIsIgnored: true,
  errors: [
    [
      'a bad recipient',
      failure(400, 'Does not contain a valid address.', 'personalizations.0.to.0.email'),
      'refused: bad-recipient',
    ],
    ['no subject', failure(400, 'The subject is required.', 'subject'), 'refused: bad-content'],
    ['a bad pool', failure(400, 'Not a pool.', 'ip_pool_name'), 'refused: other'],
    ['a bad key', failure(401, 'The provided authorization grant is invalid'), 'misconfigured'],
    ['a sender that is not verified', failure(403, 'The from address does not match', 'from'), 'misconfigured'],
    ['no Accept', failure(406, 'Not acceptable'), 'refused: other'],
    ['too large', failure(413, 'Payload too large'), 'refused: bad-content'],
    ['too many calls', { status: 429, headers: { 'retry-after': '7' } }, 'busy', 7_000],
    ['trouble at SendGrid', failure(503, 'try later'), 'busy'],
    ['a success that is none of SendGrid’s', { status: 200, body: {} }, 'unsure'],
    ['a gateway that gave up', { status: 504 }, 'unsure'],
  ],
  check: [
    ['a key that may send', { status: 200, body: { scopes: ['mail.send'] } }, 'good'],
    ['a key that may not', { status: 200, body: { scopes: ['alerts.read'] } }, 'bad: apiKey'],
    ['a key that may not tell', failure(403, 'access forbidden'), 'good'],
    ['a bad key', failure(401, 'authorization required'), 'bad: apiKey'],
    ['trouble', { status: 500 }, 'bad'],
  ],
  receipts: {
    key,
    now: '2020-09-14T19:41:50Z',
    cases: [
      {
        name: 'the example that SendGrid publishes, by the key of the account',
        call: {
          headers: {
            'x-twilio-email-event-webhook-signature': published.signature,
            'x-twilio-email-event-webhook-timestamp': published.timestamp,
          },
          body: published.body,
        },
        expected: [
          {
            status: 'rejected',
            providerMessageId: 'LRzXl_NHStOGhQ4kofSm_A',
            address: 'hello@world.com',
            at: new Date('2020-09-14T19:41:32Z'),
            words: 'Bounced Address',
          },
        ],
      },
      event('processed', 'queued'),
      event('deferred', 'deferred', { response: '451 later', attempt: '2' }, '451 later'),
      event('delivered', 'delivered', { response: '250 OK' }, '250 OK'),
      event('bounce', 'bounced', { type: 'bounce', reason: '550 unknown' }, '550 unknown'),
      event('bounce', 'failed', { type: 'blocked', reason: '550 listed' }, '550 listed'),
      event('dropped', 'rejected', { reason: 'Unsubscribed Address' }, 'Unsubscribed Address'),
      event('open', 'opened'),
      event('click', 'clicked'),
      event('spamreport', 'complained'),
      event('unsubscribe', 'unsubscribed'),
      event('group_unsubscribe', 'unsubscribed'),
      {
        name: 'many events, one of them unknown',
        call: signed([eventOf('open'), eventOf('group_resubscribe'), eventOf('click')]),
        expected: [receipt('opened'), receipt('clicked')],
      },
      {
        name: 'one that is repeated hours later',
        call: signed([eventOf('open')], { at: String(Number(published.timestamp) - 20 * 3_600) }),
        expected: [receipt('opened')],
      },
    ],
    unbelievable: [
      { name: 'another key', call: signed([eventOf('open')], { by: anotherKey }) },
      {
        name: 'two days old',
        call: signed([eventOf('open')], { at: String(Number(published.timestamp) - 2 * 86_400) }),
      },
      { name: 'a mail to us', call: parsed(mail) },
    ],
  },
  replies: {
    key: 'parse-shared-key',
    cases: [
      {
        name: 'a reply with a file',
        call: parsed(
          mail,
          `--${boundary}\r\nContent-Disposition: form-data; name="attachment1"; filename="größe.txt"\r\nContent-Type: text/plain\r\n\r\nHellö\r\n`,
        ),
        expected: {
          from: 'zoe@example.org',
          to: ['reply+42@parse.acme.test', 'help@acme.test'],
          subject: 'Re: Invoice 7 – “paid”',
          text: 'Thanks!',
          html: '<p>Thanks!</p>',
          headers: {
            Subject: 'Re: Invoice 7',
            'In-Reply-To': '<14c5d75ce93@ismtpd> <older@ismtpd>',
            'Message-ID': '<m1@example.org>',
            Received: 'by mx.sendgrid.net',
          },
          messageId: 'm1@example.org',
          inReplyTo: '14c5d75ce93@ismtpd',
          attachments: [{ name: 'größe.txt', mime: 'text/plain', content: Buffer.from('Hellö').toString('base64') }],
        },
      },
      {
        name: 'a form that is no mail',
        call: parsed({ from: 'zoe@example.org', subject: 'x' }),
        expected: undefined,
      },
    ],
  },
}
