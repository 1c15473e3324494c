// A connection pool with a soft limit: beyond it a caller first waits for a connection to become free, and opens another
// only after a maximum wait.
import pg from 'pg'

export interface SoftLimit {
  /** Up to this many connections are opened without waiting. */
  readonly connections: number
  readonly waitMsMax: number
}

/**
 * Each connection is a process of the server, with its own copy of every plan. More of them than its processors can serve
 * add nothing, unless some wait for something else, such as a slow report.
 */
export class SoftLimitPool extends pg.Pool {
  readonly #limit: SoftLimit
  readonly #waiting = new Set<() => void>()

  constructor(options: pg.PoolConfig & { readonly max: number }, limit: SoftLimit) {
    super(options)
    this.#limit = limit
    // A connection is idle only after its listeners were notified.
    this.on('release', () => process.nextTick(() => this.#serve()))
  }

  /** How many callers wait at the soft limit; those at the hard one are in `waitingCount`. */
  get softWaitingCount(): number {
    return this.#waiting.size
  }

  connectWithinLimit(): Promise<pg.PoolClient> {
    if (this.#waiting.size === 0 && this.#hasTurn()) return this.connect()
    return new Promise((resolve) => {
      const begin = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(begin)
        resolve(this.connect())
      }
      const timer = setTimeout(begin, this.#limit.waitMsMax).unref()
      this.#waiting.add(begin)
      this.#serve()
    })
  }

  /** In the order they came: a caller with its next statement does not overtake those that wait. */
  #serve(): void {
    for (const begin of this.#waiting) {
      if (!this.#hasTurn()) return
      begin()
    }
  }

  #hasTurn(): boolean {
    const { idleCount, totalCount, waitingCount } = this
    // Idle connections that others are about to get are not free, and for those that get none another is about to be opened.
    const soonTotal = totalCount + Math.max(0, waitingCount - idleCount)
    return idleCount > waitingCount || soonTotal < this.#limit.connections || totalCount >= this.options.max
  }
}
