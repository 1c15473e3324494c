// Mandrill (Mailchimp Transactional), "Send new message".
// https://mailchimp.com/developer/transactional/api/messages/send-new-message/
import { isFields } from '../../domain/merged.ts'
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'
import type { OutboundRequest } from '../../world/world.ts'
import { baseAddress, emailSender, ofVisibleAscii, optional, ownBaseUrl, secret, text } from '../form.ts'
import { httpProvider } from '../http-provider.ts'
import { bad, good } from '../provider.ts'
import { settingsOf } from '../settings.ts'
import { filled, isInline, variablesOf } from './email-body.ts'
import type { AddressedEmail } from './email-message.ts'
import { addressed, wholeEmail } from './email-message.ts'
import { errorOutcome, mandrillOutcome, mandrillWords } from './mandrill-outcome.ts'
import { mandrillReceipts } from './mandrill-receipts.ts'

const ownMembers = ['key', 'ip_pool', 'raw_message', 'to']
/** Beneath `message`; `bcc_address` would send a copy to a recipient whom the message does not name. */
const ownMessageMembers = [
  'from_email',
  'from_name',
  'to',
  'bcc_address',
  'subject',
  'html',
  'text',
  'headers',
  'attachments',
  'images',
  'metadata',
  'tags',
  'preserve_recipients',
]
/** The most that Mandrill stores with a message. */
const metadataMax = 10
/** A longer tag, or one with `_` before it, makes the whole message fail. */
const tagLengthMax = 50

export const mandrill = httpProvider({
  id: 'mandrill',
  channel: 'email',
  name: 'Mandrill (Mailchimp Transactional)',
  docsUrl: 'https://mailchimp.com/developer/transactional/api/messages/send-new-message/',
  evidence: {
    source: 'vendor',
    unsure: 'How many metadata fields a message may have; the webhook signature is known from third-party code.',
  },
  form: {
    apiKey: secret('API key', { mistake: ofVisibleAscii }),
    ...emailSender,
    ipPoolName: optional(text('IP pool')),
    secretKey: optional(
      secret('Webhook key', {
        description: 'Proves that delivery receipts come from Mandrill.',
        mistake: ofVisibleAscii,
      }),
    ),
    baseUrl: ownBaseUrl('Mandrill'),
  },
  features: [...wholeEmail, 'tags', 'metadata', 'IP pool', 'sender per message'],
  recipientMembers: ['message.to', 'message.bcc_address', 'key'],
  receipts: mandrillReceipts,
  probe: {
    request: (account) => posted(account, '/users/ping', { key: account.apiKey }),
    result(answer) {
      if (answer.status === 200 && answer.body.includes('PONG!')) return good
      const words = mandrillWords(answer)
      return bad(words, errorOutcome(answer).kind === 'misconfigured' ? 'apiKey' : undefined)
    },
  },

  request(message, account) {
    const email = addressed(message, account)
    if ('kind' in email) return email
    return posted(account, '/messages/send', {
      key: account.apiKey,
      async: false,
      ...settingsBeside(message),
      message: messageOf(email),
      ...filled({ ip_pool: email.ipPoolName ?? account.ipPoolName }),
    })
  },

  outcome: mandrillOutcome,
})

function posted(
  { baseUrl }: { readonly baseUrl?: string },
  path: '/messages/send' | '/users/ping',
  body: object,
): OutboundRequest {
  const origin = baseUrl === undefined ? 'https://mandrillapp.com' : baseAddress(baseUrl)
  // It may name another version of the API.
  const base = /\/api\/\d\.\d$/.test(origin) ? origin : `${origin}/api/1.0`
  return {
    url: `${base}${path}`,
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
}

/** Settings of the request, such as `send_at`; those of the message are within `message`. */
function settingsBeside(message: EmailMessage): object {
  const { message: _settings, ...rest } = settingsOf(message, ownMembers)
  return rest
}

function settingsWithin({ customData = {} }: EmailMessage): object {
  const { message } = customData
  return isFields(message) ? settingsOf({ customData: message }, ownMessageMembers) : {}
}

function messageOf(email: AddressedEmail): object {
  const people = (addresses: readonly string[], type: string) => addresses.map((address) => ({ email: address, type }))
  const files = email.attachments
  const images = files.filter(isImage)
  return {
    ...settingsWithin(email),
    ...filled({ from_email: email.from, from_name: email.senderName }),
    to: [...people(email.to, 'to'), ...people(email.cc, 'cc'), ...people(email.bcc, 'bcc')],
    subject: email.subject,
    ...filled({
      html: email.html,
      text: email.text,
      headers: filled({ 'Reply-To': email.replyTo, ...email.headers }),
      attachments: files
        .filter((file) => !isImage(file))
        .map(({ name, mime, content }) => ({ type: mime, name, content })),
      images: images.map(({ cid, mime, content }) => ({ type: mime, name: cid, content })),
      metadata: metadataOf(email),
      tags: tagsOf(email),
    }),
    // One message that shows all recipients, not one for each of them.
    preserve_recipients: true,
  }
}

const isImage = (file: AddressedEmail['attachments'][number]): boolean => isInline(file) && /^image\//i.test(file.mime)

function metadataOf(email: EmailMessage): Record<string, string> {
  const { message_id: id = '', ...others } = variablesOf(email)
  return Object.fromEntries([['message_id', id], ...Object.entries(others)].slice(0, metadataMax))
}

const tagsOf = ({ tags }: EmailMessage): string[] => [
  ...new Set(tags.map((tag) => tag.replace(/^_+/, '').slice(0, tagLengthMax)).filter((tag) => tag !== '')),
]
