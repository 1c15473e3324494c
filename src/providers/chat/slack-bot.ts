// A Slack bot: posts to a channel through the Web API. What Slack with a bot token and our own Slack app share.
// https://docs.slack.dev/reference/methods/chat.postMessage
import type { ChatMessage } from '../../domain/messages/outbound-message.ts'
import type { OutboundRequest, World } from '../../world/world.ts'
import { baseAddress, ofBaseUrl, ofVisibleAscii, optional, secret, text } from '../form.ts'
import type { CheckResult } from '../provider.ts'
import { bad, good, unreachable } from '../provider.ts'
import { answerOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { jsonRequest, textAs } from './chat-message.ts'
import { slackWords } from './slack-outcome.ts'

const ownApi = 'https://slack.com/api'
/** With the charset: without it Slack returns a warning. */
export const slackContentType = 'application/json; charset=utf-8'
/** The caller's settings must not decide where the message goes, or with which permissions. */
export const slackOwnMembers = ['channel', 'webhookUrl', 'token'] as const
/** At least one of them is required. */
export const slackContentMembers = ['text', 'blocks', 'attachments', 'markdown_text'] as const
/** Slack truncates a longer text. */
export const slackTextCharactersMax = 40_000

export const botToken = (description: string) =>
  secret('Bot token', { description, placeholder: 'xoxb-…', mistake: ofVisibleAscii })

export const botPlace = {
  channelId: optional(
    text('Default channel', {
      description: 'Where the bot posts for subscribers without a channel of their own.',
      placeholder: 'C0123456789',
    }),
  ),
  baseUrl: optional(
    text('Base URL', {
      description: 'A Web API URL other than the default of Slack, such as `https://slack-gov.com/api`.',
      mistake: ofBaseUrl,
    }),
  ),
} as const

export interface SlackBot {
  readonly token: string
  readonly baseUrl?: string
}

export function slackBody(message: ChatMessage): Readonly<Record<string, unknown>> {
  return { ...textAs('text', message.content), ...settingsOf(message, slackOwnMembers) }
}

/** The subscriber's, else the account's. Entries made by connecting a channel hold the provider's name there. */
export function slackChannelOf({ channel }: ChatMessage, channelId: string | undefined): string | undefined {
  return channel === undefined || channel === '' || channel === 'slack' ? channelId : channel
}

export function botRequest(bot: SlackBot, channel: string, body: object): OutboundRequest {
  return askedOf(bot, 'chat.postMessage', { ...body, channel })
}

function askedOf({ token, baseUrl }: SlackBot, method: string, body: object): OutboundRequest {
  const api = baseUrl === undefined ? ownApi : baseAddress(baseUrl)
  return jsonRequest(`${api}/${method}`, body, { authorization: `Bearer ${token}`, 'content-type': slackContentType })
}

export async function checkBot(world: World, bot: SlackBot): Promise<CheckResult> {
  try {
    const reach = bot.baseUrl === undefined ? 'guarded' : 'operator'
    const answer = answerOf(await world.fetch(askedOf(bot, 'auth.test', {}), { reach }))
    if (answer.status !== 200) return bad(slackWords(answer))
    if (answer.flag('ok') !== true) return bad(slackWords(answer), 'token')
    const scopes = answer.headers.get('x-oauth-scopes')
    return scopes === null || scopes.split(',').some((scope) => scope.trim() === 'chat:write')
      ? good
      : bad('This token is not allowed to send: it lacks the scope chat:write', 'token')
  } catch (error) {
    return unreachable(error)
  }
}
