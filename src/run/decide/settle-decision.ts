// From what a step wants to what is written: statuses, messages, the next step, and the calls to make.

import type { Decision } from '../../domain/delivery/decision.ts'
import { until } from '../../domain/delivery/due.ts'
import type { TriggeredEvent } from '../../domain/delivery/event.ts'
import type { Job } from '../../domain/delivery/job.ts'
import { messageIdOf } from '../../domain/derived-id.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { MessageDraft, MessageError, MessageState, MessageStatus, Sending } from '../../domain/messages/message.ts'
import { activeStepFrom } from '../../domain/workflows/workflow.ts'
import type { DeferredDecision, RestOfSteps, Settlement } from '../../record/settlement.ts'
import { settles } from '../../record/settlement.ts'
import type { NewMessage } from '../../store/messages/insert.ts'
import type { JobFacts } from './job-facts.ts'

/** Everything but what calls out: that needs an integration or a slot first. */
export type SettledDecision = Exclude<Decision, { kind: 'send' | 'callOut' }>

export function settleDecision(facts: JobFacts, decision: SettledDecision, now: Date): Settlement | DeferredDecision {
  const { job } = facts
  switch (decision.kind) {
    case 'deliver':
      return settles(job, 'completed', {
        details: decision.details,
        state: { providerId: 'platform' },
        messages: [messageOf(facts, decision.message, now, { state: 'done', status: 'sent', providerId: 'platform' })],
        next: nextOf(facts),
      })
    case 'unreachable': {
      const placed = { state: 'done', status: 'warning', error: decision.error } as const
      const messages = [messageOf(facts, decision.message, now, placed)]
      return settles(job, 'skipped', { details: decision.details, messages, next: nextOf(facts) })
    }
    case 'skip':
      return settles(job, 'skipped', { next: nextOf(facts), ...decisionParts(decision) })
    case 'complete':
      return settles(job, 'completed', { next: nextOf(facts), ...decisionParts(decision) })
    case 'wait':
      return settles(job, 'delayed', { due: until(decision.until), ...decisionParts(decision) })
    case 'release':
      return settles(job, 'queued', { details: decision.details, due: until(now), closes: decision.windowId ?? null })
    case 'closeDigest':
      return settles(job, 'completed', {
        // The number of collected events is recorded when it closes.
        details: decision.details.filter(({ code }) => code !== 'digestTriggered'),
        closes: decision.windowId,
        next: nextOf(facts, decision.windowId),
      })
    case 'fail':
      return failed(facts, decision, now)
    case 'joinDigest':
      return {
        job,
        join: decision,
        workflowId: facts.version.workflowId,
        now,
        nextStep: nextOf(facts)?.step ?? null,
        laterSteps: laterSteps(facts),
      }
    case 'takeThrottle':
      return { job, take: decision, now, nextStep: nextOf(facts)?.step ?? null, laterSteps: laterSteps(facts) }
  }
}

/** A failed step lets the others continue, unless it or its type says otherwise. */
export function failed(
  facts: JobFacts,
  failure: { details: Settlement['details']; stops: boolean },
  now: Date,
): Settlement {
  if (!failure.stops && !facts.step.shouldStopOnFail) {
    return settles(facts.job, 'failed', { details: failure.details, next: nextOf(facts) })
  }
  return settles(facts.job, 'failed', { details: failure.details, rest: canceledRest(facts, now) })
}

function canceledRest(facts: Pick<JobFacts, 'job' | 'version'>, now: Date): RestOfSteps | null {
  const steps = laterSteps(facts)
  return steps.length === 0 ? null : { steps, status: 'canceled', details: [detail(now, 'previousFailed')] }
}

export function laterSteps({ job, version }: Pick<JobFacts, 'job' | 'version'>): number[] {
  return version.definition.steps.flatMap((step, index) => (index > job.step && step.active ? [index] : []))
}

export function nextOf(
  { job, version }: Pick<JobFacts, 'job' | 'version'>,
  digestId = job.digestId,
): Settlement['next'] {
  const step = activeStepFrom(version.definition.steps, job.step + 1)
  return step === undefined ? null : { step, digestId }
}

function decisionParts(decision: { details: Settlement['details']; state?: Settlement['state'] }) {
  return { details: decision.details, state: decision.state ?? null }
}

export interface Placed {
  /** Where it was worked out before. */
  readonly id?: string | undefined
  readonly state: MessageState
  readonly status: MessageStatus | null
  readonly providerId?: string
  readonly integrationId?: string
  readonly sending?: Sending
  readonly error?: MessageError
}

export function messageOf(
  {
    job,
    event,
    isReported,
  }: { job: Job; event: Pick<TriggeredEvent, 'contextKeys' | 'severity' | 'test'>; isReported?: boolean | undefined },
  draft: MessageDraft,
  now: Date,
  placed: Placed,
): NewMessage {
  const isInApp = draft.channel === 'in_app'
  return {
    id: placed.id ?? messageIdOf(job.eventId, job.id, draft.target),
    eventId: job.eventId,
    notificationId: job.notificationId,
    jobId: job.id,
    subscriberId: job.subscriberId,
    versionId: job.versionId,
    step: job.step,
    draft,
    state: placed.state,
    status: placed.status,
    providerId: placed.providerId ?? null,
    integrationId: placed.integrationId ?? null,
    sending: placed.sending ?? null,
    error: placed.error ?? null,
    contextKeys: event.contextKeys,
    severity: event.severity,
    isTest: event.test != null,
    deliveredAt: isInApp && placed.status === 'sent' ? now : null,
    createdAt: now,
    isReported: isReported === true,
  }
}
