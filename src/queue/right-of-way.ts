// Callers that wait to be accepted have the right of way: the worker rests between batches while they do, but never stands still.

export interface RightOfWay {
  /** Somebody waits. What is returned is called when they have their answer. */
  enter(): () => void
  /** After a batch that took so long: resolves when the next may run. */
  rest(tookMs: number): Promise<void>
}

/** One caller after the other keeps nobody waiting: they have to wait for each other first. */
const callersMin = 2
/** So many times as long as the batch took: what was accepted before gets at least a third of the time. */
const restFactor = 2
const restMsMax = 500
const lookEveryMs = 10

export function createRightOfWay(sleep: (ms: number) => Promise<void>, nowMs = () => performance.now()): RightOfWay {
  let waiting = 0
  /** When there last were so many: a caller who has an answer comes back at once with the next call. */
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
