// Who is suspected of ending its process: rows that were in flight at a death run in smaller groups, then alone.

/**
 * A row that was in flight this often when its process ended runs alone: after three halvings of a batch, more would
 * reveal nothing.
 */
export const interruptionsBeforeSolo = 3
/**
 * How long a row waits after a death in a solo run. The first two waits are short, for the sake of rows that only happened to
 * run; the five runs that bury a row are a minute apart, so that a crash loop with another cause does not accuse it.
 */
export const soloWaitsMs = [5_000, 20_000, 60_000, 60_000, 60_000, 60_000, 60_000] as const
/** A process that ended this often while the row ran alone was ended by the row. */
export const soloDeathsMax = soloWaitsMs.length

/** Rows that run together at the most, by interruptions: a death then interrupts fewer of those that did no harm. */
const groupSizes = [Number.POSITIVE_INFINITY, 50, 10]

export const groupMaxFor = (interruptions: number): number => groupSizes[interruptions] ?? 1

/** Whether it ended its process each time it ran alone, and often enough to be certain. */
export const isPoisonous = ({ interruptions }: { readonly interruptions: number }): boolean =>
  interruptions >= interruptionsBeforeSolo + soloDeathsMax

/** Lanes of suspected rows: 2 for those of lane 0, 3 for those of lane 1. Each row there is claimed by itself. */
export const poisonLanes = [2, 3] as const
