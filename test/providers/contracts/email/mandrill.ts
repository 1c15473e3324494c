// Mandrill’s contract.
import { createHmac } from 'node:crypto'
import { mandrill } from '../../../../src/providers/email/mandrill.ts'
import {
  fullMessages,
  type ProviderContract,
  type ReceiptCase,
  webhookAddress,
} from '../../../support/provider-contract.ts'

const key = 'mandrill-webhook-key'

const person = (status: string, reason: string | null = null, id: string | null = 'a1b2c3') => ({
  email: 'zoe@example.org',
  status,
  ...(id === null ? {} : { _id: id }),
  reject_reason: reason,
})
const failure = (name: string, status = 500) => ({
  status,
  body: { status: 'error', code: -1, name, message: 'words' },
})
const rejected = (reason: string) => ({ status: 200, body: [person('rejected', reason, null)] })

const posted = (events: unknown, secret = key) => {
  const text = JSON.stringify(events)
  const signature = createHmac('sha1', secret).update(`${webhookAddress}mandrill_events${text}`).digest('base64')
  return {
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-mandrill-signature': signature },
    body: new URLSearchParams({ mandrill_events: text }).toString(),
  }
}

const eventOf = (event: string, message: object = {}) => ({
  event,
  _id: 'a1b2c3',
  ts: 1767268805,
  msg: {
    _id: 'a1b2c3',
    email: 'zoe@example.org',
    metadata: { message_id: fullMessages.email.id, workflow: 'order-shipped' },
    ...message,
  },
})

const receipt = {
  messageId: fullMessages.email.id,
  providerMessageId: 'a1b2c3',
  address: 'zoe@example.org',
  at: new Date('2026-01-01T12:00:05Z'),
}

const event = (name: string, status: string, message: object = {}, words?: string): ReceiptCase => ({
  name: `${name} is ${status}`,
  call: posted([eventOf(name, message)]),
  expected: [{ status, ...receipt, ...(words === undefined ? {} : { words }) } as ReceiptCase['expected'][number]],
})

const account = {
  apiKey: 'md-top-secret',
  from: 'hello@acme.test',
  senderName: 'Acme',
  ipPoolName: 'Main Pool',
  secretKey: 'webhook-key-0001',
}

export const contract: ProviderContract = {
  provider: mandrill,
  account,
  variants: [
    {
      name: 'settings of Mandrill’s own, odd tags, another base address',
      account: { ...account, baseUrl: 'https://proxy.example.test/api/1.3' },
      message: {
        ipPoolName: undefined,
        tags: ['_hidden', 'x'.repeat(60), 'hidden'],
        attachments: [{ name: 'a.pdf', mime: 'application/pdf', content: 'SGVsbG8=', cid: 'a', disposition: 'inline' }],
        customData: {
          key: 'another',
          send_at: '2026-01-01 12:00:00',
          message: {
            subaccount: 'eu',
            track_opens: true,
            bcc_address: 'eve@example.org',
            to: [{ email: 'eve@example.org', type: 'to' }],
          },
        },
      },
    },
  ],
  success: { answer: { status: 200, body: [person('queued'), person('sent', null, 'a1b2c4')] }, id: 'a1b2c3' },
  successes: [
    ['a scheduled one', { status: 200, body: [person('scheduled')] }, 'a1b2c3'],
    ['not to everyone', { status: 200, body: [person('rejected', 'hard-bounce', null), person('sent')] }, 'a1b2c3'],
  ],
  errors: [
    ['a bad key, with the status of a breakdown', failure('Invalid_Key'), 'misconfigured'],
    ['a bad key', failure('Invalid_Key', 401), 'misconfigured'],
    ['an unpaid bill', failure('PaymentRequired'), 'misconfigured'],
    ['an unknown subaccount', failure('Unknown_Subaccount'), 'misconfigured'],
    ['a bad member', failure('ValidationError'), 'refused: bad-content'],
    ['an unknown template', failure('Unknown_Template'), 'refused: bad-content'],
    ['an unknown message', failure('Unknown_Message'), 'refused: bad-content'],
    ['a general error', failure('GeneralError'), 'busy'],
    ['a pause', failure('ServiceUnavailable', 503), 'busy'],
    ['an error of another name', failure('Unknown_Thing'), 'busy'],
    ['a bounce before', rejected('hard-bounce'), 'refused: bad-recipient'],
    ['a bounce that may pass, before', rejected('soft-bounce'), 'refused: bad-recipient'],
    ['a complaint before', rejected('spam'), 'refused: opted-out'],
    ['someone who left', rejected('unsub'), 'refused: opted-out'],
    ['someone who was put on the list manually', rejected('custom'), 'refused: other'],
    ['a rule', rejected('rule'), 'refused: other'],
    ['a sender that is not allowed', rejected('invalid-sender'), 'misconfigured'],
    ['a sender that is not signed', rejected('unsigned'), 'misconfigured'],
    ['the end of a trial', rejected('test-mode-limit'), 'misconfigured'],
    [
      'a copy that was taken, and no one else',
      {
        status: 200,
        body: [
          person('rejected', 'hard-bounce', null),
          { ...person('invalid', null, null), email: 'yan@example.org' },
          { ...person('sent'), email: 'ben@example.org' },
        ],
      },
      'refused: bad-recipient',
    ],
    ['an address that is none', { status: 200, body: [person('invalid', null, null)] }, 'refused: bad-recipient'],
    ['a success without an id', { status: 200, body: [person('sent', null, '')] }, 'unsure'],
    ['an unknown state', { status: 200, body: [person('other')] }, 'unsure'],
    ['too many calls', { status: 429, headers: { 'retry-after': '7' } }, 'busy', 7_000],
    ['a breakdown without JSON', { status: 502, body: '<html>' }, 'busy'],
    ['a gateway that gave up', { status: 504 }, 'unsure'],
  ],
  check: [
    ['a good key', { status: 200, body: '"PONG!"' }, 'good'],
    ['a good key, as the older call says it', { status: 200, body: { PING: 'PONG!' } }, 'good'],
    ['a bad key', failure('Invalid_Key'), 'bad: apiKey'],
    ['trouble', { status: 500 }, 'bad'],
    ['something else', { status: 200, body: '<html>' }, 'bad'],
  ],
  receipts: {
    key,
    cases: [
      event('send', 'sent'),
      event('delivered', 'delivered', { diag: '250 OK' }, '250 OK'),
      event('deferral', 'deferred'),
      event('hard_bounce', 'bounced', { bounce_description: 'bad_mailbox' }, 'bad_mailbox'),
      event('soft_bounce', 'deferred', { diag: 'smtp;552 full', bounce_description: 'mailbox_full' }, 'smtp;552 full'),
      event('reject', 'rejected'),
      event('open', 'opened'),
      event('click', 'clicked'),
      event('spam', 'complained'),
      event('unsub', 'unsubscribed'),
      {
        name: 'many events, with those of lists and of mails to us',
        call: posted([
          eventOf('send'),
          { type: 'blacklist', action: 'add', ts: 1767268805 },
          { event: 'inbound', ts: 1767268805, msg: { email: 'zoe@example.org' } },
          eventOf('open'),
        ]),
        expected: [
          { status: 'sent', ...receipt },
          { status: 'opened', ...receipt },
        ],
      },
    ],
    unbelievable: [{ name: 'another key', call: posted([eventOf('open')], 'another-key') }],
    greetings: [
      { name: 'a first try', call: posted([], 'test-webhook'), answer: 'ok' },
      { name: 'events are no greeting', call: posted([eventOf('open')], 'test-webhook'), answer: undefined },
    ],
  },
}
