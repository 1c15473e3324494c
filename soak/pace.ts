// The pace of a scene: how many faults there are still to be, and how much of the load may have been sent by now.

export class Pace {
  /** Faults begun so far. */
  count = 0
  /** Set where a fault lasts long: the load of its cycle is then sent within this time, to be under way when it comes. */
  burstMs: number | undefined
  private readonly startedAt = Date.now()
  private cycleStartedAt = Date.now()
  private cycleMs = 5_000

  private readonly bound: { readonly kills: number; readonly durationMs: number | undefined }

  constructor(bound: { kills: number; durationMs: number | undefined }) {
    this.bound = bound
  }

  /** Begins the next fault; false when there were enough. */
  next(): boolean {
    const now = Date.now()
    if (this.count > 0) this.cycleMs = (this.cycleMs + (now - this.cycleStartedAt)) / 2
    const { kills, durationMs } = this.bound
    if (durationMs === undefined ? this.count >= kills : now - this.startedAt >= durationMs) return false
    this.count++
    this.cycleStartedAt = now
    return true
  }

  /** From 0 to 1: the load is spread over the faults, whatever a restart takes. */
  share(): number {
    const { kills, durationMs } = this.bound
    if (durationMs !== undefined) return (Date.now() - this.startedAt) / durationMs
    const within = Math.min(1, (Date.now() - this.cycleStartedAt) / (this.burstMs ?? this.cycleMs))
    return Math.max(0, this.count - 1 + within) / kills
  }
}
