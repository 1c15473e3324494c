// Jobs whose messages were in flight, or wait to be sent again: refused, settled, or placed once more.
import type { Job } from '../domain/delivery/job.ts'
import type { Environment } from '../domain/environment.ts'
import { detail } from '../domain/insight/execution-detail.ts'
import { mapInTurns } from '../domain/turn.ts'
import type { Renderer } from '../domain/workflows/rendering.ts'
import type { Handling } from '../queue/worker.ts'
import type { JobOutcome } from '../record/job-outcome.ts'
import type { LeftUnsent } from '../record/leave-unsent.ts'
import { leaveUnsent } from '../record/leave-unsent.ts'
import { recordOutcomes } from '../record/record-outcomes.ts'
import type { Settlement } from '../record/settlement.ts'
import { findCanceled } from '../store/jobs/cancel.ts'
import { decideStep } from './decide/decide.ts'
import { abandoned, jobFactsFrom } from './decide/decide-job.ts'
import type { JobFacts } from './decide/job-facts.ts'
import { lateRefusal } from './decide/late-refusals.ts'
import type { Facts } from './decide/load-facts.ts'
import { loadFacts } from './decide/load-facts.ts'
import { failed } from './decide/settle-decision.ts'
import { dispatch } from './dispatch.ts'
import type { PendingCall } from './send/custom-calls.ts'
import { mayCall } from './send/custom-calls.ts'
import type { Outgoing } from './send/outgoing.ts'
import { queueUp } from './send/place-sends.ts'
import { resumeSend } from './send/resume-send.ts'
import { restedFirst } from './send/take-slots.ts'
import type { Stages } from './stages.ts'
import { traceSteps, withSpan } from './trace-steps.ts'
import type { Writing } from './writing.ts'

type ResumeStages = Pick<Stages, 'load' | 'place' | 'record' | 'dispatch' | 'unconfirmed'>

export async function resumeSends(
  stages: ResumeStages,
  environment: Environment,
  jobs: readonly Job[],
  handling: Handling<Job>,
): Promise<void> {
  const { db, world, queue } = stages.record
  const tracing = traceSteps(world.tracer, jobs)
  const facts = await loadFacts(stages.load, environment, jobs)
  const known = jobs.map((job) => withSpan(tracing, jobFactsFrom(facts, job)) ?? job)
  const gone = known.flatMap((one) => ('job' in one ? [] : [abandoned(facts, one, world.now())]))
  if (gone.length > 0) await leaveUnsent(db, world, environment, queue, gone.map(withUnsent(facts)))
  const left = await withoutRefused(
    stages.record,
    environment,
    facts,
    known.flatMap((one) => ('job' in one ? [one] : [])),
  )
  const { outcomes, waiting, calls } = await resume(stages, environment, facts, left, world.now())
  if (outcomes.length > 0) await recordOutcomes(db, world, environment, queue, outcomes)
  tracing?.recorded()
  dispatch(stages.dispatch, environment, { jobs, begun: [], waiting, calls, madeAfter: new Map() }, handling)
}

interface Resumed {
  readonly outcomes: JobOutcome[]
  readonly waiting: Outgoing[]
  readonly calls: PendingCall[]
}

/** Others get their turn while integrations are chosen and calls are rendered, if that takes long. */
async function resume(
  { place, unconfirmed }: Pick<Stages, 'place' | 'unconfirmed'>,
  environment: Environment,
  facts: Facts,
  jobs: readonly JobFacts[],
  now: Date,
): Promise<Resumed> {
  const placing = { parts: place, now }
  const inQueue = new Map<string, number>()
  const resumed: Resumed = { outcomes: [], waiting: [], calls: [] }
  const settle = (settlement: Settlement): void => void resumed.outcomes.push({ settlement, results: [] })
  const { wasNeverCalled } = unconfirmed
  const all = await mapInTurns(jobs, (job) =>
    job.step.template.type === 'custom'
      ? resumeCall(place.renderer, environment, job, now)
      : resumeSend(place, environment, facts, job, { now, wasNeverCalled }),
  )
  for (const one of all) {
    if ('status' in one) settle(one)
    else if ('decision' in one) resumed.calls.push(one)
    else if ('settlement' in one) resumed.outcomes.push(one)
    else {
      const settlement = queueUp(placing, inQueue, restedFirst(place.limits, one, now), resumed.waiting)
      if (settlement !== undefined) settle(settlement)
    }
  }
  return resumed
}

const oftenEnough = 'The service was called the maximum number of times'

/** The call carries a key by which a repeat is known, so it is repeated. */
function resumeCall(
  renderer: Renderer,
  environment: Environment,
  facts: JobFacts,
  now: Date,
): PendingCall | Settlement {
  const decision = decideStep(facts, facts.step, facts.version.id, renderer, now)
  if (decision.kind === 'fail') return failed(facts, decision, now)
  if (decision.kind !== 'callOut') throw new Error(`A custom step that was already called decided to ${decision.kind}`)
  if (mayCall(facts)) return { environment, facts, decision }
  const details = [detail(now, 'callFailed', { raw: { message: oftenEnough } })]
  return failed(facts, { details, stops: !decision.continueOnFailure }, now)
}

/** Ends those that are not to be sent any more, and returns the others. */
async function withoutRefused(
  { db, world, queue }: Writing,
  environment: Environment,
  facts: Facts,
  jobs: readonly JobFacts[],
): Promise<readonly JobFacts[]> {
  const canceled = await findCanceled(
    db,
    environment,
    jobs.map(({ job }) => job),
  )
  const refused = jobs.flatMap((one) => {
    const unsent = facts.unsent.get(one.job.id) ?? []
    return lateRefusal(one, { unsent, isCanceled: canceled.has(one.job.id), now: world.now() }) ?? []
  })
  if (refused.length === 0) return jobs
  await leaveUnsent(db, world, environment, queue, refused.map(withUnsent(facts)))
  const ended = new Set(refused.map(({ job }) => job.id))
  return jobs.filter(({ job }) => !ended.has(job.id))
}

const withUnsent =
  ({ unsent }: Facts) =>
  (settlement: Settlement): LeftUnsent => ({
    settlement,
    messageIds: (unsent.get(settlement.job.id) ?? []).map(({ id }) => id),
  })
