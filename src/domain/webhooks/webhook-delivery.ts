// One event on its way to one endpoint: its attempts, and when the next one is.

export const deliveryStatuses = ['waiting', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** One attempt, as the log of deliveries shows it. */
export interface DeliveryAttempt {
  readonly at: string
  readonly durationMs: number
  /** Null where there was no answer. */
  readonly status: number | null
  /** The beginning of what was answered. */
  readonly answer: string | null
  /** Why it counts as failed; null for one that was accepted. */
  readonly error: string | null
}

/** What is kept of an answer. */
export const answerBytesMax = 1_000
/** More than the attempts of one turn; after a redrive the oldest go. */
export const attemptsShownMax = 20

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

/** How long after each failed attempt the next one is made: three days in all, and then a little. */
const retryAfterMs = [
  5 * secondMs,
  30 * secondMs,
  2 * minuteMs,
  10 * minuteMs,
  30 * minuteMs,
  hourMs,
  2 * hourMs,
  4 * hourMs,
  8 * hourMs,
  12 * hourMs,
  20 * hourMs,
  24 * hourMs + 30 * minuteMs,
] as const

/** Up to so much longer, so that those that failed together do not come back together. */
const jitterShare = 0.1

/** `attempts`: how many were made. Undefined when there is no other. */
export function retryWaitMs(attempts: number, random: number): number | undefined {
  const waitMs = retryAfterMs[attempts - 1]
  return waitMs === undefined ? undefined : Math.round(waitMs * (1 + random * jitterShare))
}

/**
 * Later events about the same subject wait while one was attempted so many times at the most: about three minutes. One that an
 * endpoint never accepts does not hold them for days.
 */
export const attemptsInOrder = 4

/** An endpoint that accepted nothing for so long is disabled. */
export const disabledAfterMs = 72 * hourMs

/** After a round of calls that all failed, no other begins for so long, and twice as long after each that follows. */
const firstPauseMs = 1_000
const pauseMsMax = minuteMs

export const pauseAfterMs = (failedRounds: number): number =>
  Math.min(pauseMsMax, firstPauseMs * 2 ** Math.min(failedRounds - 1, 10))

/** Enough to find out what went wrong last month. */
export const deliveriesKeptMs = 30 * 24 * hourMs
