// AfroMessage, "Send a message".
// https://afromessage.com/developers
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import { ofVisibleAscii, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import type { InboundCall, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { reportForm } from './report-form.ts'
import { internationalOf, mistakeOfSms } from './sms-message.ts'
import { statusCallback } from './status-callback.ts'

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['queued', 'queued'],
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['failed', 'failed'],
  ['undelivered', 'failed'],
  ['rejected', 'rejected'],
])

export const afroMessage = httpProvider({
  id: 'afro-message',
  channel: 'sms',
  name: 'AfroMessage',
  docsUrl: 'https://afromessage.com/developers',
  evidence: { source: 'partly', unsure: 'Errors have no codes, and the field names of its reports are not confirmed.' },
  features: ['sender per message', 'Unicode'],
  form: {
    apiKey: secret('Token', { mistake: ofVisibleAscii }),
    from: text('Identifier', {
      description: 'The identifier id of the short code, not a number or a name.',
      placeholder: 'e80ad9d8-adf3-463f-80f4-7c4b39f70000',
    }),
    senderName: text('Sender name', { description: 'A sender name that AfroMessage has approved.' }),
    webhookUrl: statusCallback('AfroMessage'),
  },

  recipientMembers: ['to'],

  request(message, { apiKey, from, senderName, webhookUrl }) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    // By POST, which is also accepted: a text in Amharic would make a URL of many kilobytes.
    return {
      url: 'https://api.afromessage.com/api/send',
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify({
        from,
        sender: message.from ?? senderName,
        to: internationalOf(message.to),
        message: message.content,
        ...(webhookUrl === undefined ? {} : { callback: webhookUrl }),
        ...settingsOf(message, ['from', 'sender', 'to', 'message']),
      }),
    }
  },

  outcome,

  receipts: {
    setUp:
      'AfroMessage does not sign its requests: set the webhook URL of this integration, with its key as `?token=…`, as the status callback.',
    read,
  },
})

function outcome(answer: ProviderAnswer): Outcome {
  const words = wordsOfErrors(answer)
  if (answer.status !== 200) return outcomeOfStatus(answer, words)
  const acknowledge = answer.string('acknowledge')
  if (acknowledge === 'error') return refused('other', words)
  const id = answer.id('response.message_id') ?? answer.id('response.id')
  return acknowledge !== 'success' || id === undefined ? unsure(words) : sent(id)
}

/** A list of texts, or one text. */
function wordsOfErrors(answer: ProviderAnswer): string {
  const errors = answer.list('response.errors').filter((one): one is string => typeof one === 'string')
  if (errors.length > 0) return `AfroMessage answered ${answer.status}: ${errors.join('; ')}`
  return wordsOf('AfroMessage', answer, 'response', 'message')
}

function read(call: InboundCall): readonly Receipt[] {
  const report = reportForm(call)
  return receiptOf({
    status: statuses.get(report.string('status')?.toLowerCase() ?? ''),
    providerMessageId: report.id('message_id') ?? report.id('id'),
    address: report.string('to'),
    row: report.value(''),
  })
}
