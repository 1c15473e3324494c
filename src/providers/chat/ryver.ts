// Ryver: an incoming webhook whose address belongs to the subscriber.
// https://api.ryver.com/ryvhooks_simple_incoming.html
import { refused, sent } from '../../domain/delivery/outcome.ts'
import { httpProvider } from '../http-provider.ts'
import { wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { addressOf, hasAddress } from './chat-address.ts'
import { jsonRequest, mistakeOfSilence, textAs } from './chat-message.ts'
import { outcomeOfAddress } from './chat-outcome.ts'

const addressRule = {
  example: 'https://acme.ryver.com/application/webhook/…',
  hosts: ['*.ryver.com'],
  path: /^\/application\/webhook\/[\w~.-]{1,100}\/?$/,
} as const

export const ryver = httpProvider({
  id: 'ryver',
  channel: 'chat',
  name: 'Ryver',
  docsUrl: 'https://api.ryver.com/ryvhooks_simple_incoming.html',
  evidence: {
    source: 'partly',
    unsure: 'The bodies of its responses, its limits, and whether the service is still fully operated.',
  },
  features: ['sender per message'],
  form: {},
  callsRecipient: hasAddress,

  request(message) {
    const url = addressOf(message, addressRule)
    if (!(url instanceof URL)) return url
    const body = { ...textAs('body', message.content), ...settingsOf(message, ['webhookUrl']) }
    return mistakeOfSilence(body, ['body', 'subject', 'text']) ?? jsonRequest(url, body)
  },

  // Its response to an accepted message is not documented, and has no id.
  outcome(answer, message) {
    if (answer.status >= 200 && answer.status < 300) return sent(message.id)
    const words = wordsOf('Ryver', answer, 'error.message', 'message')
    return answer.status === 400 ? refused('bad-content', words) : outcomeOfAddress(answer, words)
  },
})
