// Gupshup Enterprise SMS, the gateway API, "Send single message".
// https://docs.gupshup.io/docs/send-single-message
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { optional, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { timestampOf } from '../inbound/inbound-body.ts'
import type { InboundCall, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import type { Reading } from '../reading.ts'
import { readingOfExactJson } from '../reading.ts'
import { codeTable, outcomeOfCode } from './code-meaning.ts'
import { reportForm } from './report-form.ts'
import { formHeaders, smsForm } from './sms-form.ts'
import { mistakeOfSms, senderOf } from './sms-message.ts'
import { digitsOf, isGsm } from './sms-text.ts'

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['SUCCESS', 'delivered'],
  ['DELIVERED', 'delivered'],
  ['FAILURE', 'failed'],
  ['FAILED', 'failed'],
])

const codes = codeTable({
  busy: ['100'],
  account: ['102', '175'],
  'bad-recipient': ['105'],
  sender: ['106'],
  other: ['101', '103'],
})

export const gupshup = httpProvider({
  id: 'gupshup',
  channel: 'sms',
  name: 'Gupshup',
  docsUrl: 'https://docs.gupshup.io/docs/send-single-message',
  evidence: {
    source: 'partly',
    unsure: 'The error codes and the JSON response are not from the documentation of Gupshup.',
  },
  features: ['sender per message', 'Unicode'],
  form: {
    user: text('User ID', { description: 'From an Enterprise SMS account.', placeholder: '2000000001' }),
    password: secret('Password'),
    from: optional(text('Mask', { description: 'The sender name. Default: that of the account.' })),
  },

  recipientMembers: ['send_to', 'method', 'userid', 'password'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    return {
      url: 'https://enterprise.smsgupshup.com/GatewayAPI/rest',
      method: 'POST',
      headers: formHeaders,
      body: smsForm(
        message,
        {
          method: 'SendMessage',
          send_to: digitsOf(message.to),
          msg: message.content,
          userid: account.user,
          auth_scheme: 'plain',
          password: account.password,
          v: '1.1',
          format: 'json',
          mask: senderOf(message, account),
        },
        { msg_type: isGsm(message.content) ? 'TEXT' : 'Unicode_text' },
      ),
    }
  },

  outcome,

  receipts: {
    setUp:
      'Gupshup does not sign its requests: in its portal, set the webhook URL of this integration, with its key as `?token=…`, for delivery reports, with GET or POST.',
    read,
  },
})

interface Said {
  readonly status: string | undefined
  readonly id: string | undefined
  readonly words: string
}

function outcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  const { status, id, words } = saidIn(answer)
  if (answer.status !== 200) return outcomeOfStatus(answer, words)
  if (status === 'success' && id !== undefined) return sent(id)
  // In an answer that is an error, the id is the code.
  if (status === 'error') return outcomeOfCode(codes, id, words, answer, message) ?? refused('other', words)
  return unsure(words)
}

/** In JSON, as requested; or as text, which the gateway falls back to: `success | number | id`, `error | code | words`. */
function saidIn(answer: ProviderAnswer): Said {
  const status = answer.string('response.status')
  if (status !== undefined) {
    const id = answer.id('response.id')
    const said = wordsOf('Gupshup', answer, 'response.details')
    return { status, id, words: status === 'error' && id !== undefined ? `${said} (${id})` : said }
  }
  const [first = '', second = '', third = ''] = answer.body.split('|', 3).map((part) => part.trim())
  const id = first === 'success' ? third : second
  return { status: first, id: id === '' ? undefined : id, words: wordsOf('Gupshup', answer) }
}

/** By GET one report; by POST up to twenty of them, in JSON within a form. */
function read(call: InboundCall): readonly Receipt[] {
  const form = reportForm(call)
  const list = form.string('response')
  const reports = list === undefined ? [form] : readingOfExactJson(list).items('')
  return reports.flatMap(receiptsOf)
}

function receiptsOf(report: Reading): readonly Receipt[] {
  const status = statuses.get(report.string('status') ?? report.string('eventType') ?? '')
  const code = report.id('errCode')
  return receiptOf({
    status,
    providerMessageId: report.id('externalId'),
    address: report.id('phoneNo') ?? report.id('destAddr'),
    at: timestampOf(report.id('deliveredTS') ?? report.id('eventTs')),
    words:
      status === 'failed'
        ? `${report.string('cause') ?? 'failed'}${code === undefined ? '' : ` (${code})`}`
        : undefined,
    row: report.value(''),
  })
}
