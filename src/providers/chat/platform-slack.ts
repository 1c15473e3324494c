// Our own Slack app: its bot posts to the channel of each subscriber.
// https://docs.slack.dev/reference/methods/chat.postMessage
import { refused } from '../../domain/delivery/outcome.ts'
import { httpProvider } from '../http-provider.ts'
import { mistakeOfSilence } from './chat-message.ts'
import {
  botPlace,
  botRequest,
  botToken,
  checkBot,
  slackBody,
  slackChannelOf,
  slackContentMembers,
  slackOwnMembers,
  slackTextCharactersMax,
} from './slack-bot.ts'
import { botOutcome } from './slack-outcome.ts'

export const platformSlack = httpProvider({
  id: 'platform-slack',
  channel: 'chat',
  name: 'Slack (our app)',
  docsUrl: 'https://docs.slack.dev/reference/methods/chat.postMessage',
  evidence: { source: 'vendor' },
  features: ['blocks', 'sender per message'],
  limits: { contentCharactersMax: slackTextCharactersMax },
  form: {
    token: botToken(
      'The token of the app that posts. Needs the scope `chat:write`, and `chat:write.public` for channels it has not joined.',
    ),
    ...botPlace,
  },
  recipientMembers: slackOwnMembers,

  request(message, { channelId, ...bot }) {
    const channel = slackChannelOf(message, channelId)
    if (channel === undefined) {
      return refused('bad-recipient', 'The subscriber has no channel, and the integration has no default')
    }
    const body = slackBody(message)
    // Slack keeps it with the message, so that one can be found again in a channel's history.
    const metadata = { event_type: 'posthorn_message', event_payload: { message_id: message.id } }
    return mistakeOfSilence(body, slackContentMembers) ?? botRequest(bot, channel, { metadata, ...body })
  },

  outcome: botOutcome,

  check: checkBot,
})
