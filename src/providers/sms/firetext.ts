// FireText, "Send SMS".
// https://www.firetext.co.uk/docs
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import type { OutboundRequest } from '../../world/world.ts'
import { secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import type { InboundCall, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import type { CheckResult } from '../provider.ts'
import { bad, good } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { codeTable, outcomeOfCode } from './code-meaning.ts'
import { reportForm } from './report-form.ts'
import { formHeaders, smsForm } from './sms-form.ts'
import { mistakeOfSms, plainSenderOf } from './sms-message.ts'
import { digitsOf } from './sms-text.ts'
import { statusCallback } from './status-callback.ts'

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['0', 'delivered'],
  ['1', 'failed'],
  ['2', 'queued'],
])

/** What the codes of receipts say. */
const causes: ReadonlyMap<string, string> = new Map([
  ['101', 'unknown subscriber'],
  ['102', 'absent subscriber'],
  ['103', 'subscriber busy'],
  ['104', 'no memory left'],
  ['201', 'invalid number'],
  ['301', 'not supported'],
  ['302', 'not supported'],
  ['401', 'rejected'],
  ['900', 'routing error'],
])

const codes = codeTable({
  // The key, the credit, the address for receipts, the sub-account.
  account: ['1', '7', '8', '9'],
  'bad-recipient': ['2'],
  sender: ['3'],
  'bad-content': ['5'],
  // A group, a schedule, settings of repeats.
  other: ['4', '6', '10', '11'],
})

export const firetext = httpProvider({
  id: 'firetext',
  channel: 'sms',
  name: 'FireText',
  docsUrl: 'https://www.firetext.co.uk/docs',
  evidence: {
    source: 'partly',
    unsure: 'The receipt codes are from the public code of a FireText user, not from its documentation.',
  },
  features: ['sender per message', 'Unicode'],
  limits: { contentCharactersMax: 612 },
  form: {
    apiKey: secret('API key'),
    from: text('From', {
      description: 'A name of 3 to 11 letters and digits.',
      placeholder: 'Acme',
      mistake: (value) => (/^[A-Za-z0-9]{3,11}$/.test(value) ? undefined : 'must be 3 to 11 letters and digits'),
    }),
    webhookUrl: statusCallback('FireText'),
  },

  recipientMembers: ['to', 'group', 'apiKey'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    const { apiKey, webhookUrl } = account
    const decided = {
      apiKey,
      to: digitsOf(message.to),
      from: plainSenderOf(message, account),
      message: message.content,
      reference: message.id,
      group: undefined,
    }
    return requestTo('sendsms', smsForm(message, decided, { receipt: webhookUrl }))
  },

  outcome,

  probe: { request: ({ apiKey }) => requestTo('credit', smsForm({}, { apiKey })), result: credit },

  receipts: {
    setUp:
      'FireText does not sign its requests: set the webhook URL of this integration, with its key as `?token=…`, as its status callback, or for delivery receipts in FireText’s settings.',
    read,
  },
})

const requestTo = (what: string, body: string): OutboundRequest => ({
  url: `https://www.firetext.co.uk/api/${what}/json`,
  method: 'POST',
  headers: formHeaders,
  body,
})

function outcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  const code = answer.id('code')
  const said = wordsOf('FireText', answer, 'description')
  const words = code === undefined ? said : `${said} (${code})`
  if (answer.status !== 200) return outcomeOfStatus(answer, words)
  if (code === undefined) return unsure(words)
  // If it contains no id, the receipt returns our own reference.
  if (code === '0') return sent(answer.headers.get('x-message') || message.id)
  return outcomeOfCode(codes, code, words, answer, message) ?? refused('other', words)
}

function credit(answer: ProviderAnswer): CheckResult {
  const code = answer.id('code')
  if (answer.status === 200 && code === '0') return good
  return bad(wordsOf('FireText', answer, 'description'), code === '1' || answer.status === 401 ? 'apiKey' : undefined)
}

/** Its `time` has no zone, so the time of arrival is used. */
function read(call: InboundCall): readonly Receipt[] {
  const report = reportForm(call)
  const status = statuses.get(report.string('status') ?? '')
  const code = report.string('code') ?? ''
  return receiptOf({
    status,
    reference: report.string('reference'),
    address: report.string('mobile'),
    words: status === 'failed' ? `${causes.get(code) ?? 'failed'}${code === '' ? '' : ` (${code})`}` : undefined,
    row: report.value(''),
  })
}
