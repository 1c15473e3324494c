// MailerSend, "Send an email".
// https://developers.mailersend.com/api/v1/email
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import { isFields } from '../../domain/merged.ts'
import { baseAddress, emailSender, ofVisibleAscii, optional, ownBaseUrl, secret } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { filled, isInline, people, senderOf } from './email-body.ts'
import type { AddressedEmail } from './email-message.ts'
import { addressed, wholeEmail } from './email-message.ts'
import { mailersendReceipts } from './mailersend-receipts.ts'

const ownMembers = ['from', 'to', 'cc', 'bcc', 'reply_to', 'subject', 'html', 'text', 'headers', 'attachments', 'tags']
/** The most that MailerSend accepts. */
const tagsMax = 5
const listMax = { to: 50, cc: 10, bcc: 10 } as const
/** The day's quota: it does not recover within minutes. */
const quotaPauseMs = 3_600_000

export const mailersend = httpProvider({
  id: 'mailersend',
  channel: 'email',
  name: 'MailerSend',
  docsUrl: 'https://developers.mailersend.com/api/v1/email',
  evidence: { source: 'vendor' },
  form: {
    apiKey: secret('API token', { placeholder: 'mlsn.…', mistake: ofVisibleAscii }),
    ...emailSender,
    secretKey: optional(
      secret('Webhook signing secret', { description: 'Proves that delivery receipts come from MailerSend.' }),
    ),
    baseUrl: ownBaseUrl('MailerSend'),
  },
  features: [...wholeEmail, 'tags', 'sender per message'],
  limits: { recipientsMax: 70, messageBytesMax: 25 * 1024 * 1024, perSecond: 2 },
  recipientMembers: ['to', 'cc', 'bcc'],
  receipts: mailersendReceipts,
  probe: {
    request: (account) => ({ ...asked(account, '/v1/api-quota'), method: 'GET' }),
    field: 'apiKey',
    words: ['message'],
  },

  request(message, account) {
    const email = addressed(message, account)
    if ('kind' in email) return email
    for (const name of ['to', 'cc', 'bcc'] as const) {
      const { length } = email[name]
      if (length > listMax[name]) {
        return refused(
          'bad-content',
          `The message has ${length} addresses in ${name}; MailerSend accepts at most ${listMax[name]}`,
        )
      }
    }
    const { headers, ...rest } = asked(account, '/v1/email')
    return {
      ...rest,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ ...settingsOf(message, ownMembers), ...bodyOf(email) }),
    }
  },

  outcome: mailersendOutcome,
})

function asked({ apiKey, baseUrl }: { readonly apiKey: string; readonly baseUrl?: string }, path: string) {
  return {
    url: `${baseUrl === undefined ? 'https://api.mailersend.com' : baseAddress(baseUrl)}${path}`,
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      accept: 'application/json',
      // Without it, errors are returned as a web page.
      'x-requested-with': 'XMLHttpRequest',
    },
  }
}

function bodyOf(email: AddressedEmail): object {
  return filled({
    from: senderOf(email),
    to: people(email.to),
    cc: people(email.cc),
    bcc: people(email.bcc),
    reply_to: email.replyTo === undefined ? undefined : { email: email.replyTo },
    subject: email.subject,
    html: email.html,
    text: email.text,
    headers: Object.entries(email.headers).map(([name, value]) => ({ name, value })),
    attachments: email.attachments.map((attachment) =>
      filled({
        content: attachment.content,
        filename: attachment.name,
        disposition: isInline(attachment) ? 'inline' : 'attachment',
        id: attachment.cid,
      }),
    ),
    // The only value of ours that is returned with receipts.
    tags: [...new Set([email.id, ...email.tags])].slice(0, tagsMax),
  })
}

function mailersendOutcome(answer: ProviderAnswer): Outcome {
  const words = wordsOf('MailerSend', answer, 'message')
  switch (answer.status) {
    case 202:
      return outcomeOfTaken(answer, words)
    case 421:
      return busy(words, retryAfterMsOf(answer))
    case 429:
      return busy(words, retryAfterMsOf(answer) ?? (codesIn(answer).has('MS42901') ? quotaPauseMs : undefined))
    case 400:
    case 422:
      return outcomeOfMistake(answer, words)
    default:
      return outcomeOfStatus(answer, words)
  }
}

function outcomeOfTaken(answer: ProviderAnswer, words: string): Outcome {
  const id = answer.headers.get('x-message-id') ?? ''
  const warning = answer.items('warnings').find((one) => /_SUPPRESSED$/.test(one.string('type') ?? ''))
  const details = JSON.stringify(warning?.value('recipients') ?? [])
  if (warning?.string('type') === 'ALL_SUPPRESSED') {
    const isOut = /"(unsubscribed|spam_complain\w*)"/i.test(details)
    return refused(isOut ? 'opted-out' : 'bad-recipient', `MailerSend no longer sends to these addresses: ${details}`)
  }
  if (id === '') return unsure(words)
  return warning === undefined
    ? sent(id)
    : sent(id, `MailerSend no longer sends to some of these addresses: ${details}`)
}

/** The code of a domain that is not verified. */
const domainCode = 'MS42207'

function outcomeOfMistake(answer: ProviderAnswer, words: string): Outcome {
  const mistakes = answer.value('errors')
  const entries = isFields(mistakes) ? Object.entries(mistakes) : []
  const details = entries.length === 0 ? words : `${words} ${JSON.stringify(mistakes)}`
  if (codesIn(answer).has(domainCode)) return misconfigured(details)
  const isAddress = entries.some(([name]) => /^(to|cc|bcc)\b/.test(name))
  return refused(isAddress ? 'bad-recipient' : 'bad-content', details)
}

/** `#MS42207` and the like, which end the vendor's sentences. */
function codesIn({ body }: ProviderAnswer): ReadonlySet<string | undefined> {
  return new Set([...body.matchAll(/#(MS\d{5})\b/g)].map(([, code]) => code))
}
