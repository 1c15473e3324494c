// An event: one element of a trigger request, its recipients, and what the caller gets back.
import type { ChannelCredentials } from '../people/channel-settings.ts'
import type { SubscriberFields } from '../people/subscriber.ts'

export const triggerStatuses = [
  'error',
  'trigger_not_active',
  'no_workflow_active_steps_defined',
  'no_workflow_steps_defined',
  'processed',
  'no_tenant_found',
  'invalid_recipients',
] as const
export type TriggerStatus = (typeof triggerStatuses)[number]

/** The first of what an event of an unknown workflow is answered with. */
export const workflowNotFound = 'workflow_not_found'

export interface TriggerResult {
  /** Always true: we heard it, whatever became of it. */
  readonly acknowledged: true
  readonly status: TriggerStatus
  readonly error?: readonly string[]
  readonly transactionId?: string
}

/** A subscriber as given in a trigger: given fields are written, omitted ones are unchanged. */
export interface Recipient {
  readonly subscriberId: string
  readonly fields: SubscriberFields
  readonly channels: readonly RecipientChannel[]
}

export interface RecipientChannel {
  readonly providerId: string
  readonly integrationIdentifier?: string
  readonly credentials: ChannelCredentials
}

/** A file that came with an event. */
export interface EventAttachment {
  readonly name: string
  readonly mime: string
  readonly content: Buffer
  readonly cid: string | null
  readonly disposition: 'attachment' | 'inline' | null
  /** The channels it is for; null for all. */
  readonly channels: readonly string[] | null
}

export interface TopicRecipient {
  readonly topicKey: string
  readonly exclude: readonly string[]
}

/** An event whose form is good. Whether it can run is decided when it is accepted. */
export interface EventRequest {
  readonly name: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly overrides: Readonly<Record<string, unknown>>
  /** Each once, the last definition of each. */
  readonly recipients: readonly Recipient[]
  readonly topics: readonly TopicRecipient[]
  /** For all subscribers of the environment, instead of recipients. */
  readonly isBroadcast: boolean
  readonly attachments: readonly EventAttachment[]
  readonly transactionId?: string
  readonly actor?: Recipient
  readonly tenant?: TenantMention
  readonly context: readonly ContextMention[]
  /** Set where a workflow is tested. */
  readonly test?: EventTest
  /** Its size as JSON, without attachments; known if it came in a large body. */
  readonly bytes?: number
  /** The worker finds its recipients although they are few: the call that it came in has too many together. */
  readonly isExpandedLater?: boolean
}

/** How a test of a workflow differs from a real event. */
export interface EventTest {
  /** The ids of the only steps that run; absent for all of them. */
  readonly steps?: readonly string[]
  /** Delays, digests and what the subscriber wants later are not waited for. */
  readonly skipDelays: boolean
}

/** What those who run an event need to know of it. It never changes, but for the cancel. */
export interface TriggeredEvent {
  readonly id: string
  readonly transactionId: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly overrides: Readonly<Record<string, unknown>>
  readonly actorId: string | null
  readonly tenantId: string | null
  readonly contextKeys: readonly string[] | null
  /** Null for `none`. */
  readonly severity: string | null
  /** How many files came with it. */
  readonly attachments: number
  /** Null for real events. */
  readonly test?: EventTest | null
  /** Null if it is not traced. */
  readonly traceparent?: string | null
  /** As it was when the event was read. */
  readonly canceledAt?: Date | null
}

export interface TenantMention {
  readonly identifier: string
  readonly name?: string
  readonly data?: Readonly<Record<string, unknown>>
}

export interface ContextMention {
  readonly type: string
  readonly id: string
  readonly data?: Readonly<Record<string, unknown>>
}

/** More recipients than this, or a topic, are expanded in pages by the worker. */
export const recipientsAtOnceMax = 100
/** Of all events of one call: writing more takes more than a turn of the event loop should. */
export const recipientsPerCallMax = 1_000
/** Of one event of a call that has more: a call of as many events stays within the limit. */
export const recipientsInLargeCallMax = 10
/** One transaction's worth of notifications when an event is expanded. */
export const recipientsPerPageMax = 500
export const eventsPerCallMax = 100
/** One event without its attachments. */
export const eventBytesMax = 512 * 1024
export const contextsPerEventMax = 5
export const contextDataBytesMax = 64 * 1024
export const excludedPerTopicMax = 100
/** All files of an event, decoded. */
export const attachmentsBytesMax = 18 * 1024 * 1024
export const attachmentsPerEventMax = 50

/** Directly named people do not wait behind a fan-out, nor the fan-out forever behind them. */
export const directLane = 0
export const fanOutLane = 1

export const contextKeyOf = (mention: { type: string; id: string }): string => `${mention.type}:${mention.id}`

/**
 * What a notification stores about its recipient: only if more than an id was given; otherwise it follows from the
 * subscriber.
 */
export function recipientAsGiven({ subscriberId, fields }: Recipient): Readonly<Record<string, unknown>> | null {
  return Object.keys(fields).length === 0 ? null : { subscriberId, ...fields }
}
