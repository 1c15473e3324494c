// What Slack's responses mean: of an incoming webhook, in plain text, and of the Web API, whose errors have a success
// status.
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { ChatMessage } from '../../domain/messages/outbound-message.ts'
import { outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import { isDeadAddress } from './chat-outcome.ts'

/** Slack states the wait in a header; if it does not, this is long enough. */
const rateLimitWaitMs = 30_000

export const slackWords = (answer: ProviderAnswer): string => {
  const needed = answer.string('needed')
  return `${wordsOf('Slack', answer, 'error')}${needed === undefined ? '' : ` (needed: ${needed})`}`
}

export function webhookOutcome(answer: ProviderAnswer, message: ChatMessage): Outcome {
  const { status } = answer
  const words = slackWords(answer)
  // Workflows answer with JSON, every other webhook with the bare word.
  if (status === 200 && (answer.body.trim() === 'ok' || answer.flag('ok') === true)) {
    return sent(answer.headers.get('x-slack-req-id') ?? message.id)
  }
  if (status === 400) {
    return refused(answer.body.trim() === 'user_not_found' ? 'bad-recipient' : 'bad-content', words)
  }
  if (isDeadAddress(status)) return refused('bad-recipient', words)
  return outcomeOfStatus(answer, words)
}

type Reading = (words: string, answer: ProviderAnswer) => Outcome

const noRecipient: Reading = (words) => refused('bad-recipient', words)
const badContent: Reading = (words) => refused('bad-content', words)
const account: Reading = (words) => misconfigured(words)
const limited: Reading = (words, answer) => busy(words, retryAfterMsOf(answer) ?? rateLimitWaitMs)
const notNow: Reading = (words, answer) => busy(words, retryAfterMsOf(answer))
/** For these Slack says that part of the call may have succeeded. */
const perhaps: Reading = (words) => unsure(words)

const readings: ReadonlyMap<string, Reading> = new Map<string, Reading>([
  ['ratelimited', limited],
  ['rate_limited', limited],
  ['message_limit_exceeded', limited],
  ['service_unavailable', notNow],
  ['request_timeout', notNow],
  ['team_added_to_org', notNow],
  ['internal_error', perhaps],
  ['fatal_error', perhaps],
  ['channel_not_found', noRecipient],
  ['is_archived', noRecipient],
  ['user_not_found', noRecipient],
  ['user_disabled', noRecipient],
  ['cannot_dm_bot', noRecipient],
  ['messages_tab_disabled', noRecipient],
  ['not_in_channel', noRecipient],
  ['not_authed', account],
  ['invalid_auth', account],
  ['account_inactive', account],
  ['token_revoked', account],
  ['token_expired', account],
  ['missing_scope', account],
  ['no_permission', account],
  ['org_login_required', account],
  ['not_allowed_token_type', account],
  ['no_text', badContent],
  ['msg_too_long', badContent],
  ['msg_blocks_too_long', badContent],
  ['invalid_blocks', badContent],
  ['invalid_blocks_format', badContent],
  ['too_many_attachments', badContent],
  ['invalid_arguments', badContent],
  ['invalid_json', badContent],
  ['markdown_text_conflict', badContent],
])

export function botOutcome(answer: ProviderAnswer): Outcome {
  const words = slackWords(answer)
  if (answer.status === 429) return limited(words, answer)
  if (answer.status !== 200) return outcomeOfStatus(answer, words)
  if (answer.flag('ok') === true) {
    const channel = answer.string('channel')
    const ts = answer.string('ts')
    // Unique only together.
    return channel === undefined || ts === undefined ? unsure(words) : sent(`${channel}:${ts}`)
  }
  const error = answer.string('error')
  if (error === undefined) return unsure(words)
  if (error.startsWith('metadata_')) return badContent(words, answer)
  return readings.get(error)?.(words, answer) ?? refused('other', words)
}
