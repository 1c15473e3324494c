// Plunk, "Send Email".
// https://docs.useplunk.com/api-reference/public-api/sendEmail
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import { baseAddress, emailSender, ofVisibleAscii, ownBaseUrl, secret } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { jsonOf, timestampOf } from '../inbound/inbound-body.ts'
import type { ReceiptStatus } from '../inbound/receipt.ts'
import { letIn } from '../negative-probe.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { filled, htmlOf, people, senderOf } from './email-body.ts'
import type { AddressedEmail } from './email-message.ts'
import { addressed } from './email-message.ts'
import { statusUnder } from './email-receipt.ts'

const ownMembers = ['to', 'from', 'name', 'reply', 'subject', 'body', 'headers', 'attachments']
const attachmentsMax = 10

const statuses: Readonly<Record<string, ReceiptStatus>> = {
  'email.sent': 'sent',
  'email.delivery': 'delivered',
  'email.open': 'opened',
  'email.click': 'clicked',
  'email.bounce': 'bounced',
  'email.complaint': 'complained',
}

export const plunk = httpProvider({
  id: 'plunk',
  channel: 'email',
  name: 'Plunk',
  docsUrl: 'https://docs.useplunk.com/api-reference/public-api/sendEmail',
  evidence: {
    source: 'partly',
    unsure:
      'The body of a workflow’s webhook step is not documented, and installations before the rewrite do not support idempotency keys.',
  },
  form: {
    apiKey: secret('Secret key', { placeholder: 'sk_…', mistake: ofVisibleAscii }),
    ...emailSender,
    baseUrl: ownBaseUrl('Plunk'),
  },
  features: ['several recipients', 'reply-to', 'attachments', 'headers', 'sender per message'],
  limits: { messageBytesMax: 10 * 1024 * 1024, perSecond: 16 },
  idempotent: true,
  recipientMembers: ['to'],
  receipts: {
    setUp:
      'For each e-mail event, create a workflow at Plunk with a Webhook step that posts `{"event": "email.delivery", "emailId": …, "email": …}` here, with the header `Authorization: Bearer` and the signing key. Plunk does not sign its requests.',
    read(call) {
      const event = jsonOf(call)
      return receiptOf({
        status: statusUnder(statuses, event.string('event')),
        providerMessageId: event.id('emailId'),
        address: event.string('email'),
        at: timestampOf(event.string('timestamp')),
        words: event.string('reason'),
        row: event.value(''),
      })
    },
  },
  probe: {
    request: (account) => ({ ...asked(account), body: '{}' }),
    result: letIn('Plunk', 'apiKey', 'error.message', 'message'),
  },

  request(message, account) {
    const email = addressed(message, account)
    if ('kind' in email) return email
    if (email.attachments.length > attachmentsMax) {
      return refused(
        'bad-content',
        `The message has ${email.attachments.length} attachments; Plunk accepts at most ${attachmentsMax}`,
      )
    }
    const { headers, ...rest } = asked(account)
    return {
      ...rest,
      headers: { ...headers, 'idempotency-key': email.id },
      body: JSON.stringify({ ...settingsOf(message, ownMembers), ...bodyOf(email) }),
    }
  },

  outcome: plunkOutcome,
})

function asked({ apiKey, baseUrl }: { readonly apiKey: string; readonly baseUrl?: string }) {
  return {
    url: `${baseUrl === undefined ? 'https://api.useplunk.com' : baseAddress(baseUrl)}/v1/send`,
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, accept: 'application/json', 'content-type': 'application/json' },
  }
}

function bodyOf(email: AddressedEmail): object {
  // Placeholders are the caller's own if there are values for them; otherwise they would be cut out of the content.
  const isTemplate = email.customData?.['data'] !== undefined
  const html = htmlOf(email)
  return filled({
    // Copies are not supported: every recipient gets a separate e-mail.
    to: people([...email.to, ...email.cc, ...email.bcc]),
    from: senderOf(email),
    reply: email.replyTo,
    subject: isTemplate ? email.subject : email.subject.replaceAll(/\{(?=\{)/g, '{\u200b'),
    body: isTemplate ? html : html.replaceAll('{{', '&#123;&#123;'),
    headers: email.headers,
    attachments: email.attachments.map(({ name, content, mime }) => ({ filename: name, content, contentType: mime })),
  })
}

function plunkOutcome(answer: ProviderAnswer, { id: ownId }: { readonly id: string }): Outcome {
  const words = wordsOf('Plunk', answer, 'error.message', 'message')
  if (answer.status === 200) {
    const id = answer.id('data.emails.0.email') ?? answer.id('emails.0.email')
    if (id !== undefined) return sent(id)
    return answer.flag('success') === false ? refused('other', words) : unsure(words)
  }
  switch (answer.status) {
    case 402:
      return misconfigured(words)
    case 409:
      return outcomeOfRepeat(answer, ownId, words)
    case 400:
    case 422:
      return refused(fieldOf(answer) === 'to' ? 'bad-recipient' : 'bad-content', words)
    default:
      return outcomeOfStatus(answer, words)
  }
}

/** Our own earlier attempt had the same key. Its response is repeated, but without its id. */
function outcomeOfRepeat(answer: ProviderAnswer, ownId: string, words: string): Outcome {
  if (answer.string('error.code') !== 'IDEMPOTENCY_KEY_REUSED') return refused('other', words)
  const before = answer.number('error.details.originalStatusCode')
  return before !== undefined && before >= 200 && before < 300 ? sent(ownId, words) : unsure(words)
}

const fieldOf = (answer: ProviderAnswer): string | undefined =>
  /^[a-z]+/i.exec(answer.string('error.errors.0.field') ?? '')?.[0]
