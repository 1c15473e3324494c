// MessageBird (Bird), SMS of its REST API.
// https://developers.messagebird.com/api/sms-messaging/
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { ofVisibleAscii, optional, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { timestampOf } from '../inbound/inbound-body.ts'
import type { InboundCall, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { codeTable, outcomeOfCode } from './code-meaning.ts'
import { isSignedByMessagebird } from './messagebird-signature.ts'
import { reportForm } from './report-form.ts'
import { mistakeOfSms, plainSenderOf } from './sms-message.ts'
import { digitsOf } from './sms-text.ts'
import { signedStatusCallback } from './status-callback.ts'

const api = 'https://rest.messagebird.com'

/** Not allowed, no balance, no such API; problems on their side. */
const codes = codeTable({ account: ['2', '25', '98'], busy: ['99'] })

/** For a parameter that is missing (9) or wrong (10, 21): what is to blame. */
const parameters = codeTable({
  'bad-recipient': ['recipient', 'recipients'],
  sender: ['originator'],
  'bad-content': ['body'],
})

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['delivered', 'delivered'],
  ['expired', 'failed'],
  ['delivery_failed', 'failed'],
  ['sent', 'sent'],
  ['scheduled', 'queued'],
  ['buffered', 'queued'],
])

export const messagebird = httpProvider({
  id: 'messagebird',
  channel: 'sms',
  name: 'MessageBird',
  docsUrl: 'https://developers.messagebird.com/api/sms-messaging/',
  evidence: { source: 'vendor' },
  features: ['sender per message', 'Unicode'],
  form: {
    accessKey: secret('Access key', { mistake: ofVisibleAscii }),
    from: text('Originator', { description: 'A number, or a name of up to 11 letters and digits.' }),
    webhookUrl: signedStatusCallback('MessageBird'),
    secretKey: optional(secret('Signing key', { description: 'Proves that delivery receipts come from MessageBird.' })),
  },

  recipientMembers: ['recipients', 'groupIds'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    return {
      url: `${api}/messages`,
      method: 'POST',
      headers: { ...headersOf(account.accessKey), 'content-type': 'application/json' },
      body: JSON.stringify({
        type: 'sms',
        datacoding: 'auto',
        ...(account.webhookUrl === undefined ? {} : { reportUrl: account.webhookUrl }),
        ...settingsOf(message, ['originator', 'recipients', 'groupIds', 'body', 'reference']),
        originator: plainSenderOf(message, account),
        recipients: [digitsOf(message.to)],
        body: message.content,
        // Without one there are no reports.
        reference: message.id,
      }),
    }
  },

  outcome,

  probe: {
    request: ({ accessKey }) => ({ url: `${api}/balance`, method: 'GET', headers: headersOf(accessKey) }),
    field: 'accessKey',
    words: ['errors.0.description'],
  },

  receipts: {
    setUp:
      'Set the webhook URL of this integration as the status callback of the account, and MessageBird’s signing key (Developers, API settings) as the signing key: each request carries `MessageBird-Signature-JWT`.',
    verify: (call, { key, account, world }) => isSignedByMessagebird(call, key || account.secretKey || '', world.now()),
    read,
  },
})

const headersOf = (accessKey: string): Record<string, string> => ({
  authorization: `AccessKey ${accessKey}`,
  accept: 'application/json',
})

function outcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  const words = wordsOf('MessageBird', answer, 'errors.0.description')
  if (answer.status < 200 || answer.status >= 300) {
    return ofError(answer, words, message) ?? outcomeOfStatus(answer, words)
  }
  const state = answer.string('recipients.items.0.status')
  if (state === 'delivery_failed' || state === 'expired') {
    return refused('other', `MessageBird accepted the message and reported: ${state}`)
  }
  const id = answer.id('id')
  return id === undefined ? unsure(words) : sent(id)
}

function ofError(answer: ProviderAnswer, words: string, message: SmsMessage): Outcome | undefined {
  const code = answer.id('errors.0.code')
  const known = outcomeOfCode(codes, code, words, answer, message)
  if (known !== undefined || code === undefined || !['9', '10', '21'].includes(code)) return known
  const parameter = answer.string('errors.0.parameter')
  return outcomeOfCode(parameters, parameter, words, answer, message) ?? refused('other', words)
}

function read(call: InboundCall): readonly Receipt[] {
  const report = reportForm(call)
  const reason = report.string('statusReason') ?? ''
  const code = report.id('statusErrorCode')
  return receiptOf({
    status: statuses.get(report.string('status') ?? ''),
    reference: report.string('reference'),
    providerMessageId: report.id('id'),
    address: report.id('recipient'),
    // A plus sign that is not encoded is read as a space.
    at: timestampOf(report.string('statusDatetime')?.replace(/ (?=\d\d:\d\d$)/, '+')),
    words: code === undefined ? reason : `${reason} (${code})`.trim(),
    row: report.value(''),
  })
}
