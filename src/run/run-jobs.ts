// Runs a batch of jobs: loads what they need, decides each, records all in one transaction, then lets messages go.
import type { Environment } from '../domain/environment.ts'
import { grouped } from '../domain/grouped.ts'
import type { Job } from '../domain/job.ts'
import { claimsMax } from '../domain/job.ts'
import { releaseLeases } from '../queue/leases.ts'
import type { Ending } from '../queue/worker.ts'
import { buryJobs, postponeOrBury } from '../record/bury.ts'
import type { LeftUnsent } from '../record/leave-unsent.ts'
import { leaveUnsent } from '../record/leave-unsent.ts'
import { recordDecisions } from '../record/record-decisions.ts'
import type { Settlement } from '../record/settlement.ts'
import { LostLease } from '../record/write-settlements.ts'
import { findCalledOff } from '../store/jobs/cancel.ts'
import { jobQueue } from '../store/jobs/queue-table.ts'
import { decideBatch, heldFollowers } from './decide/decide-batch.ts'
import { abandoned, factsOf } from './decide/decide-job.ts'
import type { JobFacts } from './decide/job-facts.ts'
import { lateRefusal } from './decide/late-refusals.ts'
import type { Facts } from './decide/load-facts.ts'
import { loadFacts } from './decide/load-facts.ts'
import { laterSteps } from './decide/settle-decision.ts'
import { withoutSuppressed } from './decide/suppressed.ts'
import { unsubscribeLinks } from './decide/unsubscribe-headers.ts'
import type { WebhookAnswers } from './decide/webhook-answers.ts'
import { askWebhooks } from './decide/webhook-answers.ts'
import type { Pipeline } from './pipeline.ts'
import { callOut, resumeCalls } from './send/call-out.ts'
import type { BegunMessage, Outgoing } from './send/outgoing.ts'
import { placeSends } from './send/place-sends.ts'
import { resumeJobs } from './send/resume-jobs.ts'
import type { Sender } from './send/sender.ts'
import { traceSteps, withSpan } from './trace-steps.ts'

/** Returns what is still on its way. Throws only before anything was committed: whoever runs it again repeats nothing. */
type RunTogether = (environment: Environment, jobs: readonly Job[]) => Promise<Promise<void>[]>

/** Claimed so often without an end, a job may be what ends its workers; so it runs alone, and takes no other with it. */
const suspectClaims = 3

export async function runJobs(pipeline: Pipeline, sender: Sender, jobs: readonly Job[]): Promise<Ending> {
  const environments = await pipeline.environments.of([...new Set(jobs.map((job) => job.environmentId))])
  const endings: Promise<void>[] = []
  const decideTogether: RunTogether = (environment, group) => decideJobs(pipeline, sender, environment, group)
  const resumeTogether: RunTogether = (environment, group) => resumeSends(pipeline, sender, environment, group)
  for (const [environmentId, all] of grouped(await withoutSuspects(pipeline, jobs), (job) => job.environmentId)) {
    const environment = environments.get(environmentId)
    if (environment === undefined) continue
    const deadly = all.filter((job) => job.claims > claimsMax)
    if (deadly.length > 0) await buryDeadly(pipeline, environment, deadly)
    const group = all.filter((job) => job.claims <= claimsMax)
    const resumed = group.filter((job) => job.status === 'running')
    const fresh = group.filter((job) => job.status !== 'running')
    endings.push(...(await inHalves(pipeline, environment, fresh, decideTogether)))
    endings.push(...(await inHalves(pipeline, environment, resumed, resumeTogether)))
  }
  return { settled: Promise.all(endings).then(() => {}) }
}

/** All but suspects, or one of those alone; the others are given back uncounted and have their turn later. */
async function withoutSuspects(pipeline: Pipeline, jobs: readonly Job[]): Promise<readonly Job[]> {
  const suspects = jobs.filter((job) => job.claims >= suspectClaims)
  if (suspects.length === 0 || jobs.length === 1) return jobs
  // Any of them: were it always the first, the same one would end every worker before the others had their turn.
  const innocent = jobs.filter((job) => job.claims < suspectClaims)
  const alone = innocent.length === 0 ? suspects[Math.floor(pipeline.world.random() * suspects.length)] : undefined
  const back = suspects.filter((job) => job !== alone)
  await releaseLeases(pipeline.db, jobQueue, pipeline.queue.clock, back)
  return alone === undefined ? innocent : [alone]
}

