// What Postmark's error codes mean. They look like HTTP statuses but are not.
// https://postmarkapp.com/developer/api/overview#error-codes
import type { Outcome, RefusalReason } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'
import { outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import type { Reading } from '../reading.ts'

/** Maintenance, and too many calls. */
const busyCodes: ReadonlySet<number> = new Set([100, 429])
/** The token, no credits, an account that is pending or may not send. */
const accountCodes: ReadonlySet<number> = new Set([10, 405, 412, 413])
/** A sender signature that is missing or not confirmed: the account's fault, unless the message named the sender. */
const senderCodes: ReadonlySet<number> = new Set([400, 401])
const reasons: ReadonlyMap<number, RefusalReason> = new Map([
  [300, 'bad-content'],
  [402, 'other'],
  [403, 'bad-content'],
  // It bounced or complained before, or was suppressed manually.
  [406, 'bad-recipient'],
  [409, 'other'],
  [410, 'other'],
  [411, 'bad-content'],
])

/** Of one message: of the whole answer, or of its entry in a batch. */
export function postmarkOutcome(entry: Reading, answer: ProviderAnswer, message: EmailMessage): Outcome {
  const code = entry.number('ErrorCode')
  const said = entry.string('Message') ?? ''
  const words = said === '' ? wordsOf('Postmark', answer) : `Postmark answered ${answer.status}: ${said} (${code})`
  if (answer.status === 200 && code === 0) {
    const id = entry.id('MessageID')
    if (id === undefined) return unsure(words)
    // Not to all recipients, if it adds who is inactive.
    return said === '' || said === 'OK' || said === 'Test job accepted' ? sent(id) : sent(id, words)
  }
  return (
    ofCode(code, said, words, answer, message) ??
    (answer.status === 200 ? ofNoCode(code, words) : outcomeOfStatus(answer, words))
  )
}

/** Any code but 0 means that Postmark did not accept the message. */
const ofNoCode = (code: number | undefined, words: string): Outcome =>
  code === undefined || code === 0 ? unsure(words) : refused('other', words)

/** Only a 200 response reports each message; any other is about the whole request. */
export function postmarkOutcomes(answer: ProviderAnswer, messages: readonly EmailMessage[]): Outcome[] {
  if (answer.status !== 200) return messages.map((message) => postmarkOutcome(answer, answer, message))
  const entries = answer.items('')
  // With any other number, it is unknown which entry belongs to which message.
  const isWhole = entries.length === messages.length
  return messages.map((message, index) => {
    const entry = isWhole ? entries[index] : undefined
    return entry === undefined ? unsure(wordsOf('Postmark', answer)) : postmarkOutcome(entry, answer, message)
  })
}

function ofCode(
  code: number | undefined,
  said: string,
  words: string,
  answer: ProviderAnswer,
  { from }: EmailMessage,
): Outcome | undefined {
  if (code === undefined) return undefined
  if (busyCodes.has(code)) return busy(words, retryAfterMsOf(answer))
  if (accountCodes.has(code)) return misconfigured(words)
  if (senderCodes.has(code)) return from === undefined ? misconfigured(words) : refused('bad-content', words)
  // One code for all that is wrong with a request; the field is in quotes.
  if (code === 300 && /'(?:To|Cc|Bcc)'/.test(said)) return refused('bad-recipient', words)
  const reason = reasons.get(code)
  return reason === undefined ? undefined : refused(reason, words)
}
