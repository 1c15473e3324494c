// Brevo (formerly Sendinblue), "Send a transactional email".
// https://developers.brevo.com/reference/send-transac-email
import { isIP } from 'node:net'
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'
import { brevoRetryAfterMsOf } from '../brevo-limit.ts'
import { baseAddress, emailSender, ofVisibleAscii, optional, ownBaseUrl, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { eventsOf, timestampOf } from '../inbound/inbound-body.ts'
import type { ReceiptReader, ReceiptStatus } from '../inbound/receipt.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { readingOfJson } from '../reading.ts'
import { settingsOf } from '../settings.ts'
import { filled, htmlOf, people, senderOf, variablesOf } from './email-body.ts'
import type { AddressedEmail } from './email-message.ts'
import { addressed } from './email-message.ts'

/** `messageVersions` would name recipients of its own. */
const ownMembers = [
  'sender',
  'to',
  'cc',
  'bcc',
  'replyTo',
  'subject',
  'htmlContent',
  'textContent',
  'attachment',
  'headers',
  'tags',
  'messageVersions',
]
/** Longer names are refused. */
const nameLengthMax = 70
/** Returned with every receipt. */
const customHeader = 'X-Mailin-custom'

/** The names of events without case and underscores: they are spelled in several ways. */
const statuses: Readonly<Record<string, ReceiptStatus>> = {
  request: 'queued',
  delivered: 'delivered',
  deferred: 'deferred',
  softbounce: 'deferred',
  hardbounce: 'bounced',
  invalidemail: 'bounced',
  blocked: 'rejected',
  error: 'failed',
  spam: 'complained',
  complaint: 'complained',
  unsubscribed: 'unsubscribed',
  unsubscribe: 'unsubscribed',
  opened: 'opened',
  uniqueopened: 'opened',
  proxyopen: 'opened',
  uniqueproxyopen: 'opened',
  click: 'clicked',
}

const receipts: ReceiptReader<object> = {
  setUp:
    'Add this URL as a webhook with the signing key as its Bearer token, as the Basic auth password or as `?token=`: Brevo does not sign its requests.',
  read: (call) =>
    eventsOf(call).flatMap((event) => {
      const name = (event.string('event') ?? '').replaceAll('_', '').toLowerCase()
      return receiptOf({
        status: Object.hasOwn(statuses, name) ? statuses[name] : undefined,
        reference: readingOfJson(event.string(customHeader) ?? '').string('message_id'),
        providerMessageId: event.id('message-id'),
        address: event.string('email'),
        // The other timestamps are in the account's time zone.
        at: timestampOf(event.number('ts_epoch')),
        words: event.string('reason'),
        row: event.value(''),
      })
    }),
}

export const sendinblue = httpProvider({
  id: 'sendinblue',
  channel: 'email',
  name: 'Brevo (formerly Sendinblue)',
  docsUrl: 'https://developers.brevo.com/reference/send-transac-email',
  evidence: {
    source: 'vendor',
    unsure:
      'The response to a repeated request with the same idempotency key; event names are taken from observed requests.',
  },
  // By `idempotencyKey`, for half an hour.
  idempotent: true,
  form: {
    apiKey: secret('API key', { placeholder: 'xkeysib-…', mistake: ofVisibleAscii }),
    ...emailSender,
    ipPoolName: optional(
      text('Dedicated IP address', {
        description: 'Brevo has no IP pools; set a dedicated IP address of the account.',
        mistake: (value) => (isIP(value) === 0 ? 'must be an IP address' : undefined),
      }),
    ),
    baseUrl: ownBaseUrl('Brevo'),
  },
  features: [
    'several recipients',
    'cc and bcc',
    'reply-to',
    'attachments',
    'headers',
    'tags',
    'metadata',
    'sender per message',
  ],
  limits: { perSecond: 1_000 },
  // The key too: with another one a repeat would be sent again.
  recipientMembers: ['to', 'cc', 'bcc', 'messageVersions', 'headers.idempotencyKey'],
  receipts,
  probe: {
    request: (account) => ({ url: `${originOf(account)}/v3/account`, method: 'GET', headers: headersOf(account) }),
    field: 'apiKey',
    words: ['message'],
  },

  request(message, account) {
    const email = addressed(message, account)
    if ('kind' in email) return email
    return {
      url: `${originOf(account)}/v3/smtp/email`,
      method: 'POST',
      headers: { ...headersOf(account), 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf(email, account.ipPoolName)),
    }
  },

  outcome(answer, message) {
    if (answer.status === 201 || answer.status === 202) {
      const id = answer.id('messageId') ?? answer.id('messageIds.0')
      return id === undefined ? unsure(wordsOf('Brevo', answer, 'message')) : sent(id)
    }
    return trouble(answer, message)
  },
})

interface Account {
  readonly apiKey: string
  readonly baseUrl?: string
}

const originOf = ({ baseUrl }: Account): string =>
  baseUrl === undefined ? 'https://api.brevo.com' : baseAddress(baseUrl)

const headersOf = ({ apiKey }: Account): Record<string, string> => ({ 'api-key': apiKey, accept: 'application/json' })

function bodyOf(email: AddressedEmail, ownAddress: string | undefined): object {
  const { senderName = '' } = email
  return {
    ...settingsOf(email, ownMembers),
    sender: senderOf({ ...email, senderName: senderName.slice(0, nameLengthMax) }),
    ...filled({
      to: people(email.to),
      cc: people(email.cc),
      bcc: people(email.bcc),
      replyTo: email.replyTo === undefined ? undefined : { email: email.replyTo },
    }),
    subject: email.subject,
    // Without a template it must not be missing.
    htmlContent: htmlOf(email),
    ...filled({
      textContent: email.text,
      // The type is guessed from the name, and an image cannot be referred to from the text.
      attachment: email.attachments.map(({ name, content }) => ({ name: name === '' ? 'file.txt' : name, content })),
      tags: email.tags,
    }),
    headers: ownHeaders(email, ownAddress),
  }
}

function ownHeaders(email: AddressedEmail, ownAddress: string | undefined): Record<string, string> {
  const address = [email.ipPoolName, ownAddress].find((one) => one !== undefined && isIP(one) !== 0)
  return {
    ...Object.fromEntries(Object.entries(email.headers).map(([name, value]) => [titled(name), value])),
    [customHeader]: inAscii(JSON.stringify(variablesOf(email))),
    ...(address === undefined ? {} : { 'sender.ip': address }),
    idempotencyKey: email.id,
  }
}

/** `x-kind` as `X-Kind`, as Brevo expects it. */
const titled = (name: string): string => name.replaceAll(/(?:^|-)[a-z]/g, (start) => start.toUpperCase())

/** JSON that a header can hold. */
const inAscii = (json: string): string =>
  json.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** The account lacks something that the message needs. */
const accountCodes: ReadonlySet<string> = new Set([
  'unauthorized',
  'permission_denied',
  'not_enough_credits',
  'account_under_validation',
])

function trouble(answer: ProviderAnswer, message: EmailMessage): Outcome {
  const code = answer.string('code') ?? ''
  const said = answer.string('message') ?? ''
  const words = `${wordsOf('Brevo', answer, 'message')}${code === '' ? '' : ` (${code})`}`
  if (answer.status === 429) return busy(words, brevoRetryAfterMsOf(answer))
  // A repeat: the first request was accepted, and its response lost on the way. Receipts find it by our id. A complaint
  // about the key itself is different.
  const isRepeat = code === 'duplicate_request' || (/idempotency/i.test(said) && /already|used|duplicate/i.test(said))
  if (answer.status >= 400 && answer.status < 500 && isRepeat) return sent(message.id, words)
  if (accountCodes.has(code) || answer.status === 402) return misconfigured(words)
  if (answer.status !== 400) return outcomeOfStatus(answer, words)
  // One code for whatever is wrong; the member is named at the end.
  if (/ in (?:to|cc|bcc)\b/.test(said)) return refused('bad-recipient', words)
  // The account's, unless the message named it.
  if (/\bsender\b/i.test(said) && message.from === undefined) return misconfigured(words)
  return refused('bad-content', words)
}
