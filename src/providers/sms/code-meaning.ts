// What a vendor's error codes mean, as data: a table of codes, and the outcome of one of them.
import type { Outcome, RefusalReason } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, refused } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf } from '../provider-answer.ts'

/** Why it is rejected, or what is to blame instead: the account, the sender's name, or a temporary problem. */
export type CodeMeaning = RefusalReason | 'account' | 'sender' | 'busy'

export type CodeTable = ReadonlyMap<string, CodeMeaning>

/** `{ account: ['4', '8'] }` as a table by code. */
export function codeTable(codes: Partial<Record<CodeMeaning, readonly string[]>>): CodeTable {
  return new Map(
    Object.entries(codes).flatMap(([meaning, list]) =>
      list.map((code): [string, CodeMeaning] => [code, meaning as CodeMeaning]),
    ),
  )
}

/** Undefined for a code that the table does not know. */
export function outcomeOfCode(
  table: CodeTable,
  code: string | undefined,
  words: string,
  answer: ProviderAnswer,
  message: SmsMessage,
): Outcome | undefined {
  const meaning = table.get(code ?? '')
  if (meaning === undefined) return undefined
  if (meaning === 'busy') return busy(words, retryAfterMsOf(answer))
  if (meaning === 'account') return misconfigured(words)
  return meaning === 'sender' ? outcomeOfSender(message, words) : refused(meaning, words)
}

/** A sender that a vendor does not let us use: the account's fault, unless the message named it. */
export function outcomeOfSender({ from }: SmsMessage, words: string): Outcome {
  return from === undefined ? misconfigured(words) : refused('bad-content', words)
}
