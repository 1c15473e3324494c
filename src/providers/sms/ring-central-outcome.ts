// What RingCentral's response means; codes are in `errors`, with the invalid parameter if there is one.
// https://developers.ringcentral.com/guide/basics/errors
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import { outcomeOfSender } from './code-meaning.ts'

const failedStates: ReadonlySet<string> = new Set(['SendingFailed', 'DeliveryFailed'])

/** The rate limit, by its code wherever it appears. */
const rateLimitCode = 'CMN-301'
/** The number to send from is not one of the extension's. */
const senderCode = 'MSG-304'

export function ringCentralOutcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  const words = wordsOf('RingCentral', answer, 'errors.0.message', 'message')
  if (answer.status === 200) {
    const id = answer.id('id')
    if (id === undefined) return unsure(words)
    if (!failedStates.has(answer.string('messageStatus') ?? '')) return sent(id)
    const code = answer.string('deliveryErrorCode')
    return refused('other', `RingCentral did not send the message${code === undefined ? '' : ` (${code})`}`)
  }
  const codes = [answer.string('errorCode'), ...answer.items('errors').map((one) => one.string('errorCode'))]
  if (codes.includes(rateLimitCode)) return busy(words, retryAfterMsOf(answer))
  if (codes.includes(senderCode)) return outcomeOfSender(message, words)
  // The address names nothing but the account and the extension.
  if (answer.status === 404) return misconfigured(words)
  return (answer.status === 400 ? ofParameter(answer, message, words) : undefined) ?? outcomeOfStatus(answer, words)
}

function ofParameter(answer: ProviderAnswer, message: SmsMessage, words: string): Outcome | undefined {
  const names = answer.items('errors').map((one) => one.string('parameterName') ?? '')
  if (names.some((name) => /^to\b/.test(name))) return refused('bad-recipient', words)
  if (names.some((name) => /^from\b/.test(name))) return outcomeOfSender(message, words)
  return names.some((name) => /^text\b/.test(name)) ? refused('bad-content', words) : undefined
}
