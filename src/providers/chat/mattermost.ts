// Mattermost: an incoming webhook whose address belongs to the subscriber.
// https://developers.mattermost.com/integrate/webhooks/incoming/
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, refused, sent } from '../../domain/delivery/outcome.ts'
import { httpProvider } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { addressOf, hasAddress } from './chat-address.ts'
import { givenText, jsonRequest, mistakeOfSilence, textAs } from './chat-message.ts'
import { outcomeOfAddress, waitUntilResetMs } from './chat-outcome.ts'

const addressRule = {
  example: 'https://mattermost.example.com/hooks/…',
  // A server may be below a path.
  path: /\/hooks\/\w{1,100}\/?$/,
} as const
/** Of a deleted webhook; its address answers 400, as it does for a bad message. */
const unknownWebhook = 'web.incoming_webhook.invalid.app_error'

export const mattermost = httpProvider({
  id: 'mattermost',
  channel: 'chat',
  name: 'Mattermost',
  docsUrl: 'https://developers.mattermost.com/integrate/webhooks/incoming/',
  evidence: { source: 'vendor', unsure: 'The ids of errors.' },
  features: ['cards', 'sender per message'],
  form: {},
  recipientMembers: ['channel', 'webhookUrl'],
  callsRecipient: hasAddress,

  request(message) {
    const url = addressOf(message, addressRule)
    if (!(url instanceof URL)) return url
    const channel = givenText(message.channel)
    const body = {
      ...textAs('text', message.content),
      ...settingsOf(message, ['channel', 'webhookUrl']),
      ...(channel === undefined ? {} : { channel }),
    }
    return mistakeOfSilence(body, ['text', 'attachments']) ?? jsonRequest(url, body)
  },

  outcome(answer, message) {
    if (answer.status === 200 && answer.body.trim() === 'ok') {
      return sent(answer.headers.get('x-request-id') ?? message.id)
    }
    return failure(answer, wordsOf('Mattermost', answer, 'message'))
  },
})

function failure(answer: ProviderAnswer, words: string): Outcome {
  switch (answer.status) {
    case 400:
      return refused(answer.string('id') === unknownWebhook ? 'bad-recipient' : 'bad-content', words)
    // The webhook is there, and may not post to the channel that was asked for.
    case 403:
      return refused('other', words)
    case 429:
      return busy(words, retryAfterMsOf(answer) ?? waitUntilResetMs(answer, 'x-ratelimit-reset'))
    // Webhooks are disabled on its server.
    case 501:
      return refused('bad-recipient', words)
    default:
      return outcomeOfAddress(answer, words)
  }
}
