// SMS Central (Australia), the REST API v3.2, "Send SMS".
// https://www.smscentral.com.au/sms-api/rest-api/send-sms/
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import type { OutboundRequest } from '../../world/world.ts'
import { baseAddress, ofBaseUrl, optional, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import type { InboundCall, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import type { CheckResult } from '../provider.ts'
import { bad, good } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { xmlText } from '../reading.ts'
import { codeTable, outcomeOfCode } from './code-meaning.ts'
import { reportForm } from './report-form.ts'
import { smsForm } from './sms-form.ts'
import { mistakeOfSms, plainSenderOf } from './sms-message.ts'
import { digitsOf } from './sms-text.ts'

/** Spelled as they arrive. */
const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['DELIVERD', 'delivered'],
  ['FAILED', 'failed'],
  ['BUFFRED', 'queued'],
])

const wrongPassword = '511'
const codes = codeTable({ account: [wrongPassword] })

export const smsCentral = httpProvider({
  id: 'sms-central',
  channel: 'sms',
  name: 'SMS Central',
  docsUrl: 'https://www.smscentral.com.au/sms-api/rest-api/send-sms/',
  evidence: {
    source: 'partly',
    unsure:
      'Only error code 511 (wrong user name or password) is known; any other counts as a rejection of the message.',
  },
  features: ['sender per message', 'Unicode'],
  form: {
    user: text('User name'),
    password: secret('Password'),
    from: text('Originator', {
      description: 'A number, a name of up to 11 characters, `shared` or `dedicated`.',
      placeholder: 'shared',
    }),
    baseUrl: optional(
      text('Address', {
        description: 'A full URL other than the default of SMS Central, such as that of a proxy.',
        placeholder: 'https://my.smscentral.com.au/api/v3.2',
        mistake: ofBaseUrl,
      }),
    ),
  },

  recipientMembers: ['RECIPIENT', 'RECIPIENTMESSAGES', 'ACTION', 'USERNAME', 'PASSWORD'],

  request(message, account) {
    return (
      mistakeOfSms(message) ??
      requestTo(account, 'send', message, {
        ORIGINATOR: plainSenderOf(message, account),
        RECIPIENT: digitsOf(message.to),
        MESSAGE_TEXT: message.content,
        REFERENCE: message.id,
        RECIPIENTMESSAGES: undefined,
      })
    )
  },

  outcome,

  probe: { request: (account) => requestTo(account, 'balance', {}, {}), result: balance },

  receipts: {
    reply: '0',
    setUp:
      'SMS Central does not sign its requests: in its portal, set the webhook URL of this integration, with its key as `?token=…`, for delivery receipts, which are sent with GET.',
    read,
  },
})

interface Account {
  readonly user: string
  readonly password: string
  readonly baseUrl?: string
}

function requestTo(
  { user, password, baseUrl }: Account,
  action: string,
  message: Pick<SmsMessage, 'customData'>,
  parameters: object,
): OutboundRequest {
  return {
    url: baseUrl === undefined ? 'https://my.smscentral.com.au/api/v3.2' : baseAddress(baseUrl),
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: smsForm(message, { USERNAME: user, PASSWORD: password, ACTION: action, ...parameters }),
  }
}

/** A number, perhaps followed by words on the next line. */
const numbered = /^(\d{1,9})(?:\s+([\s\S]*))?$/

function outcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  const [, code, said] = numbered.exec(answer.body.trim()) ?? []
  const words =
    code === undefined || said === undefined
      ? wordsOf('SMS Central', answer)
      : `SMS Central answered ${answer.status}: ${said} (${code})`
  if (answer.status !== 200) return outcomeOfStatus(answer, words)
  if (code === undefined) return unsure(words)
  // The answer contains no id: the receipt returns our own reference.
  if (code === '0') return said === undefined ? sent(message.id) : unsure(words)
  return outcomeOfCode(codes, code, words, answer, message) ?? refused('other', words)
}

function balance(answer: ProviderAnswer): CheckResult {
  if (answer.status === 200 && xmlText(answer.body, 'balance') !== undefined) return good
  const [, code] = numbered.exec(answer.body.trim()) ?? []
  return bad(wordsOf('SMS Central', answer), code === wrongPassword ? 'password' : undefined)
}

function read(call: InboundCall): readonly Receipt[] {
  const report = reportForm(call, ['password', 'user_name'])
  const status = statuses.get(report.string('STATUS') ?? '')
  return receiptOf({
    status,
    reference: report.string('REFERENCE'),
    address: report.string('RECIPIENT'),
    words: status === 'failed' ? report.string('STATUSDESCRIPTION') : undefined,
    row: report.value(''),
  })
}
