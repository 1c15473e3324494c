// A custom step that is to be called, and whoever makes such calls.
import type { CallOut } from '../../domain/decision.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Job } from '../../domain/job.ts'
import type { JobFacts } from '../decide/job-facts.ts'

export interface PendingCall {
  readonly facts: JobFacts
  readonly decision: CallOut
}

export interface Caller {
  /** Waits for slots, begins, calls. Resolves when all is recorded. */
  queue(environment: Environment, calls: readonly PendingCall[]): Promise<void>
  /** This node may call again: whoever waited goes on. */
  wake(): void
  /** Begins nothing more: the jobs that were waiting are given back. Calls that are under way go on. */
  stop(): Job[]
}
