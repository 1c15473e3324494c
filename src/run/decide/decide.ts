// Evaluates a job's conditions, preferences and step type to decide what should happen. Pure: everything it needs was
// loaded before.

import type { Decision } from '../../domain/delivery/decision.ts'
import type { Job } from '../../domain/delivery/job.ts'
import type { StoredDetail } from '../../domain/insight/execution-detail.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { Renderer } from '../../domain/workflows/rendering.ts'
import type { NotificationStep, StepVariant } from '../../domain/workflows/workflow.ts'
import { stepOf } from '../../steps/registry.ts'
import { extensionDetails, heldBack, heldOn } from './hold-back.ts'
import type { JobFacts } from './job-facts.ts'
import { preferenceRefusal } from './preference-refusal.ts'
import { skipRefusal } from './skip-logic.ts'
import { brokenCondition, choosableVariants, evaluateConditions } from './step-conditions.ts'
import { goesOnInTest, inTest, leftOutOfTest, notWaited } from './test-run.ts'

export function decide(facts: JobFacts, renderer: Renderer, at: Date): Decision {
  const now = wokenAt(facts.job, at)
  const { job, step } = facts
  const leftOut = leftOutOfTest(facts, now)
  if (leftOut !== undefined) return leftOut
  // A finished wait was decided when it began: conditions are not evaluated twice.
  if (job.status === 'delayed') {
    const held = heldOn(facts, now)
    if (held !== undefined && !goesOnInTest(facts, held)) return held
    const decision = decideStep(facts, step, facts.version.id, renderer, now)
    return { ...decision, details: [...extensionDetails(facts, now), ...decision.details] }
  }
  // Nor are those of a message that was held back: others may have been gathered with it.
  const wasHeld = job.state?.heldBy !== undefined
  const refusal =
    (wasHeld ? undefined : (conditionRefusal(facts, step, renderer, now) ?? skipRefusal(facts, now))) ??
    preferenceRefusal(facts, now)
  if (refusal !== undefined) return refusal
  const held = heldBack(facts, now)
  if (held !== undefined && !goesOnInTest(facts, held)) return inTest(facts, held, now)
  const chosen = withVariant(facts, renderer, now)
  if ('kind' in chosen) return chosen
  const decision = inTest(facts, decideStep(facts, chosen.step, chosen.key, renderer, now), now)
  const before = [...contextDetails(facts, now), ...(held === undefined ? [] : notWaited(held, now)), ...chosen.details]
  return before.length === 0 ? decision : { ...decision, details: [...before, ...decision.details] }
}

/** The queue's clock, which woke the job, may be ahead of ours: a wait that has ended for it has ended. */
function wokenAt({ status, state }: Job, now: Date): Date {
  const isWoken = state?.until !== undefined && (status === 'delayed' || state.heldBy !== undefined)
  return isWoken ? new Date(Math.max(now.getTime(), Date.parse(state.until))) : now
}

/** What the step itself wants, regardless of conditions and preferences. */
export function decideStep(
  facts: JobFacts,
  step: NotificationStep,
  key: string,
  renderer: Renderer,
  now: Date,
): Decision {
  const { job, version, event, subscriber, channels, integrations, scope } = facts
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
    channels,
    integrations,
    scope,
    layouts: facts.layouts,
    renderer,
    templateKey: `${key}/${job.step}`,
  })
}

function conditionRefusal(
  facts: JobFacts,
  step: NotificationStep,
  renderer: Renderer,
  now: Date,
): Decision | undefined {
  if (step.filters.length === 0) return undefined
  try {
    const { passed, conditions, asks } = evaluateConditions(step.filters, facts, renderer, now)
    if (passed) return undefined
    if (asks.length > 0) return unanswered(facts, asks, now)
    return { kind: 'skip', details: [detail(now, 'conditionsFailed', { raw: { filter: { passed, conditions } } })] }
  } catch (error) {
    return brokenConditions(error, now)
  }
}

/** It is unknown whether the step should run: all attempts to reach the customer's service failed. */
function unanswered({ webhookAnswers }: JobFacts, asks: readonly string[], now: Date): Decision {
  const answers = asks.map((address) => webhookAnswers?.get(address))
  const messages = answers.flatMap((answer) => (answer?.kind === 'silent' ? [answer.words] : []))
  const raw = { message: messages.join('; ') }
  return { kind: 'fail', stops: false, details: [detail(now, 'webhookFailed', { raw, isRetry: true })] }
}

/** A condition's value is a template: one that cannot be rendered fails its step and no other. */
function brokenConditions(error: unknown, now: Date): Decision {
  const raw = brokenCondition(error)
  if (raw === undefined) throw error
  return { kind: 'fail', stops: false, details: [detail(now, 'conditionsBroken', { raw })] }
}

/** The first active variant whose conditions pass lends the step its template. */
function withVariant(
  facts: JobFacts,
  renderer: Renderer,
  now: Date,
): { step: NotificationStep; key: string; details: StoredDetail[] } | Decision {
  const { step, version } = facts
  let variant: StepVariant | undefined
  try {
    for (const one of choosableVariants(facts, now)) {
      const { passed, asks } = evaluateConditions(one.filters, facts, renderer, now)
      if (asks.length > 0) return unanswered(facts, asks, now)
      if (passed) {
        variant = one
        break
      }
    }
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

/** Overrides of the event, in addition to the workflow. */
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
