// Mailtrap, "Send email" and "Batch send" of its sending, bulk and sandbox hosts.
// https://docs.mailtrap.io/developers
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'
import { baseAddress, emailSender, ofVisibleAscii, optional, ownBaseUrl, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { letIn } from '../negative-probe.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import type { Reading } from '../reading.ts'
import { settingsOf } from '../settings.ts'
import { sharedKey } from './email-batch.ts'
import { filled, isInline, people, senderOf, variablesOf } from './email-body.ts'
import { addressed, wholeEmail } from './email-message.ts'
import { mailtrapReceipts } from './mailtrap-receipts.ts'

const origins = { sending: 'https://send.api.mailtrap.io', sandbox: 'https://sandbox.api.mailtrap.io' }
/** `kind` is not a field of Mailtrap's: an item with one would be mistaken for an Outcome. */
const ownMembers = [
  ...['kind', 'from', 'to', 'cc', 'bcc', 'reply_to', 'subject', 'text', 'html', 'attachments', 'headers'],
  ...['custom_variables', 'category'],
]
const categoryLengthMax = 255
/** A batch is at most 50 MB: 500 messages of this size fit, however their JSON is encoded. */
const batchedBytesMax = 16_000

export const mailtrap = httpProvider({
  id: 'mailtrap',
  channel: 'email',
  name: 'Mailtrap',
  docsUrl: 'https://docs.mailtrap.io/developers',
  evidence: { source: 'vendor' },
  form: {
    apiKey: secret('API token', { mistake: ofVisibleAscii }),
    ...emailSender,
    instanceId: optional(
      text('Sandbox inbox id', {
        description: 'Set it to capture messages in a sandbox instead of sending them.',
        mistake: (value) => (/^\d{1,20}$/.test(value) ? undefined : 'must be the numeric id of an inbox'),
      }),
    ),
    secretKey: optional(
      secret('Webhook signing secret', { description: 'Proves that delivery receipts come from Mailtrap.' }),
    ),
    baseUrl: {
      ...ownBaseUrl('Mailtrap'),
      description: '`https://bulk.api.mailtrap.io` for the bulk stream, or a proxy.',
    },
  },
  features: [...wholeEmail, 'tags', 'metadata', 'sender per message'],
  recipientMembers: ['to', 'cc', 'bcc'],
  receipts: mailtrapReceipts,
  probe: {
    request: (account) => ({ ...asked(account, 'send'), body: '{}' }),
    result: letIn('Mailtrap', 'apiKey', 'errors.0', 'error'),
  },

  request(message, account) {
    const mail = mailOf(message, account)
    return 'kind' in mail ? mail : { ...asked(account, 'send'), body: JSON.stringify(mail) }
  },

  outcome: (answer) => (answer.status === 200 ? outcomeOfEntry(answer, errorWords(answer)) : failureOf(answer)),

  batch: {
    max: 500,
    key: (message) => sharedKey(message, batchedBytesMax),
    item: mailOf,
    request: (requests, account) => ({ ...asked(account, 'batch'), body: JSON.stringify({ requests }) }),
    outcomes(answer, messages) {
      if (answer.status !== 200) return messages.map(() => failureOf(answer))
      const entries = answer.items('responses')
      return messages.map((_message, index) => {
        const entry = entries[index]
        // With any other number, it is unknown which entry belongs to which message.
        if (entry === undefined || entries.length !== messages.length) return unsure(errorWords(answer))
        return outcomeOfEntry(entry, `Mailtrap reported: ${errorsOf(entry) || 'no reason'}`)
      })
    },
  },
})

interface Account {
  readonly apiKey: string
  readonly instanceId?: string
  readonly baseUrl?: string
}

function asked({ apiKey, instanceId, baseUrl }: Account, call: 'send' | 'batch') {
  const origin = origins[instanceId === undefined ? 'sending' : 'sandbox']
  const inbox = instanceId === undefined ? '' : `/${instanceId}`
  return {
    url: `${baseUrl === undefined ? origin : baseAddress(baseUrl)}/api/${call}${inbox}`,
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, accept: 'application/json', 'content-type': 'application/json' },
  }
}

interface Mail {
  readonly from: object
}

function mailOf(
  message: EmailMessage,
  account: { readonly from: string; readonly senderName?: string },
): Mail | Outcome {
  const email = addressed(message, account)
  if ('kind' in email) return email
  return {
    ...settingsOf(message, ownMembers),
    from: senderOf(email),
    ...filled({
      to: people(email.to),
      cc: people(email.cc),
      bcc: people(email.bcc),
      reply_to: email.replyTo === undefined ? undefined : { email: email.replyTo },
      subject: email.subject,
      text: email.text,
      html: email.html,
      attachments: email.attachments.map((attachment) =>
        filled({
          content: attachment.content,
          filename: attachment.name,
          type: attachment.mime,
          disposition: isInline(attachment) ? 'inline' : 'attachment',
          content_id: attachment.cid,
        }),
      ),
      headers: email.headers,
      custom_variables: variablesOf(email),
      category: email.tags[0]?.slice(0, categoryLengthMax),
    }),
  }
}

/** The outcome of one message, which may have failed although the request did not. */
function outcomeOfEntry(entry: Reading, words: string): Outcome {
  const id = entry.id('message_ids.0')
  if (entry.flag('success') === true && id !== undefined) return sent(id)
  return entry.flag('success') === false ? refused('bad-content', words) : unsure(words)
}

function failureOf(answer: ProviderAnswer): Outcome {
  const words = errorWords(answer)
  return answer.status === 400 || answer.status === 422 ? refused('bad-content', words) : outcomeOfStatus(answer, words)
}

function errorWords(answer: ProviderAnswer): string {
  const errors = errorsOf(answer)
  return errors === ''
    ? wordsOf('Mailtrap', answer, 'error', 'errors')
    : `Mailtrap answered ${answer.status}: ${errors}`
}

const errorsOf = (reading: Reading): string =>
  reading
    .list('errors')
    .filter((error) => typeof error === 'string')
    .join('; ')
