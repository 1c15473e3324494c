// Slots: how many calls an integration may have at once on this node, and until when it wants to be left alone.

export interface Slots {
  /** Takes up to `count` slots and tells how many it got. */
  take(integrationId: string, count: number): number
  /** Gives one back. */
  free(integrationId: string): void
  /** Whether a call could begin now. */
  has(integrationId: string): boolean
  /** The provider asked for a pause; a longer one that it asked for before still holds. */
  pauseUntil(integrationId: string, at: Date): void
  /** Until when the pause lasts, while there is one. */
  pausedUntil(integrationId: string, now: Date): Date | undefined
  isPaused(integrationId: string, now: Date): boolean
}

export interface SlotLimits {
  readonly perIntegrationMax: number
}

/** What vendors take from one account without complaint; a call of 100 ms then makes 500 messages a second. */
const usualLimits: SlotLimits = { perIntegrationMax: 50 }
/** Ended pauses are forgotten when so many have gathered. */
const pausesKeptMax = 1_000

export function createSlots({ perIntegrationMax }: SlotLimits = usualLimits): Slots {
  const taken = new Map<string, number>()
  const pauses = new Map<string, number>()

  const pausedUntil = (integrationId: string, now: Date): Date | undefined => {
    const until = pauses.get(integrationId)
    if (until === undefined) return undefined
    if (until > now.getTime()) return new Date(until)
    pauses.delete(integrationId)
    return undefined
  }

  return {
    take(integrationId, count) {
      const before = taken.get(integrationId) ?? 0
      const granted = Math.max(0, Math.min(count, perIntegrationMax - before))
      if (granted > 0) taken.set(integrationId, before + granted)
      return granted
    },
    free(integrationId) {
      const left = (taken.get(integrationId) ?? 0) - 1
      // One that nobody had taken is not added: it would let a call too many begin.
      if (left <= 0) taken.delete(integrationId)
      else taken.set(integrationId, left)
    },
    has: (integrationId) => (taken.get(integrationId) ?? 0) < perIntegrationMax,
    pauseUntil(integrationId, at) {
      if (pauses.size >= pausesKeptMax) forgetOldest(pauses)
      pauses.set(integrationId, Math.max(at.getTime(), pauses.get(integrationId) ?? 0))
    },
    pausedUntil,
    isPaused: (integrationId, now) => pausedUntil(integrationId, now) !== undefined,
  }
}

/** The pause that ends first: the least is lost with it. */
function forgetOldest(pauses: Map<string, number>): void {
  const [first] = [...pauses].sort(([, a], [, b]) => a - b)
  if (first !== undefined) pauses.delete(first[0])
}