/** A group that fails is halved until the culprit is found: it alone is postponed, and buried in the end. */
async function inHalves(
  pipeline: Pipeline,
  environment: Environment,
  jobs: readonly Job[],
  run: RunTogether,
): Promise<Promise<void>[]> {
  const [only, second] = jobs
  if (only === undefined) return []
  try {
    return await run(environment, jobs)
  } catch (error) {
    if (second === undefined) {
      // Somebody else has it: theirs to settle.
      if (!(error instanceof LostLease)) await putAside(pipeline, environment, only, error)
      return []
    }
    const middle = jobs.length >> 1
    return [
      ...(await inHalves(pipeline, environment, jobs.slice(0, middle), run)),
      ...(await inHalves(pipeline, environment, jobs.slice(middle), run)),
    ]
  }
}

async function putAside(pipeline: Pipeline, environment: Environment, job: Job, error: unknown): Promise<void> {
  const { db, world, queue } = pipeline
  const words = error instanceof Error ? error.message : String(error)
  const versions = await pipeline.versions.of(db, environment, [job.versionId])
  const version = versions.get(job.versionId)
  const later = version === undefined ? [] : laterSteps({ job, version })
  const fate = await postponeOrBury(db, world, environment, queue, { job, words, laterSteps: later })
  world.log.error({ err: error, jobId: job.id, claims: job.claims, fate }, 'A job failed by a fault of ours')
}

async function decideJobs(
  pipeline: Pipeline,
  sender: Sender,
  environment: Environment,
  jobs: readonly Job[],
  answers: WebhookAnswers = new Map(),
): Promise<Promise<void>[]> {
  const { db, world, queue } = pipeline
  const tracing = traceSteps(world.tracer, jobs)
  const facts = await loadFacts(pipeline, environment, jobs)
  const links = await unsubscribeLinks(pipeline, environment, [...jobs, ...facts.followers.values()], facts.versions)
  const now = world.now()
  const { renderer } = pipeline
  const batch = decideBatch({ facts, links, renderer, now, pipeline, answers, tracing }, jobs)
  const left = facts.mayBeSuppressed
    ? await withoutSuppressed(pipeline, environment, batch.sends, now)
    : { sends: batch.sends, skipped: [] }
  const placed = placeSends(pipeline, sender, environment, facts, left.sends, now)
  const held = heldFollowers(batch, placed.waiting)
  const settlements = [...batch.settlements, ...left.skipped, ...placed.settlements, ...held]
  const { wishes, madeAfter } = batch
  tracing?.recording()
  const kept = await recordOrFree(sender, placed.begun, () =>
    recordDecisions(db, world, environment, queue, { settlements, wishes, madeAfter }),
  )
  tracing?.recorded()
  const isKept = ({ facts: { job } }: Outgoing): boolean => kept.has(job.id)
  freeSeats(
    sender,
    placed.begun.filter((outgoing) => !isKept(outgoing)),
  )
  return [
    sender.call(placed.begun.filter(isKept)),
    // One that has its row already waits whatever was written: its lease is asked when it begins.
    sender.queue(placed.waiting.filter((one) => isKept(one) || !madeAfter.has(one.facts.job.id))),
    callOut(pipeline, environment, batch.calls),
    decideAsked(pipeline, sender, environment, batch.asking),
  ]
}

