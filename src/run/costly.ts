// Environments whose templates take long, and large events that do: callers do not wait for them to be rendered.
import { BoundedMap } from '../domain/bounded-map.ts'
import type { Environment } from '../domain/environment.ts'

export interface Costly {
  has(environment: Environment): boolean
  /** Large events of this version are decided in their own turn for now. */
  hasLarge(versionId: string): boolean
  /** A large event of this version takes longer than a caller should wait. */
  noteLarge(versionId: string): void
  /** Notes how long the work takes, even if it throws: where it has large events of these versions, they are the cause. */
  timed<Result>(environment: Environment, large: readonly string[], work: () => Promise<Result>): Promise<Result>
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
  const largeUntilMs = new BoundedMap<string, number>(versionsKeptMax)
  const noteLarge = (versionId: string): void => {
    largeUntilMs.set(versionId, nowMs() + costlyForMs)
  }
  return {
    has: ({ id }) => {
      const until = untilMs.get(id)
      if (until === undefined) return false
      if (nowMs() < until) return true
      untilMs.delete(id)
      return false
    },
    hasLarge: (versionId) => nowMs() < (largeUntilMs.get(versionId) ?? 0),
    noteLarge,
    timed: async ({ id }, large, work) => {
      const beganMs = nowMs()
      try {
        return await work()
      } finally {
        const endedMs = nowMs()
        if (endedMs - beganMs > costlyMs && large.length > 0) large.forEach(noteLarge)
        else if (endedMs - beganMs > costlyMs) untilMs.set(id, endedMs + costlyForMs)
      }
    },
  }
}
