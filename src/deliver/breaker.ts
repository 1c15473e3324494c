// Circuit breakers: an integration whose provider fails repeatedly is not called for a while, then tried once.

/** Failures one after another that open it: more than a hiccup, and found out before many messages have paid for it. */
const failuresToOpen = 5
/** How long it stays open, doubled each time the one call that is let through fails. */
const firstOpenMs = 2_000
const openMsMax = 60_000

export interface Breaker {
  /** The result of a call. */
  note(failed: boolean, now: Date): void
  /** `open`: no call may begin. `half-open`: one may, to find out. */
  state(now: Date): 'closed' | 'open' | 'half-open'
  /** Since when the provider is considered down, and when it is tried again. Undefined while the breaker is closed. */
  down(): { readonly since: Date; readonly until: Date } | undefined
}

export function createBreaker(): Breaker {
  let failures = 0
  let openings = 0
  let down: { readonly since: Date; readonly until: Date } | undefined

  const state = (now: Date): 'closed' | 'open' | 'half-open' => {
    if (down === undefined) return 'closed'
    return now < down.until ? 'open' : 'half-open'
  }

  return {
    note(failed, now) {
      if (!failed) {
        failures = 0
        openings = 0
        down = undefined
        return
      }
      failures += 1
      // While it is open, calls that began before still fail: that is no news.
      if (failures < failuresToOpen || state(now) === 'open') return
      openings += 1
      const openMs = Math.min(openMsMax, firstOpenMs * 2 ** (openings - 1))
      down = { since: down?.since ?? now, until: new Date(now.getTime() + openMs) }
    },
    state,
    down: () => down,
  }
}