/** Decides jobs whose conditions ask the customer's own service first, while nobody else waits for that. */
async function decideAsked(
  pipeline: Pipeline,
  sender: Sender,
  environment: Environment,
  asking: readonly JobFacts[],
): Promise<void> {
  if (asking.length === 0) return
  const { db, world, queue } = pipeline
  try {
    const { answers, settlements } = await askWebhooks(pipeline, environment, asking)
    if (settlements.length > 0) await recordDecisions(db, world, environment, queue, { settlements, wishes: [] })
    const jobs = asking.flatMap(({ job }) => (answers.has(job.id) ? [job] : []))
    const decideTogether: RunTogether = (_, group) => decideJobs(pipeline, sender, environment, group, answers)
    await Promise.all(await inHalves(pipeline, environment, jobs, decideTogether))
  } catch (error) {
    world.log.error({ err: error, jobs: asking.length }, 'Conditions could not be asked; the leases will end')
  }
}

async function resumeSends(
  pipeline: Pipeline,
  sender: Sender,
  environment: Environment,
  jobs: readonly Job[],
): Promise<Promise<void>[]> {
  const { db, world, queue } = pipeline
  const tracing = traceSteps(world.tracer, jobs)
  const facts = await loadFacts(pipeline, environment, jobs)
  const known = jobs.map((job) => withSpan(tracing, factsOf(facts, job)) ?? job)
  const gone = known.flatMap((one) => ('job' in one ? [] : [abandoned(facts, one, world.now())]))
  if (gone.length > 0) await leaveUnsent(db, world, environment, queue, gone.map(withUnsent(facts)))
  const resumed = await withoutRefused(
    pipeline,
    environment,
    facts,
    known.flatMap((one) => ('job' in one ? [one] : [])),
  )
  const { calls, others } = await resumeCalls(pipeline, environment, resumed)
  const sends = await resumeJobs(pipeline, sender, environment, facts, others)
  tracing?.recorded()
  return [...sends, callOut(pipeline, environment, calls)]
}

/** Ends those that are not to be sent any more, and returns the others. */
async function withoutRefused(
  { db, world, queue }: Pipeline,
  environment: Environment,
  facts: Facts,
  jobs: readonly JobFacts[],
): Promise<readonly JobFacts[]> {
  const calledOff = await findCalledOff(
    db,
    environment,
    jobs.map(({ job }) => job),
  )
  const left = jobs.flatMap((one) => {
    const unsent = facts.unsent.get(one.job.id) ?? []
    return lateRefusal(one, { unsent, isCalledOff: calledOff.has(one.job.id), now: world.now() }) ?? []
  })
  if (left.length === 0) return jobs
  await leaveUnsent(db, world, environment, queue, left.map(withUnsent(facts)))
  const ended = new Set(left.map(({ job }) => job.id))
  return jobs.filter(({ job }) => !ended.has(job.id))
}

const withUnsent =
  ({ unsent }: Facts) =>
  (settlement: Settlement): LeftUnsent => ({
    settlement,
    messageIds: (unsent.get(settlement.job.id) ?? []).map(({ id }) => id),
  })

/** Claimed again and again without an end: whoever runs them dies of it. */
async function buryDeadly(pipeline: Pipeline, environment: Environment, jobs: readonly Job[]): Promise<void> {
  const { db, world, queue } = pipeline
  const words = `The step was begun ${claimsMax} times and never came to an end`
  const versions = await pipeline.versions.of(
    db,
    environment,
    jobs.map((job) => job.versionId),
  )
  const burials = jobs.map((job) => {
    const version = versions.get(job.versionId)
    return { job, words, laterSteps: version === undefined ? [] : laterSteps({ job, version }) }
  })
  await buryJobs(db, world, environment, queue, burials)
  world.log.error({ jobIds: jobs.map((job) => job.id) }, 'Jobs were buried: they never came to an end')
}

/** Slots that were taken for a transaction that failed are free again. */
async function recordOrFree<Result>(
  sender: Sender,
  begun: readonly Outgoing<BegunMessage>[],
  record: () => Promise<Result>,
): Promise<Result> {
  try {
    return await record()
  } catch (error) {
    freeSeats(sender, begun)
    throw error
  }
}

/** Whoever waits for a slot is told that there are some. */
function freeSeats(sender: Sender, outgoing: readonly Outgoing<BegunMessage>[]): void {
  if (outgoing.length === 0) return
  for (const { messages } of outgoing) for (const { seat } of messages) seat.leave()
  sender.wake()
}
