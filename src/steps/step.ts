// A step type: what is wrong with its settings when they are saved, and what it decides when it runs.
import type { Decision } from '../domain/delivery/decision.ts'
import type { Configurations, Integration } from '../domain/delivery/integration.ts'
import type { Job } from '../domain/delivery/job.ts'
import type { ChannelSettings } from '../domain/people/channel-settings.ts'
import type { EmailLayouts, Renderer, TemplateScope } from '../domain/workflows/rendering.ts'
import type { NotificationStep, RunnableStepType, WorkflowVersion } from '../domain/workflows/workflow.ts'

/** What a step may know about an account: never its secrets. */
export type ActiveIntegration = Pick<Integration, '_id' | 'identifier' | 'providerId' | 'channel'> & {
  /** Chat: the default destination for entries without one. */
  readonly credentials: { readonly webhookUrl?: string; readonly channelId?: string }
  /** Chat: whether a payload may choose another place. */
  readonly configurations?: Pick<Configurations, 'payloadWebhookHosts'>
}

/** Everything a step may look at. */
export interface StepInput {
  readonly now: Date
  readonly job: Job
  /** With the chosen variant's template in place of its own. */
  readonly step: NotificationStep
  readonly version: WorkflowVersion
  readonly event: {
    readonly payload: Readonly<Record<string, unknown>>
    readonly overrides: Readonly<Record<string, unknown>>
    readonly transactionId: string
  }
  readonly subscriber: {
    readonly id: string
    readonly subscriberId: string
    readonly email: string | null
    readonly phone: string | null
    readonly timezone: string | null
  }
  /** Their chat and push entries, where the step's type needs them. */
  readonly channels: readonly ChannelSettings[]
  /** The active ones, oldest first. */
  readonly integrations: readonly ActiveIntegration[]
  readonly scope: TemplateScope
  /** For e-mail; absent if the environment has none of its own. */
  readonly layouts?: EmailLayouts | undefined
  readonly renderer: Renderer
  /** The name under which the renderer keeps this step's templates. */
  readonly templateKey: string
}

/** An error in a step's settings: the path below the step, and a message that says what to fix. */
export interface StepMistake {
  readonly path: string
  readonly message: string
}

export interface Step {
  readonly type: RunnableStepType
  /** What can never run, reported when the workflow is saved. */
  mistakes(step: NotificationStep): StepMistake[]
  decide(input: StepInput): Decision
}
