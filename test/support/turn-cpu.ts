// How much of the processor this thread takes in one turn of the event loop: a clock would count what other programs took.
import { closeSync, existsSync, openSync, readSync } from 'node:fs'

/** Where Linux tells how long the main thread has run, in nanoseconds. */
const schedule = `/proc/self/task/${process.pid}/schedstat`

export interface TurnCpu {
  /** The dearest turn since the beginning, in milliseconds. */
  worstMs(): number
  stop(): void
}

/** Measures every turn from now on. Elsewhere than on Linux all threads count together, which is more. */
export function watchTurns(): TurnCpu {
  const file = existsSync(schedule) ? openSync(schedule, 'r') : undefined
  const buffer = Buffer.alloc(64)
  const cpuMs = (): number => {
    if (file === undefined) {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1_000
    }
    const length = readSync(file, buffer, 0, buffer.length, 0)
    return Number.parseInt(buffer.toString('latin1', 0, length), 10) / 1e6
  }
  let worst = 0
  let last = cpuMs()
  let isOver = false
  const look = (): void => {
    const now = cpuMs()
    worst = Math.max(worst, now - last)
    last = now
    if (!isOver) setImmediate(look)
    else if (file !== undefined) closeSync(file)
  }
  setImmediate(look)
  return {
    worstMs: () => Math.max(worst, cpuMs() - last),
    stop: () => {
      isOver = true
    },
  }
}
