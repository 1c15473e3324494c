// Failed authentications by address: one bucket each, in memory, that only failures draw from. A valid key is never
// rejected for its address: a backend, or a whole company behind one router, has a single address.
import { BoundedMap } from '../../domain/bounded-map.ts'
import { Problem } from '../../domain/problem.ts'

interface Pace {
  readonly burst: number
  readonly perSecond: number
}

/** Many times what someone who sets up a client needs. */
const ofAddress: Pace = { burst: 60, perSecond: 1 }
/** Of one account, from anywhere: some 3,000 guesses a day at most, and a person who mistypes waits half a minute. */
export const ofAccount: Pace = { burst: 10, perSecond: 1 / 30 }
/** Addresses that are remembered; beyond it those that were not heard of for the longest are forgotten. */
const addressesMax = 50_000

interface Bucket {
  left: number
  at: number
}

export interface FailedAttempts {
  /** Another failure from there. Throws the 429 where there were too many. */
  count(address: string): void
  /** Throws the 429 where another failure would: for what must not be tried any more, or costs too much to try. */
  throwIfSpent(address: string): void
}

export function createFailedAttempts(now: () => Date, { burst, perSecond }: Pace = ofAddress): FailedAttempts {
  const buckets = new BoundedMap<string, Bucket>(addressesMax)
  function leftFor(address: string, at: number): number {
    const known = buckets.get(address)
    const refilled = known === undefined ? burst : known.left + (Math.max(0, at - known.at) / 1_000) * perSecond
    return Math.min(burst, refilled) - 1
  }
  return {
    throwIfSpent(address) {
      if (leftFor(address, now().getTime()) < 0) throw tooMany(perSecond)
    },
    count(address) {
      const at = now().getTime()
      const left = leftFor(address, at)
      // Behind the others: the one at the front was not heard of for the longest.
      buckets.set(address, { left: Math.max(left, 0), at })
      if (left < 0) throw tooMany(perSecond)
    },
  }
}

const tooMany = (perSecond: number): Problem =>
  perSecond === ofAddress.perSecond
    ? new Problem(429, 'Too many failed authentications from this address', { headers: { 'retry-after': '1' } })
    : new Problem(429, 'Too many failed authentications for this account; wait half a minute', {
        headers: { 'retry-after': String(Math.ceil(1 / perSecond)) },
      })
