// A settlement: everything that follows from a decision on one job, to be written in one transaction.
import type { JoinDigest, TakeThrottle } from '../domain/delivery/decision.ts'
import type { Due } from '../domain/delivery/due.ts'
import { over } from '../domain/delivery/due.ts'
import type { Job, JobState, JobStatus } from '../domain/delivery/job.ts'
import type { StoredDetail } from '../domain/insight/execution-detail.ts'
import type { NewMessage } from '../store/messages/insert.ts'

export interface Settlement {
  readonly job: Job
  readonly status: JobStatus
  readonly due: Due
  readonly state: JobState | null
  readonly details: readonly StoredDetail[]
  readonly messages: readonly NewMessage[]
  /** The step that runs next. */
  readonly next: NextStep | null
  /** Steps that will never run, and why. */
  readonly rest: RestOfSteps | null
  /** The window that closes with it; a job that is queued again sees its events. */
  readonly closes: string | null
}

/**
 * Jobs that were decided before they were created: by id, the job they follow, which is settled with them. They have no
 * row yet, and get none unless that job was still ours.
 */
export type MadeAfter = ReadonlyMap<string, string>

export interface NextStep {
  readonly step: number
  /** The digest whose events the steps from here on see. */
  readonly digestId: string | null
}

export interface RestOfSteps {
  readonly steps: readonly number[]
  readonly status: 'canceled' | 'merged' | 'skipped'
  readonly details: readonly StoredDetail[]
}

/** A job that wants to join a digest: whether it opens, joins or passes is known only in the transaction. */
export interface DeferredDigest {
  readonly job: Job
  readonly join: JoinDigest
  readonly workflowId: string
  readonly now: Date
  /** Where the run continues if the digest is passed or the window closes; null at the end. */
  readonly nextStep: number | null
  readonly laterSteps: readonly number[]
}

/** A job that asks a throttle: whether it continues is known only in the transaction. */
export interface DeferredThrottle {
  readonly job: Job
  readonly take: TakeThrottle
  readonly now: Date
  readonly nextStep: number | null
  readonly laterSteps: readonly number[]
}

/** What can only be decided when it is written. */
export type DeferredDecision = DeferredDigest | DeferredThrottle

export const settles = (
  job: Job,
  status: JobStatus,
  more: Partial<Omit<Settlement, 'job' | 'status'>> = {},
): Settlement => ({
  job,
  status,
  due: more.due ?? over,
  state: more.state ?? null,
  details: more.details ?? [],
  messages: more.messages ?? [],
  next: more.next ?? null,
  rest: more.rest ?? null,
  closes: more.closes ?? null,
})
