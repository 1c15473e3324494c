// A Decision: what a step wants to happen. The one room that writes makes it so.
import type { StoredDetail } from './execution-detail.ts'
import type { JobState } from './job.ts'
import type { MessageDraft, MessageError } from './message.ts'

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
  /** There is nobody to send to: a message that says so, and the next step. */
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
  | { readonly kind: 'closeDigest'; readonly windowId: string; readonly details: readonly StoredDetail[] }
  /** `stops`: the steps after it are canceled whatever the step's own setting says. */
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
  readonly details: readonly StoredDetail[]
}
