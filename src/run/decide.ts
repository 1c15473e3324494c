// Asks a job's conditions, preferences and step type what should happen. Pure: everything it looks at was loaded before.
import { evaluateFilters } from '../domain/condition-evaluation.ts'
import type { Decision } from '../domain/decision.ts'
import type { TriggeredEvent } from '../domain/event.ts'
import type { StoredDetail } from '../domain/execution-detail.ts'
import { detail } from '../domain/execution-detail.ts'
import type { Job } from '../domain/job.ts'
import type { Renderer, TemplateScope } from '../domain/rendering.ts'
import { RenderError } from '../domain/rendering.ts'
import type { NotificationStep, StepVariant, WorkflowVersion } from '../domain/workflow.ts'
import { stepOf } from '../steps/registry.ts'
import type { SubscriberRow } from '../store/subscribers.ts'

export interface JobFacts {
  readonly job: Job
  readonly step: NotificationStep
  readonly version: WorkflowVersion
  readonly event: TriggeredEvent
  readonly subscriber: SubscriberRow
  readonly scope: TemplateScope
}

export function decide(facts: JobFacts, renderer: Renderer, now: Date): Decision {
  const { job, step } = facts
  // A wait that is over was decided when it began: conditions are not asked twice.
  if (job.status === 'delayed') return decideStep(facts, step, facts.version.id, renderer, now)
  const refusal = conditionRefusal(facts, step, renderer, now) ?? preferenceRefusal(facts, now)
  if (refusal !== undefined) return refusal
  const chosen = withVariant(facts, renderer, now)
  if ('kind' in chosen) return chosen
  const decision = decideStep(facts, chosen.step, chosen.key, renderer, now)
  const before = [...contextDetails(facts, now), ...chosen.details]
  return before.length === 0 ? decision : { ...decision, details: [...before, ...decision.details] }
}

function decideStep(facts: JobFacts, step: NotificationStep, key: string, renderer: Renderer, now: Date): Decision {
  const { job, version, event, subscriber, scope } = facts
  const { type } = step.template
  return stepOf(type).decide({
    now,
    job,
    step,
    version,
    event: { payload: event.payload, overrides: event.overrides, transactionId: event.transactionId },
    subscriber: {
      id: subscriber.id,
      subscriberId: subscriber.subscriber_id,
      email: subscriber.email,
      phone: subscriber.phone,
      timezone: subscriber.timezone,
    },
    scope,
    renderer,
    templateKey: `${key}/${job.step}`,
  })
}

function conditionRefusal(
  { scope }: JobFacts,
  step: NotificationStep,
  renderer: Renderer,
  now: Date,
): Decision | undefined {
  if (step.filters.length === 0) return undefined
  try {
    const evaluation = evaluateFilters(step.filters, scope, (text) => renderer.value(text, scope))
    if (evaluation.passed) return undefined
    return { kind: 'skip', details: [detail(now, 'conditionsFailed', { raw: { filter: evaluation } })] }
  } catch (error) {
    return brokenConditions(error, now)
  }
}

/** A condition's value is a template: one that cannot be rendered fails its step and no other. */
function brokenConditions(error: unknown, now: Date): Decision {
  if (!(error instanceof RenderError)) throw error
  const raw = { field: error.field, message: error.message }
  return { kind: 'fail', stops: false, details: [detail(now, 'conditionsBroken', { raw })] }
}

function preferenceRefusal({ step, version }: JobFacts, now: Date): Decision | undefined {
  const settings: Readonly<Record<string, boolean | undefined>> = version.definition.preferenceSettings
  if (settings[step.template.type] !== false) return undefined
  return { kind: 'skip', details: [detail(now, 'workflowPreference')] }
}

/** The first active variant whose conditions pass lends the step its template. */
function withVariant(
  { step, scope, version }: JobFacts,
  renderer: Renderer,
  now: Date,
): { step: NotificationStep; key: string; details: StoredDetail[] } | Decision {
  const passes = ({ filters }: StepVariant): boolean =>
    evaluateFilters(filters, scope, (text) => renderer.value(text, scope)).passed
  let variant: StepVariant | undefined
  try {
    variant = step.variants.find((one) => one.active && one.filters.length > 0 && passes(one))
  } catch (error) {
    return brokenConditions(error, now)
  }
  if (variant === undefined) return { step, key: version.id, details: [] }
  return {
    step: { ...step, template: variant.template, ...(variant.metadata && { metadata: variant.metadata }) },
    key: `${version.id}/${variant._id}`,
    details: [detail(now, 'variantChosen', { raw: { variantId: variant._id } })],
  }
}

/** What the event itself says otherwise, or beside the workflow. */
function contextDetails({ event, version, scope }: JobFacts, now: Date): StoredDetail[] {
  const severity = event.severity ?? 'none'
  const { tenant } = scope
  return [
    ...(tenant === undefined
      ? []
      : [detail(now, 'tenantSelected', { raw: { identifier: tenant['identifier'], name: tenant['name'] } })]),
    ...(severity === version.definition.severity ? [] : [detail(now, 'severityOverridden', { raw: { severity } })]),
  ]
}
