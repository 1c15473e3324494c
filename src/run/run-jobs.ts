// Runs a batch of jobs: load, decide, place, record, dispatch. Each stage takes what the previous one returned.
import { isInfrastructureError } from '../db/failure.ts'
import { bisect } from '../domain/bisect.ts'
import type { Job } from '../domain/delivery/job.ts'
import type { Environment } from '../domain/environment.ts'
import { grouped } from '../domain/grouped.ts'
import { releaseLeases } from '../queue/leases.ts'
import { isPoisonous } from '../queue/suspicion.ts'
import type { Handling } from '../queue/worker.ts'
import { recordDecisions } from '../record/record-decisions.ts'
import { LostLease } from '../record/write-settlements.ts'
import { jobQueue } from '../store/jobs/queue-table.ts'
import type { DecidedBatch } from './decide/decide-batch.ts'
import { decideBatch } from './decide/decide-batch.ts'
import type { JobFacts } from './decide/job-facts.ts'
import { loadFacts } from './decide/load-facts.ts'
import { withoutSuppressed } from './decide/suppressed.ts'
import { unsubscribeLinks } from './decide/unsubscribe-headers.ts'
import type { WebhookAnswers } from './decide/webhook-answers.ts'
import { askWebhooks } from './decide/webhook-answers.ts'
import { dispatch } from './dispatch.ts'
import { recordPlaced } from './record-placed.ts'
import { resumeSends } from './resume-sends.ts'
import { placeBatch } from './send/place-batch.ts'
import type { Stages } from './stages.ts'
import { traceSteps } from './trace-steps.ts'
import { withoutCanceled } from './without-canceled.ts'

export async function runJobs(stages: Stages, jobs: readonly Job[], handling: Handling<Job>): Promise<void> {
  const ids = [...new Set(jobs.map((job) => job.environmentId))]
  const known = await orAgain(stages, jobs, handling, () => stages.environments.of(ids))
  if (known === undefined) return
  for (const [environmentId, group] of grouped(jobs, (job) => job.environmentId)) {
    const environment = known.get(environmentId)
    if (environment === undefined) group.forEach(handling.done)
    else await runGroup(stages, environment, group, handling)
  }
}

async function runGroup(
  stages: Stages,
  environment: Environment,
  given: readonly Job[],
  handling: Handling<Job>,
): Promise<void> {
  const { record, unconfirmed, faults } = stages
  const ready = await orAgain(stages, given, handling, () => unconfirmed.resolve(record.db, environment, given))
  // What runs may be a newer version of the row, or the step that follows it; what is reported is the row that was
  // given.
  const owners = new Map<Job, Job>()
  for (const { given: row, now } of ready ?? []) {
    if (now === undefined) handling.done(row)
    else owners.set(now, row)
  }
  const ownerOf = (job: Job): Job => owners.get(job) ?? job
  const owned: Handling<Job> = {
    done: (job) => handling.done(ownerOf(job)),
    again: (jobs) => handling.again(jobs.map(ownerOf)),
  }
  const jobs = [...owners.keys()]
  const poisonous = jobs.filter(isPoisonous)
  if (poisonous.length > 0) {
    await orAgain(stages, poisonous, owned, async () => {
      await faults.buryPoisonous(environment, poisonous)
      poisonous.forEach(owned.done)
    })
  }
  const others = jobs.filter((job) => !isPoisonous(job))
  const resumed = others.filter((job) => job.status === 'running')
  const fresh = others.filter((job) => job.status !== 'running')
  // One that is suspected of ending its process runs alone: it must not wait while that counts against it.
  if (fresh.some(({ interruptions }) => interruptions === 0)) {
    await stages.place.sends.untilCapacity(environment, fresh.length)
  }
  await together(stages, environment, fresh, owned, (some) => decideJobs(stages, environment, some, owned))
  await together(stages, environment, resumed, owned, (some) => resumeSends(stages, environment, some, owned))
}

/** If the database does not respond, the jobs run again soon; undefined then. Other errors are rethrown. */
async function orAgain<Result>(
  { record: { world } }: Pick<Stages, 'record'>,
  jobs: readonly Job[],
  handling: Handling<Job>,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!isInfrastructureError(error)) throw error
    world.log.warn({ err: error, jobs: jobs.length }, 'The database did not respond; the jobs will run again soon')
    handling.again(jobs)
    return undefined
  }
}

