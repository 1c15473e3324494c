// How much of the processor this thread takes in one turn of the event loop: a clock would count what other programs took.
import { existsSync, openSync, readSync } from 'node:fs'

/** Where Linux reports how long the main thread has run, in nanoseconds. */
const schedule = `/proc/self/task/${process.pid}/schedstat`

interface TurnCpu {
  /** The longest turn since the beginning, in milliseconds. */
  worstMs(): number
  stop(): void
}

const file = existsSync(schedule) ? openSync(schedule, 'r') : undefined
const buffer = Buffer.alloc(64)

/** Elsewhere than on Linux all threads count together, which is more. */
function cpuMs(): number {
  if (file === undefined) {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000
  }
  const length = readSync(file, buffer, 0, buffer.length, 0)
  return Number.parseInt(buffer.toString('latin1', 0, length), 10) / 1e6
}

/** What a piece of work takes of the processor: to compare turns with, since how fast it is depends on who else uses it. */
export function cpuMsOf(work: () => unknown): number {
  const began = cpuMs()
  work()
  return cpuMs() - began
}

/** The same of work that goes on over several turns, when nothing else is done meanwhile. */
export async function cpuMsUntil(work: () => Promise<unknown>): Promise<number> {
  const began = cpuMs()
  await work()
  return cpuMs() - began
}

/** Measures every turn from now on. */
function watchTurns(): TurnCpu {
  let worst = 0
  let last = cpuMs()
  let isOver = false
  const look = (): void => {
    const now = cpuMs()
    worst = Math.max(worst, now - last)
    last = now
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  return {
    worstMs: () => Math.max(worst, cpuMs() - last),
    stop: () => {
      isOver = true
    },
  }
}

/** Parsed ten times, it takes a usual processor about a tenth of a second. */
const yardstick = JSON.stringify(
  Array.from({ length: 9_000 }, (_, index) => ({
    id: index,
    name: `Row ${index}`,
    price: index / 7,
    tags: ['a', 'b'],
  })),
)

/** Measured beside the turns and by the same clock: whatever slows them down slows this down too. */
const turnMsMax = (): number =>
  cpuMsOf(() => {
    for (let count = 0; count < 10; count += 1) JSON.parse(yardstick)
  })

let firstTurnMs: number | undefined

/** What a piece of work takes of the processor, in turns that are as long as one may be: about a tenth of a second each. */
export function turnsOf(work: () => unknown): number {
  const ms = cpuMsOf(work)
  firstTurnMs ??= turnMsMax()
  // Measured again where it matters: other programs come and go.
  return ms / (ms < firstTurnMs ? firstTurnMs : Math.max(firstTurnMs, turnMsMax()))
}

export interface Watched<Result> {
  readonly result: Result
  /** The longest turn while it was worked on, as a share of what one turn may take. */
  readonly share: number
}

async function watchOnce<Result>(work: () => Promise<Result>): Promise<Watched<Result>> {
  const before = turnMsMax()
  const turns = watchTurns()
  try {
    const result = await work()
    const worstMs = turns.worstMs()
    return { result, share: worstMs / Math.max(before, turnMsMax()) }
  } finally {
    turns.stop()
  }
}

/** The garbage collector may have its own turn within one of ours: the best of several attempts shows what the work takes. */
export async function watchWork<Result>(work: () => Promise<Result>, attempts = 3): Promise<Watched<Result>> {
  let best = await watchOnce(work)
  for (let tried = 1; tried < attempts && best.share >= 1; tried += 1) {
    const next = await watchOnce(work)
    if (next.share < best.share) best = next
  }
  return best
}
