// How fast an outside service accepts calls, and so when a job that finds its queue full should come back.
import { BoundedMap } from '../../domain/bounded-map.ts'

export interface ServiceRates {
  /** One call ended. `isWanted`: others wait for their turn, so the service is as fast as it can be. */
  served(key: string, isWanted: boolean, now: Date): void
  /**
   * Whether this many waiting calls are likely served soon: it responds, and fast enough as far as that was measured.
   */
  isSoonServed(key: string, waiting: number, now: Date): boolean
  /** A separate turn for one more job behind `waiting` others. */
  turnAt(key: string, waiting: number, now: Date, random: number): Date
}

/** Before anything is known: the calls that are usual at once, each of 200 ms. */
const firstRatePerSecond = 250
/**
 * The period over which the rate is measured: long enough to be steady, short enough to follow a limit that doubles
 * with each round.
 */
const measuredMs = 1_000
/**
 * How much faster the service may be by then, as it gets more concurrent calls while it keeps up. A job that comes back
 * too early waits again, for a millisecond of work; jobs that come back too late leave the service idle.
 */
const hope = 2
/** Worth waiting for, rather than recording that a job comes back later. */
const soonMs = 2_000
/** A service that has not responded for this long may be hanging: nothing waits for it. */
const answersMs = 500
/** A job that finds no capacity comes back after this at the earliest, so that a queue that is just full has moved on. */
const turnAfterMsMin = 500
/** Turns are given out for so far ahead: beyond it a guess is worth nothing, and the service may be faster by then. */
const turnAfterMsMax = 60_000
/** Keys that have not been used lately are forgotten when there are so many. */
const keysMax = 1_000

interface Known {
  perSecond: number
  isMeasured: boolean
  /** When it last responded; initially, when it was first asked about. */
  answeredMs: number
  count: number
  /** Since when calls have been waiting; undefined while none is. */
  sinceMs: number | undefined
  /** The latest turn that was given out. */
  lastTurnMs: number
}

export function createServiceRates(): ServiceRates {
  const all = new BoundedMap<string, Known>(keysMax)

  const known = (key: string, nowMs: number): Known => {
    const found = all.get(key)
    if (found !== undefined) return found
    const made: Known = {
      perSecond: firstRatePerSecond,
      isMeasured: false,
      answeredMs: nowMs,
      count: 0,
      sinceMs: undefined,
      lastTurnMs: 0,
    }
    all.set(key, made)
    return made
  }

  return {
    served(key, isWanted, now) {
      const nowMs = now.getTime()
      const one = known(key, nowMs)
      one.answeredMs = nowMs
      const sinceMs = one.sinceMs ?? nowMs
      one.count = one.sinceMs === undefined ? 0 : one.count + 1
      const measured = nowMs - sinceMs
      if (isWanted && measured < measuredMs) {
        one.sinceMs = sinceMs
        return
      }
      if (isWanted) {
        one.perSecond = Math.max(0.1, (one.count * 1_000) / measured)
        one.isMeasured = true
      }
      one.count = 0
      // A service that nothing waits for is not slow.
      one.sinceMs = isWanted ? nowMs : undefined
    },
    isSoonServed(key, waiting, now) {
      const { perSecond, isMeasured, answeredMs } = known(key, now.getTime())
      if (now.getTime() - answeredMs > answersMs) return false
      return !isMeasured || (waiting * 1_000) / perSecond <= soonMs
    },
    turnAt(key, waiting, now, random) {
      const nowMs = now.getTime()
      const one = known(key, nowMs)
      const eachMs = 1_000 / (one.perSecond * hope)
      const turnMs = Math.max(nowMs + turnAfterMsMin, nowMs + waiting * eachMs, one.lastTurnMs + eachMs)
      const limitMs = nowMs + turnAfterMsMax
      one.lastTurnMs = Math.min(turnMs, limitMs)
      // At the limit all would come back together.
      const spreadMs = turnMs > limitMs ? -random * (turnAfterMsMax / 2) : 0
      return new Date(Math.round(one.lastTurnMs + spreadMs))
    },
  }
}
