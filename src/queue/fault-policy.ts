// What happens to a row that threw while it ran alone and the database responded: retried for an hour, then buried.

/**
 * If it threw this often, over this long, it will always throw. A bad deploy is usually rolled back within the hour.
 */
const faultsMax = 5
const faultsOverMs = 3_600_000
/**
 * 62 minutes together, a little more than the hour: a row that always throws does so at once, after 10 s, 2 min, 17 min and 62 min, and
 * is buried by the last of these five faults. Had the waits come to less than the hour, it would take a sixth.
 */
const waitsMs = [10_000, 120_000, 900_000, 2_700_000]

export interface Faulty {
  /** Before this one. */
  readonly faults: number
  readonly faultedSince: Date | null
}

export type Fate = { readonly kind: 'retry'; readonly waitMs: number } | { readonly kind: 'bury' }

export function afterFault({ faults, faultedSince }: Faulty, now: Date): Fate {
  const sinceMs = now.getTime() - (faultedSince?.getTime() ?? now.getTime())
  if (faults + 1 >= faultsMax && sinceMs >= faultsOverMs) return { kind: 'bury' }
  return { kind: 'retry', waitMs: waitsMs[Math.min(faults, waitsMs.length - 1)] as number }
}
