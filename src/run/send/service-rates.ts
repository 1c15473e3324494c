// How fast a service outside takes calls, and so when a job that finds its queue full should come back.

export interface ServiceRates {
  /** One call began. */
  began(key: string, now: Date): void
  /** One call ended. */
  served(key: string, now: Date): void
  /** A turn of its own for one more job behind `waiting` others. */
  turnAt(key: string, waiting: number, now: Date, random: number): Date
}

/** Before anything is known. */
const firstRatePerSecond = 20
/** What the rate is measured over: long enough to be steady, short enough to follow. */
const measuredMs = 5_000
/** Without a call for so long, a service was not slow but left alone: that time is not measured. */
const idleMs = 1_000
/** A job that finds no room comes back after this at the earliest, so that a queue that is just full has moved on. */
const turnAfterMsMin = 500
/** Turns are given out for so far ahead: beyond it a guess is worth nothing, and the service may be faster by then. */
const turnAfterMsMax = 60_000
/** Keys that have not been used lately are forgotten when there are so many. */
const keysMax = 1_000

interface Known {
  perSecond: number
  count: number
  sinceMs: number
  underWay: number
  lastServedMs: number
  /** The latest turn that was given out. */
  lastTurnMs: number
}

export function createServiceRates(): ServiceRates {
  const all = new Map<string, Known>()

  const known = (key: string, nowMs: number): Known => {
    const found = all.get(key)
    if (found !== undefined) return found
    if (all.size >= keysMax) all.clear()
    const made: Known = {
      perSecond: firstRatePerSecond,
      count: 0,
      sinceMs: nowMs,
      underWay: 0,
      lastServedMs: nowMs,
      lastTurnMs: 0,
    }
    all.set(key, made)
    return made
  }

  return {
    began(key, now) {
      const nowMs = now.getTime()
      const one = known(key, nowMs)
      if (one.underWay === 0 && nowMs - one.lastServedMs > idleMs) {
        one.count = 0
        one.sinceMs = nowMs
      }
      one.underWay += 1
    },
    served(key, now) {
      const one = known(key, now.getTime())
      one.underWay = Math.max(0, one.underWay - 1)
      one.lastServedMs = now.getTime()
      one.count += 1
      const measured = now.getTime() - one.sinceMs
      if (measured < measuredMs) return
      one.perSecond = Math.max(0.1, (one.count * 1_000) / measured)
      one.count = 0
      one.sinceMs = now.getTime()
    },
    turnAt(key, waiting, now, random) {
      const nowMs = now.getTime()
      const one = known(key, nowMs)
      const eachMs = 1_000 / one.perSecond
      const turnMs = Math.max(nowMs + turnAfterMsMin, nowMs + waiting * eachMs, one.lastTurnMs + eachMs)
      const limitMs = nowMs + turnAfterMsMax
      one.lastTurnMs = Math.min(turnMs, limitMs)
      // At the limit all would come back together.
      const spreadMs = turnMs > limitMs ? -random * (turnAfterMsMax / 2) : 0
      return new Date(Math.round(one.lastTurnMs + spreadMs))
    },
  }
}
