// What a run leaves behind, and what the report is written from.
import type { BodiesOutcome } from './bodies.ts'

export interface Summary {
  readonly seed: number
  readonly sent: number
  readonly operations: number
  readonly operationsReached: number
  readonly seconds: number
  readonly connections: number
  readonly pipelining: number
  /** How many answers had each status. */
  readonly statuses: Readonly<Record<string, number>>
  readonly slowestMs: number
  readonly deadlineMs: number
  readonly sentAgain: number
  readonly turnMsMax: number
  /** Turns over it, of however many requests. */
  readonly turnsOver: number
  readonly longestTurnMs: number
  /** The most that one of the requests under way in them took when it was sent alone. */
  readonly longestAloneMs: number
  readonly residentMegabytes: number
  readonly findings: number
  readonly bodies?: BodiesOutcome
}

/** Left by `test/api/isolation.test.ts` where POSTHORN_SECURITY_RESULTS names a folder. */
export interface IsolationSummary {
  readonly calls: number
  readonly positions: number
  readonly operations: number
  readonly reads: number
  readonly found: number
  readonly changed: number
}
