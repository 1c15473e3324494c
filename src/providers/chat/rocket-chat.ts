// Rocket.Chat: a user's token posts to a room of the account's workspace, or to an incoming webhook of any.
// https://developer.rocket.chat/apidocs/send-message
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused } from '../../domain/delivery/outcome.ts'
import type { Fields } from '../../domain/merged.ts'
import { isFields, merged } from '../../domain/merged.ts'
import type { ChatMessage } from '../../domain/messages/outbound-message.ts'
import type { OutboundRequest, World } from '../../world/world.ts'
import { baseAddress, ofBaseUrl, ofVisibleAscii, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import type { CheckResult } from '../provider.ts'
import { bad, good, unreachable } from '../provider.ts'
import { answerOf, wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { addressOf, hasAddress } from './chat-address.ts'
import { givenText, jsonRequest, mistakeOfSilence, textAs } from './chat-message.ts'
import { rocketChatOutcome } from './rocket-chat-outcome.ts'

const workspaceRule = { example: 'https://chat.example.com' } as const
const hookRule = { example: 'https://chat.example.com/hooks/…' } as const

export const rocketChat = httpProvider({
  id: 'rocket-chat',
  channel: 'chat',
  name: 'Rocket.Chat',
  docsUrl: 'https://developer.rocket.chat/apidocs/send-message',
  evidence: { source: 'vendor', unsure: 'The response to a second message with the same id.' },
  features: ['blocks', 'cards', 'sender per message'],
  form: {
    token: secret('Personal access token', {
      description: 'Created with “ignore two factor”.',
      mistake: ofVisibleAscii,
    }),
    user: text('User ID', { description: 'The user of the token: the id, not the name.', mistake: ofVisibleAscii }),
    // Required: an event may name any address as a subscriber's, and the token must not go there.
    baseUrl: text('Workspace URL', {
      description: 'The token is never sent to another workspace, even if a subscriber’s `webhookUrl` points there.',
      placeholder: 'https://chat.example.com',
      mistake: ofBaseUrl,
    }),
  },
  recipientMembers: ['message.rid', 'message._id', 'channel', 'roomId'],
  reach: (_account, message) => (isHook(message) ? 'guarded' : 'operator'),
  callsRecipient: isHook,

  request: (message, account) => (isHook(message) ? hookRequest(message) : roomRequest(message, account)),

  outcome: (answer, message) => rocketChatOutcome(answer, message, isHook(message)),

  check: checkWorkspace,
})

interface Account {
  readonly token: string
  readonly user: string
  readonly baseUrl: string
}

/** An incoming webhook of Rocket.Chat, recognised by its path: it needs no token. */
function isHook(message: ChatMessage): boolean {
  if (!hasAddress(message) || !URL.canParse(message.webhookUrl)) return false
  return /\/hooks\/[^/]+\/[^/]+\/?$/.test(new URL(message.webhookUrl).pathname)
}

const headersOf = ({ token, user }: Account): Record<string, string> => ({ 'x-auth-token': token, 'x-user-id': user })

function hookRequest(message: ChatMessage): OutboundRequest | Outcome {
  const url = addressOf(message, hookRule)
  if (!(url instanceof URL)) return url
  // A webhook knows rooms by name only, not by id.
  const channel = /^[#@]./.test(message.channel ?? '') ? { channel: message.channel } : {}
  const body = { ...textAs('text', message.content), ...settingsOf(message, ['channel', 'webhookUrl']), ...channel }
  return mistakeOfSilence(body, ['text', 'attachments', 'blocks']) ?? jsonRequest(url, body)
}

function roomRequest(message: ChatMessage, account: Account): OutboundRequest | Outcome {
  const workspace = workspaceOf(message, account.baseUrl)
  if (typeof workspace !== 'string') return workspace
  const rid = givenText(message.channel)
  if (rid === undefined) return refused('bad-recipient', 'The subscriber has no channel: the id of a room')
  const { message: within, previewUrls, ...plain } = settingsOf(message, ['channel', 'webhookUrl', 'rid', '_id'])
  const said = merged({ ...textAs('msg', message.content), ...plain }, isFields(within) ? within : {})
  const silence = mistakeOfSilence(said, ['msg', 'attachments', 'blocks'])
  if (silence !== undefined) return silence
  const body: Fields = {
    // Under our id a repeat is not posted twice.
    message: { ...said, rid, _id: message.id },
    ...(previewUrls === undefined ? {} : { previewUrls }),
  }
  return jsonRequest(`${workspace}/api/v1/chat.sendMessage`, body, headersOf(account))
}

/** A subscriber of another workspace is not served by this account. */
function workspaceOf(message: ChatMessage, baseUrl: string): string | Outcome {
  if (!hasAddress(message)) return baseAddress(baseUrl)
  const url = addressOf(message, workspaceRule)
  if (!(url instanceof URL)) return url
  return url.origin === new URL(baseAddress(baseUrl)).origin
    ? baseAddress(baseUrl)
    : refused('bad-recipient', 'The subscriber’s webhookUrl is another workspace than the integration’s')
}

async function checkWorkspace(world: World, account: Account): Promise<CheckResult> {
  const url = `${baseAddress(account.baseUrl)}/api/v1/me`
  try {
    const answer = answerOf(
      await world.fetch({ url, method: 'GET', headers: headersOf(account) }, { reach: 'operator' }),
    )
    if (answer.status === 200 && answer.flag('success') === true) return good
    const words = wordsOf('Rocket.Chat', answer, 'message', 'error')
    const isUnknown = [401, 403].includes(answer.status)
    if (isUnknown) return bad(words, 'token')
    return outcomeOfStatus(answer, words).kind === 'busy' ? bad(words) : bad(words, 'baseUrl')
  } catch (error) {
    return unreachable(error)
  }
}
