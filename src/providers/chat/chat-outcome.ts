// What the responses of chat vendors have in common: an address that is gone, and how long to wait.
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused } from '../../domain/delivery/outcome.ts'
import type { ChatMessage } from '../../domain/messages/outbound-message.ts'
import { outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { resetMsOf } from '../provider-answer.ts'

/** Forbidden, not found, or no POST allowed. */
const deadStatuses: ReadonlySet<number> = new Set([401, 403, 404, 405, 410])

/**
 * The address is gone, malformed or closed: only its owner can fix it. Redirects are not followed, so they lead
 * nowhere.
 */
export function isDeadAddress(status: number): boolean {
  return (status >= 300 && status < 400) || deadStatuses.has(status)
}

/** What a status means where the address itself is the only credential. */
export function outcomeOfAddress(answer: ProviderAnswer, words: string): Outcome {
  if (isDeadAddress(answer.status)) return refused('bad-recipient', words)
  return answer.status === 413 ? refused('bad-content', words) : outcomeOfStatus(answer, words)
}

/** No message waits for a vendor longer than this; the retry policy gives up sooner. */
const waitSecondsMax = 86_400

/** A wait that a vendor states in its answer, in seconds. */
export function waitMsOf(seconds: number | undefined): number | undefined {
  if (seconds === undefined || Number.isNaN(seconds)) return undefined
  return Math.ceil(Math.min(Math.max(seconds, 0), waitSecondsMax) * 1000)
}

/**
 * A header that says when a limit ends: in how many seconds, or the timestamp in seconds or milliseconds since 1970.
 */
export function waitUntilResetMs(answer: ProviderAnswer, header: string): number | undefined {
  const given = answer.headers.get(header)?.trim() ?? ''
  if (/^\d{1,5}$/.test(given)) return waitMsOf(Number(given))
  if (!/^\d{13}$/.test(given)) return resetMsOf(answer, header)
  return answer.receivedAt && waitMsOf((Number(given) - answer.receivedAt.getTime()) / 1000)
}

/** A rejection that says our own id is taken: an earlier attempt was sent, although its answer was lost. */
export function isRepeat(words: string | undefined, { id }: ChatMessage): boolean {
  return words?.includes(id) === true && /already exists|duplicate key/i.test(words)
}
