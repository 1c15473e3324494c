// What an integration may do on this node now: how many concurrent calls, and until when it pauses.
import type { Breaker } from './breaker.ts'
import { createBreaker } from './breaker.ts'
import type { CallWindow, EndedCall } from './call-window.ts'
import { createCallWindow, usualCallsMax } from './call-window.ts'

/** Why an integration is left alone. */
export interface Rest {
  readonly until: Date
  /** If its provider is considered down: since when. Otherwise it asked for a pause. */
  readonly downSince?: Date
}

export interface Limits {
  /**
   * Takes a slot, if there is one: up to `max`, fewer if the provider currently accepts fewer. `bytes`: the size of the
   * call.
   */
  take(integrationId: string, max: number, now: Date, bytes?: number): boolean
  /** One more message goes with a call that has its slot. */
  join(bytes: number): void
  /** Gives a slot back, with the bytes of its call. */
  free(integrationId: string, bytes?: number): void
  /** How many are taken. */
  underWay(integrationId: string): number
  /** The provider asked for a pause; a longer one that it asked for before still applies. */
  pauseUntil(integrationId: string, at: Date): void
  /** A call to the provider ended: how that went decides how many there may be. */
  ended(integrationId: string, call: EndedCall, now: Date): void
  /** Whether a call indicates that the provider as a whole is down. */
  note(integrationId: string, isDown: boolean, now: Date): void
  /** Until when it pauses; undefined if it may be called. */
  rest(integrationId: string, now: Date): Rest | undefined
  /** Where one call may find out whether the provider is back: how long the others wait for it. */
  probe(integrationId: string, now: Date): Rest | undefined
}

/** The maximum for an account whose provider sets no limit: with calls of 200 ms that is 2,500 calls per second. */
export const callsMax = 500
/**
 * The total of a node's calls beyond the usual ones per account: connections, which are open files, and messages in
 * memory, each as text, as a request and in the socket. The usual calls are always available: one account's many calls
 * take nothing from another.
 */
const callsBeyondUsualMax = 1_000
const bytesMax = 32 * 1024 * 1024
/** Integrations that are not in use are forgotten when there are so many. */
const knownMax = 1_000

interface Known {
  taken: number
  pausedUntilMs: number
  readonly breaker: Breaker
  readonly window: CallWindow
}

export function createLimits(): Limits {
  const all = new Map<string, Known>()
  let beyondUsual = 0
  let bytesTaken = 0

  const known = (integrationId: string): Known => {
    const found = all.get(integrationId)
    if (found !== undefined) return found
    if (all.size >= knownMax) forgetIdle(all)
    const made: Known = { taken: 0, pausedUntilMs: 0, breaker: createBreaker(), window: createCallWindow() }
    all.set(integrationId, made)
    return made
  }

  const mayBegin = (one: Known, max: number, now: Date, bytes: number): boolean => {
    const state = one.breaker.state(now)
    if (state === 'open') return false
    if (one.taken >= (state === 'half-open' ? 1 : one.window.size(max))) return false
    return one.taken < usualCallsMax || (beyondUsual < callsBeyondUsualMax && bytesTaken + bytes <= bytesMax)
  }

  return {
    underWay: (integrationId) => all.get(integrationId)?.taken ?? 0,
    take(integrationId, max, now, bytes = 0) {
      const one = known(integrationId)
      if (!mayBegin(one, max, now, bytes)) {
        one.window.missed()
        return false
      }
      if (one.taken >= usualCallsMax) beyondUsual += 1
      one.taken += 1
      bytesTaken += bytes
      return true
    },
    join(bytes) {
      bytesTaken += bytes
    },
    free(integrationId, bytes = 0) {
      const one = known(integrationId)
      // A slot that was not taken is not released: that would allow one call too many.
      if (one.taken === 0) return
      one.taken -= 1
      if (one.taken >= usualCallsMax) beyondUsual -= 1
      bytesTaken -= bytes
    },
    pauseUntil(integrationId, at) {
      const one = known(integrationId)
      one.pausedUntilMs = Math.max(one.pausedUntilMs, at.getTime())
    },
    ended: (integrationId, call, now) => known(integrationId).window.note(call, now),
    note: (integrationId, isDown, now) => known(integrationId).breaker.note(isDown, now),
    rest(integrationId, now) {
      const one = all.get(integrationId)
      if (one === undefined) return undefined
      const down = downOf(one, now)
      const untilMs = Math.max(one.pausedUntilMs, down?.until.getTime() ?? 0)
      if (untilMs <= now.getTime()) return undefined
      return { until: new Date(untilMs), ...(down === undefined ? {} : { downSince: down.since }) }
    },
    probe(integrationId, now) {
      const breaker = all.get(integrationId)?.breaker
      const down = breaker?.state(now) === 'half-open' ? breaker.down() : undefined
      return down && { downSince: down.since, until: new Date(now.getTime() + probeMs) }
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

/** Those with no call in flight and nothing to remember; if there are none, the pause that ends first. */
function forgetIdle(all: Map<string, Known>): void {
  const idle = [...all].filter(([, one]) => one.taken === 0)
  const restsUntilMs = ({ pausedUntilMs, breaker }: Known): number =>
    Math.max(pausedUntilMs, breaker.down()?.until.getTime() ?? 0)
  const [first] = idle.sort(([, a], [, b]) => restsUntilMs(a) - restsUntilMs(b))
  if (first !== undefined) all.delete(first[0])
}
