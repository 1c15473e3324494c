// Why a subscriber was notified, or was not: the answer as callers see it.
import type { Channel } from '../delivery/integration.ts'
import { jobStatuses } from '../delivery/job.ts'
import type { MessageStatus } from '../messages/message.ts'
import type { StepType } from '../workflows/workflow.ts'
import type { DetailCode } from './execution-detail.ts'

/** As the activity has them; `inactive` is a step that the workflow had switched off when the event came. */
export const whyStatuses = [...jobStatuses, 'inactive'] as const
export type WhyStatus = (typeof whyStatuses)[number]

/** Why there is no notification; each states what the data shows, as far as it goes. */
export const absenceCodes = [
  'subscriberUnknown',
  'noEvent',
  'subscriberCreatedLater',
  'eventExpanding',
  'eventCanceled',
  'excluded',
  'actor',
  'notNamed',
  'topicUnknown',
  'notInTopic',
  'joinedTopicLater',
  'subscriptionPreference',
  'workflowInactive',
  'unclear',
] as const
export type AbsenceCode = (typeof absenceCodes)[number]

export interface WhyReason<Code extends string = DetailCode> {
  readonly code: Code
  readonly at?: string
  readonly sentence: string
  /** The same as data: values compared, choices made, requests and responses. */
  readonly data: Readonly<Record<string, unknown>>
}

export interface WhyMessage {
  readonly _id: string
  readonly channel: Channel
  /** Absent until a provider has responded. */
  readonly status?: MessageStatus
  readonly providerId?: string
  readonly errorText?: string
  /** When it was taken back. */
  readonly retractedAt?: string
}

/** Why an integration sent a message, or did not. */
export const integrationVerdicts = [
  'chosen',
  'triedBefore',
  'madeLater',
  'anotherWished',
  'changedSince',
  'inactive',
  'conditionsNotMet',
  'conditionsOfAnother',
  'notPrimary',
  'anotherFirst',
  'unclear',
] as const
export type IntegrationVerdict = (typeof integrationVerdicts)[number]

export interface WhyIntegration {
  readonly identifier: string
  readonly providerId: string
  readonly verdict: IntegrationVerdict
  readonly sentence: string
}

export interface WhyStep {
  readonly stepId: string
  readonly name: string
  readonly type: StepType
  readonly status: WhyStatus
  readonly sentence: string
  readonly reasons: readonly WhyReason[]
  readonly messages: readonly WhyMessage[]
  /** E-mail and SMS only: every integration that was considered, oldest first. */
  readonly integrations?: readonly WhyIntegration[]
  /** When it runs next: the end of a wait, or the next attempt. */
  readonly nextAttemptAt?: string
}

export interface WhyWorkflow {
  readonly _id: string
  readonly identifier: string
  readonly name: string
}

export interface Why {
  readonly notificationId: string
  readonly transactionId: string
  readonly workflow: WhyWorkflow
  readonly subscriberId: string
  /** When the event was accepted. */
  readonly at: string
  readonly summary: string
  readonly steps: readonly WhyStep[]
  /** What the trigger contained and was not understood; absent for none. */
  readonly warnings?: readonly string[]
}

/** There is no notification to explain. */
export interface WhyAbsent {
  readonly workflow: WhyWorkflow
  readonly subscriberId: string
  /** The time in question. */
  readonly at?: string
  readonly summary: string
  readonly steps: readonly []
  readonly reasons: readonly WhyReason<AbsenceCode>[]
}
