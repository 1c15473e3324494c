// Postmark, "Send a single email" and "Send batch emails".
// https://postmarkapp.com/developer/api/email-api
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'
import type { OutboundRequest } from '../../world/world.ts'
import { baseAddress, emailSender, ofVisibleAscii, optional, ownBaseUrl, secret, text } from '../form.ts'
import { httpProvider } from '../http-provider.ts'
import { settingsOf } from '../settings.ts'
import { sharedKey } from './email-batch.ts'
import { filledIn, isInline } from './email-body.ts'
import type { AddressedEmail } from './email-message.ts'
import { addressed, wholeEmail } from './email-message.ts'
import { mailbox } from './mailbox.ts'
import { postmarkReceipts, postmarkReplies } from './postmark-inbound.ts'
import { postmarkOutcome, postmarkOutcomes } from './postmark-outcome.ts'

/** `kind` is not a field of Postmark's: an item with one could be mistaken for an Outcome. */
const ownMembers = [
  'kind',
  'From',
  'To',
  'Cc',
  'Bcc',
  'ReplyTo',
  'Subject',
  'HtmlBody',
  'TextBody',
  'Headers',
  'Attachments',
  'Metadata',
  'Tag',
]
/** The most that Postmark accepts: entries, characters of a name, characters of a value. */
const metadataMax = { entries: 10, name: 20, value: 80 }
/** A batch is at most 50 MB: 500 messages of this size fit, however their JSON is encoded. */
const batchedBytesMax = 16_000

export const postmark = httpProvider({
  id: 'postmark',
  channel: 'email',
  name: 'Postmark',
  docsUrl: 'https://postmarkapp.com/developer/api/email-api',
  evidence: { source: 'vendor', unsure: 'The maximum length of metadata names and values.' },
  form: {
    apiKey: secret('Server API token', { mistake: ofVisibleAscii }),
    ...emailSender,
    channelId: optional(text('Message stream', { description: 'Default: `outbound`.', placeholder: 'outbound' })),
    baseUrl: ownBaseUrl('Postmark'),
  },
  features: [...wholeEmail, 'tags', 'metadata', 'sender per message'],
  limits: { recipientsMax: 50, messageBytesMax: 10 * 1024 * 1024 },
  recipientMembers: ['To', 'Cc', 'Bcc'],
  receipts: postmarkReceipts,
  replies: postmarkReplies,
  probe: {
    request: (account) => ({ url: `${originOf(account)}/server`, method: 'GET', headers: headersOf(account) }),
    field: 'apiKey',
    words: ['Message'],
  },

  request(message, account) {
    const email = addressed(message, account)
    return 'kind' in email ? email : posted(account, '/email', bodyOf(email, account.channelId))
  },

  outcome: (answer, message) => postmarkOutcome(answer, answer, message),

  batch: {
    max: 500,
    key: (message) => sharedKey(message, batchedBytesMax),
    item(message, account) {
      const email = addressed(message, account)
      return 'kind' in email ? email : bodyOf(email, account.channelId)
    },
    request: (items, account) => posted(account, '/email/batch', items),
    outcomes: postmarkOutcomes,
  },
})

interface Account {
  readonly apiKey: string
  readonly baseUrl?: string
}

const originOf = ({ baseUrl }: Account): string =>
  baseUrl === undefined ? 'https://api.postmarkapp.com' : baseAddress(baseUrl)

const headersOf = ({ apiKey }: Account): Record<string, string> => ({
  'x-postmark-server-token': apiKey,
  accept: 'application/json',
})

function posted(account: Account, path: string, body: object): OutboundRequest {
  return {
    url: `${originOf(account)}${path}`,
    method: 'POST',
    headers: { ...headersOf(account), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
}

function bodyOf(email: AddressedEmail, stream = 'outbound'): object {
  const body = filledIn(
    { MessageStream: stream, ...settingsOf(email, ownMembers) },
    {
      From: mailbox(email.from, email.senderName),
      To: email.to.join(', '),
      Cc: email.cc.join(', '),
      Bcc: email.bcc.join(', '),
      ReplyTo: email.replyTo,
      Subject: email.subject,
      HtmlBody: email.html,
      TextBody: email.text,
      Headers: Object.entries(email.headers).map(([Name, Value]) => ({ Name, Value })),
      Attachments: email.attachments.map(attachmentOf),
      Metadata: metadataOf(email),
      // Only one is allowed.
      Tag: email.tags[0],
    },
  )
  // Even if empty: without it Postmark rejects the message.
  body['Subject'] ??= email.subject
  return body
}

function attachmentOf(attachment: AddressedEmail['attachments'][number]): object {
  const { name, mime, content, cid } = attachment
  return {
    Name: name === '' ? 'file' : name,
    Content: content,
    ContentType: mime,
    ...(isInline(attachment) ? { ContentID: `cid:${cid}` } : {}),
  }
}

/** Our id first. What does not fit is left out: one entry that is too long would reject the whole message. */
function metadataOf({ id, metadata }: EmailMessage): Record<string, string> {
  const kept: Record<string, string> = { message_id: id }
  let entries = 1
  for (const [name, value] of Object.entries(metadata)) {
    const fits = name.length <= metadataMax.name && value.length <= metadataMax.value && entries < metadataMax.entries
    if (name === 'message_id' || !fits) continue
    kept[name] = value
    entries += 1
  }
  return kept
}
