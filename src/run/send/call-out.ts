// Custom steps: the customer's own service is asked, and what it answers is kept for the steps after it.
import type { CallOutcome } from '../../deliver/call-service.ts'
import { callsMax, nextCallAt } from '../../domain/custom-call.ts'
import type { Environment } from '../../domain/environment.ts'
import { detail } from '../../domain/execution-detail.ts'
import { recordDecisions } from '../../record/record-decisions.ts'
import type { Settlement } from '../../record/settlement.ts'
import { settles } from '../../record/settlement.ts'
import { decideStep } from '../decide/decide.ts'
import type { JobFacts } from '../decide/job-facts.ts'
import { failed, nextOf } from '../decide/settle-decision.ts'
import type { Pipeline } from '../pipeline.ts'
import type { PendingCall } from './pending-call.ts'

/** Makes the calls, each once it has a slot and its beginning is recorded. Resolves when all is recorded. */
export async function callOut(
  { caller }: Pipeline,
  environment: Environment,
  calls: readonly PendingCall[],
): Promise<void> {
  if (calls.length > 0) await caller.queue(environment, calls)
}

/** With this one. Those that were made before the step's turn came, for its conditions, are not counted. */
const callsOf = ({ job }: JobFacts): number => (job.status === 'running' ? (job.state?.calls ?? 0) : 0) + 1

/** Recorded before the call is made. */
export function callBegun({ facts, decision }: PendingCall): Settlement {
  const state = { ...facts.job.state, calls: callsOf(facts) }
  return settles(facts.job, 'running', { due: 'kept', state, details: decision.details })
}

/** What follows from what the service answered. */
export function callSettled(
  { facts, decision }: PendingCall,
  outcome: CallOutcome,
  { now, random }: { now: Date; random: number },
): Settlement {
  const { job } = facts
  const calls = callsOf(facts)
  const state = { ...job.state, calls }
  const isRetry = calls > 1
  if (outcome.kind === 'answered') {
    const details = [detail(now, 'callFinished', { raw: outcome.told, isRetry })]
    return settles(job, 'completed', { state: { ...state, result: outcome.result }, details, next: nextOf(facts) })
  }
  const again =
    outcome.kind === 'busy' ? nextCallAt(calls, { now, random, retryAfterMs: outcome.retryAfterMs }) : undefined
  if (again !== undefined) {
    const raw = { ...outcome.told, attempt: calls, nextAttemptAt: again.toISOString() }
    return settles(job, 'running', { due: again, state, details: [detail(now, 'callBusy', { raw, isRetry: true })] })
  }
  const details = [detail(now, 'callFailed', { raw: { ...outcome.told, attempt: calls }, isRetry })]
  return { ...failed(facts, { details, stops: !decision.continueOnFailure }, now), state }
}

const interrupted = 'The service ended while its call was under way, as often as it may be made'

/**
 * Custom steps that were being called, or wait to be called again: the call carries a key by which a repeat is known, so it
 * is repeated. Records what is over, and returns what is to be called, beside the jobs of other steps.
 */
export async function resumeCalls(
  pipeline: Pipeline,
  environment: Environment,
  jobs: readonly JobFacts[],
): Promise<{ readonly calls: readonly PendingCall[]; readonly others: readonly JobFacts[] }> {
  const isCall = ({ step }: JobFacts): boolean => step.template.type === 'custom'
  const others = jobs.filter((job) => !isCall(job))
  if (others.length === jobs.length) return { calls: [], others }
  const { db, world, queue } = pipeline
  const now = world.now()
  const calls: PendingCall[] = []
  const settlements: Settlement[] = []
  for (const facts of jobs.filter(isCall)) {
    const decision = decideStep(facts, facts.step, facts.version.id, pipeline.renderer, now)
    if (decision.kind === 'callOut' && callsOf(facts) <= callsMax) calls.push({ facts, decision })
    else if (decision.kind === 'callOut') {
      const details = [detail(now, 'callFailed', { raw: { message: interrupted, attempt: callsMax } })]
      settlements.push(failed(facts, { details, stops: !decision.continueOnFailure }, now))
    } else if (decision.kind === 'fail') settlements.push(failed(facts, decision, now))
    else throw new Error(`A custom step that was called wants to ${decision.kind}`)
  }
  if (settlements.length > 0) await recordDecisions(db, world, environment, queue, { settlements, wishes: [] })
  return { calls, others }
}
