// Discord: an incoming webhook whose address belongs to the subscriber.
// https://docs.discord.com/developers/resources/webhook#execute-webhook
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import { httpProvider } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { addressOf, hasAddress } from './chat-address.ts'
import { jsonRequest, mistakeOfSilence, textAs } from './chat-message.ts'
import { outcomeOfAddress, waitMsOf } from './chat-outcome.ts'

const addressRule = {
  example: 'https://discord.com/api/webhooks/…',
  hosts: ['discord.com', 'discordapp.com', 'ptb.discord.com', 'canary.discord.com'],
  // Not with /slack or /github at its end: those expect other vendors' bodies.
  path: /^\/api\/(v\d{1,3}\/)?webhooks\/\d{1,20}\/[\w-]{1,200}$/,
} as const

/** Its edge servers block us; the webhook itself may be valid. */
const blockedAtEdge = 40333

export const discord = httpProvider({
  id: 'discord',
  channel: 'chat',
  name: 'Discord',
  docsUrl: 'https://docs.discord.com/developers/resources/webhook#execute-webhook',
  evidence: { source: 'vendor' },
  features: ['cards', 'sender per message'],
  limits: { contentCharactersMax: 2_000 },
  form: {},
  // The thread is a parameter of the address.
  recipientMembers: ['thread_id', 'webhookUrl'],
  callsRecipient: hasAddress,

  request(message) {
    const url = addressOf(message, addressRule)
    if (!(url instanceof URL)) return url
    const body = {
      ...textAs('content', message.content),
      // Text written by a person must not mention everyone.
      allowed_mentions: { parse: [] },
      ...settingsOf(message, ['webhookUrl', 'thread_id']),
    }
    const silence = mistakeOfSilence(body, ['content', 'embeds', 'components', 'poll'])
    if (silence !== undefined) return silence
    // Without it Discord returns neither whether the message was stored nor its id.
    url.searchParams.set('wait', 'true')
    if ('components' in body) url.searchParams.set('with_components', 'true')
    return jsonRequest(url, body)
  },

  outcome(answer) {
    const { status } = answer
    const words = wordsOf('Discord', answer, 'message')
    if (status === 200) {
      const id = answer.id('id')
      return id === undefined ? unsure(words) : sent(id)
    }
    return failure(answer, words)
  },
})

function failure(answer: ProviderAnswer, words: string): Outcome {
  if (answer.status === 429) return busy(words, waitMsOf(answer.number('retry_after')) ?? retryAfterMsOf(answer))
  if (answer.status === 400) return refused('bad-content', words)
  if (answer.status === 403 && answer.number('code') === blockedAtEdge) return busy(words, retryAfterMsOf(answer))
  return outcomeOfAddress(answer, words)
}
