// What an event would do: the response as callers see it.

import type { TriggerResult } from '../delivery/event.ts'
import type { Channel } from '../delivery/integration.ts'
import type { StepType } from '../workflows/workflow.ts'
import type { WhyReason, WhyStatus } from './why.ts'

/**
 * `run`: the step runs. `wait`: it only waits, then the workflow continues. `merge`: another notification continues for
 * it. `cancel`: an earlier step failed. `inactive`: the workflow has it switched off.
 */
export const simulatedOutcomes = ['run', 'wait', 'skip', 'fail', 'merge', 'cancel', 'inactive'] as const
export type SimulatedOutcome = (typeof simulatedOutcomes)[number]

export interface SimulatedIntegration {
  readonly _id: string
  readonly identifier: string
  readonly providerId: string
  readonly channel: Channel
}

export interface SimulatedMessage {
  readonly channel: Channel
  /** Absent if nothing is sent: it says who could not be reached. */
  readonly integration?: SimulatedIntegration
  readonly errorText?: string
  readonly subject?: string
  readonly title?: string
  readonly content?: unknown
  readonly email?: string
  readonly phone?: string
  readonly cta?: unknown
  readonly actor?: unknown
  readonly data?: unknown
  /** What the provider would receive: addresses, sender, headers, HTML and text. */
  readonly envelope?: Readonly<Record<string, unknown>>
  /** The response reached its limit: the content is omitted. */
  readonly contentOmitted?: true
}

export interface SimulatedStep {
  readonly stepId: string
  readonly name: string
  readonly type: StepType
  readonly outcome: SimulatedOutcome
  /** As the activity would show it. */
  readonly status: WhyStatus
  readonly sentence: string
  readonly reasons: readonly WhyReason[]
  /** When it starts; absent if it never does. */
  readonly beginsAt?: string
  /** When it is over. */
  readonly endsAt?: string
  /** The ends of its waits, in order. */
  readonly waits: readonly string[]
  readonly window?: {
    readonly opened: boolean
    readonly until: string
    readonly events: number
    readonly openedAt?: string
    readonly notificationId?: string
    readonly transactionIds: readonly string[]
  }
  readonly throttle?: { readonly count: number; readonly threshold: number; readonly until: string }
  /** Services of the caller's own that would be asked, without their queries. */
  readonly asks: readonly string[]
  readonly messages: readonly SimulatedMessage[]
}

export interface SimulatedRecipient {
  readonly subscriberId: string
  /** Whether the trigger would create the subscriber. */
  readonly isNew: boolean
  /** The keys of the topics it was found by. */
  readonly topics: readonly string[]
  readonly timezone: string | null
  readonly endsAt: string
  readonly steps: readonly SimulatedStep[]
}

export interface Simulation extends Omit<TriggerResult, 'acknowledged'> {
  /** The time at which the event is assumed to be triggered. */
  readonly at: string
  readonly warnings: readonly string[]
  readonly workflow?: { readonly identifier: string; readonly name: string; readonly isSaved: boolean }
  readonly assumptions: readonly string[]
  readonly recipientCount: number
  readonly recipientCountCapped: boolean
  readonly recipients: readonly SimulatedRecipient[]
  readonly dropped: readonly { readonly subscriberId: string; readonly reason: 'excluded' | 'actor' | 'subscription' }[]
}
