// Mobishastra, the JSON API: a list of messages, each with the account that sends it.
// https://telkosh.com/mobishastra/
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import type { OutboundRequest } from '../../world/world.ts'
import { baseAddress, ofBaseUrl, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import type { Reading } from '../reading.ts'
import { settingsOf } from '../settings.ts'
import { codeTable, outcomeOfCode } from './code-meaning.ts'
import { mistakeOfSms, plainSenderOf } from './sms-message.ts'
import { digitsOf, isGsm } from './sms-text.ts'

/** The vendor names no number; this many are answered well within the time a send has. */
const messagesMax = 50
const success = 'send successful'

/** Whole texts, in lower case: there are no codes. */
const meanings = codeTable({
  account: ['invalid profile id or password', 'insufficient credits', 'no more credits'],
  sender: ['invalid sender', 'invalid sender id'],
  'bad-recipient': ['invalid mobile number', 'invalid mobile no'],
})

interface Account {
  readonly user: string
  readonly password: string
  readonly from: string
}

export const mobishastra = httpProvider({
  id: 'mobishastra',
  channel: 'sms',
  name: 'Mobishastra',
  docsUrl: 'https://telkosh.com/mobishastra/',
  evidence: {
    source: 'partly',
    unsure: 'The texts of its failures are known from examples only, and reports are arranged with each customer.',
  },
  features: ['sender per message', 'Unicode'],
  form: {
    baseUrl: text('API URL', {
      description: 'The full URL of the JSON API, as provided by Mobishastra.',
      placeholder: 'https://mshastra.com/sendsms_api_json.aspx',
      mistake: ofBaseUrl,
    }),
    user: text('Profile id'),
    password: secret('Password'),
    from: text('Sender', { description: 'A sender id that Mobishastra has approved.', placeholder: 'Acme' }),
  },

  recipientMembers: ['number', 'user', 'pwd'],

  request: (message, account) => mistakeOfSms(message) ?? listRequest(account.baseUrl, [itemOf(message, account)]),

  outcome(answer, message) {
    if (answer.status !== 200) return outcomeOfStatus(answer, wordsOf('Mobishastra', answer))
    return ofRow(answer.items('')[0], answer, message)
  },

  batch: {
    max: messagesMax,
    item: (message, account) => mistakeOfSms(message) ?? itemOf(message, account),
    request: (items, { baseUrl }) => listRequest(baseUrl, items),
    outcomes(answer, messages) {
      if (answer.status !== 200) {
        const whole = outcomeOfStatus(answer, wordsOf('Mobishastra', answer))
        return messages.map(() => whole)
      }
      const rows = answer.items('')
      return messages.map((message, index) => ofRow(rowOf(rows, message, index), answer, message))
    },
  },
})

function listRequest(baseUrl: string, items: readonly object[]): OutboundRequest {
  return {
    url: baseAddress(baseUrl),
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(items),
  }
}

function itemOf(message: SmsMessage, account: Account): object {
  return {
    user: account.user,
    pwd: account.password,
    number: digitsOf(message.to),
    msg: message.content,
    sender: plainSenderOf(message, account),
    language: isGsm(message.content) ? 'English' : 'Unicode',
    // Without `kind`, which distinguishes an Outcome from it.
    ...settingsOf(message, ['user', 'pwd', 'number', 'msg', 'sender', 'kind']),
  }
}

/** Answers come in the order of the messages; one to another number is not this message's. */
function rowOf(rows: readonly Reading[], message: SmsMessage, index: number): Reading | undefined {
  const row = rows[index]
  return digitsOf(row?.id('number') ?? '') === digitsOf(message.to) ? row : undefined
}

function ofRow(row: Reading | undefined, answer: ProviderAnswer, message: SmsMessage): Outcome {
  const id = row?.id('msg_id')?.trim() ?? ''
  const said = row?.string('str_response')?.trim() ?? ''
  if (id !== '') return sent(id)
  if (said === '' || said.toLowerCase() === success) return unsure(wordsOf('Mobishastra', answer))
  const words = `Mobishastra answered ${answer.status}: ${said}`
  return outcomeOfCode(meanings, said.toLowerCase(), words, answer, message) ?? refused('other', words)
}
