// Netcore Cloud (formerly Pepipost), "Send Mail" of the v5.1 API.
// https://emaildocs.netcorecloud.com/reference/send-mail-api-1
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import { isFields } from '../../domain/merged.ts'
import { baseAddress, choice, emailSender, ofVisibleAscii, optional, ownBaseUrl, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { eventsOf, timestampOf } from '../inbound/inbound-body.ts'
import type { Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import { letIn } from '../negative-probe.ts'
import { wordsOf } from '../provider-answer.ts'
import type { Reading } from '../reading.ts'
import { settingsOf } from '../settings.ts'
import { filled, htmlOf, people, senderOf } from './email-body.ts'
import type { AddressedEmail } from './email-message.ts'
import { addressed } from './email-message.ts'

const origins = { global: 'https://emailapi.netcorecloud.net', eu: 'https://apieu.netcorecloud.net' }
const ownMembers = [
  'from',
  'reply_to',
  'subject',
  'content',
  'personalizations',
  'attachments',
  'tags',
  'settings',
  'bcc',
]
/** Where the vendor says what is wrong; its documentation and its responses do not agree. */
const wordPaths = [
  'error_info.0.message',
  'error.0.message',
  'error_info.0.description',
  'error.0.description',
  'message',
]

export const netcore = httpProvider({
  id: 'netcore',
  channel: 'email',
  name: 'Netcore',
  docsUrl: 'https://emaildocs.netcorecloud.com/reference/send-mail-api-1',
  evidence: {
    source: 'partly',
    unsure: 'Errors are poorly documented, and there is an API v6 whose path could not be confirmed.',
  },
  form: {
    apiKey: secret('API key', { mistake: ofVisibleAscii }),
    ...emailSender,
    region: optional(choice('Region', ['global', 'eu'], { description: '`eu` for accounts in Europe.' })),
    ipPoolName: optional(text('IP pool')),
    baseUrl: ownBaseUrl('Netcore'),
  },
  features: [
    'several recipients',
    'cc and bcc',
    'reply-to',
    'attachments',
    'headers',
    'tags',
    'IP pool',
    'sender per message',
  ],
  recipientMembers: ['personalizations', 'bcc'],
  receipts: {
    setUp:
      'Add this URL as a webhook, with `?token=` and the signing key appended. Netcore does not sign its requests, so the key in the URL authenticates them.',
    read: (call) => eventsOf(call).flatMap(receiptsOf),
  },
  probe: {
    request: (account) => ({ ...asked(account), body: '{}' }),
    result: letIn('Netcore', 'apiKey', ...wordPaths),
  },

  request(message, account) {
    const email = addressed(message, account)
    if ('kind' in email) return email
    const settings = message.customData?.['settings']
    const pool = email.ipPoolName ?? account.ipPoolName
    return {
      ...asked(account),
      body: JSON.stringify({
        ...settingsOf(message, ownMembers),
        ...bodyOf(email),
        ...filled({ settings: filled({ ...(isFields(settings) ? settings : {}), ...filled({ ip_pool: pool }) }) }),
      }),
    }
  },

  outcome(answer) {
    const words = wordsOf('Netcore', answer, ...wordPaths)
    if (answer.status === 200 || answer.status === 202) {
      const id = answer.id('data.message_id')
      if (id !== undefined) return sent(id)
      return answer.string('status') === 'error' ? refused('other', words) : unsure(words)
    }
    if (answer.status === 400) return refused('bad-content', words)
    return outcomeOfStatus(answer, words)
  },
})

interface Account {
  readonly apiKey: string
  readonly region?: string
  readonly baseUrl?: string
}

function asked({ apiKey, region, baseUrl }: Account) {
  const origin = baseUrl === undefined ? origins[region === 'eu' ? 'eu' : 'global'] : baseAddress(baseUrl)
  return {
    url: `${origin}/v5.1/mail/send`,
    method: 'POST',
    headers: { api_key: apiKey, accept: 'application/json', 'content-type': 'application/json' },
  }
}

function bodyOf(email: AddressedEmail): object {
  return filled({
    from: senderOf(email),
    reply_to: email.replyTo,
    subject: email.subject,
    // There is no part for plain text.
    content: [{ type: 'html', value: htmlOf(email) }],
    personalizations: [
      filled({
        to: people(email.to),
        cc: people(email.cc),
        bcc: people(email.bcc),
        // The only value returned with receipts: their ids differ from those of the answer.
        token_to: email.id,
        token_cc: email.cc.length === 0 ? undefined : email.id,
        token_bcc: email.bcc.length === 0 ? undefined : email.id,
        headers: email.headers,
      }),
    ],
    attachments: email.attachments.map(({ name, content }) => ({ name, content })),
    tags: email.tags,
  })
}

/** By their beginnings: the vendor's pages spell them in several ways. */
const statuses: readonly (readonly [beginning: string, status: ReceiptStatus])[] = [
  // Netcore says `sent` when the recipient's server has accepted it.
  ['sen', 'delivered'],
  ['deliver', 'delivered'],
  ['bounce', 'bounced'],
  ['invalid', 'bounced'],
  ['drop', 'rejected'],
  ['open', 'opened'],
  ['click', 'clicked'],
  ['unsub', 'unsubscribed'],
  ['abuse', 'complained'],
  ['spam', 'complained'],
]

function receiptsOf(event: Reading): readonly Receipt[] {
  const name = event.string('EVENT')?.toLowerCase() ?? ''
  const status = statuses.find(([beginning]) => name.startsWith(beginning))?.[1]
  const isSoft = status === 'bounced' && /^soft/i.test(event.string('BOUNCE_TYPE') ?? '')
  return receiptOf({
    status: isSoft ? 'deferred' : status,
    reference: event.id('X-APIHEADER'),
    address: event.string('EMAIL'),
    at: timestampOf(event.id('TIMESTAMP')),
    words: event.string('RESPONSE') ?? event.string('BOUNCE_REASON'),
    row: event.value(''),
  })
}
