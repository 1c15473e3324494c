// Everything that is known of one job when it is decided.
import type { TriggeredEvent } from '../../domain/delivery/event.ts'
import type { Integration } from '../../domain/delivery/integration.ts'
import type { Job } from '../../domain/delivery/job.ts'
import type { ChannelSettings } from '../../domain/people/channel-settings.ts'
import type { EmailLayouts, TemplateScope } from '../../domain/workflows/rendering.ts'
import type { NotificationStep, WorkflowVersion } from '../../domain/workflows/workflow.ts'
import type { WorkflowOverride } from '../../domain/workflows/workflow-override.ts'
import type { PreviousStep } from '../../store/jobs/step-runs.ts'
import type { RecipientRow } from '../../store/people/subscribers.ts'
import type { Span } from '../../world/tracer.ts'

export interface JobFacts {
  readonly job: Job
  readonly step: NotificationStep
  readonly version: WorkflowVersion
  readonly event: TriggeredEvent
  readonly subscriber: RecipientRow
  readonly scope: TemplateScope
  /** Those of the environment, where the step is an e-mail. */
  readonly layouts?: EmailLayouts | undefined
  /** How the subscriber can be reached by chat and push. */
  readonly channels: readonly ChannelSettings[]
  readonly integrations: readonly Integration[]
  readonly previous: readonly PreviousStep[]
  /** By URL: the responses to the step's conditions. */
  readonly webhookAnswers?: ReadonlyMap<string, WebhookAnswer>
  /** If nothing is called, as in a simulation: whether comparisons with responses pass. */
  readonly webhooksHold?: boolean
  /** The tenant's override of the workflow, where there is one. */
  readonly tenantOverride: WorkflowOverride | undefined
  /** The step whose events the job sees, if they were collected. */
  readonly digestStepId?: string | null
  /** Whether what becomes of its messages is sent to an endpoint of the customer's. */
  readonly isReported?: boolean
  /** For this turn of the job, if its event is traced. */
  readonly span?: Span | undefined
}

/** The response of one URL, or why there was none. */
export type WebhookAnswer =
  | { readonly kind: 'answered'; readonly body: Readonly<Record<string, unknown>> }
  /** `later`: it may answer another time. */
  | { readonly kind: 'silent'; readonly words: string; readonly later: boolean }
