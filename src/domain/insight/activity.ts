// The activity: what happened to an event for one subscriber, step by step, and to an event as a whole.
import type { JobStatus } from '../delivery/job.ts'
import type {
  DigestMetadata,
  NotificationTrigger,
  Severity,
  StepMetadata,
  StepType,
  TimedConfig,
} from '../workflows/workflow.ts'
import type { DetailSource, DetailStatus } from './execution-detail.ts'

type FreeObject = Readonly<Record<string, unknown>>

export interface ExecutionDetail {
  readonly _id: string
  readonly createdAt: string
  readonly status: DetailStatus
  readonly detail: string
  readonly isRetry: boolean
  readonly isTest: boolean
  readonly providerId: string | undefined
  readonly raw: string | undefined
  readonly source: DetailSource
}

/** As in workflows, but for the days of the month, which the interface has as numbers here. */
export interface ActivityTimedConfig extends Omit<TimedConfig, 'monthDays'> {
  readonly monthDays?: readonly number[]
  readonly cronExpression?: string
  /** When the window closes. */
  readonly untilDate?: string
}

type WithoutTimed<Metadata> = Metadata extends unknown ? Omit<Metadata, 'timed'> : never

export type ActivityDigest = WithoutTimed<DigestMetadata> & {
  /** The payloads of the first events of its window. */
  readonly events: readonly FreeObject[]
  readonly timed?: ActivityTimedConfig
}

/** The template of a step, with the names that activities have always had for its layout and its feed. */
export interface ActivityTemplate extends FreeObject {
  readonly type: StepType
  readonly _layoutId?: string | null
  readonly _feedId?: string | null
}

export interface ActivityVariant {
  readonly _id: string
  readonly _templateId: string
  readonly _parentId: string | null
  readonly name?: string
  readonly active: boolean
  readonly filters: readonly object[]
  readonly template: ActivityTemplate
  readonly metadata?: StepMetadata
  readonly replyCallback?: { readonly active?: boolean; readonly url?: string }
}

export interface ActivityStep extends ActivityVariant {
  readonly variants: readonly ActivityVariant[]
}

export interface ActivityJob {
  readonly _id: string
  readonly type: StepType
  /** Of digest steps only. */
  readonly digest: ActivityDigest | undefined
  readonly executionDetails: readonly ExecutionDetail[]
  readonly step: ActivityStep
  readonly payload: FreeObject
  readonly overrides: FreeObject
  readonly providerId: string
  readonly status: JobStatus
  /** What it sent was captured. */
  readonly captured: true | undefined
  readonly updatedAt: string
  /** Of digest and delay steps only. */
  readonly scheduleExtensionsCount: number | undefined
}

export interface ActivitySubscriber {
  readonly _id: string
  readonly subscriberId: string
  readonly firstName: string | undefined
  readonly lastName: string | undefined
  readonly email: string | undefined
  readonly phone: string | undefined
}

export interface Activity<Job = ActivityJob> {
  readonly _id: string
  readonly _environmentId: string
  readonly _organizationId: string
  readonly _subscriberId: string
  readonly _templateId: string
  /** The notification that continues for this one, if a digest merged them. */
  readonly _digestedNotificationId: string | undefined
  readonly transactionId: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly channels: readonly StepType[]
  /** Absent once deleted. */
  readonly subscriber: ActivitySubscriber | undefined
  readonly template: {
    readonly _id: string
    readonly name: string
    readonly origin: 'platform-cloud' | 'platform-cloud-v1' | 'external'
    readonly triggers: readonly NotificationTrigger[]
  }
  readonly jobs: readonly Job[]
  readonly payload: FreeObject
  readonly controls: FreeObject
  /** The recipient as given. */
  readonly to: FreeObject
  readonly tags: readonly string[]
  readonly topics: readonly { readonly _topicId: string; readonly topicKey: string }[]
  readonly severity: Severity
  readonly critical: boolean
  readonly contextKeys: readonly string[]
  /** Whether it was created by a workflow test. */
  readonly isTest: boolean
  /** What the trigger contained and was not understood; absent for none. */
  readonly warnings: readonly string[] | undefined
}

/** The progress of an event: still resolving its recipients, still running for some of them, or finished for all. */
export const progressStates = ['expanding', 'running', 'completed'] as const
export type ProgressState = (typeof progressStates)[number]

/**
 * The results of notifications: how the last step of each ended, but `failed` if a failure kept the last steps from
 * running; `delayed` for those that wait in a delay or a digest, `open` for those that are due.
 */
export const notificationOutcomes = ['completed', 'failed', 'skipped', 'canceled', 'merged', 'delayed', 'open'] as const
export type NotificationOutcome = (typeof notificationOutcomes)[number]

export interface EventProgress {
  readonly transactionId: string
  /** The workflow's identifier, as the trigger named it. */
  readonly name: string
  readonly state: ProgressState
  readonly createdAt: string
  readonly counts: {
    /** Known once all recipients have been found. */
    readonly recipients?: number
    readonly notifications: number
    readonly byOutcome: Readonly<Record<NotificationOutcome, number>>
  }
  /** Whether there are more notifications than were looked at for `byOutcome`. */
  readonly countsCapped: boolean
  readonly warnings: readonly string[]
}
