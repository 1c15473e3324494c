// Telegram: a bot that writes to the chat of each subscriber.
// https://core.telegram.org/bots/api#sendmessage
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import { baseAddress, optional, ownBaseUrl, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import { bad, good } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { givenText, jsonRequest, mistakeOfSilence, textAs } from './chat-message.ts'
import { waitMsOf } from './chat-outcome.ts'

const ownApi = 'https://api.telegram.org'

const ofChat = (value: string): string | undefined =>
  /^(-?\d{1,20}|@\w{1,64})$/.test(value) ? undefined : 'must be a chat id such as -1001234567890, or @channelname'

/**
 * Telegram reports what is wrong with a chat in words only; these are about the recipient, all others about the
 * content.
 */
const chatMistakes: ReadonlySet<string> = new Set([
  'chat not found',
  'user not found',
  'peer_id_invalid',
  'chat_write_forbidden',
  'channel_private',
  'have no rights to send a message',
  'not enough rights to send text messages to the chat',
  'need administrator rights in the channel chat',
  'group is deactivated',
  'group chat was deactivated',
  'group chat was upgraded to a supergroup chat',
  'message thread not found',
  'topic_closed',
])

export const telegram = httpProvider({
  id: 'telegram',
  channel: 'chat',
  name: 'Telegram',
  docsUrl: 'https://core.telegram.org/bots/api#sendmessage',
  evidence: {
    source: 'partly',
    unsure: 'The error messages, which Telegram does not list: they distinguish a deleted chat from invalid content.',
  },
  limits: { perSecond: 30 },
  form: {
    token: secret('Bot token', {
      description: 'From @BotFather. Users must first message the bot, or add it to the group or channel.',
      placeholder: '123456789:AA…',
      mistake: (value) =>
        /^\d{1,20}:[\w-]{20,100}$/.test(value) ? undefined : 'must be a bot token: digits, a colon and letters',
    }),
    channelId: optional(
      text('Default chat', {
        description: 'For subscribers without a chat of their own.',
        placeholder: '-1001234567890',
        mistake: ofChat,
      }),
    ),
    baseUrl: ownBaseUrl('Telegram'),
  },
  recipientMembers: ['chat_id'],

  request(message, { channelId, ...bot }) {
    const chat = givenText(message.channel) ?? channelId
    if (chat === undefined) {
      return refused('bad-recipient', 'The subscriber has no channel, and the integration has no default chat')
    }
    const mistake = ofChat(chat)
    if (mistake !== undefined) return refused('bad-recipient', `The channel ${mistake}`)
    const body = {
      ...textAs('text', message.content),
      ...settingsOf(message, ['chat_id', 'channel', 'webhookUrl']),
      chat_id: chat,
    }
    return mistakeOfSilence(body, ['text']) ?? jsonRequest(`${botAddress(bot)}/sendMessage`, body)
  },

  outcome(answer) {
    const words = wordsOf('Telegram', answer, 'description')
    if (answer.status === 200 && answer.flag('ok') === true) {
      const chat = answer.id('result.chat.id')
      const id = answer.id('result.message_id')
      // Unique only together.
      return chat === undefined || id === undefined ? unsure(words) : sent(`${chat}:${id}`)
    }
    return failure(answer, words)
  },

  probe: {
    request: (bot) => ({ url: `${botAddress(bot)}/getMe`, method: 'GET', headers: {} }),
    result(answer) {
      if (answer.status === 200 && answer.flag('ok') === true) return good
      const words = wordsOf('Telegram', answer, 'description')
      return failure(answer, words).kind === 'misconfigured' ? bad(words, 'token') : bad(words)
    },
  },
})

function botAddress({ token, baseUrl }: { readonly token: string; readonly baseUrl?: string }): string {
  return `${baseUrl === undefined ? ownApi : baseAddress(baseUrl)}/bot${token}`
}

function failure(answer: ProviderAnswer, words: string): Outcome {
  switch (answer.status) {
    case 400:
      return refused(isChatMistake(answer) ? 'bad-recipient' : 'bad-content', words)
    // The person blocked the bot or never wrote to it, or it was removed from the group.
    case 403:
      return refused('bad-recipient', words)
    // There is no such bot: its token is part of the address.
    case 404:
      return misconfigured(words)
    case 429:
      return busy(words, waitMsOf(answer.number('parameters.retry_after')) ?? retryAfterMsOf(answer))
    default:
      return outcomeOfStatus(answer, words)
  }
}

function isChatMistake(answer: ProviderAnswer): boolean {
  if (answer.id('parameters.migrate_to_chat_id') !== undefined) return true
  return chatMistakes.has((answer.string('description') ?? '').replace(/^Bad Request: /, '').toLowerCase())
}
