// What all nodes share of an integration: its `maxPerSecond`, drawn from the database in slices, and its calls at once.
import type { Sql } from '../../db/sql.ts'
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { Integration } from '../../domain/delivery/integration.ts'
import type { Environment } from '../../domain/environment.ts'
import { drawTokens } from '../../store/operate/rate-limits.ts'
import type { CallShares } from './call-shares.ts'

export interface RateShares {
  /** Whether one more message may be sent now. If not, more is requested, and `onMore` is called when there is some. */
  mayTake(environment: Environment, integration: Integration): boolean
  /** One is sent. */
  take(integration: Integration): void
  /** How many calls may be in flight here, of the `max` that the account allows from all nodes together. */
  callsMax: CallShares['callsMax']
}

export interface RateShareParts {
  readonly calls: CallShares
  readonly db: Sql
  onMore(integrationId: string): void
  sleep(ms: number): Promise<void>
}

/** A slice lasts a node this long at its full rate: short, so that one node does not sit on what another could send. */
const sliceMs = 250
/** When the bucket is empty it is asked again after this. */
const emptyMs = 200
/** Integrations with a rate; those that are not in use are forgotten when there are so many. */
const knownMax = 1_000

interface Share {
  tokens: number
  isAsking: boolean
}

export function createRateShares(parts: RateShareParts): RateShares {
  const shares = new BoundedMap<string, Share>(knownMax)

  function shareOf(integrationId: string): Share {
    const found = shares.get(integrationId)
    if (found !== undefined) return found
    const made: Share = { tokens: 0, isAsking: false }
    shares.set(integrationId, made)
    return made
  }

  async function draw(environment: Environment, integrationId: string, perSecond: number, share: Share): Promise<void> {
    share.isAsking = true
    try {
      const wanted = Math.max(1, Math.ceil((perSecond * sliceMs) / 1_000))
      // No burst beyond a second's worth: the vendor counts seconds.
      const bucket = { category: `send ${integrationId}`, burst: Math.max(1, perSecond), tokensPerSecond: perSecond }
      const { taken } = await drawTokens(parts.db, environment, bucket, { wanted, needed: 1 })
      share.tokens += taken
      if (taken === 0) await parts.sleep(Math.max(emptyMs, 1_000 / perSecond))
    } catch {
      // Without the database there is no share: those that wait ask again.
      await parts.sleep(emptyMs)
    }
    share.isAsking = false
    parts.onMore(integrationId)
  }

  return {
    callsMax: (environment, integration, max) => parts.calls.callsMax(environment, integration, max),
    mayTake(environment, integration) {
      const perSecond = integration.configurations?.maxPerSecond
      if (typeof perSecond !== 'number') return true
      const share = shareOf(integration._id)
      if (share.tokens >= 1) return true
      if (!share.isAsking) void draw(environment, integration._id, perSecond, share)
      return false
    },
    take(integration) {
      if (typeof integration.configurations?.maxPerSecond !== 'number') return
      shareOf(integration._id).tokens -= 1
    },
  }
}
