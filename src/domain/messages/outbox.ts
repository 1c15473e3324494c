// The outbox: what was captured instead of sent, how it is found, and how long it is kept.
import { dayMs } from '../time/duration.ts'
import type { SendingChannel } from './outbound-message.ts'

/** In-app messages are delivered by being written: there is nothing of them to capture. */
export const outboxChannels = ['email', 'sms', 'chat', 'push'] as const satisfies readonly SendingChannel[]

/** Long enough to look at Friday's messages on Monday, short enough not to be an archive. */
export const outboxKeptMs = 7 * dayMs
/** Of each environment the newest stay. A search without an index looks at all of them, and takes some tens of milliseconds. */
export const outboxMessagesMax = 10_000

/** Joined by “and”. */
export interface OutboxFilter {
  readonly channel?: SendingChannel
  /** A subscriberId, or the address that the message was for. */
  readonly recipient?: string
  /** The recipient as a sealed address is found by. */
  readonly recipientDigest?: Buffer
  /** The identifier of the workflow. */
  readonly workflow?: string
  /** In subject, title, content, HTML or text, in capitals or not. */
  readonly text?: string
  /** Links that unsubscribe are no part of the text. */
  readonly hidesLinks?: true
  readonly transactionId?: string
  /** At this time or after it. */
  readonly capturedAfter?: Date
  /** Before this time. */
  readonly capturedBefore?: Date
}
