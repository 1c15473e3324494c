// 46elks, "Send SMS".
// https://46elks.com/docs/send-sms
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import { secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import type { InboundCall, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { basicAuth } from '../signing/signing.ts'
import { reportForm, utcTimestampOf } from './report-form.ts'
import { formHeaders, smsForm } from './sms-form.ts'
import { internationalOf, mistakeOfSms, senderOf } from './sms-message.ts'
import { statusCallback } from './status-callback.ts'

const api = 'https://api.46elks.com/a1'

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['created', 'queued'],
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['failed', 'failed'],
])

export const fortySixElks = httpProvider({
  id: 'forty-six-elks',
  channel: 'sms',
  name: '46elks',
  docsUrl: 'https://46elks.com/docs/send-sms',
  evidence: { source: 'vendor' },
  features: ['sender per message', 'Unicode'],
  form: {
    user: text('API username', { placeholder: 'u…' }),
    password: secret('API password'),
    from: text('From', { description: 'A name of up to 11 letters and digits, or a number in E.164.' }),
    webhookUrl: statusCallback('46elks'),
  },

  recipientMembers: ['to'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    return {
      url: `${api}/sms`,
      method: 'POST',
      headers: { authorization: basicAuth(account.user, account.password), ...formHeaders },
      body: smsForm(
        message,
        { from: senderOf(message, account), to: internationalOf(message.to), message: message.content },
        { whendelivered: account.webhookUrl },
      ),
    }
  },

  outcome,

  probe: {
    request: ({ user, password }) => ({
      url: `${api}/me`,
      method: 'GET',
      headers: { authorization: basicAuth(user, password), accept: 'application/json' },
    }),
    field: 'password',
  },

  receipts: {
    setUp:
      '46elks does not sign its requests: set the webhook URL of this integration, with its key as `?token=…`, as the status callback of the account.',
    read,
  },
})

function outcome(answer: ProviderAnswer): Outcome {
  // What is wrong is a sentence, not JSON.
  const words = wordsOf('46elks', answer, 'message')
  if (answer.status < 200 || answer.status >= 300) return outcomeOfStatus(answer, words)
  const id = answer.id('id')
  const state = answer.string('status')
  if (state === 'failed') return refused('other', '46elks accepted the message but failed to send it')
  return id === undefined || state === undefined ? unsure(words) : sent(id)
}

function read(call: InboundCall): readonly Receipt[] {
  const report = reportForm(call)
  return receiptOf({
    status: statuses.get(report.string('status') ?? ''),
    providerMessageId: report.id('id'),
    at: utcTimestampOf(report.string('delivered')),
    row: report.value(''),
  })
}
