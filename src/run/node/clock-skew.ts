// How far this node's clock is from the database's: measured with each heartbeat, reported rarely.
import type { Log } from '../../world/log.ts'

/** One question and its answer, by both clocks. */
export interface Exchange {
  readonly askedAt: Date
  readonly answeredAt: Date
  readonly databaseNow: Date
}

export interface Skew {
  /** Negative where this node is behind. */
  readonly aheadMs: number
  /** The database read its clock at some time between query and response: the skew may be off by that much. */
  readonly uncertainMs: number
}

const skewMsMax = 2_000
const reportEveryMs = 600_000

export function skewOf({ askedAt, answeredAt, databaseNow }: Exchange): Skew {
  const uncertainMs = Math.abs(answeredAt.getTime() - askedAt.getTime()) / 2
  const middleMs = (askedAt.getTime() + answeredAt.getTime()) / 2
  return { aheadMs: Math.round(middleMs - databaseNow.getTime()), uncertainMs }
}

export const isTooFar = ({ aheadMs, uncertainMs }: Skew): boolean => Math.abs(aheadMs) - uncertainMs > skewMsMax

/** Warns at once, then at most every ten minutes, by the monotonic clock: the other one is what is in doubt. */
export function createSkewReport(log: Log): (skew: Skew, monotonicMs: number) => void {
  let reportedAtMs = Number.NEGATIVE_INFINITY
  return (skew, monotonicMs) => {
    if (!isTooFar(skew) || monotonicMs - reportedAtMs < reportEveryMs) return
    reportedAtMs = monotonicMs
    log.warn(
      { aheadMs: skew.aheadMs },
      'The clocks of this node and of the database differ: times computed by this node are off by that much',
    )
  }
}
