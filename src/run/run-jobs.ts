// Runs a batch of jobs: loads what they need, decides each, records all in one transaction, then lets messages go.
import type { Environment } from '../domain/environment.ts'
import { detail } from '../domain/execution-detail.ts'
import { grouped } from '../domain/grouped.ts'
import type { Job } from '../domain/job.ts'
import { claimsMax } from '../domain/job.ts'
import type { Ending } from '../queue/worker.ts'
import { buryJobs, postponeOrBury } from '../record/bury.ts'
import { recordDecisions } from '../record/record-decisions.ts'
import type { DigestWish, Settlement } from '../record/settlement.ts'
import { settles } from '../record/settlement.ts'
import { LostLease } from '../record/write-settlements.ts'
import type { JobFacts } from './decide.ts'
import { decide } from './decide.ts'
import type { Facts } from './load-facts.ts'
import { loadFacts } from './load-facts.ts'
import type { Outgoing } from './outgoing.ts'
import type { Pipeline } from './pipeline.ts'
import { placeSends } from './place-sends.ts'
import { resumeJobs } from './resume-jobs.ts'
import { scopeOf } from './scope.ts'
import type { Sender } from './sender.ts'
import { laterSteps, settlementOf } from './settle-decision.ts'

export async function runJobs(pipeline: Pipeline, sender: Sender, jobs: readonly Job[]): Promise<Ending> {
  const environments = await pipeline.environments.of([...new Set(jobs.map((job) => job.environmentId))])
  const endings: Promise<void>[] = []
  for (const [environmentId, group] of grouped(jobs, (job) => job.environmentId)) {
    const environment = environments.get(environmentId)
    if (environment === undefined) continue
    endings.push(...(await runGroup(pipeline, sender, environment, group)))
  }
  return { settled: Promise.all(endings).then(() => {}) }
}

/** A group that fails is halved until the culprit is found: it alone is postponed, and buried in the end. */
async function runGroup(
  pipeline: Pipeline,
  sender: Sender,
  environment: Environment,
  jobs: readonly Job[],
): Promise<Promise<void>[]> {
  try {
    return await runTogether(pipeline, sender, environment, jobs)
  } catch (error) {
    const [only, second] = jobs
    if (only !== undefined && second === undefined) {
      // Somebody else has it: theirs to settle.
      if (!(error instanceof LostLease)) await putAside(pipeline, environment, only, error)
      return []
    }
    const middle = jobs.length >> 1
    return [
      ...(await runGroup(pipeline, sender, environment, jobs.slice(0, middle))),
      ...(await runGroup(pipeline, sender, environment, jobs.slice(middle))),
    ]
  }
}

async function putAside(pipeline: Pipeline, environment: Environment, job: Job, error: unknown): Promise<void> {
  const { db, world, queue } = pipeline
  const words = error instanceof Error ? error.message : String(error)
  const versions = await pipeline.versions.of(environment, [job.versionId])
  const version = versions.get(job.versionId)
  const later = version === undefined ? [] : laterSteps({ job, version })
  const fate = await postponeOrBury(db, world, environment, queue, { job, words, laterSteps: later })
  world.log.error({ err: error, jobId: job.id, claims: job.claims, fate }, 'A job failed by a fault of ours')
}

