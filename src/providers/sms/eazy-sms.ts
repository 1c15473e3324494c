// Eazy, the SMS channel of its messaging API, "Send message".
// https://developers.eazy.im/
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { sent, unsure } from '../../domain/delivery/outcome.ts'
import { ofVisibleAscii, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { mistakeOfSms } from './sms-message.ts'
import { digitsOf } from './sms-text.ts'

const domain = '@sms.eazy.im'

export const eazySms = httpProvider({
  id: 'eazy-sms',
  channel: 'sms',
  name: 'Eazy',
  docsUrl: 'https://developers.eazy.im/',
  evidence: {
    source: 'others',
    unsure: 'The name of the text field (`text` or `body`) and the format of errors and reports are not confirmed.',
  },
  features: ['Unicode'],
  form: {
    apiKey: secret('API key', { mistake: ofVisibleAscii }),
    channelId: text('Channel', {
      description: 'The id of the SMS channel, which determines the sender.',
      placeholder: `c0ffee${domain}`,
      mistake: (value) =>
        /^[\w.-]{1,100}(?:@sms\.eazy\.im)?$/.test(value) ? undefined : `must be a channel id such as c0ffee${domain}`,
    }),
  },

  recipientMembers: ['to'],

  request(message, { apiKey, channelId }) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    const channel = encodeURIComponent(channelId.replace(domain, ''))
    return {
      url: `https://api.eazy.im/v3/channels/${channel}${domain}/messages/${digitsOf(message.to)}${domain}`,
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        accept: 'application/json',
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        message: { type: 'text', text: message.content },
        ...settingsOf(message, ['message', 'to']),
      }),
    }
  },

  outcome,
})

function outcome(answer: ProviderAnswer): Outcome {
  const words = wordsOf('Eazy', answer, 'message', 'error')
  if (answer.status < 200 || answer.status >= 300) return outcomeOfStatus(answer, words)
  const id = answer.id('id')
  return id === undefined ? unsure(words) : sent(id)
}
