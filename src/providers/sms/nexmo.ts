// Vonage SMS API, once Nexmo, "Send an SMS".
// https://developer.vonage.com/en/api/sms
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { basicAuth } from '../signing/signing.ts'
import { codeTable, outcomeOfCode } from './code-meaning.ts'
import { nexmoReceipts } from './nexmo-receipts.ts'
import { formHeaders, smsForm } from './sms-form.ts'
import { mistakeOfSms, plainSenderOf } from './sms-message.ts'
import { digitsOf, isGsm } from './sms-text.ts'
import { statusCallback } from './status-callback.ts'

const api = 'https://rest.nexmo.com'
/** Vonage accepts no longer address for receipts. */
const callbackLengthMax = 100

const callback = statusCallback('Vonage')

const codes = codeTable({
  busy: ['1', '5', '10'],
  account: ['4', '8', '9', '11', '14', '23', '29', '32'],
  sender: ['15'],
  'bad-recipient': ['7', '33'],
  'bad-content': ['6', '12'],
  other: ['2', '3', '22'],
})

export const nexmo = httpProvider({
  id: 'nexmo',
  channel: 'sms',
  name: 'Vonage (Nexmo)',
  docsUrl: 'https://developer.vonage.com/en/api/sms',
  evidence: { source: 'vendor' },
  features: ['sender per message', 'Unicode'],
  form: {
    apiKey: text('API key'),
    secretKey: secret('API secret'),
    from: text('From', { description: 'A number of the account, or a name of up to 11 characters.' }),
    webhookUrl: {
      ...callback,
      mistake: (value: string) =>
        value.length > callbackLengthMax
          ? `must be at most ${callbackLengthMax} characters long`
          : callback.mistake?.(value),
    },
  },

  recipientMembers: ['to', 'api_key', 'api_secret', 'sig'],

  request(message, { apiKey, secretKey, from, webhookUrl }) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    return {
      url: `${api}/sms/json`,
      method: 'POST',
      headers: { authorization: basicAuth(apiKey, secretKey), ...formHeaders },
      body: smsForm(
        message,
        {
          from: plainSenderOf(message, { from }),
          to: digitsOf(message.to),
          text: message.content,
          'client-ref': message.id,
          api_key: undefined,
          api_secret: undefined,
          sig: undefined,
        },
        // Characters outside the GSM alphabet would be lost.
        { type: isGsm(message.content) ? 'text' : 'unicode', callback: webhookUrl },
      ),
    }
  },

  outcome,

  probe: {
    request: ({ apiKey, secretKey }) => ({
      url: `${api}/account/get-balance?${new URLSearchParams({ api_key: apiKey, api_secret: secretKey })}`,
      method: 'GET',
      headers: { accept: 'application/json' },
    }),
    field: 'secretKey',
    words: ['error-code-label', 'detail', 'title'],
  },

  receipts: nexmoReceipts,
})

/** Each part of a long text is a message of its own there. */
function outcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  const parts = answer.items('messages')
  const failed = parts.find((part) => part.id('status') !== '0')
  const code = failed?.id('status')
  const said = wordsOf('Vonage', answer, `messages.${failed === undefined ? 0 : parts.indexOf(failed)}.error-text`)
  const words = code === undefined ? said : `${said} (${code})`
  if (answer.status !== 200) return outcomeOfStatus(answer, words)
  if (failed === undefined) {
    const id = answer.id('messages.0.message-id')
    return id === undefined ? unsure(words) : sent(id)
  }
  // A part that was sent would be sent again with the others.
  if (parts.some((part) => part.id('status') === '0'))
    return unsure(`Vonage accepted only some parts of the text: ${words}`)
  if (code === undefined) return unsure(words)
  return outcomeOfCode(codes, code, words, answer, message) ?? refused('other', words)
}