/**
 * A group that fails is halved until the culprit is found: it alone is postponed, and buried in the end. `run` throws only
 * before anything is in flight, and reports every job otherwise.
 */
async function together(
  stages: Pick<Stages, 'record' | 'faults'>,
  environment: Environment,
  jobs: readonly Job[],
  handling: Handling<Job>,
  run: (jobs: readonly Job[]) => Promise<void>,
): Promise<void> {
  const left = new Set(jobs)
  const bisection = {
    together: async (some: readonly Job[]) => {
      await run(some)
      for (const job of some) left.delete(job)
    },
    isOfAll: isInfrastructureError,
    culprit: async (job: Job, error: unknown) => {
      // Where the lease was lost, another node has it, and settles it.
      if (!(error instanceof LostLease)) await stages.faults.putAside(environment, job, error)
      left.delete(job)
      handling.done(job)
    },
  }
  try {
    await bisect(jobs, bisection)
  } catch (error) {
    await orAgain(stages, [...left], handling, () => Promise.reject(error))
  }
}

async function decideJobs(
  stages: Stages,
  environment: Environment,
  jobs: readonly Job[],
  handling: Handling<Job>,
  answers: WebhookAnswers = new Map(),
): Promise<void> {
  const { load, decide, place, record } = stages
  const { world, renderer } = decide
  const tracing = traceSteps(world.tracer, jobs)
  const facts = await loadFacts(load, environment, jobs)
  const open = await withoutCanceled(record, environment, facts, jobs)
  const links = await unsubscribeLinks(decide, environment, [...open, ...facts.followers.values()], facts.versions)
  const now = world.now()
  const parts = { environment, facts, links, renderer, world, holding: decide, now, answers, tracing }
  const decided = await decideBatch(parts, open)
  stages.weights.note(open, decided)
  const left = facts.mayBeSuppressed
    ? await withoutSuppressed(decide, environment, decided.sends, now)
    : { sends: decided.sends, skipped: [] }
  const placed = await placeBatch(place, environment, facts, decided, left, now)
  tracing?.recording()
  const recorded = await recordPlaced(record, environment, jobs, placed)
  tracing?.recorded()
  dispatch(stages.dispatch, environment, { ...recorded, asking: decided.asking.map(({ job }) => job) }, handling)
  await putBack(stages, environment, decided)
  void decideAsked(stages, environment, decided.asking, handling)
}

/**
 * Those that could not be rendered: without progress, nothing that speaks against them is forgotten. Never throws, since
 * calls of the same batch are in flight.
 */
async function putBack(
  { record: { db, world, queue }, faults }: Stages,
  environment: Environment,
  { unrendered, faulty }: DecidedBatch,
): Promise<void> {
  if (unrendered.length + faulty.length === 0) return
  try {
    for (const { job, error } of faulty) await faults.putAside(environment, job, error)
    await releaseLeases(db, jobQueue, queue.clock, unrendered)
    queue.poke()
  } catch (error) {
    world.log.warn({ err: error }, 'Could not give back jobs that were not rendered; their leases will expire')
  }
  world.log.warn(
    { unrendered: unrendered.length, faulty: faulty.length },
    'There was no time to render all messages; the jobs will run again',
  )
}

/** Decides jobs whose conditions ask the customer's own service first, while no other job waits for that. */
async function decideAsked(
  stages: Stages,
  environment: Environment,
  asking: readonly JobFacts[],
  handling: Handling<Job>,
): Promise<void> {
  if (asking.length === 0) return
  const { db, world, queue } = stages.record
  const all = asking.map(({ job }) => job)
  try {
    const answers = await orAgain(stages, all, handling, async () => {
      const asked = await askWebhooks(stages.decide, environment, asking)
      const { settlements } = asked
      if (settlements.length > 0) await recordDecisions(db, world, environment, queue, { settlements, deferred: [] })
      for (const { job } of settlements) handling.done(job)
      return asked.answers
    })
    if (answers === undefined) return
    const answered = all.filter((job) => answers.has(job.id))
    await together(stages, environment, answered, handling, (some) =>
      decideJobs(stages, environment, some, handling, answers),
    )
  } catch (error) {
    world.log.error(
      { err: error, jobs: asking.length },
      'Could not call the webhooks of conditions; the leases will expire',
    )
    all.forEach(handling.done)
  }
}
