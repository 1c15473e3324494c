// A Decision: what a step wants to happen. `record` makes it so.
import type { StoredDetail } from '../insight/execution-detail.ts'
import type { MessageDraft, MessageError } from '../messages/message.ts'
import type { HeldBy, JobState } from './job.ts'

/** The messages go to a provider of their channel. */
export interface SendDecision {
  readonly kind: 'send'
  readonly messages: readonly MessageDraft[]
  readonly details: readonly StoredDetail[]
}

export type Decision =
  /** In-app: the message is delivered by being written. */
  | { readonly kind: 'deliver'; readonly message: MessageDraft; readonly details: readonly StoredDetail[] }
  | SendDecision
  /** There is no recipient: a message that says so, and the next step. */
  | {
      readonly kind: 'unreachable'
      readonly message: MessageDraft
      readonly error: MessageError
      readonly details: readonly StoredDetail[]
    }
  | { readonly kind: 'skip'; readonly details: readonly StoredDetail[]; readonly state?: JobState }
  | { readonly kind: 'complete'; readonly details: readonly StoredDetail[]; readonly state?: JobState }
  | {
      readonly kind: 'wait'
      readonly until: Date
      readonly details: readonly StoredDetail[]
      readonly state: JobState
    }
  /** Read, modify and write: resolved in record's transaction. */
  | JoinDigest
  | TakeThrottle
  /** The customer's own service is asked, once this is recorded. */
  | CallOut
  /** What was held back is decided again, with the window's events if they were collected. */
  | { readonly kind: 'release'; readonly windowId?: string; readonly details: readonly StoredDetail[] }
  | { readonly kind: 'closeDigest'; readonly windowId: string; readonly details: readonly StoredDetail[] }
  /** `stops`: the steps after it are canceled regardless of the step's own setting. */
  | { readonly kind: 'fail'; readonly details: readonly StoredDetail[]; readonly stops: boolean }

export interface JoinDigest {
  readonly kind: 'joinDigest'
  readonly stepId: string
  /** The value at the digest key, as text; absent without a key. */
  readonly digestValue?: string
  /** When the window closes if this event opens it. */
  readonly dueAt: Date
  /** Set for back-off: the first event after so long a silence goes on at once. */
  readonly backoffMs?: number
  /** Set if a message is held back: why, and what distinguishes the windows of one step. */
  readonly held?: { readonly by: HeldBy; readonly key: string }
  /** Set in a test: its event's id, so that its window is its own. */
  readonly apart?: string
  readonly details: readonly StoredDetail[]
}

export interface TakeThrottle {
  readonly kind: 'takeThrottle'
  readonly stepId: string
  /** The value at the throttle key, as text; absent without a key. */
  readonly throttleValue?: string
  /** How many are let through a window. */
  readonly threshold: number
  /** When the window ends if this run opens it, by this node's clock. */
  readonly until: Date
  /** How long it is open then; absent where the payload gives the timestamp at which it ends. */
  readonly openMs?: number
  readonly details: readonly StoredDetail[]
}

export interface CallOut {
  readonly kind: 'callOut'
  readonly url: string
  readonly method: 'POST' | 'PUT' | 'PATCH'
  readonly headers: Readonly<Record<string, string>>
  /** JSON, and what is signed. */
  readonly body: string
  readonly timeoutMs: number
  readonly continueOnFailure: boolean
  readonly details: readonly StoredDetail[]
}
