// Requests that wait to be accepted take precedence: the worker pauses between batches while they wait, but never
// stops.

export interface RightOfWay {
  /** A caller waits. The returned function is called when it has its answer. */
  enter(): () => void
  /** After a batch that took so long: resolves when the next may run. */
  rest(tookMs: number): Promise<void>
}

/** A single caller, one call after the other, does not compete with anything worth resting for. */
const callersMin = 2
/** Times the duration of the batch: accepted work keeps at least a third of the time. */
const restFactor = 2
const restMsMax = 500
const lookEveryMs = 10

export function createRightOfWay(sleep: (ms: number) => Promise<void>, nowMs = () => performance.now()): RightOfWay {
  let waiting = 0
  /** When several last waited: a caller with an answer usually sends its next call at once. */
  let crowdedAtMs = Number.NEGATIVE_INFINITY
  const isCrowded = (): boolean => waiting >= callersMin || nowMs() - crowdedAtMs < lookEveryMs
  return {
    enter: () => {
      waiting += 1
      return () => {
        if (waiting >= callersMin) crowdedAtMs = nowMs()
        waiting -= 1
      }
    },
    rest: async (tookMs) => {
      const restMs = Math.min(restFactor * tookMs, restMsMax)
      for (let restedMs = 0; restedMs < restMs && isCrowded(); restedMs += lookEveryMs) {
        await sleep(Math.min(lookEveryMs, restMs - restedMs))
      }
    },
  }
}
