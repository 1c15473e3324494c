// Brevo, "Send SMS message to a mobile number".
// https://developers.brevo.com/reference/sendtransacsms
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { brevoRetryAfterMsOf } from '../brevo-limit.ts'
import { ofVisibleAscii, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { eventsOf, timestampOf } from '../inbound/inbound-body.ts'
import type { InboundCall, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { codeTable, outcomeOfCode } from './code-meaning.ts'
import { mistakeOfSms, plainSenderOf } from './sms-message.ts'
import { digitsOf, isGsm } from './sms-text.ts'
import { statusCallback } from './status-callback.ts'

const api = 'https://api.brevo.com/v3'

const codes = codeTable({
  account: ['unauthorized', 'not_enough_credits', 'permission_denied', 'reseller_permission_denied'],
  'bad-content': ['missing_parameter'],
})

/** Of these `replied` is a reply from the recipient, not a report. */
const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['accepted', 'sent'],
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['soft_bounce', 'failed'],
  ['hard_bounce', 'bounced'],
  ['rejected', 'rejected'],
  ['blacklisted', 'rejected'],
  ['skip', 'rejected'],
  ['unsubscribe', 'unsubscribed'],
])

export const brevoSms = httpProvider({
  id: 'brevo-sms',
  channel: 'sms',
  name: 'Brevo',
  docsUrl: 'https://developers.brevo.com/reference/sendtransacsms',
  evidence: { source: 'vendor' },
  features: ['sender per message', 'Unicode', 'tags'],
  form: {
    apiKey: secret('API key', { placeholder: 'xkeysib-…', mistake: ofVisibleAscii }),
    from: text('Sender', {
      description: 'A name of up to 11 letters and digits, or a number of up to 15 digits.',
      placeholder: 'Acme',
      mistake: (value) =>
        /^(?:[a-z\d]{1,11}|\+?\d{1,15})$/i.test(value)
          ? undefined
          : 'must be up to 11 letters and digits, or a number of up to 15 digits',
    }),
    webhookUrl: statusCallback('Brevo'),
  },

  recipientMembers: ['recipient'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    return {
      url: `${api}/transactionalSMS/sms`,
      method: 'POST',
      headers: headersOf(account.apiKey),
      body: JSON.stringify({
        sender: plainSenderOf(message, account),
        recipient: digitsOf(message.to),
        content: message.content,
        type: 'transactional',
        unicodeEnabled: !isGsm(message.content),
        tag: message.id,
        ...(account.webhookUrl === undefined ? {} : { webUrl: account.webhookUrl }),
        ...settingsOf(message, ['sender', 'recipient', 'content']),
      }),
    }
  },

  outcome,

  probe: {
    request: ({ apiKey }) => ({ url: `${api}/account`, method: 'GET', headers: headersOf(apiKey) }),
    field: 'apiKey',
    words: ['message'],
  },

  receipts: {
    setUp:
      'Brevo does not sign its requests: set the webhook URL of this integration, with its key as `?token=…`, as the status callback, or add it as an SMS webhook in Brevo with the key as Bearer token or Basic password.',
    read,
  },
})

const headersOf = (apiKey: string): Record<string, string> => ({
  'api-key': apiKey,
  accept: 'application/json',
  'content-type': 'application/json',
})

function outcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  const words = wordsOf('Brevo', answer, 'message')
  if (answer.status === 201) {
    const id = answer.id('messageId')
    return id === undefined ? unsure(words) : sent(id)
  }
  if (answer.status === 429) return busy(words, brevoRetryAfterMsOf(answer))
  const isRefusal = answer.status >= 400 && answer.status < 500
  const knownOutcome = isRefusal ? outcomeOfCode(codes, answer.string('code'), words, answer, message) : undefined
  return knownOutcome ?? outcomeOfStatus(answer, words)
}

function read(call: InboundCall): readonly Receipt[] {
  return eventsOf(call).flatMap((report) =>
    receiptOf({
      status: statuses.get(report.string('msg_status') ?? ''),
      reference: report.string('tag'),
      // `id` is the webhook's own.
      providerMessageId: report.id('messageId'),
      address: report.id('to'),
      at: timestampOf(report.number('ts_event')),
      words: report.string('description'),
      row: report.value(''),
    }),
  )
}
