// What the stages of the worker are given: one small object for each, wired once.
import type { JobFaults } from './job-faults.ts'
import type { Pipeline } from './pipeline.ts'
import type { CallQueue } from './send/call-queue.ts'
import type { CallShares } from './send/call-shares.ts'
import type { PendingCall } from './send/custom-calls.ts'
import type { SendQueue } from './send/place-sends.ts'
import type { RateShares } from './send/rate-shares.ts'
import type { Unconfirmed } from './unconfirmed.ts'

export interface Stages {
  readonly pipeline: Pipeline
  /** Messages that wait for providers. */
  readonly sends: SendQueue
  /** Custom steps that wait for customers' services. */
  readonly customCalls: CallQueue<PendingCall, PendingCall>
  readonly rates: RateShares
  /** Accounts that take few calls at once. */
  readonly calls: CallShares
  readonly faults: JobFaults
  readonly unconfirmed: Unconfirmed
}
