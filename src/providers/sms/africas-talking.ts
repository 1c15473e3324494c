// Africa's Talking, bulk SMS of version 1.
// https://developers.africastalking.com/docs/sms/sending/bulk
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { ofVisibleAscii, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import type { InboundCall, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { codeTable, outcomeOfCode } from './code-meaning.ts'
import { reportForm } from './report-form.ts'
import { formHeaders, smsForm } from './sms-form.ts'
import { internationalOf, mistakeOfSms, senderOf } from './sms-message.ts'

/** Processed, sent, queued. */
const takenCodes: ReadonlySet<string> = new Set(['100', '101', '102'])

/** Of a recipient by number, and by name if nothing was sent. */
const codes = codeTable({
  // Do Not Disturb blocks this route; another may reach the person, who did not opt out of our messages.
  other: ['401', 'RiskHold', '409', 'DoNotDisturbRejection', '502', 'RejectedByGateway'],
  sender: ['402', 'InvalidSenderId'],
  'bad-recipient': ['403', 'InvalidPhoneNumber', '404', 'UnsupportedNumberType'],
  account: ['405', 'InsufficientBalance'],
  'opted-out': ['406', 'UserInBlacklist'],
  busy: ['407', 'CouldNotRoute', '500', 'InternalServerError', '501', 'GatewayError'],
})

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['Success', 'delivered'],
  ['Failed', 'failed'],
  ['Rejected', 'rejected'],
  ['AbsentSubscriber', 'failed'],
  ['Expired', 'failed'],
  ['Sent', 'sent'],
  ['Submitted', 'sent'],
  ['Buffered', 'queued'],
])

export const africasTalking = httpProvider({
  id: 'africas-talking',
  channel: 'sms',
  name: 'Africa’s Talking',
  docsUrl: 'https://developers.africastalking.com/docs/sms/sending/bulk',
  evidence: { source: 'vendor' },
  features: ['sender per message', 'Unicode'],
  form: {
    apiKey: secret('API key', { mistake: ofVisibleAscii }),
    user: text('Username', { description: 'The user name of the app; `sandbox` sends to the simulator.' }),
    from: text('Sender id', { description: 'A registered sender id or short code.' }),
  },

  recipientMembers: ['to', 'phoneNumbers', 'username'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    return {
      url: `${apiOf(account.user)}/messaging`,
      method: 'POST',
      headers: { apikey: account.apiKey, ...formHeaders },
      body: smsForm(
        message,
        {
          username: account.user,
          to: internationalOf(message.to),
          message: message.content,
          from: senderOf(message, account),
          // The same in the newer API.
          phoneNumbers: undefined,
          senderId: undefined,
        },
        { bulkSMSMode: '1' },
      ),
    }
  },

  outcome,

  probe: {
    request: ({ apiKey, user }) => ({
      url: `${apiOf(user)}/user?username=${encodeURIComponent(user)}`,
      method: 'GET',
      headers: { apikey: apiKey, accept: 'application/json' },
    }),
    field: 'apiKey',
  },

  receipts: {
    setUp:
      'Africa’s Talking does not sign its requests: set the webhook URL of this integration, with its key as `?token=…`, as the delivery reports callback of the app.',
    read,
  },
})

const apiOf = (user: string): string => `https://api.${user === 'sandbox' ? 'sandbox.' : ''}africastalking.com/version1`

function outcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  const said = answer.string('SMSMessageData.Message')
  const state = answer.string('SMSMessageData.Recipients.0.status')
  const words = wordsOf('Africa’s Talking', answer, 'SMSMessageData.Recipients.0.status', 'SMSMessageData.Message')
  if (answer.status < 200 || answer.status >= 300) return outcomeOfStatus(answer, words)
  const code = answer.id('SMSMessageData.Recipients.0.statusCode')
  if (code !== undefined && takenCodes.has(code)) {
    const id = answer.id('SMSMessageData.Recipients.0.messageId')
    return id === undefined || id === 'None' ? unsure(words) : sent(id)
  }
  const known = outcomeOfCode(codes, code ?? state ?? said, words, answer, message)
  if (known !== undefined) return known
  // None of the recipients was sent anything; or a code that is not known yet, which is no success.
  const isRefusal = code !== undefined || (said !== undefined && isEmpty(answer.value('SMSMessageData.Recipients')))
  return isRefusal ? refused('other', words) : unsure(words)
}

const isEmpty = (recipients: unknown): boolean => Array.isArray(recipients) && recipients.length === 0

function read(call: InboundCall): readonly Receipt[] {
  const report = reportForm(call)
  return receiptOf({
    status: statuses.get(report.string('status') ?? ''),
    providerMessageId: report.id('id'),
    address: report.id('phoneNumber'),
    words: report.string('failureReason'),
    row: report.value(''),
  })
}
