// Slack: an incoming webhook whose address belongs to the subscriber, or a bot that posts to a channel.
// https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
// https://docs.slack.dev/reference/methods/chat.postMessage
import type { ChatMessage } from '../../domain/outbound-message.ts'
import type { Outcome } from '../../domain/outcome.ts'
import { refused } from '../../domain/outcome.ts'
import type { OutboundRequest } from '../../world/world.ts'
import { baseAddress, flag, ofBaseUrl, ofVisibleAscii, optional, secret, text } from '../form.ts'
import { httpProvider } from '../http-provider.ts'
import { bad, good, unreachable } from '../provider.ts'
import { answerOf } from '../provider-answer.ts'
import { hasAddress } from './chat-address.ts'
import { botOutcome, slackWords, webhookOutcome } from './slack-outcome.ts'

const ownApi = 'https://slack.com/api'
const webhookHosts: ReadonlySet<string> = new Set(['hooks.slack.com', 'hooks.slack-gov.com'])
/** With the charset: without it Slack answers a warning. */
const contentType = 'application/json; charset=utf-8'
/** Where the message goes is not the caller's settings to say. */
const ownMembers: ReadonlySet<string> = new Set(['channel', 'webhookUrl', 'token'])

export const slack = httpProvider({
  id: 'slack',
  channel: 'chat',
  name: 'Slack',
  docsUrl: 'https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks',
  form: {
    applicationId: optional(text('App ID', { placeholder: 'A0123456789' })),
    clientId: optional(text('Client ID', { description: 'Needed to let subscribers connect a channel themselves.' })),
    secretKey: optional(secret('Client secret')),
    redirectUrl: optional(
      text('Redirect address', {
        description: 'Where a subscriber lands after connecting a channel.',
        placeholder: 'https://app.example.com/settings',
        mistake: (value) => (URL.canParse(value) && /^https?:/.test(value) ? undefined : 'must be an http(s) address'),
      }),
    ),
    hmac: flag('Require a subscriber hash', {
      description: 'The link that starts connecting must carry the HMAC of the subscriber id.',
    }),
    token: optional(
      secret('Bot token', {
        description: 'Posts to the `channel` of subscribers who have no webhook address. Needs the scope `chat:write`.',
        placeholder: 'xoxb-…',
        mistake: ofVisibleAscii,
      }),
    ),
    channelId: optional(
      text('Default channel', {
        description: 'Where the bot posts for subscribers without a channel of their own.',
        placeholder: 'C0123456789',
      }),
    ),
    baseUrl: optional(
      text('Base address', {
        description: 'Another place of the Web API than Slack’s own, such as `https://slack-gov.com/api`.',
        mistake: ofBaseUrl,
      }),
    ),
  },
  recipientMembers: [...ownMembers],
  // An address of a subscriber's is guarded, whatever the account may reach.
  reach: ({ baseUrl }, message) => (baseUrl === undefined || hasAddress(message) ? 'guarded' : 'operator'),
  callsRecipient: hasAddress,

  request(message, account) {
    const body = bodyOf(message)
    if (['text', 'blocks', 'attachments', 'markdown_text'].every((name) => !hasContent(body[name]))) {
      return refused('bad-content', 'The message says nothing')
    }
    return hasAddress(message) ? webhookRequest(message.webhookUrl, body) : botRequest(message, account, body)
  },

  outcome: (answer, message) => (hasAddress(message) ? webhookOutcome(answer, message) : botOutcome(answer)),

  async check(world, { token, baseUrl }) {
    // An incoming webhook needs no account, so there is nobody to ask.
    if (token === undefined) return good
    const request: OutboundRequest = {
      url: `${apiOf(baseUrl)}/auth.test`,
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': contentType },
      body: '{}',
    }
    try {
      const answer = answerOf(await world.fetch(request, { reach: baseUrl === undefined ? 'guarded' : 'operator' }))
      if (answer.status !== 200) return bad(slackWords(answer))
      if (answer.flag('ok') !== true) return bad(slackWords(answer), 'token')
      const scopes = answer.headers.get('x-oauth-scopes')
      return scopes === null || scopes.split(',').some((scope) => scope.trim() === 'chat:write')
        ? good
        : bad('This token may not send: it lacks the scope chat:write', 'token')
    } catch (error) {
      return unreachable(error)
    }
  },
})

const apiOf = (baseUrl: string | undefined): string => (baseUrl === undefined ? ownApi : baseAddress(baseUrl))

function bodyOf({ content, customData = {} }: ChatMessage): Readonly<Record<string, unknown>> {
  const given = Object.entries(customData).filter(([name]) => !ownMembers.has(name))
  return { ...(content === '' ? {} : { text: content }), ...Object.fromEntries(given) }
}

const hasContent = (value: unknown): boolean =>
  (typeof value === 'string' && value !== '') || (Array.isArray(value) && value.length > 0)

function webhookRequest(webhookUrl: string, body: object): OutboundRequest | Outcome {
  const url = URL.canParse(webhookUrl) ? new URL(webhookUrl) : undefined
  const isSlacks =
    url !== undefined &&
    url.protocol === 'https:' &&
    webhookHosts.has(url.hostname) &&
    url.port === '' &&
    url.username === '' &&
    url.password === '' &&
    /^\/(services|workflows|triggers)\/./.test(url.pathname)
  if (!isSlacks) {
    return refused('bad-recipient', 'The webhookUrl must be an address such as https://hooks.slack.com/services/…')
  }
  return { url: url.href, method: 'POST', headers: { 'content-type': contentType }, body: JSON.stringify(body) }
}

function botRequest(
  message: ChatMessage,
  { token, channelId, baseUrl }: { token?: string; channelId?: string; baseUrl?: string },
  body: object,
): OutboundRequest | Outcome {
  // Entries made by connecting a channel hold the provider's name there.
  const own = message.channel === '' || message.channel === 'slack' ? undefined : message.channel
  const channel = own ?? channelId
  if (token === undefined || channel === undefined) {
    return refused(
      'bad-recipient',
      'The subscriber has no webhookUrl for Slack, and the integration has no bot token and channel to use instead',
    )
  }
  return {
    url: `${apiOf(baseUrl)}/chat.postMessage`,
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': contentType },
    body: JSON.stringify({ ...body, channel }),
  }
}
