// A job: one step of a notification, and what the queue hands to whoever runs it.
import type { TriggeredEvent } from './event.ts'
import type { TimeUnit } from './workflow.ts'

export const jobStatuses = [
  'pending',
  'queued',
  'running',
  'completed',
  'failed',
  'delayed',
  'canceled',
  'merged',
  'skipped',
] as const
/**
 * `queued`: to be decided. `delayed`: decided to wait. `running`: has messages on their way to a provider.
 * `pending` is never stored: a step whose turn has not come has no row, and reads show it so.
 */
export type JobStatus = (typeof jobStatuses)[number]

/** What a step remembers between two looks at it, and what the activity shows of it afterwards. */
export interface JobState {
  /** Delay and digest: until when. */
  readonly until?: string
  /** Digest: the window it opened or joined. */
  readonly windowId?: string
  /** Digest, merged: the notification that goes on for it. */
  readonly digestedNotificationId?: string
  /** Digest: the value at the digest key. */
  readonly digestValue?: string
  /** The provider that was chosen. */
  readonly providerId?: string
  /** Why it ended as it did, for those who ask later. */
  readonly backoffFirst?: true
  readonly amount?: number
  readonly unit?: TimeUnit
  /** The variant whose template was used. */
  readonly variantId?: string
}

/** A job in hand: claimed, or made by this node for itself. */
export interface Job {
  readonly environmentId: string
  readonly id: string
  readonly notificationId: string
  readonly eventId: string
  /** The subscriber's internal id. */
  readonly subscriberId: string
  readonly versionId: string
  readonly step: number
  readonly status: JobStatus
  readonly lane: number
  readonly lease: string
  readonly claims: number
  readonly digestId: string | null
  readonly state: JobState | null
  /** Known where this node accepted it a moment ago; else it is read. */
  readonly event?: TriggeredEvent | undefined
}

/** Statuses after which a job is over. */
export const endedStatuses: ReadonlySet<JobStatus> = new Set<JobStatus>([
  'completed',
  'failed',
  'canceled',
  'merged',
  'skipped',
])

/** How many times a job may be claimed without being settled before it is buried: it is likely what ends its workers. */
export const claimsMax = 5
