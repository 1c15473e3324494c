// Sendchamp, "Send SMS".
// https://sendchamp.readme.io/reference/send-sms-api
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import { baseAddress, choice, ofBaseUrl, ofVisibleAscii, optional, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { mistakeOfSms, senderOf } from './sms-message.ts'
import { digitsOf } from './sms-text.ts'

export const sendchamp = httpProvider({
  id: 'sendchamp',
  channel: 'sms',
  name: 'Sendchamp',
  docsUrl: 'https://sendchamp.readme.io/reference/send-sms-api',
  evidence: {
    source: 'partly',
    unsure: 'Delivery reports and the balance endpoint are not documented well enough to be used.',
  },
  features: ['sender per message', 'Unicode'],
  form: {
    apiKey: secret('Public access key', { placeholder: 'sendchamp_live_…', mistake: ofVisibleAscii }),
    from: text('Sender name', { description: 'Approved by Sendchamp.' }),
    channelId: optional(
      choice('Route', ['dnd', 'non_dnd', 'international'], {
        description: 'Default: `dnd` for Nigerian numbers, `international` for all others.',
      }),
    ),
    baseUrl: optional(
      text('Base URL', {
        description: 'The URL of the sandbox, or of a proxy.',
        placeholder: 'https://sandbox-api.sendchamp.com/api/v1',
        mistake: ofBaseUrl,
      }),
    ),
  },

  recipientMembers: ['to'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    const to = digitsOf(message.to)
    return {
      url: `${baseAddress(account.baseUrl ?? 'https://api.sendchamp.com/api/v1')}/sms/send`,
      method: 'POST',
      headers: {
        authorization: `Bearer ${account.apiKey}`,
        accept: 'application/json',
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        route: account.channelId ?? (to.startsWith('234') ? 'dnd' : 'international'),
        ...settingsOf(message, ['to', 'message', 'sender_name']),
        to: [to],
        message: message.content,
        sender_name: senderOf(message, account),
      }),
    }
  },

  outcome,
})

function outcome(answer: ProviderAnswer): Outcome {
  const words = wordsOf('Sendchamp', answer, 'message', 'errors')
  if (answer.status < 200 || answer.status >= 300) return outcomeOfStatus(answer, words)
  const state = answer.string('status')
  const id = answer.id('data.id') ?? answer.id('data.reference')
  if (state === 'success' && id !== undefined) return sent(id)
  return state === 'error' ? refused('other', words) : unsure(words)
}
