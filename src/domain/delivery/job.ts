// A job: one step of a notification, and what the queue hands to a worker.
import type { TimeUnit } from '../workflows/workflow.ts'
import type { TriggeredEvent } from './event.ts'

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
 * `queued`: to be decided. `delayed`: decided to wait. `running`: has messages on their way to a provider. `pending` is
 * never stored: a step that has not started has no row, and reads show it so.
 */
export type JobStatus = (typeof jobStatuses)[number]

/** Why a message waits: it is outside the subscriber's hours, they want no disturbance, or they want it gathered. */
export type HeldBy = 'schedule' | 'doNotDisturb' | 'frequency'

/** What a step remembers between two turns, and what the activity shows of it afterwards. */
export interface JobState {
  /** Delay and digest: until when. */
  readonly until?: string
  /** Digest, or held back and gathered: the window it opened or joined. */
  readonly windowId?: string
  /** Digest, merged: the notification that goes on for it. */
  readonly digestedNotificationId?: string
  /** Digest: the value at the digest key. */
  readonly digestValue?: string
  /** The provider that was chosen. */
  readonly providerId?: string
  /** One of several messages was sent: the job does not fail with the others. */
  readonly reached?: true
  /** One of several messages was perhaps sent, and is not sent again. */
  readonly leftUnsure?: true
  /** Held because its provider is down: since when the provider is, and since when the job waits. */
  readonly downSince?: string
  readonly heldSince?: string
  /** Why it ended as it did, for those who ask later. */
  readonly backoffFirst?: true
  readonly amount?: number
  readonly unit?: TimeUnit
  /** The variant whose template was used. */
  readonly variantId?: string
  /** Custom: the response of the customer's service, for later steps. */
  readonly result?: unknown
  /** Custom: calls made so far. */
  readonly calls?: number
  /** Custom: the latest of them is under way, or was when its process ended. */
  readonly calling?: true
  /** Webhook conditions: how often they were asked in vain. */
  readonly conditionTries?: number
  /** Delay and digest: how often the schedule put its end off. */
  readonly scheduleExtensions?: number
  /** Held back, now or before: why. */
  readonly heldBy?: HeldBy
  /** Throttle: the value at its key, and how many its window had let through. */
  readonly throttleValue?: string
  readonly throttleCount?: number
  /** How often it was started again after it had finally failed, and by which redrive. */
  readonly redrives?: number
  readonly redriveId?: string
}

/** A job in flight: claimed, or created already leased by this node. */
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
  /** How often it was in flight when its process ended, since it last made progress. */
  readonly interruptions: number
  /** How often it threw while it ran alone, and since when. */
  readonly faults: number
  readonly faultedSince: Date | null
  readonly digestId: string | null
  readonly state: JobState | null
  /** Known if this node accepted it just before; otherwise it is read. */
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
