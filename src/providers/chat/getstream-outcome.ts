// What the answers of Stream Chat, and of a relay in its place, mean.
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { ChatMessage } from '../../domain/messages/outbound-message.ts'
import { outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import { isRepeat, outcomeOfAddress, waitUntilResetMs } from './chat-outcome.ts'

/** The token is made from the secret and never expires: it is as valuable as the secret. */
export function streamWords(answer: ProviderAnswer, token: string): string {
  return wordsOf('Stream', answer, 'message').replaceAll(token, '[redacted]')
}

export function streamOutcome(answer: ProviderAnswer, message: ChatMessage, token: string): Outcome {
  const words = streamWords(answer, token)
  const { status } = answer
  if (status === 200 || status === 201) {
    const id = answer.id('message.id')
    return id === undefined ? unsure(words) : sent(id)
  }
  const code = answer.number('code')
  switch (code) {
    case 2: // no such API key
    case 3: // authentication failed
    case 40: // the token has ended
    case 41: // is not valid yet
    case 42: // was used before it was made
    case 43: // is signed with another secret
    case 99: // the app is suspended
      return misconfigured(words)
    case 4: // bad input
      return isRepeat(answer.string('message'), message) ? sent(message.id) : refused('bad-content', words)
    case 20: // too long
    case 22: // too big
      return refused('bad-content', words)
    case 16: // no such channel
      return refused('bad-recipient', words)
    case 17: // not allowed
      return refused('other', words)
    case 9: // too many calls
      return later(answer, words)
    case -1: // internal
    case 23: // a timeout at Stream; under our id a repeat is not posted twice
    case 60: // the channel is in slow mode
      return busy(words, retryAfterMsOf(answer))
    default:
      return status === 429 ? later(answer, words) : outcomeOfStatus(answer, words)
  }
}

const later = (answer: ProviderAnswer, words: string): Outcome =>
  busy(words, retryAfterMsOf(answer) ?? waitUntilResetMs(answer, 'x-ratelimit-reset'))

export function relayOutcome(answer: ProviderAnswer, message: ChatMessage): Outcome {
  const { status } = answer
  if (status >= 200 && status < 300) return sent(answer.headers.get('x-webhook-id') ?? message.id)
  const words = wordsOf('The relay', answer, 'message', 'error')
  // The address was found, and our key was rejected.
  return status === 401 || status === 403 ? misconfigured(words) : outcomeOfAddress(answer, words)
}
