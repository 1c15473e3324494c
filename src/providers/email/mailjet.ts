// Mailjet, "Send API v3.1".
// https://dev.mailjet.com/email/guides/send-api-v31/
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'
import type { OutboundRequest } from '../../world/world.ts'
import { baseAddress, choice, emailSender, ofVisibleAscii, optional, ownBaseUrl, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { eventsOf, timestampOf } from '../inbound/inbound-body.ts'
import type { ReceiptReader, ReceiptStatus } from '../inbound/receipt.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import type { Reading } from '../reading.ts'
import { readingOf } from '../reading.ts'
import { settingsOf } from '../settings.ts'
import { basicAuth } from '../signing/signing.ts'
import { sharedKey } from './email-batch.ts'
import { filled, isInline } from './email-body.ts'
import type { AddressedEmail } from './email-message.ts'
import { addressed, wholeEmail } from './email-message.ts'

/** Mailjet accepts some 15 MB per message: 50 of this size are no more, however their JSON is encoded. */
const batchedBytesMax = 50_000
const origins = { default: 'https://api.mailjet.com', us: 'https://api.us.mailjet.com' }
/**
 * Of a message, and of the whole request that would apply to every message in it. Mailjet has no `kind`: an item with
 * one could be mistaken for an Outcome.
 */
const ownMembers = [
  'kind',
  'From',
  'Sender',
  'To',
  'Cc',
  'Bcc',
  'ReplyTo',
  'Subject',
  'TextPart',
  'HTMLPart',
  'Attachments',
  'InlinedAttachments',
  'Headers',
  'CustomID',
  'EventPayload',
  'Messages',
  'Globals',
  'SandboxMode',
]

const statuses: Readonly<Record<string, ReceiptStatus>> = {
  // The receiving server accepted it.
  sent: 'delivered',
  open: 'opened',
  click: 'clicked',
  blocked: 'rejected',
  spam: 'complained',
  unsub: 'unsubscribed',
}

const receipts: ReceiptReader<object> = {
  setUp:
    'Set this URL for each event, with the signing key as user name or password (`https://posthorn:KEY@…`), or as `?token=`: Mailjet does not sign its requests.',
  read: (call) =>
    eventsOf(call).flatMap((event) =>
      receiptOf({
        status: statusOf(event),
        reference: event.string('CustomID'),
        providerMessageId: event.id('Message_GUID'),
        address: event.string('email'),
        at: timestampOf(event.number('time') ?? event.string('time')),
        words: [event.string('error'), event.string('comment')].filter(Boolean).join(': '),
        row: event.value(''),
      }),
    ),
}

function statusOf(event: Reading): ReceiptStatus | undefined {
  const name = event.string('event') ?? ''
  if (name === 'bounce') return event.flag('hard_bounce') === true ? 'bounced' : 'deferred'
  return Object.hasOwn(statuses, name) ? statuses[name] : undefined
}

export const mailjet = httpProvider({
  id: 'mailjet',
  channel: 'email',
  name: 'Mailjet',
  docsUrl: 'https://dev.mailjet.com/email/guides/send-api-v31/',
  evidence: { source: 'vendor', unsure: 'That one request can contain 50 messages.' },
  form: {
    apiKey: text('API key', { mistake: ofKey }),
    secretKey: secret('Secret key', { mistake: ofVisibleAscii }),
    ...emailSender,
    region: optional(choice('Region', ['default', 'us'], { description: '`us` for accounts of the US architecture.' })),
    baseUrl: ownBaseUrl('Mailjet'),
  },
  features: [...wholeEmail, 'metadata', 'sender per message'],
  recipientMembers: ['Messages', 'Globals'],
  receipts,
  probe: {
    request: (account) => ({
      url: `${originOf(account)}/v3/REST/sender?Limit=1`,
      method: 'GET',
      headers: headersOf(account),
    }),
    field: 'secretKey',
    words: ['ErrorMessage'],
  },

  request(message, account) {
    const email = addressed(message, account)
    if ('kind' in email) return email
    return posted(account, [bodyOf(email)], message.customData?.['SandboxMode'])
  },

  outcome: (answer, message) => outcomeOf(entriesOf(answer)[0], answer, message),

  batch: {
    max: 50,
    // The sandbox is for a whole request.
    key: (message) => (isSandboxed(message) ? undefined : sharedKey(message, batchedBytesMax)),
    item(message, account) {
      const email = addressed(message, account)
      return 'kind' in email ? email : bodyOf(email)
    },
    request: (items, account) => posted(account, items),
    outcomes(answer, messages) {
      const entries = entriesOf(answer)
      return messages.map((message, index) => outcomeOf(entries[index], answer, message))
    },
  },
})

interface Account {
  readonly apiKey: string
  readonly secretKey: string
  readonly region?: string
  readonly baseUrl?: string
}

/** A colon would end the user name in Basic authentication. */
function ofKey(value: string): string | undefined {
  return /^[\x21-\x39\x3b-\x7e]+$/.test(value) ? undefined : 'must be ASCII characters without spaces and colons'
}

function originOf({ region, baseUrl }: Account): string {
  if (baseUrl !== undefined) return baseAddress(baseUrl)
  return region === 'us' ? origins.us : origins.default
}

const headersOf = ({ apiKey, secretKey }: Account): Record<string, string> => ({
  authorization: basicAuth(apiKey, secretKey),
  accept: 'application/json',
})

function posted(account: Account, messages: readonly object[], sandbox?: unknown): OutboundRequest {
  return {
    url: `${originOf(account)}/v3.1/send`,
    method: 'POST',
    headers: { ...headersOf(account), 'content-type': 'application/json' },
    body: JSON.stringify({ Messages: messages, ...(sandbox === undefined ? {} : { SandboxMode: sandbox }) }),
  }
}

const people = (addresses: readonly string[]): object[] => addresses.map((Email) => ({ Email }))

function bodyOf(email: AddressedEmail): object {
  const files = email.attachments
  return {
    ...settingsOf(email, ownMembers),
    From: filled({ Email: email.from, Name: email.senderName }),
    ...filled({
      To: people(email.to),
      Cc: people(email.cc),
      Bcc: people(email.bcc),
      ReplyTo: email.replyTo === undefined ? undefined : { Email: email.replyTo },
    }),
    Subject: email.subject,
    ...filled({
      TextPart: email.text,
      HTMLPart: email.html,
      Attachments: files.filter((file) => !isInline(file)).map(attachmentOf),
      InlinedAttachments: files.filter(isInline).map((file) => ({ ...attachmentOf(file), ContentID: file.cid })),
      Headers: email.headers,
      CustomID: email.id,
      EventPayload: Object.keys(email.metadata).length === 0 ? undefined : JSON.stringify(email.metadata),
    }),
  }
}

function attachmentOf({ name, mime, content }: AddressedEmail['attachments'][number]): object {
  return {
    // Without a charset, which is refused.
    ContentType: mime.split(';')[0]?.trim(),
    Filename: name === '' ? 'file' : name,
    Base64Content: content,
  }
}

const isSandboxed = ({ customData }: EmailMessage): boolean => customData?.['SandboxMode'] !== undefined

const entriesOf = (answer: ProviderAnswer): readonly Reading[] => answer.items('Messages')

/** In a batch the status is that of a message which failed, although others went out: what counts is each entry. */
function outcomeOf(entry: Reading = readingOf(undefined), answer: ProviderAnswer, message: EmailMessage): Outcome {
  const state = entry.string('Status')
  if (state === 'success') {
    const id = entry.id('To.0.MessageUUID')
    if (id !== undefined) return sent(id)
    // In the sandbox a message is validated and goes no further, so it gets no id.
    return isSandboxed(message) ? sent(message.id) : unsure(wordsOf('Mailjet', answer))
  }
  if (state === 'error') return outcomeOfError(entry, answer, message)
  // Others are reported and this one is not: the status is theirs.
  if (answer.list('Messages').length > 0) return unsure(wordsOf('Mailjet', answer))
  return outcomeOfStatus(answer, withCode(wordsOf('Mailjet', answer, 'ErrorMessage'), answer.string('ErrorCode')))
}

function outcomeOfError(entry: Reading, answer: ProviderAnswer, { from }: EmailMessage): Outcome {
  const status = entry.number('Errors.0.StatusCode') ?? answer.status
  const said = entry.string('Errors.0.ErrorMessage') ?? ''
  const words = withCode(`Mailjet answered ${status}: ${said}`, entry.string('Errors.0.ErrorCode'))
  const members = entry.list('Errors.0.ErrorRelatedTo').filter((member) => typeof member === 'string')
  const isAbout = (pattern: RegExp): boolean => members.some((member) => pattern.test(member))
  if (isAbout(/^(?:To|Cc|Bcc)\b/)) return refused('bad-recipient', words)
  // The account's, unless the message named it.
  if (isAbout(/^(?:From|Sender)\b/)) return from === undefined ? misconfigured(words) : refused('bad-content', words)
  if (status === 400) return refused('bad-content', words)
  const outcome = outcomeOfStatus({ ...answer, status }, words)
  // This message certainly failed, whatever the number beside it.
  return outcome.kind === 'unsure' ? refused('other', words) : outcome
}

const withCode = (words: string, code: string | undefined): string =>
  code === undefined ? words : `${words} (${code})`
