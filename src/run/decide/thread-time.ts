// How long threads have worked for one job: they are shared with other batches and with requests, and waiting for those is not its
// fault.
import type { Threads } from '../../world/threads.ts'

export class ThreadTime {
  readonly #nowMs: () => number
  #endedMs = 0
  /** Of what a thread is doing now. */
  #beganMs: number | undefined

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs
  }

  ms(): number {
    return this.#endedMs + (this.#beganMs === undefined ? 0 : this.#nowMs() - this.#beganMs)
  }

  /** The same threads, timed. Jobs go first: what people try out can be tried again. */
  of(threads: Threads): Threads {
    const onBegun = (): void => {
      this.#beganMs = this.#nowMs()
    }
    return {
      ...threads,
      run: async (message) => {
        try {
          return await threads.run(message, { isFirst: true, onBegun })
        } finally {
          this.#endedMs = this.ms()
          this.#beganMs = undefined
        }
      },
    }
  }
}
