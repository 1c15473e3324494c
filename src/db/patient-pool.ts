// A pool that does not open a connection for every crowd. Beyond the usual number callers wait first, as one is soon free.
import pg from 'pg'

export interface Patience {
  /** Up to so many are opened at once. */
  readonly usual: number
  readonly patienceMs: number
}

/**
 * Each connection is a process of the server, with its own copy of every plan. More of them than its processors can serve
 * add nothing, unless some wait for something else: whoever finds none within `patienceMs` opens another.
 */
export class PatientPool extends pg.Pool {
  readonly #patience: Patience
  readonly #waiting = new Set<() => void>()

  constructor(options: pg.PoolConfig & { readonly max: number }, patience: Patience) {
    super(options)
    this.#patience = patience
    // A connection is idle only after its listeners were notified.
    this.on('release', () => process.nextTick(() => this.#serve()))
  }

  /** How many wait for one of the usual connections. */
  get patientCount(): number {
    return this.#waiting.size
  }

  connectPatiently(): Promise<pg.PoolClient> {
    if (this.#waiting.size === 0 && this.#hasTurn()) return this.connect()
    return new Promise((resolve) => {
      const begin = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(begin)
        resolve(this.connect())
      }
      const timer = setTimeout(begin, this.#patience.patienceMs).unref()
      this.#waiting.add(begin)
      this.#serve()
    })
  }

  /** In their order: one that came back for its next statement does not overtake those that wait. */
  #serve(): void {
    for (const begin of this.#waiting) {
      if (!this.#hasTurn()) return
      begin()
    }
  }

  #hasTurn(): boolean {
    const { idleCount, totalCount, waitingCount } = this
    // Idle ones that others are about to get are not free, and for those that get none another is about to be opened.
    const soonTotal = totalCount + Math.max(0, waitingCount - idleCount)
    return idleCount > waitingCount || soonTotal < this.#patience.usual || totalCount >= this.options.max
  }
}
