// Resend, "Send Email" and "Send Batch Emails".
// https://resend.com/docs/api-reference/emails/send-email
import { createHash } from 'node:crypto'
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'
import { baseAddress, emailSender, ofVisibleAscii, optional, ownBaseUrl, secret } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { bad, good } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { sharedKey } from './email-batch.ts'
import { filled, tagPairsOf } from './email-body.ts'
import { addressed, wholeEmail } from './email-message.ts'
import { mailbox } from './mailbox.ts'
import { resendReceipts } from './resend-receipts.ts'

/** `kind` is not a field of Resend's: an item with one would be mistaken for an Outcome. */
const ownMembers = [
  'kind',
  'from',
  'to',
  'cc',
  'bcc',
  'reply_to',
  'subject',
  'html',
  'text',
  'headers',
  'attachments',
  'tags',
]
/** The most that a message may have. */
const tagsMax = 50
/** A message is at most 40 MB: a hundred of this size are no more together, however their JSON is encoded. */
const batchedBytesMax = 64_000
/** A daily or monthly quota: it does not recover within minutes. */
const quotaPauseMs = 3_600_000

export const resend = httpProvider({
  id: 'resend',
  channel: 'email',
  name: 'Resend',
  docsUrl: 'https://resend.com/docs/api-reference/emails/send-email',
  evidence: { source: 'vendor' },
  form: {
    apiKey: secret('API key', { placeholder: 're_…', mistake: ofVisibleAscii }),
    ...emailSender,
    secretKey: optional(
      secret('Webhook signing secret', {
        description: 'Proves that delivery receipts come from Resend.',
        placeholder: 'whsec_…',
        mistake: ofVisibleAscii,
      }),
    ),
    baseUrl: ownBaseUrl('Resend'),
  },
  features: [...wholeEmail, 'tags', 'metadata', 'sender per message'],
  limits: { recipientsMax: 50, messageBytesMax: 40 * 1024 * 1024, perSecond: 2 },
  recipientMembers: ['to', 'cc', 'bcc'],
  receipts: resendReceipts,
  probe: {
    request: (account) => ({ ...asked(account, '/domains'), method: 'GET' }),
    result(answer) {
      // A key that may only send is valid.
      if (answer.status === 200 || answer.string('name') === 'restricted_api_key') return good
      return bad(wordsOf('Resend', answer, 'message'), [400, 401, 403].includes(answer.status) ? 'apiKey' : undefined)
    },
  },

  request(message, account) {
    const body = bodyOf(message, account)
    if ('kind' in body) return body
    return asked(account, '/emails', JSON.stringify(body), message.id)
  },

  outcome(answer) {
    const words = wordsOf('Resend', answer, 'message')
    if (answer.status === 200) {
      const id = answer.id('id')
      return id === undefined ? unsure(words) : sent(id)
    }
    return failureOf(answer, words)
  },

  batch: {
    max: 100,
    // Neither attachments nor scheduled times are accepted there.
    key: (message) =>
      message.customData !== undefined && 'scheduled_at' in message.customData
        ? undefined
        : sharedKey(message, batchedBytesMax),
    item: bodyOf,
    request(items, account) {
      const body = JSON.stringify(items)
      const request = asked(account, '/emails/batch', body, createHash('sha256').update(body).digest('hex'))
      // One message that Resend rejects must not cost the others.
      return { ...request, headers: { ...request.headers, 'x-batch-validation': 'permissive' } }
    },
    outcomes: batchOutcomes,
  },
})

function asked(
  { apiKey, baseUrl }: { readonly apiKey: string; readonly baseUrl?: string },
  path: string,
  body?: string,
  key?: string,
) {
  return {
    url: `${baseUrl === undefined ? 'https://api.resend.com' : baseAddress(baseUrl)}${path}`,
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { body }),
  }
}

interface Mail {
  readonly from: string
}

function bodyOf(
  message: EmailMessage,
  account: { readonly from: string; readonly senderName?: string },
): Mail | Outcome {
  const email = addressed(message, account)
  if ('kind' in email) return email
  return {
    ...settingsOf(message, ownMembers),
    from: mailbox(email.from, email.senderName),
    ...filled({
      to: email.to,
      cc: email.cc,
      bcc: email.bcc,
      reply_to: email.replyTo,
      subject: email.subject,
      html: email.html,
      text: email.text,
      headers: email.headers,
      attachments: email.attachments.map(({ name, mime, content, cid }) =>
        filled({ filename: name, content, content_type: mime, content_id: cid }),
      ),
      tags: tagPairsOf(email, tagsMax).map(([name, value]) => ({ name, value })),
    }),
  }
}

function failureOf(answer: ProviderAnswer, words: string): Outcome {
  const { status } = answer
  switch (answer.string('name')) {
    case 'missing_api_key':
    case 'restricted_api_key':
    case 'invalid_api_key':
      return misconfigured(words)
    case 'concurrent_idempotent_requests':
      return busy(words, retryAfterMsOf(answer))
    case 'daily_quota_exceeded':
    case 'monthly_quota_exceeded':
      return busy(words, retryAfterMsOf(answer) ?? quotaPauseMs)
    case 'invalid_idempotency_key':
      return refused('other', words)
    default:
      if (status === 400 || status === 422 || status === 413) return refused('bad-content', words)
      return outcomeOfStatus(answer, words)
  }
}

/** `data` holds those that were accepted, in their order; `errors` names the others by index. */
function batchOutcomes(answer: ProviderAnswer, messages: readonly EmailMessage[]): readonly Outcome[] {
  const words = wordsOf('Resend', answer, 'message')
  if (answer.status !== 200) return messages.map(() => failureOf(answer, words))
  const complaints = new Map(answer.items('errors').map((one) => [one.number('index'), one.string('message')]))
  const ids = answer.list('data').map((_one, index) => answer.id(`data.${index}.id`))
  const isWhole = ids.length === messages.filter((_message, index) => !complaints.has(index)).length
  const given = ids.values()
  return messages.map((_message, index) => {
    if (complaints.has(index)) return refused('bad-content', complaints.get(index) ?? words)
    const id = given.next().value
    return isWhole && id !== undefined ? sent(id) : unsure(words)
  })
}
