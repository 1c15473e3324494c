// Unifonic, the SMS REST API, "Send message".
// https://docs.unifonic.com
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { optional, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { jsonOf } from '../inbound/inbound-body.ts'
import type { InboundCall, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import type { CheckResult } from '../provider.ts'
import { bad, good } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import type { Reading } from '../reading.ts'
import { readingOf } from '../reading.ts'
import { basicAuth } from '../signing/signing.ts'
import { codeTable, outcomeOfCode } from './code-meaning.ts'
import { reportForm } from './report-form.ts'
import { formHeaders, smsForm } from './sms-form.ts'
import { mistakeOfSms, plainSenderOf } from './sms-message.ts'
import { digitsOf } from './sms-text.ts'
import { statusCallback } from './status-callback.ts'

const api = 'https://el.cloud.unifonic.com/rest/SMS'
const dayMs = 86_400_000
const authenticationError = 'ER-01'

/** Statuses of its own, beyond those of HTTP. */
const meanings = codeTable({
  account: ['401', '402', '403'],
  sender: ['440', '480'],
  'bad-recipient': ['410', '482', '483'],
  'bad-content': ['406', '412', '421', '449', '460'],
  busy: ['599'],
})

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['queued', 'queued'],
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['undelivered', 'failed'],
  ['failed', 'failed'],
  ['rejected', 'rejected'],
])

interface Account {
  readonly user?: string | undefined
  readonly password?: string | undefined
}

export const unifonic = httpProvider({
  id: 'unifonic',
  channel: 'sms',
  name: 'Unifonic',
  docsUrl: 'https://docs.unifonic.com',
  evidence: { source: 'partly', unsure: 'The field names of its reports are not confirmed.' },
  features: ['sender per message', 'Unicode'],
  form: {
    appSid: secret('App SID'),
    senderId: text('Sender ID', { placeholder: 'Acme' }),
    user: optional(
      text('User', { description: 'Used with the password, if the account also requires HTTP Basic authentication.' }),
    ),
    password: optional(secret('Password')),
    webhookUrl: statusCallback('Unifonic'),
  },

  recipientMembers: ['Recipient', 'AppSid'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    return {
      url: `${api}/messages`,
      method: 'POST',
      headers: headersOf(account),
      body: smsForm(
        message,
        {
          AppSid: account.appSid,
          SenderID: plainSenderOf(message, { from: account.senderId }),
          Recipient: digitsOf(message.to),
          Body: message.content,
          responseType: 'JSON',
          CorrelationID: message.id,
          baseEncode: undefined,
        },
        { statusCallback: account.webhookUrl, async: 'false' },
      ),
    }
  },

  outcome,

  probe: {
    request(account, now) {
      const day = new Date(now.getTime() - dayMs).toISOString().slice(0, 10)
      const body = new URLSearchParams({ AppSid: account.appSid, DateFrom: day, DateTo: day, Limit: '1' })
      return {
        url: `${api}/Messages/GetMessagesDetails`,
        method: 'POST',
        headers: headersOf(account),
        body: body.toString(),
      }
    },
    result: checked,
  },

  receipts: {
    setUp:
      'Unifonic does not sign its requests: set the webhook URL of this integration, with its key as `?token=…`, as the status callback, or in Unifonic’s console.',
    read,
  },
})

const headersOf = ({ user, password }: Account): Record<string, string> => ({
  ...(user === undefined || password === undefined ? {} : { authorization: basicAuth(user, password) }),
  ...formHeaders,
})

const isSuccess = (answer: Reading): boolean =>
  (answer.flag('success') === true || answer.string('success') === 'true') && answer.string('errorCode') === 'ER-00'

const isFailure = (answer: Reading): boolean => answer.flag('success') === false || answer.string('success') === 'false'

function words(answer: ProviderAnswer): string {
  const code = answer.string('errorCode')
  const said = wordsOf('Unifonic', answer, 'message')
  return code === undefined || code === '' ? said : `${said} (${code})`
}

function outcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  if (answer.status === 200) return ofBody(answer, message)
  // Its filter has seen the same text to the same number: the first one was accepted.
  if (answer.status === 409) return sent(message.id, words(answer))
  const knownOutcome = outcomeOfCode(meanings, String(answer.status), words(answer), answer, message)
  return knownOutcome ?? outcomeOfStatus(answer, words(answer))
}

function ofBody(answer: ProviderAnswer, message: SmsMessage): Outcome {
  const id = answer.id('data.MessageID') ?? answer.id('data.messageID')
  if (isSuccess(answer)) return id === undefined ? unsure(words(answer)) : sent(id)
  if (!isFailure(answer)) return unsure(words(answer))
  const code = answer.string('errorCode') === authenticationError ? '401' : undefined
  return outcomeOfCode(meanings, code, words(answer), answer, message) ?? refused('other', words(answer))
}

function checked(answer: ProviderAnswer): CheckResult {
  if (answer.status === 200 && !isFailure(answer)) return good
  const isUnknown = [401, 402].includes(answer.status) || answer.string('errorCode') === authenticationError
  return bad(words(answer), isUnknown ? 'appSid' : undefined)
}

function read(call: InboundCall): readonly Receipt[] {
  const report = callOf(call)
  const status = report.string('status') ?? report.string('messagestatus')
  return receiptOf({
    status: statuses.get(status?.toLowerCase() ?? ''),
    reference: report.string('correlationid'),
    providerMessageId: report.id('messageid'),
    address: report.id('recipient'),
    row: report.value(''),
  })
}

/** JSON or a form, its names in lower case. */
function callOf(call: InboundCall): Reading {
  const json = jsonOf(call).value('')
  const isJson = typeof json === 'object' && json !== null
  const given = isJson ? json : (reportForm(call).value('') as object)
  return readingOf(Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value])))
}
