// Rate limits: a token bucket an environment and category, and one for each key that has a rate of its own. The buckets lie in the
// database; this node draws slices of them.

import type { Sql } from '../../db/sql.ts'
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { Environment, Principal } from '../../domain/environment.ts'
import { Problem } from '../../domain/problem.ts'
import { bucketOfKey, drawTokens } from '../../store/operate/rate-limits.ts'
import type { World } from '../../world/world.ts'
import type { RateCategory } from '../route.ts'

export type RateLimits = Readonly<Record<RateCategory, number>>

/** Limits are stated per window of this length; the bucket holds a tenth more than a window's worth. */
const windowSeconds = 5
const burstFactor = 1.1
/** A node draws this share of the bucket at once: large enough to be rare, small enough that idle nodes hoard little. */
const sliceShare = 0.05
/** A slice drawn longer ago is forgotten: the bucket is full again by now, and idle nodes would add their slices to it. */
const sliceKeptMs = 60_000
/** Buckets that this node holds slices of, and costs that it knows to be refused; what is forgotten is asked of the database again. */
const slicesMax = 10_000
const refusedCostsMax = 100

/** What this node holds of one bucket. */
interface Slice {
  tokens: number
  /** Tokens the shared bucket had after our last draw. */
  left: number
  drawnAtMs: number
  /** By cost: before this time (ms) the database need not be queried, it would refuse. */
  readonly emptyUntil: Map<number, number>
  drawing: Promise<void> | undefined
}

export type CheckRate = (
  principal: Principal,
  category: RateCategory,
  cost: number,
  /** What this request has already taken: the total is never more than a bucket holds. */
  paid?: number,
) => Promise<Record<string, string>>

/** Takes the call's tokens and returns the RateLimit headers, or throws the 429. */
export function createRateLimit(db: Sql, world: World, limits: RateLimits): CheckRate {
  const take = createBuckets(db, world)
  return async ({ environment, keyId, ratePerSecond }, category, tokens, paid = 0) => {
    if (ratePerSecond === undefined) return take(environment, { category, perSecond: limits[category] }, tokens, paid)
    // The key's own first: what it is refused must not cost the others.
    const ofKey = { category: bucketOfKey(keyId), shownAs: 'key', perSecond: ratePerSecond }
    const headers = await take(environment, ofKey, tokens, paid)
    await take(environment, { category, perSecond: limits[category] }, tokens, paid)
    return headers
  }
}

interface Limit {
  /** What its bucket is named in the database. */
  readonly category: string
  readonly shownAs?: string
  readonly perSecond: number
}

function createBuckets(db: Sql, world: World) {
  const slices = new BoundedMap<string, Slice>(slicesMax)

  return async (
    environment: Environment,
    { category, shownAs = category, perSecond }: Limit,
    tokens: number,
    paid: number,
  ): Promise<Record<string, string>> => {
    const limit = perSecond * windowSeconds
    // A bucket must be able to hold the most expensive call, or that call could never be made: a large body costs all there is.
    const burst = Math.max(Math.floor(limit * burstFactor), 100)
    const cost = Math.min(paid + tokens, burst) - Math.min(paid, burst)
    const name = `${environment.id}/${category}`
    const slice: Slice = slices.get(name) ?? newSlice(burst)
    slices.set(name, slice)
    const sinceDrawnMs = world.now().getTime() - slice.drawnAtMs
    if (sinceDrawnMs > sliceKeptMs) slice.tokens = 0
    // The clock was set back: by it, callers would be refused until it is again as late as it was.
    if (sinceDrawnMs < 0) slice.emptyUntil.clear()

    const draw = async (): Promise<void> => {
      // The tokens of the node count: an expensive request must not be refused tokens that are available in parts.
      const needed = cost - slice.tokens
      const wanted = Math.max(needed, Math.ceil(burst * sliceShare))
      const bucket = { category, burst, tokensPerSecond: perSecond }
      const { taken, left } = await drawTokens(db, environment, bucket, { wanted, needed })
      slice.tokens += taken
      slice.left = left
      slice.drawnAtMs = world.now().getTime()
      if (taken === 0) slice.emptyUntil.set(cost, slice.drawnAtMs + ((needed - left) / perSecond) * 1000)
    }
    while (slice.tokens < cost && (slice.emptyUntil.get(cost) ?? 0) <= world.now().getTime()) {
      // Requests that arrive during a draw wait for it and look again.
      slice.drawing ??= draw().finally(() => {
        slice.drawing = undefined
      })
      await slice.drawing
    }

    const allowed = slice.tokens >= cost
    if (allowed) slice.tokens -= cost
    // A repeated request pays everything again.
    const againMs = (Math.min(paid, burst) / perSecond) * 1000
    const waitMs = allowed ? 0 : againMs + Math.max(0, (slice.emptyUntil.get(cost) ?? 0) - world.now().getTime())
    const remaining = slice.tokens + slice.left
    const headers = {
      'ratelimit-limit': String(limit),
      'ratelimit-remaining': String(Math.max(0, Math.floor(remaining))),
      'ratelimit-reset': String(Math.ceil(Math.max(0, cost - remaining) / perSecond)),
      'ratelimit-policy': `${limit};w=${windowSeconds};burst=${burst};comment="token bucket";category="${shownAs}";cost="${cost === 1 ? 'single' : 'bulk'}"`,
    }
    if (!allowed) {
      const retryAfter = String(Math.max(1, Math.ceil(waitMs / 1000)))
      throw new Problem(429, 'API rate limit exceeded', {
        headers: { ...headers, 'ratelimit-reset': retryAfter, 'retry-after': retryAfter },
      })
    }
    return headers
  }
}

function newSlice(burst: number): Slice {
  return { tokens: 0, left: burst, drawnAtMs: 0, emptyUntil: new BoundedMap(refusedCostsMax), drawing: undefined }
}
