// One job of a batch, from its facts to what has to be written, sent or called for it; nothing of that is done here.
import type { Job } from '../../domain/delivery/job.ts'
import type { Environment } from '../../domain/environment.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { Renderer } from '../../domain/workflows/rendering.ts'
import type { DeferredDecision, Settlement } from '../../record/settlement.ts'
import { settles } from '../../record/settlement.ts'
import type { PendingCall } from '../send/custom-calls.ts'
import { decide } from './decide.ts'
import type { JobFacts } from './job-facts.ts'
import type { Facts } from './load-facts.ts'
import { scopeOf } from './scope.ts'
import type { SettledDecision } from './settle-decision.ts'
import { laterSteps, settleDecision } from './settle-decision.ts'
import type { Send } from './suppressed.ts'
import type { UnsubscribeLinks } from './unsubscribe-headers.ts'
import { withStoredLinks } from './unsubscribe-headers.ts'

export interface DecidingParts {
  readonly environment: Environment
  readonly facts: Facts
  readonly links: UnsubscribeLinks | undefined
  readonly renderer: Renderer
  readonly now: Date
}

export type DecidedJob =
  | { readonly settled: Settlement | DeferredDecision }
  | { readonly send: Send }
  | { readonly call: PendingCall }

/** For a step whose conditions call no webhook. */
export function decideJob({ environment, facts, links, renderer, now }: DecidingParts, job: JobFacts): DecidedJob {
  const decision = withStoredLinks(links, job, decide(job, renderer, now))
  if (decision.kind === 'send') return { send: { facts: job, decision } }
  if (decision.kind === 'callOut') return { call: { environment, facts: job, decision } }
  return { settled: settleDecision(job, inAppAllowed(facts, decision, now), now) }
}

/** Undefined when the subscriber was deleted. Anything else that is missing is a fault of ours. */
export function jobFactsFrom(facts: Facts, job: Job, links?: UnsubscribeLinks): JobFacts | undefined {
  const version = facts.versions.get(job.versionId)
  const event = facts.events.get(job.eventId)
  const subscriber = facts.subscribers.get(job.subscriberId)
  const step = version?.definition.steps[job.step]
  if (version === undefined || step === undefined) throw new Error(`Version ${job.versionId} of a job is missing`)
  if (event === undefined) throw new Error(`Event ${job.eventId} of a job is missing`)
  if (subscriber === undefined) return undefined
  const linked = step.template.type === 'email' ? links : undefined
  const scope = scopeOf({
    facts,
    event,
    subscriber,
    version,
    digestId: job.digestId,
    notificationId: job.notificationId,
    links: linked,
  })
  return {
    job,
    step,
    version,
    event,
    subscriber,
    scope,
    layouts: facts.wording.layouts,
    channels: facts.channels.get(job.subscriberId) ?? [],
    integrations: facts.integrations,
    previous: facts.previous.get(job.notificationId) ?? [],
    tenantOverride: facts.tenantOverrides.get(`${version.workflowId}/${event.tenantId}`),
    digestStepId: facts.digests.get(job.digestId ?? '')?.step_id ?? null,
    isReported: facts.areReported,
  }
}

/** A deleted subscriber gets nothing more. */
export function abandoned(facts: Facts, job: Job, now: Date): Settlement {
  const version = facts.versions.get(job.versionId)
  const steps = version === undefined ? [] : laterSteps({ job, version })
  const details = [detail(now, 'subscriberGone')]
  return settles(job, 'canceled', {
    details,
    rest: steps.length === 0 ? null : { steps, status: 'canceled', details },
  })
}

/** Without an active in-app integration there is no feed to write to. */
function inAppAllowed(facts: Facts, decision: SettledDecision, now: Date): SettledDecision {
  if (decision.kind !== 'deliver' || facts.integrations.some((one) => one.channel === 'in_app')) return decision
  return { kind: 'fail', details: [detail(now, 'noIntegration')], stops: false } as const
}
