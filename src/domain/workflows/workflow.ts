// A workflow: what happens when its identifier is triggered, as steps; and the version that a run is pinned to.
import type { StepFilter } from '../conditions/condition.ts'
import type { Channel } from '../delivery/integration.ts'

/** Every step type of the interface; `trigger` is accepted in filters only. */
export const stepTypes = [
  'in_app',
  'email',
  'sms',
  'chat',
  'push',
  'digest',
  'trigger',
  'delay',
  'throttle',
  'custom',
] as const
export type StepType = (typeof stepTypes)[number]

/** The step types that can run: all but `trigger`, which stands for the event itself. */
export const runnableStepTypes = [
  'in_app',
  'email',
  'sms',
  'chat',
  'push',
  'digest',
  'delay',
  'throttle',
  'custom',
] as const
export type RunnableStepType = (typeof runnableStepTypes)[number]

/** Steps of one workflow. */
export const stepsPerWorkflowMax = 50

export const severities = ['high', 'medium', 'low', 'none'] as const
export type Severity = (typeof severities)[number]

export const timeUnits = ['seconds', 'minutes', 'hours', 'days', 'weeks', 'months'] as const
export type TimeUnit = (typeof timeUnits)[number]

export const weekDays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
export type WeekDay = (typeof weekDays)[number]
export const ordinals = ['1', '2', '3', '4', '5', 'last'] as const
export const ordinalValues = ['day', 'weekday', 'weekend', ...weekDays] as const

export interface TimedConfig {
  /** `HH:mm` or `HH:mm:ss`, 24 hours. */
  readonly atTime?: string
  readonly weekDays?: readonly WeekDay[]
  /** As strings, as the interface has them in workflows. */
  readonly monthDays?: readonly string[]
  readonly ordinal?: (typeof ordinals)[number]
  readonly ordinalValue?: (typeof ordinalValues)[number]
  readonly monthlyType?: 'each' | 'on'
}

export interface RegularDigest {
  readonly type: 'regular' | 'backoff'
  readonly amount?: number
  readonly unit?: TimeUnit
  readonly digestKey?: string
  readonly backoff?: boolean
  readonly backoffAmount?: number
  readonly backoffUnit?: TimeUnit
  readonly updateMode?: boolean
  readonly extendToSchedule?: boolean
}

export interface TimedDigest {
  readonly type: 'timed'
  readonly amount?: number
  readonly unit?: TimeUnit
  readonly digestKey?: string
  readonly timed?: TimedConfig
  /** Five fields, in the subscriber's zone; instead of amount, unit and `timed`. */
  readonly cron?: string
  readonly extendToSchedule?: boolean
}

export type DigestMetadata = RegularDigest | TimedDigest

export type DelayMetadata = { readonly extendToSchedule?: boolean } & (
  | { readonly type: 'regular'; readonly amount?: number; readonly unit?: TimeUnit }
  | { readonly type: 'scheduled'; readonly delayPath: string }
  /** Until the next occurrence: by cron, or as a timed digest. */
  | {
      readonly type: 'timed'
      readonly cron?: string
      readonly amount?: number
      readonly unit?: TimeUnit
      readonly timed?: TimedConfig
    }
  /** The payload has a timestamp, or a duration `{amount, unit}`, at this path. */
  | { readonly type: 'dynamic'; readonly dynamicKey: string }
)

export interface ThrottleMetadata {
  /** `dynamic`: the payload holds the window's end, or its length, at `dynamicKey`. */
  readonly type: 'fixed' | 'dynamic'
  readonly amount?: number
  readonly unit?: TimeUnit
  readonly dynamicKey?: string
  /** How many are let through a window; one unless said otherwise. */
  readonly threshold?: number
  /** Windows are counted apart by the value at this path of the payload. */
  readonly throttleKey?: string
}

/** A custom step is a signed request to the customer's own service, whose JSON response later steps can use. */
export interface CustomMetadata {
  readonly type: 'http'
  readonly url: string
  readonly method?: 'POST' | 'PUT' | 'PATCH'
  readonly headers?: Readonly<Record<string, string>>
  /** Fields of the body in addition to those of every request; texts are templates. */
  readonly body?: Readonly<Record<string, unknown>>
  readonly timeoutMs?: number
  /** A call that failed for good lets the next steps run. */
  readonly continueOnFailure?: boolean
}

export type StepMetadata = DigestMetadata | DelayMetadata | ThrottleMetadata | CustomMetadata

export interface EmailBlock {
  readonly type: 'button' | 'text'
  readonly content: string
  readonly url?: string
  readonly styles?: { readonly textAlign?: 'center' | 'left' | 'right' }
}

/** Where a link opens. */
export const linkTargets = ['_self', '_blank', '_parent', '_top', '_unfencedTop'] as const
export type LinkTarget = (typeof linkTargets)[number]

export interface MessageButton {
  readonly type: 'primary' | 'secondary'
  readonly content: string
  readonly resultContent?: string
  /** Where pressing it leads. */
  readonly redirect?: { readonly url: string; readonly target?: LinkTarget }
}

