// Zulip: an incoming webhook of the kind that takes Slack's messages; its address belongs to the subscriber.
// https://zulip.com/integrations/doc/slack_incoming
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import { httpProvider } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { addressOf, hasAddress } from './chat-address.ts'
import { givenText, jsonRequest, mistakeOfSilence, textAs } from './chat-message.ts'
import { outcomeOfAddress, waitMsOf } from './chat-outcome.ts'

const addressRule = {
  example: 'https://acme.zulipchat.com/api/v1/external/slack_incoming?api_key=…',
  path: /\/api\/v1\/external\/\w{1,100}\/?$/,
} as const
/** The address names a bot, an organization or a stream that no longer exists, whatever the status. */
const deadCodes: ReadonlySet<string> = new Set([
  'STREAM_DOES_NOT_EXIST',
  'UNAUTHORIZED',
  'INVALID_API_KEY',
  'USER_DEACTIVATED',
  'REALM_DEACTIVATED',
])

export const zulip = httpProvider({
  id: 'zulip',
  channel: 'chat',
  name: 'Zulip',
  docsUrl: 'https://zulip.com/integrations/doc/slack_incoming',
  evidence: { source: 'vendor', unsure: 'The status codes of the rarer errors.' },
  features: ['blocks'],
  limits: { contentCharactersMax: 10_000 },
  form: {},
  // The query of the URL contains the rest of the destination.
  recipientMembers: ['channel', 'stream', 'topic', 'api_key', 'webhookUrl'],
  callsRecipient: hasAddress,

  request(message) {
    const url = addressOf(message, addressRule)
    if (!(url instanceof URL)) return url
    const topic = url.searchParams.has('topic') ? undefined : givenText(message.channel)
    const body = {
      ...textAs('text', message.content),
      ...settingsOf(message, ['channel', 'webhookUrl']),
      ...(topic === undefined ? {} : { channel: topic }),
    }
    // Zulip reports success for a message without content.
    return mistakeOfSilence(body, ['text', 'blocks', 'attachments']) ?? jsonRequest(url, body)
  },

  outcome(answer, message) {
    const words = wordsOf('Zulip', answer, 'msg')
    const result = answer.string('result')
    if (answer.status !== 200) return failure(answer, words)
    if (result === 'success') return sent(message.id)
    return result === 'error' ? failure(answer, words) : unsure(words)
  },
})

function failure(answer: ProviderAnswer, words: string): Outcome {
  const code = answer.string('code')
  if (code !== undefined && deadCodes.has(code)) return refused('bad-recipient', words)
  if (answer.status === 429 || code === 'RATE_LIMIT_HIT') {
    return busy(words, waitMsOf(answer.number('retry-after')) ?? retryAfterMsOf(answer))
  }
  if (answer.status === 200 || answer.status === 400) return refused('bad-content', words)
  return outcomeOfAddress(answer, words)
}
