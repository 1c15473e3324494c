// Work that is interrupted when its time is over: a pattern, or a schema that doubles itself, may never end by itself.
import { readFileSync } from 'node:fs'
import { createContext, Script } from 'node:vm'

const stage = createContext({ work: undefined as unknown })
const play = new Script('work()')

/** Of its time, work must have had this share on a processor: else others had it, and it begins again with more time. */
const shareMin = 0.5
/** On a machine that is busier nothing works. */
const shareLeast = 0.05
const attemptsMax = 3

/**
 * The work may be started several times: together they may take `totalMs`, should the processor be free again. Throws an
 * error that `isOutOfTime` recognises, and `isStarved` too where no attempt had the processor for long enough to tell.
 */
export function withinTime<Result>(
  timeoutMs: number,
  work: () => Result,
  cpuMs = threadClock,
  totalMs = Number.POSITIVE_INFINITY,
): Result {
  let limitMs = timeoutMs
  let leftMs = totalMs
  for (let attempt = 1; ; attempt += 1) {
    const begunMs = cpuMs()
    stage['work'] = work
    try {
      return play.runInContext(stage, { timeout: limitMs })
    } catch (error) {
      if (!isOutOfTime(error)) throw error
      const spentMs = cpuMs() - begunMs
      leftMs -= spentMs
      if (spentMs >= timeoutMs * shareMin) throw error
      if (attempt === attemptsMax || leftMs < 1) throw Object.assign(error as Error, { isStarved: true })
      limitMs = Math.ceil(Math.min(timeoutMs / Math.max(spentMs / limitMs, shareLeast), leftMs))
    } finally {
      stage['work'] = undefined
    }
  }
}

/** The kernel counts in ticks, of 10 ms at the most. */
const growsWithinMs = 20

/**
 * Of this thread alone: what other threads do meanwhile says nothing about the work. Linux counts it; elsewhere, and where
 * the kernel leaves the count at zero, the process does. Which of them is found out by the first use.
 */
export function createThreadClock(
  ofThread: () => number = threadMs,
  ofProcess: () => number = processMs,
): () => number {
  let chosen: (() => number) | undefined
  return () => {
    chosen ??= grows(ofThread) ? ofThread : ofProcess
    return chosen()
  }
}

const threadClock = createThreadClock()

function grows(readMs: () => number): boolean {
  try {
    const firstMs = readMs()
    const endMs = Date.now() + growsWithinMs
    while (Date.now() < endMs) if (readMs() > firstMs) return true
    return readMs() > firstMs
  } catch {
    return false
  }
}

function threadMs(): number {
  return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ', 1)[0]) / 1_000_000
}

function processMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Of an error that `isOutOfTime` recognises: the machine was too busy to tell whether the work takes too long. */
export function isStarved(error: unknown): boolean {
  return (error as { isStarved?: unknown } | null)?.isStarved === true
}

export function isOutOfTime(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
}
