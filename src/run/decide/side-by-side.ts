// Work that is done in threads: as many pieces at once as there are threads, and none beyond the time that there is for all.

export interface Bounds {
  readonly atOnce: number
  /** From the start to the last result. */
  readonly msMax: number
}

/** It threw. */
export class Failed {
  readonly error: unknown

  constructor(error: unknown) {
    this.error = error
  }
}

/**
 * What came in time, by item: a result, or the error of that one alone. What is under way then goes on, and its result is
 * dropped.
 */
export async function sideBySide<Item, Result>(
  items: readonly Item[],
  { atOnce, msMax }: Bounds,
  work: (item: Item) => Promise<Result>,
): Promise<ReadonlyMap<Item, Result | Failed>> {
  const results = new Map<Item, Result | Failed>()
  const left = items.values()
  let isOver = false
  const run = async (): Promise<void> => {
    for (const item of left) {
      if (isOver) return
      const result = await work(item).catch((error: unknown) => new Failed(error))
      if (!isOver) results.set(item, result)
    }
  }
  let timer: NodeJS.Timeout | undefined
  const timeIsUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, msMax)
  })
  try {
    const runners = Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, run))
    await Promise.race([runners, timeIsUp])
  } finally {
    isOver = true
    clearTimeout(timer)
  }
  return results
}
