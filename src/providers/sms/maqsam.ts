// Maqsam, "Send SMS" of its v2 API.
// https://portal.maqsam.com/docs/v2/sms
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import { secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { bad, good } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { basicAuth } from '../signing/signing.ts'
import { internationalOf, mistakeOfSms, senderOf } from './sms-message.ts'

const api = 'https://api.maqsam.com'

export const maqsam = httpProvider({
  id: 'maqsam',
  channel: 'sms',
  name: 'Maqsam',
  docsUrl: 'https://portal.maqsam.com/docs/v2/sms',
  evidence: {
    source: 'others',
    unsure:
      'The vendor’s documentation was not accessible: the JSON body and the format of errors are from third-party code.',
  },
  features: ['sender per message', 'Unicode'],
  form: {
    apiKey: text('Access key id'),
    secretKey: secret('Access secret'),
    from: text('Sender', { description: 'As registered with Maqsam.' }),
  },

  recipientMembers: ['to'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    return {
      url: `${api}/v2/sms`,
      method: 'POST',
      headers: {
        authorization: basicAuth(account.apiKey, account.secretKey),
        accept: 'application/json',
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        ...settingsOf(message, ['to', 'message', 'sender']),
        to: internationalOf(message.to),
        message: message.content,
        sender: senderOf(message, account),
      }),
    }
  },

  outcome,

  probe: {
    // The only list that every account may read.
    request: ({ apiKey, secretKey }) => ({
      url: `${api}/v1/calls?page=1`,
      method: 'GET',
      headers: { authorization: basicAuth(apiKey, secretKey), accept: 'application/json' },
    }),
    result: (answer) =>
      answer.status === 200 && answer.string('result') === 'success'
        ? good
        : bad(wordsOf('Maqsam', answer, ...wordPaths), answer.status === 401 ? 'secretKey' : undefined),
  },
})

/** A text, or an object that holds one. */
const wordPaths = ['message', 'message.message', 'error']

function outcome(answer: ProviderAnswer): Outcome {
  const words = wordsOf('Maqsam', answer, ...wordPaths)
  if (answer.status < 200 || answer.status >= 300) return outcomeOfStatus(answer, words)
  const result = answer.string('result') ?? 'success'
  if (result !== 'success') return refused('other', words)
  const id = answer.id('message.identifier')
  return id === undefined ? unsure(words) : sent(id)
}
