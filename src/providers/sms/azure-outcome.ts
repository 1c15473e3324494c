// What Azure's response means: one row per recipient, each with its own status.
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import type { Reading } from '../reading.ts'
import { digitsOf } from './sms-text.ts'

const busyStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503])

/** In the order of the messages: rows are found by their number, of which there may be several. */
export function azureOutcomes(answer: ProviderAnswer, messages: readonly SmsMessage[]): readonly Outcome[] {
  if (answer.status !== 202) {
    const outcome = ofWhole(answer)
    return messages.map(() => outcome)
  }
  const rows = [...answer.items('value')]
  return messages.map(({ to }) => {
    const index = rows.findIndex((row) => digitsOf(row.string('to') ?? '') === digitsOf(to))
    const [row] = index === -1 ? [] : rows.splice(index, 1)
    return row === undefined ? unsure(wordsOf('Azure', answer)) : ofRow(row, answer)
  })
}

/** With one message and one row, there is nothing to match. */
export function azureOutcome(answer: ProviderAnswer): Outcome {
  if (answer.status !== 202) return ofWhole(answer)
  const [row] = answer.items('value')
  return row === undefined ? unsure(wordsOf('Azure', answer)) : ofRow(row, answer)
}

function ofWhole(answer: ProviderAnswer): Outcome {
  const words = wordsOf('Azure', answer, 'error.message', 'error.code')
  // There is nothing in the address but the resource.
  return answer.status === 404 ? misconfigured(words) : outcomeOfStatus(answer, words)
}

function ofRow(row: Reading, answer: ProviderAnswer): Outcome {
  const id = row.id('messageId')
  const status = row.number('httpStatusCode')
  const isRepeat = row.string('repeatabilityResult')?.toLowerCase() === 'rejected'
  if (id !== undefined && row.flag('successful') === true) return sent(id)
  if (id !== undefined && isRepeat) return sent(id, 'Azure had already accepted this message')
  const words = `Azure answered ${status ?? answer.status}: ${row.string('errorMessage') ?? 'no reason was given'}`
  if (isRepeat || row.flag('successful') !== false || status === undefined) return unsure(words)
  if (busyStatuses.has(status)) return busy(words, retryAfterMsOf(answer))
  if (status === 401 || status === 403) return misconfigured(words)
  // If only one recipient fails, its number is wrong.
  if (status === 400) return refused('bad-recipient', words)
  return status >= 400 && status < 500 ? refused('other', words) : unsure(words)
}
