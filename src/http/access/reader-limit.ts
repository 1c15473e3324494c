// The rate limit of the inbox: a token bucket for each subscriber, on each node, apart from those of API keys.
import { BoundedMap } from '../../domain/bounded-map.ts'
import { Problem } from '../../domain/problem.ts'
import type { World } from '../../world/world.ts'

/** A page that opens asks for a session, counts and a list at once; and someone may open a dozen. */
const burstSeconds = 5
/** Buckets at once on this node; beyond it the oldest begin full again. */
const bucketsMax = 50_000

interface Bucket {
  tokens: number
  filledAtMs: number
}

/** Takes a token and returns the RateLimit headers, or throws the 429. */
export type ReaderLimit = (reader: string) => Record<string, string>

export const noReaderLimit: ReaderLimit = () => ({})

/**
 * In memory: a reader's requests are small, many and randomly spread over nodes; a database query would cost more than
 * they do.
 */
export function createReaderLimit(world: World, perSecond: number): ReaderLimit {
  const buckets = new BoundedMap<string, Bucket>(bucketsMax)
  const burst = perSecond * burstSeconds
  return (reader) => {
    const now = world.now().getTime()
    const known = buckets.get(reader)
    const refilled = known === undefined ? burst : known.tokens + ((now - known.filledAtMs) / 1000) * perSecond
    const tokens = Math.min(burst, Math.max(0, refilled))
    const isAllowed = tokens >= 1
    const left = isAllowed ? tokens - 1 : tokens
    buckets.set(reader, { tokens: left, filledAtMs: now })
    const wait = String(Math.max(0, Math.ceil((1 - left) / perSecond)))
    const headers = {
      'ratelimit-limit': String(burst),
      'ratelimit-remaining': String(Math.floor(left)),
      'ratelimit-reset': wait,
    }
    if (isAllowed) return headers
    throw new Problem(429, 'API rate limit exceeded', { headers: { ...headers, 'retry-after': wait } })
  }
}
