// Burst SMS, now Kudosity, the Transmit SMS API v1, "Send SMS".
// https://developers.kudosity.com/reference/post_send-sms-json
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { optional, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import type { InboundCall, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import type { CheckResult } from '../provider.ts'
import { bad, good } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { basicAuth } from '../signing/signing.ts'
import { codeTable, outcomeOfCode } from './code-meaning.ts'
import { reportForm, utcTimestampOf } from './report-form.ts'
import { formHeaders, smsForm } from './sms-form.ts'
import { mistakeOfSms, plainSenderOf } from './sms-message.ts'
import { digitsOf } from './sms-text.ts'
import { statusCallback } from './status-callback.ts'

const api = 'https://api.transmitsms.com'

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['delivered', 'delivered'],
  ['soft-bounce', 'failed'],
  ['hard-bounce', 'bounced'],
  ['pending', 'sent'],
])

const codes = codeTable({
  account: ['AUTH_FAILED', 'AUTH_FAILED_NO_DATA', 'NO_ACCESS', 'LEDGER_ERROR'],
  busy: ['OVER_LIMIT'],
  sender: ['BAD_CALLER_ID'],
  other: ['FIELD_EMPTY', 'FIELD_INVALID', 'KEY_EXISTS', 'NOT_IMPLEMENTED'],
})

export const burstSms = httpProvider({
  id: 'burst-sms',
  channel: 'sms',
  name: 'Burst SMS (Kudosity)',
  docsUrl: 'https://developers.kudosity.com/reference/post_send-sms-json',
  evidence: {
    source: 'vendor',
    unsure:
      'The exact content of its callback signature is not known, so callbacks carry the key of the integration instead.',
  },
  features: ['sender per message', 'Unicode'],
  form: {
    apiKey: secret('API key'),
    secretKey: secret('API secret'),
    from: optional(
      text('From', {
        description:
          'A number of the account, or a name of up to 11 characters without spaces. Default: a shared number.',
      }),
    ),
    webhookUrl: statusCallback('Burst SMS'),
  },

  recipientMembers: ['to', 'list_id'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    const decided = {
      message: message.content,
      to: digitsOf(message.to),
      from: plainSenderOf(message, account),
      list_id: undefined,
    }
    return {
      url: `${api}/send-sms.json`,
      method: 'POST',
      headers: { authorization: basicAuth(account.apiKey, account.secretKey), ...formHeaders },
      body: smsForm(message, decided, { dlr_callback: account.webhookUrl }),
    }
  },

  outcome,

  probe: {
    request: ({ apiKey, secretKey }) => ({
      url: `${api}/get-balance.json`,
      method: 'GET',
      headers: { authorization: basicAuth(apiKey, secretKey), accept: 'application/json' },
    }),
    result: balance,
  },

  receipts: {
    setUp:
      'Set the webhook URL of this integration, with its key as `?token=…`, as its status callback; Burst SMS calls it with GET.',
    read,
  },
})

const codeOf = (answer: ProviderAnswer): string => answer.string('error.code') ?? ''

function outcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  const code = codeOf(answer)
  const said = wordsOf('Burst SMS', answer, 'error.description')
  const words = code === '' ? said : `${said} (${code})`
  const ofCode = outcomeOfCode(codes, code, words, answer, message)
  if (answer.status !== 200) return (answer.status < 500 ? ofCode : undefined) ?? outcomeOfStatus(answer, words)
  if (code === '') return unsure(words)
  if (code !== 'SUCCESS') return ofCode ?? refused('other', words)
  // A number that it cannot reach is silently left out.
  if (answer.number('recipients') === 0) return refused('bad-recipient', 'Burst SMS did not accept the number')
  const id = answer.id('message_id')
  return id === undefined ? unsure(words) : sent(id)
}

function balance(answer: ProviderAnswer): CheckResult {
  if (answer.status === 200 && codeOf(answer) === 'SUCCESS') return good
  const isKey = answer.status === 401 || /^AUTH_FAILED/.test(codeOf(answer))
  return bad(wordsOf('Burst SMS', answer, 'error.description'), isKey ? 'secretKey' : undefined)
}

function read(call: InboundCall): readonly Receipt[] {
  const report = reportForm(call)
  const status = report.string('status') ?? ''
  const known = statuses.get(status)
  return receiptOf({
    status: known,
    providerMessageId: report.id('message_id'),
    address: report.string('mobile'),
    at: utcTimestampOf(report.string('datetime')),
    words: known === 'failed' || known === 'bounced' ? status : undefined,
    row: report.value(''),
  })
}
