// Environments whose templates take long, and large events that need a thread: callers do not wait for them to be rendered.
import { BoundedMap } from '../domain/bounded-map.ts'
import type { Environment } from '../domain/environment.ts'

export interface Costly {
  has(environment: Environment): boolean
  /** Notes how long the work takes, even if it throws. */
  timed<Result>(environment: Environment, work: () => Promise<Result>): Promise<Result>
  /** A large event of this version had to be left to a thread. */
  noteThread(versionId: string): void
  /** Whether large events of this version are left to a thread for now: finding out costs a good part of rendering them. */
  needsThread(versionId: string): boolean
}

/**
 * What takes longer than this keeps callers waiting: such templates are rendered after the response, as are the next
 * ones.
 */
const costlyMs = 50
const costlyForMs = 10_000
const versionsKeptMax = 2_000

export function createCostly(nowMs = () => performance.now()): Costly {
  const untilMs = new Map<string, number>()
  const threadUntilMs = new BoundedMap<string, number>(versionsKeptMax)
  return {
    has: ({ id }) => {
      const until = untilMs.get(id)
      if (until === undefined) return false
      if (nowMs() < until) return true
      untilMs.delete(id)
      return false
    },
    noteThread: (versionId) => threadUntilMs.set(versionId, nowMs() + costlyForMs),
    needsThread: (versionId) => nowMs() < (threadUntilMs.get(versionId) ?? 0),
    timed: async ({ id }, work) => {
      const beganMs = nowMs()
      try {
        return await work()
      } finally {
        const endedMs = nowMs()
        if (endedMs - beganMs > costlyMs) untilMs.set(id, endedMs + costlyForMs)
      }
    },
  }
}
