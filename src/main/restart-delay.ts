// How long a process that ended waits before it is started again.

/** The first time at once, or nearly: most deaths happen once. */
export const firstDelayMs = 100
/** A process that cannot start must not keep the others from working. */
export const longestDelayMs = 30_000
/** Who lived so long is not in a row of deaths any more. */
export const steadyMs = 60_000

/** Twice as long with every death that follows soon on a start. */
export function restartDelayMs(previousMs: number | undefined, livedMs: number): number {
  if (previousMs === undefined || livedMs >= steadyMs) return firstDelayMs
  return Math.min(previousMs * 2, longestDelayMs)
}
