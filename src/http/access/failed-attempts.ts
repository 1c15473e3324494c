// Failed authentications by address: one bucket each, in memory, that only failures draw from. A valid key is never
// rejected for its address: a backend, or a whole company behind one router, has a single address.
import { isIPv6 } from 'node:net'
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
  function leftFor(caller: string, at: number): number {
    const known = buckets.get(caller)
    const refilled = known === undefined ? burst : known.left + (Math.max(0, at - known.at) / 1_000) * perSecond
    return Math.min(burst, refilled) - 1
  }
  return {
    throwIfSpent(address) {
      if (leftFor(callerOf(address), now().getTime()) < 0) throw tooMany(perSecond)
    },
    count(address) {
      const at = now().getTime()
      const caller = callerOf(address)
      const left = leftFor(caller, at)
      // Behind the others: the one at the front was not heard of for the longest.
      buckets.set(caller, { left: Math.max(left, 0), at })
      if (left < 0) throw tooMany(perSecond)
    },
  }
}

/** An IPv4 address that a socket of both versions reports. */
const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i
const groupsOfAddress = 8
const groupsOfNetwork = 4

/**
 * Whose an address is. Of IPv6 the smallest customer has a network of 2^64 addresses, and may call from another one each
 * time; what is not an address, such as the name of an account, stands for itself.
 */
export function callerOf(address: string): string {
  const ofBoth = mapped.exec(address)?.[1]
  if (ofBoth !== undefined) return ofBoth
  if (!isIPv6(address)) return address
  const [head = '', tail = ''] = address.split('::')
  const [front, back] = [groupsIn(head), groupsIn(tail)]
  // What `::` leaves out is zeros.
  const zeros = Array.from({ length: Math.max(0, groupsOfAddress - front.length - back.length) }, () => '0')
  const network = [...front, ...zeros, ...back].slice(0, groupsOfNetwork)
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}

const groupsIn = (part: string): string[] => (part === '' ? [] : part.split(':'))

const tooMany = (perSecond: number): Problem =>
  perSecond === ofAddress.perSecond
    ? new Problem(429, 'Too many failed authentications from this address', { headers: { 'retry-after': '1' } })
    : new Problem(429, 'Too many failed authentications for this account; wait half a minute', {
        headers: { 'retry-after': String(Math.ceil(1 / perSecond)) },
      })
