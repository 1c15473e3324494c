// SendGrid, "Mail Send" of the v3 API.
// https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send
import type { RefusalReason } from '../../domain/delivery/outcome.ts'
import { busy, refused, sent } from '../../domain/delivery/outcome.ts'
import type { Fields } from '../../domain/merged.ts'
import { isFields } from '../../domain/merged.ts'
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'
import { baseAddress, choice, emailSender, ofVisibleAscii, optional, ownBaseUrl, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { bad, good } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { resetMsOf, retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import { readingOf } from '../reading.ts'
import { dispositionOf } from './email-body.ts'
import type { AddressedEmail } from './email-message.ts'
import { addressed, wholeEmail } from './email-message.ts'
import { sendgridReceipts, sendgridReplies } from './sendgrid-inbound.ts'

const origins = { global: 'https://api.sendgrid.com', eu: 'https://api.eu.sendgrid.com' }
/** The most that SendGrid accepts. */
const categoriesMax = 10
const categoryLengthMax = 255

export const sendgrid = httpProvider({
  id: 'sendgrid',
  channel: 'email',
  name: 'SendGrid',
  docsUrl: 'https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send',
  evidence: { source: 'vendor' },
  form: {
    apiKey: secret('API key', { placeholder: 'SG.…', mistake: ofVisibleAscii }),
    ...emailSender,
    region: optional(choice('Region', ['global', 'eu'], { description: '`eu` for accounts in the EU region.' })),
    ipPoolName: optional(text('IP pool')),
    secretKey: optional(
      secret('Event webhook verification key', { description: 'Proves that delivery receipts come from SendGrid.' }),
    ),
    baseUrl: ownBaseUrl('SendGrid'),
  },
  features: [...wholeEmail, 'tags', 'metadata', 'IP pool', 'sender per message'],
  limits: { recipientsMax: 1_000, messageBytesMax: 30 * 1024 * 1024 },
  recipientMembers: ['personalizations', 'mail_settings.bcc'],
  receipts: sendgridReceipts,
  replies: sendgridReplies,
  probe: {
    request: (account) => ({
      url: `${originOf(account)}/v3/scopes`,
      method: 'GET',
      headers: { authorization: `Bearer ${account.apiKey}`, accept: 'application/json' },
    }),
    result(answer) {
      if (answer.status === 401) return bad(wordsOf('SendGrid', answer, 'errors.0.message'), 'apiKey')
      // A key that may not list its own scopes is valid, only restricted.
      if (answer.status === 403) return good
      if (answer.status !== 200) return bad(wordsOf('SendGrid', answer, 'errors.0.message'))
      return answer.list('scopes').includes('mail.send')
        ? good
        : bad('This key is not allowed to send: it lacks the scope mail.send', 'apiKey')
    },
  },

  request(message, account) {
    const email = addressed(message, account)
    if ('kind' in email) return email
    return {
      url: `${originOf(account)}/v3/mail/send`,
      method: 'POST',
      headers: {
        authorization: `Bearer ${account.apiKey}`,
        accept: 'application/json',
        'content-type': 'application/json',
      },
      body: JSON.stringify(bodyOf(email, account.ipPoolName)),
    }
  },

  outcome(answer, message) {
    // In the sandbox a message is validated and goes no further; only there is the response a 200.
    const isTaken = answer.status === 202 || (answer.status === 200 && isSandboxed(message))
    if (isTaken) return sent(answer.headers.get('x-message-id') ?? message.id)
    const words = errorWords(answer)
    if (answer.status === 429) return busy(words, retryAfterMsOf(answer) ?? resetMsOf(answer, 'x-ratelimit-reset'))
    if (answer.status === 400 || answer.status === 413) return refused(reasonOf(answer), words)
    return outcomeOfStatus(answer, words)
  },
})

function originOf({ region, baseUrl }: { region?: string | undefined; baseUrl?: string | undefined }): string {
  if (baseUrl !== undefined) return baseAddress(baseUrl)
  return region === 'eu' ? origins.eu : origins.global
}

function bodyOf(email: AddressedEmail, ownPool: string | undefined): object {
  const people = (addresses: readonly string[]) => addresses.map((address) => ({ email: address }))
  const pool = email.ipPoolName ?? ownPool
  const categories = [...new Set(email.tags)].slice(0, categoriesMax).map((tag) => tag.slice(0, categoryLengthMax))
  return {
    // Settings such as `asm` or `tracking_settings`; they cannot override the message itself.
    ...withoutBlindCopy(email.customData ?? {}),
    personalizations: [
      {
        to: people(email.to),
        ...(email.cc.length === 0 ? {} : { cc: people(email.cc) }),
        ...(email.bcc.length === 0 ? {} : { bcc: people(email.bcc) }),
      },
    ],
    from: { email: email.from, ...(email.senderName === undefined ? {} : { name: email.senderName }) },
    ...(email.replyTo === undefined ? {} : { reply_to: { email: email.replyTo } }),
    subject: email.subject,
    // An empty value is refused, and so is HTML before text.
    content: [
      ...(email.text === '' ? [] : [{ type: 'text/plain', value: email.text }]),
      ...(email.html === '' ? [] : [{ type: 'text/html', value: email.html }]),
    ],
    ...(email.attachments.length === 0 ? {} : { attachments: email.attachments.map(attachmentOf) }),
    ...(Object.keys(email.headers).length === 0 ? {} : { headers: email.headers }),
    custom_args: { ...email.metadata, message_id: email.id },
    ...(categories.length === 0 ? {} : { categories }),
    ...(pool === undefined ? {} : { ip_pool_name: pool }),
  }
}

function isSandboxed({ customData, passthrough }: EmailMessage): boolean {
  const path = 'mail_settings.sandbox_mode.enable'
  return [customData, passthrough?.body].some((given) => readingOf(given).flag(path) === true)
}

/** A setting that sends a copy to a recipient whom the message does not name. */
function withoutBlindCopy(settings: Fields): Fields {
  const { mail_settings: mailSettings } = settings
  if (!isFields(mailSettings)) return settings
  const { bcc: _copy, ...rest } = mailSettings
  return { ...settings, mail_settings: rest }
}

function attachmentOf(attachment: AddressedEmail['attachments'][number]): object {
  const { name, mime, content, cid } = attachment
  return {
    content,
    type: mime,
    filename: name,
    disposition: dispositionOf(attachment),
    ...(cid === undefined ? {} : { content_id: cid }),
  }
}

/** All of SendGrid's complaints, each with the field it is about. */
function errorWords(answer: ProviderAnswer): string {
  const complaints = answer.list('errors').flatMap((_error, index) => {
    const message = answer.string(`errors.${index}.message`)
    const field = answer.string(`errors.${index}.field`)
    return message === undefined ? [] : [field === undefined ? message : `${message} (${field})`]
  })
  if (complaints.length === 0) return wordsOf('SendGrid', answer)
  return `SendGrid answered ${answer.status}: ${complaints.join('; ')}`
}

function reasonOf(answer: ProviderAnswer): RefusalReason {
  const field = answer.string('errors.0.field') ?? ''
  if (/^personalizations\.\d+\.(to|cc|bcc)\b/.test(field)) return 'bad-recipient'
  return answer.status === 413 || /^(subject|content|attachments|headers|from|reply_to)\b/.test(field)
    ? 'bad-content'
    : 'other'
}
