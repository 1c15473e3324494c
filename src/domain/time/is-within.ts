// Whether something is recent enough, by a clock that may be set back.

/** A clock that was set back must not keep it longer: what lies ahead of the clock by as much is as old. */
export const isWithin = (atMs: number | undefined, nowMs: number, ms: number): boolean =>
  atMs !== undefined && Math.abs(nowMs - atMs) < ms
