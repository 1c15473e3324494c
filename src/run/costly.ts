// Environments whose templates take long: callers do not wait for them to be rendered.
import type { Environment } from '../domain/environment.ts'

export interface Costly {
  has(environment: Environment): boolean
  /** Notes how long the work takes, even if it throws. */
  timed<Result>(environment: Environment, work: () => Promise<Result>): Promise<Result>
}

/**
 * What takes longer than this keeps callers waiting: such templates are rendered after the response, as are the next
 * ones.
 */
const costlyMs = 50
const costlyForMs = 10_000

export function createCostly(nowMs = () => performance.now()): Costly {
  const untilMs = new Map<string, number>()
  return {
    has: ({ id }) => {
      const until = untilMs.get(id)
      if (until === undefined) return false
      if (nowMs() < until) return true
      untilMs.delete(id)
      return false
    },
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
