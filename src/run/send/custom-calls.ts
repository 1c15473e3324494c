// Calls of custom steps: the customer's own service is called, and its response is stored for the following steps.

import { isInfrastructureError } from '../../db/failure.ts'
import type { Db, Sql } from '../../db/sql.ts'
import type { CallOutcome } from '../../deliver/call-service.ts'
import { callService } from '../../deliver/call-service.ts'
import type { Limits } from '../../deliver/limits.ts'
import { callsMax, nextCallAt } from '../../domain/delivery/custom-call.ts'
import type { CallOut } from '../../domain/delivery/decision.ts'
import { leased, until } from '../../domain/delivery/due.ts'
import type { JobState } from '../../domain/delivery/job.ts'
import { repeatedIdOf } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { Queue } from '../../queue/queue.ts'
import type { JobOutcome } from '../../record/job-outcome.ts'
import { recordDecisions } from '../../record/record-decisions.ts'
import type { Settlement } from '../../record/settlement.ts'
import { settles } from '../../record/settlement.ts'
import type { World } from '../../world/world.ts'
import type { SigningSecrets } from '../cache/signing-secrets.ts'
import type { JobFacts } from '../decide/job-facts.ts'
import { failed, nextOf } from '../decide/settle-decision.ts'
import type { JobFaults } from '../job-faults.ts'
import type { CallKind, CallQueue } from './call-queue.ts'

/** A custom step that is to be called. */
export interface PendingCall {
  readonly environment: Environment
  readonly facts: JobFacts
  readonly decision: CallOut
}

export type CustomCallQueue = CallQueue<PendingCall, PendingCall>

export interface CustomCallParts {
  readonly db: Sql
  readonly outcomesDb: Db
  readonly world: World
  readonly queue: Queue
  readonly signingSecrets: SigningSecrets
  readonly limits: Limits
  readonly faults: JobFaults
  /** A call of this key ended: others may begin. */
  onFree(key: string): void
}

/**
 * Services of customers are smaller than those of vendors: one that responds in 100 ms is called 200 times per second.
 */
const callsAtOnceMax = 20
/** After a fault of ours in the call itself. */
const faultAgainMs = 5_000

export function createCustomCalls(parts: CustomCallParts): CallKind<PendingCall, PendingCall> {
  const { outcomesDb, world, queue, limits } = parts
  const keyOf = ({ environment }: PendingCall): string => environment.id
  return {
    name: 'custom steps',
    jobOf: ({ facts }) => facts.job,
    keyOf,
    batchPlan: (now) => (call) => (limits.take(keyOf(call), callsAtOnceMax, now) ? call : undefined),
    leave: (call) => limits.free(keyOf(call)),
    together: (calls) => [calls],
    begin: (environment, calls) => {
      const settlements = calls.map(callBegun)
      return recordDecisions(outcomesDb, world, environment, queue, { settlements, deferred: [] })
    },
    call: (_environment, calls) => calls.map((call) => outcomeOf(parts, call, keyOf(call))),
    rests: () => false,
    postponed: ({ facts: { job } }, turnAt) =>
      settles(job, job.status === 'running' ? 'running' : 'queued', { due: until(turnAt) }),
    fault: (environment, { facts: { job } }, error) => parts.faults.putAside(environment, job, error),
  }
}

/** Never rejects: a call that breaks by a fault of ours is made again, under its key. */
async function outcomeOf(
  { db, world, signingSecrets, limits, onFree }: CustomCallParts,
  call: PendingCall,
  key: string,
): Promise<JobOutcome> {
  const { id: jobId, state } = call.facts.job
  // A service that remembers the key of a call that failed for good would answer with that failure again.
  const idempotencyKey = repeatedIdOf(jobId, state?.redrives)
  try {
    const keys = (await signingSecrets.of(db, call.environment)).callKeys(world.now())
    const outcome = await callService(world, { call: call.decision, idempotencyKey, keys })
    return { settlement: callSettled(call, outcome, { now: world.now(), random: world.random() }), results: [] }
  } catch (error) {
    world.log.error({ err: error, jobId }, 'Could not call a custom step; will retry')
    const due = new Date(world.now().getTime() + faultAgainMs)
    // A fault of ours counts as a call, or there would be no end; a database that is away does not.
    const counted = isInfrastructureError(error) ? {} : { state: stateAfter(call.facts) }
    return { settlement: settles(call.facts.job, 'running', { due: until(due), ...counted }), results: [] }
  } finally {
    limits.free(key)
    onFree(key)
  }
}

/**
 * Including this one. A call during which our own process died is repeated with its key, and not counted again; calls
 * for conditions, made before the step's turn, are not counted either.
 */
function callsOf({ job }: JobFacts): number {
  const { calls = 0, calling } = (job.status === 'running' ? job.state : null) ?? {}
  return calling === true ? Math.max(1, calls) : calls + 1
}

/** Recorded before the call is made. */
function callBegun({ facts, decision }: PendingCall): Settlement {
  const state: JobState = { ...facts.job.state, calls: callsOf(facts), calling: true }
  return settles(facts.job, 'running', { due: leased, state, details: decision.details })
}

/** With this call, which is over. */
function stateAfter(facts: JobFacts): JobState {
  const { calling: _, ...before } = facts.job.state ?? {}
  return { ...before, calls: callsOf(facts) }
}

/** What follows from the response of the service. */
export function callSettled(
  { facts, decision }: PendingCall,
  outcome: CallOutcome,
  { now, random }: { now: Date; random: number },
): Settlement {
  const { job } = facts
  const calls = callsOf(facts)
  const state = stateAfter(facts)
  const isRetry = calls > 1
  if (outcome.kind === 'answered') {
    const details = [detail(now, 'callFinished', { raw: outcome.facts, isRetry })]
    return settles(job, 'completed', { state: { ...state, result: outcome.result }, details, next: nextOf(facts) })
  }
  const again =
    outcome.kind === 'busy' ? nextCallAt(calls, { now, random, retryAfterMs: outcome.retryAfterMs }) : undefined
  if (again !== undefined) {
    const raw = { ...outcome.facts, attempt: calls, nextAttemptAt: again.toISOString() }
    return settles(job, 'running', {
      due: until(again),
      state,
      details: [detail(now, 'callBusy', { raw, isRetry: true })],
    })
  }
  const details = [detail(now, 'callFailed', { raw: { ...outcome.facts, attempt: calls }, isRetry })]
  return { ...failed(facts, { details, stops: !decision.continueOnFailure }, now), state }
}

/** Whether a custom step that was being called, or waits to be called again, may be. */
export const mayCall = (facts: JobFacts): boolean => callsOf(facts) <= callsMax
