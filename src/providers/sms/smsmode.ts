// smsmode, the REST API, "Send a message".
// https://dev.smsmode.com/sms/v1/
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { ofVisibleAscii, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { eventsOf } from '../inbound/inbound-body.ts'
import type { InboundCall, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { codeTable, outcomeOfCode } from './code-meaning.ts'
import { utcTimestampOf } from './report-form.ts'
import { mistakeOfSms, plainSenderOf } from './sms-message.ts'
import { digitsOf } from './sms-text.ts'
import { statusCallback } from './status-callback.ts'

const api = 'https://rest.smsmode.com/sms/v1/messages'

/** Why a message is undeliverable. */
const details = codeTable({
  account: ['INSUFFICIENT_CREDIT', 'DAILY_LIMIT_EXCEEDED', 'ORGANISATION_MONTHLY_LIMIT_EXCEEDED'],
  'bad-content': ['SPAM'],
  'bad-recipient': ['INVALID_PHONE_NUMBER'],
  'opted-out': ['BLACKLISTED'],
})

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['SCHEDULED', 'queued'],
  ['ENROUTE', 'sent'],
  ['DELIVERED', 'delivered'],
  ['UNDELIVERED', 'failed'],
  ['UNDELIVERABLE', 'failed'],
])

export const smsmode = httpProvider({
  id: 'smsmode',
  channel: 'sms',
  name: 'smsmode',
  docsUrl: 'https://dev.smsmode.com/sms/v1/',
  evidence: { source: 'partly', unsure: 'Error codes are unknown, and the fields of reports are not confirmed.' },
  features: ['sender per message', 'Unicode'],
  form: {
    apiKey: secret('API key', { mistake: ofVisibleAscii }),
    from: text('Sender', {
      description: 'A name of up to 11 letters and digits, or a number.',
      placeholder: 'Acme',
      mistake: (value) =>
        /^(?:[a-z\d ]{1,11}|\+?\d{1,15})$/i.test(value)
          ? undefined
          : 'must be up to 11 letters and digits, or a number',
    }),
    webhookUrl: statusCallback('smsmode'),
  },

  recipientMembers: ['recipient'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    return {
      url: api,
      method: 'POST',
      headers: { ...headersOf(account.apiKey), 'content-type': 'application/json' },
      body: JSON.stringify({
        recipient: { to: digitsOf(message.to) },
        body: { text: message.content },
        from: plainSenderOf(message, account),
        refClient: message.id,
        ...(account.webhookUrl === undefined ? {} : { callbackUrlStatus: account.webhookUrl }),
        ...settingsOf(message, ['recipient', 'body', 'from', 'refClient']),
      }),
    }
  },

  outcome,

  probe: {
    request: ({ apiKey }) => ({ url: `${api}?pageSize=1`, method: 'GET', headers: headersOf(apiKey) }),
    field: 'apiKey',
    words: ['detail', 'message', 'title'],
  },

  receipts: {
    setUp:
      'smsmode does not sign its requests: set the webhook URL of this integration, with its key as `?token=…`, as the status callback, or in smsmode’s settings.',
    read,
  },
})

const headersOf = (apiKey: string): Record<string, string> => ({ 'x-api-key': apiKey, accept: 'application/json' })

function outcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  if (answer.status !== 201) return outcomeOfStatus(answer, wordsOf('smsmode', answer, 'detail', 'message', 'title'))
  const state = answer.string('status.value')
  if (state === 'UNDELIVERABLE' || state === 'UNDELIVERED') {
    const detail = answer.string('status.detail')
    const words = `smsmode did not send it: ${detail ?? 'no reason was given'}`
    return outcomeOfCode(details, detail, words, answer, message) ?? refused('other', words)
  }
  const id = answer.id('messageId')
  return id === undefined ? unsure(wordsOf('smsmode', answer)) : sent(id)
}

function read(call: InboundCall): readonly Receipt[] {
  return eventsOf(call).flatMap((report) =>
    receiptOf({
      status: statuses.get(report.string('status.value') ?? ''),
      reference: report.string('refClient'),
      providerMessageId: report.id('messageId'),
      address: report.id('recipient.to'),
      at: utcTimestampOf(report.string('status.deliveryDate')),
      words: report.string('status.detail'),
      row: report.value(''),
    }),
  )
}