async function runTogether(
  pipeline: Pipeline,
  sender: Sender,
  environment: Environment,
  jobs: readonly Job[],
): Promise<Promise<void>[]> {
  const { db, world, queue } = pipeline
  const facts = await loadFacts(pipeline, environment, jobs)
  const now = world.now()
  const settlements: Settlement[] = []
  const wishes: DigestWish[] = []
  const sends: { facts: JobFacts; decision: Extract<ReturnType<typeof decide>, { kind: 'send' }> }[] = []
  const resumed: JobFacts[] = []
  const deadly: Job[] = []
  for (const job of jobs) {
    // Claimed again and again without an end: whoever runs it dies of it.
    if (job.claims > claimsMax) {
      deadly.push(job)
      continue
    }
    const jobFacts = factsOf(facts, job)
    if (jobFacts === undefined) {
      settlements.push(abandoned(facts, job, now))
      continue
    }
    if (job.status === 'running') {
      resumed.push(jobFacts)
      continue
    }
    const decision = decide(jobFacts, pipeline.renderer, now)
    if (decision.kind === 'send') sends.push({ facts: jobFacts, decision })
    else {
      const settled = settlementOf(jobFacts, inAppAllowed(facts, decision, now), now)
      if ('join' in settled) wishes.push(settled)
      else settlements.push(settled)
    }
  }
  const placed = placeSends(pipeline, sender, environment, facts, sends, now)
  settlements.push(...placed.settlements)
  const kept = await recordOrFree(pipeline, placed.begun, () =>
    recordDecisions(db, world, environment, queue, { settlements, wishes }),
  )
  if (deadly.length > 0) await buryDeadly(pipeline, environment, facts, deadly)
  const isKept = (outgoing: Outgoing): boolean => kept.has(outgoing.facts.job.id)
  freeSlots(
    pipeline,
    placed.begun.filter((outgoing) => !isKept(outgoing)),
  )
  return [
    sender.call(placed.begun.filter(isKept)),
    sender.queue(placed.waiting.filter(isKept)),
    ...(await resumeJobs(pipeline, sender, environment, facts, resumed)),
  ]
}

function factsOf(facts: Facts, job: Job): JobFacts | undefined {
  const version = facts.versions.get(job.versionId)
  const event = facts.events.get(job.eventId)
  const subscriber = facts.subscribers.get(job.subscriberId)
  const step = version?.definition.steps[job.step]
  if (version === undefined || event === undefined || subscriber === undefined || step === undefined) return undefined
  const scope = scopeOf({ facts, event, subscriber, version, digestId: job.digestId })
  return { job, step, version, event, subscriber, scope }
}

/** Somebody who was deleted is told nothing more. */
function abandoned(facts: Facts, job: Job, now: Date): Settlement {
  const version = facts.versions.get(job.versionId)
  const steps = version === undefined ? [] : laterSteps({ job, version })
  const details = [detail(now, 'subscriberGone')]
  return settles(job, 'canceled', {
    details,
    rest: steps.length === 0 ? null : { steps, status: 'canceled', details },
  })
}

/** Without an active in-app integration there is no feed to write to. */
function inAppAllowed(facts: Facts, decision: Exclude<ReturnType<typeof decide>, { kind: 'send' }>, now: Date) {
  if (decision.kind !== 'deliver' || facts.integrations.some((one) => one.channel === 'in_app')) return decision
  return { kind: 'fail', details: [detail(now, 'noIntegration')], stops: false } as const
}

async function buryDeadly(
  pipeline: Pipeline,
  environment: Environment,
  facts: Facts,
  jobs: readonly Job[],
): Promise<void> {
  const { db, world, queue } = pipeline
  const words = `The step was begun ${claimsMax} times and never came to an end`
  const burials = jobs.map((job) => {
    const version = facts.versions.get(job.versionId)
    return { job, words, laterSteps: version === undefined ? [] : laterSteps({ job, version }) }
  })
  await buryJobs(db, world, environment, queue, burials)
  world.log.error({ jobIds: jobs.map((job) => job.id) }, 'Jobs were buried: they never came to an end')
}

/** Slots that were taken for a transaction that failed are free again. */
async function recordOrFree<Result>(
  pipeline: Pipeline,
  begun: readonly Outgoing[],
  record: () => Promise<Result>,
): Promise<Result> {
  try {
    return await record()
  } catch (error) {
    freeSlots(pipeline, begun)
    throw error
  }
}

function freeSlots({ slots }: Pipeline, outgoing: readonly Outgoing[]): void {
  for (const { messages } of outgoing) for (const message of messages) slots.free(message.integration._id)
}
