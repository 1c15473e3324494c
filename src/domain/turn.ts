// How long one piece of work has kept the event loop: requests, heartbeats and leases wait for it.
import { setImmediate } from 'node:timers/promises'

/** What others wait for at most, and one job more. */
const turnMsMax = 20

export class Turn {
  readonly #nowMs: () => number
  readonly #throwIfDone: (() => void) | undefined
  #beganMs: number

  /** `throwIfDone` is called before each turn but the first: work that no one waits for any more ends there. */
  constructor(nowMs = () => performance.now(), throwIfDone?: () => void) {
    this.#nowMs = nowMs
    this.#throwIfDone = throwIfDone
    this.#beganMs = nowMs()
  }

  isOver(): boolean {
    return this.#nowMs() - this.#beganMs > turnMsMax
  }

  async next(): Promise<void> {
    await setImmediate()
    this.#beganMs = this.#nowMs()
    this.#throwIfDone?.()
  }
}

/** As `map`, in turns: each item may take some milliseconds. `turn`: of a larger piece of work that this is a part of. */
export async function mapInTurns<Item, Result>(
  items: readonly Item[],
  map: (item: Item, index: number) => Result,
  turn = new Turn(),
): Promise<Result[]> {
  const results: Result[] = []
  for (const [index, item] of items.entries()) {
    if (turn.isOver()) await turn.next()
    results.push(map(item, index))
  }
  return results
}
