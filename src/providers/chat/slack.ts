// Slack: an incoming webhook whose address belongs to the subscriber, or a bot that posts to a channel.
// https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
// https://docs.slack.dev/reference/methods/chat.postMessage
import { refused } from '../../domain/delivery/outcome.ts'
import { flag, optional, secret, text } from '../form.ts'
import { httpProvider } from '../http-provider.ts'
import { good } from '../provider.ts'
import { addressOf, hasAddress } from './chat-address.ts'
import { jsonRequest, mistakeOfSilence } from './chat-message.ts'
import {
  botPlace,
  botRequest,
  botToken,
  checkBot,
  slackBody,
  slackChannelOf,
  slackContentMembers,
  slackContentType,
  slackOwnMembers,
  slackTextCharactersMax,
} from './slack-bot.ts'
import { botOutcome, webhookOutcome } from './slack-outcome.ts'

const addressRule = {
  example: 'https://hooks.slack.com/services/…',
  hosts: ['hooks.slack.com', 'hooks.slack-gov.com'],
  path: /^\/(services|workflows|triggers)\/./,
} as const

export const slack = httpProvider({
  id: 'slack',
  channel: 'chat',
  name: 'Slack',
  docsUrl: 'https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks',
  evidence: { source: 'vendor', unsure: 'The exact status of the rarer errors of a webhook.' },
  features: ['blocks'],
  limits: { contentCharactersMax: slackTextCharactersMax },
  form: {
    applicationId: optional(text('App ID', { placeholder: 'A0123456789' })),
    clientId: optional(
      text('Client ID', { description: 'Needed so that subscribers can connect a channel themselves.' }),
    ),
    secretKey: optional(secret('Client secret')),
    redirectUrl: optional(
      text('Redirect URL', {
        description: 'Where a subscriber is sent after connecting a channel.',
        placeholder: 'https://app.example.com/settings',
        mistake: (value) => (URL.canParse(value) && /^https?:/.test(value) ? undefined : 'must be an http(s) URL'),
      }),
    ),
    hmac: flag('Require a subscriber hash', {
      description: 'The link that starts connecting must carry the HMAC of the subscriber id.',
    }),
    token: optional(
      botToken('Posts to the `channel` of subscribers without a webhook URL. Needs the scope `chat:write`.'),
    ),
    ...botPlace,
  },
  recipientMembers: slackOwnMembers,
  // An address of a subscriber's is guarded, whatever the account may reach.
  reach: ({ baseUrl }, message) => (baseUrl === undefined || hasAddress(message) ? 'guarded' : 'operator'),
  callsRecipient: hasAddress,

  request(message, { token, channelId, baseUrl }) {
    const body = slackBody(message)
    const silence = mistakeOfSilence(body, slackContentMembers)
    if (silence !== undefined) return silence
    if (hasAddress(message)) {
      const url = addressOf(message, addressRule)
      return url instanceof URL ? jsonRequest(url, body, { 'content-type': slackContentType }) : url
    }
    const channel = slackChannelOf(message, channelId)
    if (token === undefined || channel === undefined) {
      return refused(
        'bad-recipient',
        'The subscriber has no webhookUrl for Slack, and the integration has no bot token and channel to use instead',
      )
    }
    return botRequest({ token, ...(baseUrl === undefined ? {} : { baseUrl }) }, channel, body)
  },

  outcome: (answer, message) => (hasAddress(message) ? webhookOutcome(answer, message) : botOutcome(answer)),

  // An incoming webhook needs no account, so there is nothing to check.
  check: async (world, { token, ...bot }) => (token === undefined ? good : checkBot(world, { ...bot, token })),
})