export interface MessageAction {
  readonly status?: 'pending' | 'done'
  readonly buttons?: readonly MessageButton[]
  readonly result?: { readonly payload?: Readonly<Record<string, unknown>>; readonly type?: 'primary' | 'secondary' }
}

export interface MessageCta {
  readonly type?: 'redirect'
  readonly data?: { readonly url?: string; readonly target?: LinkTarget }
  readonly action?: MessageAction
}

export interface TemplateActor {
  readonly type: 'none' | 'user' | 'system_icon' | 'system_custom'
  readonly data: string | null
}

export interface TemplateVariable {
  readonly name: string
  readonly type?: 'String' | 'Array' | 'Boolean'
  readonly required?: boolean
  readonly defaultValue?: unknown
}

/** The content of a step. Which fields apply depends on its type. */
export interface StepTemplate {
  readonly type: StepType
  readonly content?: string | readonly EmailBlock[]
  /** E-mail: `editor` has blocks, `customHtml` a string. */
  readonly contentType?: 'editor' | 'customHtml'
  readonly subject?: string
  readonly preheader?: string
  readonly senderName?: string
  /** Null or `none`: no layout. */
  readonly layoutId?: string | null
  readonly title?: string
  readonly cta?: MessageCta
  readonly actor?: TemplateActor
  readonly feedId?: string | null
  readonly variables?: readonly TemplateVariable[]
  /** In-app: custom data of the message. */
  readonly data?: Readonly<Record<string, unknown>>
  readonly name?: string
  /** E-mail: instead of the integration's own sender. */
  readonly from?: { readonly email: string; readonly name?: string }
  readonly replyTo?: string
  /** E-mail and in-app: switches off the sanitizing of values from the payload. */
  readonly disableOutputSanitization?: boolean
}

export interface StepVariant {
  readonly _id: string
  readonly uuid: string
  readonly _templateId: string
  readonly _parentId?: string | null
  readonly name?: string
  readonly active: boolean
  readonly shouldStopOnFail: boolean
  readonly template: StepTemplate
  readonly filters: readonly StepFilter[]
  readonly metadata?: StepMetadata
  /** JsonLogic: if it is true, the step is skipped. The conditions of API v2. */
  readonly skip?: Readonly<Record<string, unknown>>
  readonly replyCallback?: { readonly active?: boolean; readonly url?: string }
}

export interface NotificationStep extends StepVariant {
  readonly variants: readonly StepVariant[]
}

export type PreferenceSettings = { readonly [Name in Channel]: boolean }

/** What a version holds: everything a run needs to know of its workflow. */
export interface WorkflowDefinition {
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly critical: boolean
  readonly preferenceSettings: PreferenceSettings
  readonly severity: Severity
  /** Given: a payload that does not fit it is refused. */
  readonly payloadSchema?: Readonly<Record<string, unknown>>
  /** Absent or true if there is a schema: false keeps it for editors only. */
  readonly validatePayload?: boolean
  readonly isTranslationEnabled?: boolean
  readonly data?: Readonly<Record<string, unknown>>
  readonly steps: readonly NotificationStep[]
}

export interface WorkflowVersion {
  readonly id: string
  readonly workflowId: string
  readonly identifier: string
  readonly definition: WorkflowDefinition
}

export interface NotificationTrigger {
  readonly type: 'event'
  readonly identifier: string
  readonly variables: readonly { readonly name: string }[]
  readonly subscriberVariables?: readonly { readonly name: string }[]
}

export interface NotificationGroup {
  readonly _id: string
  readonly name: string
  readonly _environmentId: string
  readonly _organizationId: string
}

/** Who made a workflow last: API v1, API v2, or files. */
const workflowOrigins = ['v1', 'v2', 'external'] as const
export type WorkflowOrigin = (typeof workflowOrigins)[number]

/** The Workflow of the interface. */
export interface Workflow extends WorkflowDefinition {
  readonly _id: string
  readonly _organizationId: string
  readonly _environmentId: string
  readonly _creatorId: string
  readonly _notificationGroupId: string
  readonly notificationGroup?: NotificationGroup
  readonly active: boolean
  /** Not active. */
  readonly draft: boolean
  readonly triggers: readonly NotificationTrigger[]
  readonly deleted: boolean
  /** Empty while it is not deleted, as clients want them. */
  readonly deletedAt: string
  readonly deletedBy: string
  readonly workflowIntegrationStatus?: Readonly<Record<string, unknown>>
  readonly createdAt: string
  readonly updatedAt: string
}

/** The place of the first active step at or after `from`; undefined when there is none. */
export function activeStepFrom(steps: readonly NotificationStep[], from: number): number | undefined {
  const found = steps.findIndex((step, index) => index >= from && step.active)
  return found === -1 ? undefined : found
}

/** The distinct types of the active steps, in their order. */
export function channelsOf(steps: readonly NotificationStep[]): StepType[] {
  return [...new Set(steps.filter((step) => step.active).map((step) => step.template.type))]
}
