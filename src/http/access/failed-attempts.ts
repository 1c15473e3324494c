// Failed authentications by address: one bucket each, in memory, that only failures draw from. A valid key is never
// rejected for its address: a backend, or a whole company behind one router, has a single address.
import { BoundedMap } from '../../domain/bounded-map.ts'
import { Problem } from '../../domain/problem.ts'

/** Many times what someone who sets up a client needs. */
const burst = 60
const perSecond = 1
/** Addresses that are remembered; beyond it those that were not heard of for the longest are forgotten. */
const addressesMax = 50_000

interface Bucket {
  left: number
  at: number
}

export interface FailedAttempts {
  /** Another failure from there. Throws the 429 where there were too many. */
  count(address: string): void
}

export function createFailedAttempts(now: () => Date): FailedAttempts {
  const buckets = new BoundedMap<string, Bucket>(addressesMax)
  return {
    count(address) {
      const at = now().getTime()
      const known = buckets.get(address)
      const refilled = known === undefined ? burst : known.left + (Math.max(0, at - known.at) / 1_000) * perSecond
      const left = Math.min(burst, refilled) - 1
      // Behind the others: the one at the front was not heard of for the longest.
      buckets.set(address, { left: Math.max(left, 0), at })
      if (left < 0) {
        throw new Problem(429, 'Too many failed authentications from this address', { headers: { 'retry-after': '1' } })
      }
    },
  }
}
