// What an integration may do on this node now: how many calls at once, and until when it rests.
import type { Breaker } from './breaker.ts'
import { createBreaker } from './breaker.ts'

/** Why an integration is left alone. */
export interface Rest {
  readonly until: Date
  /** Where its provider is taken to be down: since when. Otherwise it asked for a pause. */
  readonly downSince?: Date
}

export interface Limits {
  /** Takes a slot, if fewer than `max` are taken. */
  take(integrationId: string, max: number, now: Date): boolean
  /** Gives one back. */
  free(integrationId: string): void
  /** How many are taken. */
  underWay(integrationId: string): number
  /** Whether a call could begin now. */
  has(integrationId: string, max: number, now: Date): boolean
  /** The provider asked for a pause; a longer one that it asked for before still holds. */
  pauseUntil(integrationId: string, at: Date): void
  /** Whether a call speaks for the provider being down as a whole. */
  note(integrationId: string, isDown: boolean, now: Date): void
  /** Until when it rests; undefined when it may be asked. */
  rest(integrationId: string, now: Date): Rest | undefined
}

/** What vendors take from one account without complaint; a call of 100 ms then makes 500 messages a second. */
export const usualCallsMax = 50
/** Integrations that are not in use are forgotten when there are so many. */
const knownMax = 1_000

interface Known {
  taken: number
  pausedUntilMs: number
  readonly breaker: Breaker
}

export function createLimits(): Limits {
  const all = new Map<string, Known>()

  const known = (integrationId: string): Known => {
    const found = all.get(integrationId)
    if (found !== undefined) return found
    if (all.size >= knownMax) forgetIdle(all)
    const made: Known = { taken: 0, pausedUntilMs: 0, breaker: createBreaker() }
    all.set(integrationId, made)
    return made
  }

  const has = (integrationId: string, max: number, now: Date): boolean => {
    const { taken, breaker } = known(integrationId)
    const state = breaker.state(now)
    return state !== 'open' && taken < (state === 'half-open' ? 1 : max)
  }

  return {
    has,
    underWay: (integrationId) => all.get(integrationId)?.taken ?? 0,
    take(integrationId, max, now) {
      if (!has(integrationId, max, now)) return false
      known(integrationId).taken += 1
      return true
    },
    free(integrationId) {
      const one = known(integrationId)
      // One that was not taken is not added: it would let a call too many begin.
      one.taken = Math.max(0, one.taken - 1)
    },
    pauseUntil(integrationId, at) {
      const one = known(integrationId)
      one.pausedUntilMs = Math.max(one.pausedUntilMs, at.getTime())
    },
    note: (integrationId, isDown, now) => known(integrationId).breaker.note(isDown, now),
    rest(integrationId, now) {
      const one = all.get(integrationId)
      if (one === undefined) return undefined
      const down = downOf(one, now)
      const untilMs = Math.max(one.pausedUntilMs, down?.until.getTime() ?? 0)
      if (untilMs <= now.getTime()) return undefined
      return { until: new Date(untilMs), ...(down === undefined ? {} : { downSince: down.since }) }
    },
  }
}

/** While one call finds out whether the provider is back, the others wait for it. */
const probeMs = 5_000

function downOf({ breaker, taken }: Known, now: Date): { readonly since: Date; readonly until: Date } | undefined {
  const down = breaker.down()
  const state = breaker.state(now)
  if (down === undefined || state === 'closed') return undefined
  if (state === 'open') return down
  return taken === 0 ? undefined : { since: down.since, until: new Date(now.getTime() + probeMs) }
}

/** Those with no call under way and nothing to remember; the rest that ends first goes, should there be none. */
function forgetIdle(all: Map<string, Known>): void {
  const idle = [...all].filter(([, one]) => one.taken === 0)
  const restsUntilMs = ({ pausedUntilMs, breaker }: Known): number =>
    Math.max(pausedUntilMs, breaker.down()?.until.getTime() ?? 0)
  const [first] = idle.sort(([, a], [, b]) => restsUntilMs(a) - restsUntilMs(b))
  if (first !== undefined) all.delete(first[0])
}
