// A request's computing in turns: others are served in between, and nothing computes without end.
import { setImmediate } from 'node:timers/promises'
import { invalidField } from '../domain/problem.ts'

/** What others wait for at most, and one message more: rendering one may take a tenth of a second. */
const turnMsMax = 20
/** Some hundred messages as large as rendering lets them be; those of most workflows take a thousandth of it. */
const computedMsMax = 10_000

export interface Turns {
  /** After waiting for something else, the turn starts over. */
  begin(): void
  /** Undefined while the turn is not over, which is the usual case. */
  over(): Promise<void> | undefined
}

export function createTurns(clock: () => number = () => performance.now(), allowedMs = computedMsMax): Turns {
  let begunMs = clock()
  let computedMs = 0
  const giveWay = async (turnMs: number): Promise<void> => {
    computedMs += turnMs
    if (computedMs > allowedMs) {
      throw invalidField(
        'limit',
        `Rendering the steps for so many recipients takes more than ${allowedMs / 1_000} seconds: request fewer recipients`,
      )
    }
    await setImmediate()
    begunMs = clock()
  }
  return {
    begin() {
      begunMs = clock()
    },
    over() {
      const turnMs = clock() - begunMs
      return turnMs < turnMsMax ? undefined : giveWay(turnMs)
    },
  }
}
