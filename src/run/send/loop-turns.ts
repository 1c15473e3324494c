// How long a turn of the event loop takes: what a busy process adds to every latency that it measures.

export interface LoopTurns {
  /** Measures the turn after this one. */
  sample(): void
  /** The last few turns. */
  ms(): number
}

/** A single long turn, such as one of the garbage collector, does not indicate a busy process. */
const newestShare = 1 / 4

export function createLoopTurns(
  now = () => performance.now(),
  nextTurn: (go: () => void) => void = setImmediate,
): LoopTurns {
  let ms = 0
  let isSampling = false
  return {
    sample() {
      if (isSampling) return
      isSampling = true
      nextTurn(() => {
        const sinceMs = now()
        nextTurn(() => {
          ms += (now() - sinceMs - ms) * newestShare
          isSampling = false
        })
      })
    },
    ms: () => ms,
  }
}
