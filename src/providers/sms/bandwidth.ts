// Bandwidth, "Create message" of its messaging API.
// https://dev.bandwidth.com/apis/messaging-apis/messaging/#tag/Messages/operation/createMessage
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { eventsOf, timestampOf } from '../inbound/inbound-body.ts'
import type { InboundCall, Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { basicAuth } from '../signing/signing.ts'
import { codeTable, outcomeOfCode } from './code-meaning.ts'
import { internationalOf, mistakeOfSms, senderOf } from './sms-message.ts'

/** What is wrong, by the field of the request. */
const fields = codeTable({
  'bad-recipient': ['to'],
  sender: ['from'],
  'bad-content': ['text', 'media'],
  account: ['applicationId'],
})

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['message-sending', 'sent'],
  ['message-sent', 'sent'],
  ['message-delivered', 'delivered'],
  ['message-failed', 'failed'],
])

export const bandwidth = httpProvider({
  id: 'bandwidth',
  channel: 'sms',
  name: 'Bandwidth',
  docsUrl: 'https://dev.bandwidth.com/apis/messaging-apis/messaging/',
  evidence: { source: 'vendor' },
  features: ['sender per message', 'Unicode'],
  limits: { contentCharactersMax: 2_048 },
  form: {
    user: text('API username'),
    password: secret('API password'),
    accountSid: text('Account id', {
      placeholder: '9900001',
      mistake: (value) => (/^\d+$/.test(value) ? undefined : 'must be the digits of an account id'),
    }),
    applicationId: text('Application id', {
      description: 'The messaging application to which the number belongs.',
      placeholder: '93de2206-9669-4e07-948d-329f4b722ee2',
    }),
    from: text('From number', { placeholder: '+15553332222' }),
  },

  recipientMembers: ['to', 'applicationId'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    return {
      url: `${usersAddress(account.accountSid)}/messages`,
      method: 'POST',
      headers: {
        authorization: basicAuth(account.user, account.password),
        accept: 'application/json',
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        ...settingsOf(message, ['applicationId', 'to', 'from', 'text', 'tag']),
        applicationId: account.applicationId,
        // Several would form a group whose members see each other.
        to: [internationalOf(message.to)],
        from: senderOf(message, account),
        text: message.content,
        tag: message.id,
      }),
    }
  },

  outcome,

  probe: {
    request: ({ user, password, accountSid }) => ({
      url: `${usersAddress(accountSid)}/media`,
      method: 'GET',
      headers: { authorization: basicAuth(user, password), accept: 'application/json' },
    }),
    field: 'password',
    words: ['description'],
  },

  receipts: {
    setUp:
      'Bandwidth does not sign its requests: set the webhook URL of this integration as the status callback of the application, with its key as the password of the callback credentials.',
    read,
  },
})

const usersAddress = (accountSid: string): string =>
  `https://messaging.bandwidth.com/api/v2/users/${encodeURIComponent(accountSid)}`

function outcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  const words = wordsOf('Bandwidth', answer, 'fieldErrors.0.description', 'description')
  if (answer.status >= 200 && answer.status < 300) {
    const id = answer.id('id')
    return id === undefined ? unsure(words) : sent(id)
  }
  // The account id is part of the address.
  if (answer.status === 404) return misconfigured(words)
  if (answer.status !== 400) return outcomeOfStatus(answer, words)
  // `to[0]` is `to`.
  const [field] = (answer.string('fieldErrors.0.fieldName') ?? '').split('[')
  return outcomeOfCode(fields, field, words, answer, message) ?? refused('other', words)
}

function read(call: InboundCall): readonly Receipt[] {
  return eventsOf(call).flatMap((report) => {
    const code = report.id('errorCode')
    const description = report.string('description') ?? ''
    return receiptOf({
      status: statuses.get(report.string('type') ?? ''),
      reference: report.string('message.tag'),
      providerMessageId: report.id('message.id'),
      address: report.string('to'),
      at: timestampOf(report.string('time')),
      words: code === undefined ? description : `${description} (${code})`.trim(),
      row: report.value(''),
    })
  })
}
