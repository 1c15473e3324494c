// What a job's calls came to, as it is recorded.
import type { NewSuppression } from '../domain/people/suppression.ts'
import type { CallResult } from '../store/messages/sending.ts'
import type { DeadToken } from '../store/people/subscriber-channels.ts'
import type { AwaitedReceipt } from './receipts/await-receipts.ts'
import type { Settlement } from './settlement.ts'

export interface JobOutcome {
  readonly settlement: Settlement
  readonly results: readonly CallResult[]
  /** Devices that their provider reported as unregistered. */
  readonly deadTokens?: readonly DeadToken[]
  /** Recipients who opted out, as their provider reported. */
  readonly suppressions?: readonly NewSuppression[]
  /** Messages whose provider must be asked for the result. */
  readonly polls?: readonly AwaitedReceipt[]
}
