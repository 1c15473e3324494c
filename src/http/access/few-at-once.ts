// Lookups for callers who have shown nothing yet: however many ask, they hold a few connections of the pool.
import { Problem } from '../../domain/problem.ts'

/** Of each kind of door without a key. A lookup takes a fraction of a millisecond. */
const atOnceMax = 2
/** Some tenths of a second of lookups: whoever comes later would wait for longer than it takes to come again. */
const waitingMax = 500

/** Runs work in the order in which it comes, a few at once. Beyond those that may wait it is 503. */
export function createFewAtOnce(
  max = atOnceMax,
  queueMax = waitingMax,
): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (waiting.length >= queueMax) throw tooMany()
    // Whoever ends gives the place on: it is not free in between.
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}

const tooMany = (): Problem =>
  new Problem(503, 'Too many requests at once; please try again', { headers: { 'retry-after': '1' } })
