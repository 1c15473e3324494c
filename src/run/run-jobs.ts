// Runs a batch of jobs: load, decide, place, record, dispatch. Each stage takes what the one before it returned.
import { isInfrastructureError } from '../db/failure.ts'
import { bisect } from '../domain/bisect.ts'
import type { Environment } from '../domain/environment.ts'
import { grouped } from '../domain/grouped.ts'
import type { Job } from '../domain/job.ts'
import { isPoisonous } from '../queue/suspicion.ts'
import type { Handling } from '../queue/worker.ts'
import { recordDecisions } from '../record/record-decisions.ts'
import { LostLease } from '../record/write-settlements.ts'
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

/** Throws only before anything was committed: whoever runs it again repeats nothing. Reports every job. */
type RunTogether = (environment: Environment, jobs: readonly Job[], handling: Handling<Job>) => Promise<void>

export async function runJobs(stages: Stages, jobs: readonly Job[], handling: Handling<Job>): Promise<void> {
  const { environments } = stages.pipeline
  const known = await environments.of([...new Set(jobs.map((job) => job.environmentId))])
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
  const owners = new Map<Job, Job>()
  const ownerOf = (job: Job): Job => owners.get(job) ?? job
  const owned: Handling<Job> = {
    done: (job) => handling.done(ownerOf(job)),
    again: (jobs) => handling.again(jobs.map(ownerOf)),
  }
  try {
    const jobs: Job[] = []
    for (const { given: job, now } of await stages.unconfirmed.resolve(stages.pipeline.db, environment, given)) {
      if (now === undefined) handling.done(job)
      else if (owners.set(now, job)) jobs.push(now)
    }
    const poisonous = jobs.filter(isPoisonous)
    if (poisonous.length > 0) await stages.faults.buryPoisonous(environment, poisonous)
    poisonous.forEach(owned.done)
    const others = jobs.filter((job) => !isPoisonous(job))
    const resumed = others.filter((job) => job.status === 'running')
    const fresh = others.filter((job) => job.status !== 'running')
    await together(stages, environment, fresh, owned, (env, some, reports) => decideJobs(stages, env, some, reports))
    await together(stages, environment, resumed, owned, (env, some, reports) => resumeSends(stages, env, some, reports))
  } catch (error) {
    if (!isInfrastructureError(error)) throw error
    stages.pipeline.world.log.warn({ err: error, jobs: given.length }, 'Jobs could not be run; will try again')
    // Those that were reported before are passed over.
    handling.again(given)
  }
}

/** A group that fails is halved until the culprit is found: it alone is postponed, and buried in the end. */
async function together(
  { faults }: Stages,
  environment: Environment,
  jobs: readonly Job[],
  handling: Handling<Job>,
  run: RunTogether,
): Promise<void> {
  await bisect(jobs, {
    together: (some) => run(environment, some, handling),
    isOfAll: isInfrastructureError,
    culprit: async (job, error) => {
      // Where the lease was lost, another node has it, and settles it.
      if (!(error instanceof LostLease)) await faults.putAside(environment, job, error)
      handling.done(job)
    },
  })
}

async function decideJobs(
  stages: Stages,
  environment: Environment,
  jobs: readonly Job[],
  handling: Handling<Job>,
  answers: WebhookAnswers = new Map(),
): Promise<void> {
  const { pipeline } = stages
  const { world, renderer } = pipeline
  const tracing = traceSteps(world.tracer, jobs)
  const facts = await loadFacts(pipeline, environment, jobs)
  const links = await unsubscribeLinks(pipeline, environment, [...jobs, ...facts.followers.values()], facts.versions)
  const now = world.now()
  const decided = decideBatch({ environment, facts, links, renderer, now, stages, answers, tracing }, jobs)
  const left = facts.mayBeSuppressed
    ? await withoutSuppressed(pipeline, environment, decided.sends, now)
    : { sends: decided.sends, skipped: [] }
  const placed = placeBatch(stages, environment, facts, decided, left, now)
  tracing?.recording()
  const recorded = await recordPlaced(stages, environment, jobs, placed)
  tracing?.recorded()
  dispatch(stages, environment, { ...recorded, asking: decided.asking.map(({ job }) => job) }, handling)
  void decideAsked(stages, environment, decided.asking, handling)
}

/** Decides jobs whose conditions ask the customer's own service first, while no other job waits for that. */
async function decideAsked(
  stages: Stages,
  environment: Environment,
  asking: readonly JobFacts[],
  handling: Handling<Job>,
): Promise<void> {
  if (asking.length === 0) return
  const { db, world, queue } = stages.pipeline
  const all = asking.map(({ job }) => job)
  try {
    const { answers, settlements } = await askWebhooks(stages.pipeline, environment, asking)
    if (settlements.length > 0) await recordDecisions(db, world, environment, queue, { settlements, wishes: [] })
    for (const { job } of settlements) handling.done(job)
    const answered = all.filter((job) => answers.has(job.id))
    await together(stages, environment, answered, handling, (env, some, reports) =>
      decideJobs(stages, env, some, reports, answers),
    )
  } catch (error) {
    if (isInfrastructureError(error)) return handling.again(all)
    world.log.error({ err: error, jobs: asking.length }, 'Conditions could not be asked; the leases will end')
    all.forEach(handling.done)
  }
}
