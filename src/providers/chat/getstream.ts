// GetStream: posts to a channel of Stream Chat with the account's secret; without one, to the subscriber's own relay.
// https://getstream.io/chat/docs/node/
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { misconfigured, refused } from '../../domain/delivery/outcome.ts'
import type { ChatMessage } from '../../domain/messages/outbound-message.ts'
import type { OutboundRequest } from '../../world/world.ts'
import { baseAddress, ofVisibleAscii, optional, ownBaseUrl, secret, text } from '../form.ts'
import { httpProvider } from '../http-provider.ts'
import { bad, good, unreachable } from '../provider.ts'
import { answerOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { hmac } from '../signing/signing.ts'
import { addressOf } from './chat-address.ts'
import { jsonRequest, mistakeOfSilence, textAs } from './chat-message.ts'
import { relayOutcome, streamOutcome, streamWords } from './getstream-outcome.ts'

const ownApi = 'https://chat.stream-io-api.com'
const relayRule = { example: 'https://relay.example.com/chat', httpsOnly: true } as const
/** Fields of the request, not of the message in it. */
const requestMembers: ReadonlySet<string> = new Set([
  'skip_push',
  'skip_enrich_url',
  'keep_channel_hidden',
  'force_moderation',
  'pending',
])
/** The caller's settings may not decide who posts it, where and under which id. */
const ownMembers = ['id', 'user', 'user_id', 'cid', 'message', 'channel', 'webhookUrl'] as const

export const getstream = httpProvider({
  id: 'getstream',
  channel: 'chat',
  name: 'GetStream',
  docsUrl: 'https://getstream.io/chat/docs/node/',
  evidence: {
    source: 'partly',
    unsure:
      'Stream does not document incoming webhooks: the relay, used without an API secret, follows what other clients do.',
  },
  features: ['cards'],
  form: {
    apiKey: secret('API key', { mistake: ofVisibleAscii }),
    secretKey: optional(
      secret('API secret', {
        description:
          'With it, messages are posted to the `channel` of each subscriber, such as `messaging:orders-42`. Without it, they are sent to the subscriber’s `webhookUrl`: if `baseUrl` is set, only on its host and with the API key in `X-API-KEY`; otherwise on any host and without the key.',
      }),
    ),
    user: optional(text('Sender', { description: 'The id of the user who posts; needed with the API secret.' })),
    baseUrl: ownBaseUrl('Stream'),
  },
  // The key is a parameter of the address.
  recipientMembers: ['message.cid', 'message.user_id', 'message.user', 'message.id', 'api_key', 'channel'],
  reach: ({ secretKey, baseUrl }) => (secretKey === undefined || baseUrl === undefined ? 'guarded' : 'operator'),
  callsRecipient: (_message, { secretKey }) => secretKey === undefined,

  request(message, account) {
    const { secretKey } = account
    return secretKey === undefined ? relayRequest(message, account) : channelRequest(message, { ...account, secretKey })
  },

  outcome: (answer, message, { secretKey }) =>
    secretKey === undefined ? relayOutcome(answer, message) : streamOutcome(answer, message, serverToken(secretKey)),

  async check(world, { secretKey, ...account }) {
    // Only Stream itself knows its keys; a relay is the subscriber's.
    if (secretKey === undefined) return good
    const token = serverToken(secretKey)
    const request = { url: `${apiOf(account)}/app?${keyOf(account)}`, method: 'GET', headers: headersOf(token) }
    try {
      const reach = account.baseUrl === undefined ? 'guarded' : 'operator'
      const answer = answerOf(await world.fetch(request, { reach }))
      if (answer.status === 200) return good
      const words = streamWords(answer, token)
      if (answer.number('code') === 2) return bad(words, 'apiKey')
      return answer.status === 401 || answer.status === 403 ? bad(words, 'secretKey') : bad(words)
    } catch (error) {
      return unreachable(error)
    }
  },
})

interface RelayAccount {
  readonly apiKey: string
  readonly baseUrl?: string
}

interface Account {
  readonly apiKey: string
  readonly secretKey: string
  readonly user?: string
  readonly baseUrl?: string
}

const apiOf = ({ baseUrl }: { readonly baseUrl?: string }): string =>
  baseUrl === undefined ? ownApi : baseAddress(baseUrl)

const keyOf = ({ apiKey }: { readonly apiKey: string }): string => new URLSearchParams({ api_key: apiKey }).toString()

const headersOf = (token: string): Record<string, string> => ({ authorization: token, 'stream-auth-type': 'jwt' })

/** The server's own JSON Web Token, which Stream wants without an expiry. */
function serverToken(secretKey: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ server: true })}`
  return `${signed}.${hmac('sha256', secretKey, signed).toString('base64url')}`
}

function channelRequest(message: ChatMessage, account: Account): OutboundRequest | Outcome {
  const [, type = '', id = ''] = /^([\w-]{1,64}):([\w!-]{1,64})$/.exec(message.channel ?? '') ?? []
  if (id === '') {
    return refused('bad-recipient', 'The subscriber’s channel must be a type and an id, such as messaging:orders-42')
  }
  if (account.user === undefined)
    return misconfigured('The integration has no user id: Stream requires the id of the user who posts')
  const settings = Object.entries(settingsOf(message, ownMembers))
  const ofRequest = settings.filter(([name]) => requestMembers.has(name))
  const ofMessage = settings.filter(([name]) => !requestMembers.has(name))
  const said = { ...textAs('text', message.content), ...Object.fromEntries(ofMessage) }
  const silence = mistakeOfSilence(said, ['text', 'attachments'])
  if (silence !== undefined) return silence
  const url = `${apiOf(account)}/channels/${encodeURIComponent(type)}/${encodeURIComponent(id)}/message?${keyOf(account)}`
  const body = {
    // Under our id a repeat is not posted twice.
    message: { ...said, id: message.id, user_id: account.user },
    ...Object.fromEntries(ofRequest),
  }
  return jsonRequest(url, body, { ...headersOf(serverToken(account.secretKey)), 'x-client-request-id': message.id })
}

/** The key goes to one host, whatever address a subscriber or an event names. */
function relayRequest(message: ChatMessage, { apiKey, baseUrl }: RelayAccount): OutboundRequest | Outcome {
  const url = addressOf(message, relayRule)
  if (!(url instanceof URL)) return url
  if (baseUrl !== undefined && url.origin !== new URL(baseAddress(baseUrl)).origin) {
    return refused('bad-recipient', 'The subscriber’s webhookUrl is on another host than the integration’s baseUrl')
  }
  const body = { ...textAs('text', message.content), ...settingsOf(message, ['channel', 'webhookUrl', 'headers']) }
  return (
    mistakeOfSilence(body, ['text', 'attachments']) ??
    jsonRequest(url, body, baseUrl === undefined ? {} : { 'x-api-key': apiKey })
  )
}
