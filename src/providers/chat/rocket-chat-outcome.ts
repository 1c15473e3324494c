// What Rocket.Chat's answers mean.
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { ChatMessage } from '../../domain/messages/outbound-message.ts'
import { outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import { isDeadAddress, isRepeat, outcomeOfAddress, waitUntilResetMs } from './chat-outcome.ts'

type Reason = 'bad-recipient' | 'bad-content'

const reasons: ReadonlyMap<string, Reason> = new Map<string, Reason>([
  ['error-invalid-room', 'bad-recipient'],
  ['error-room-not-found', 'bad-recipient'],
  ['error-not-allowed', 'bad-recipient'],
  ['error-user-not-in-room', 'bad-recipient'],
  ['error-invalid-params', 'bad-content'],
  ['error-message-size-exceeded', 'bad-content'],
])

export function rocketChatOutcome(answer: ProviderAnswer, message: ChatMessage, isHook: boolean): Outcome {
  const words = wordsOf('Rocket.Chat', answer, 'error', 'message')
  const { status } = answer
  // A second message under one id is answered without the message.
  if (status === 200 && answer.flag('success') === true) return sent(answer.id('message._id') ?? message.id)
  if (isRepeat(answer.string('error'), message)) return sent(message.id)
  const error = errorOf(answer)
  if (status === 429 || error === 'error-too-many-requests') {
    return busy(words, retryAfterMsOf(answer) ?? waitUntilResetMs(answer, 'x-ratelimit-reset'))
  }
  const reason = error === undefined ? undefined : reasons.get(error)
  if (reason !== undefined) return refused(reason, words)
  if (status === 200) return answer.flag('success') === false ? refused('other', words) : unsure(words)
  if (isHook) return outcomeOfAddress(answer, words)
  return isNoRocketChat(status) ? misconfigured(words) : outcomeOfStatus(answer, words)
}

/** Its name alone, or at the end of a sentence: `Invalid room [error-invalid-room]`. */
function errorOf(answer: ProviderAnswer): string | undefined {
  return answer.string('errorType') ?? /\berror-[a-z-]{1,60}/.exec(answer.string('error') ?? '')?.[0]
}

/** No workspace of that name exists at this address. 401 and 403 are Rocket.Chat's answer about our token. */
const isNoRocketChat = (status: number): boolean => isDeadAddress(status) && status !== 401 && status !== 403
