// Decides jobs before their events are written, if everything needed for it is at hand, or on the suppression list.
import type { Db, Sql } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type { StepType, WorkflowVersion } from '../domain/workflows/workflow.ts'
import { countWritten } from '../record/counts/count-messages.ts'
import type { DecideAtOnce, DecidedAtOnce } from '../record/decided-at-once.ts'
import type { PreLeasedJob } from '../record/notify.ts'
import type { Costly } from './costly.ts'
import { createCostly } from './costly.ts'
import { DecidedLater, decideBatch, isLarge } from './decide/decide-batch.ts'
import { followerOf } from './decide/follower.ts'
import type { FactSources } from './decide/load-facts.ts'
import { loadFacts } from './decide/load-facts.ts'
import { withoutSuppressed } from './decide/suppressed.ts'
import type { LinkSources } from './decide/unsubscribe-headers.ts'
import { unsubscribeLinks } from './decide/unsubscribe-headers.ts'
import { dispatch } from './dispatch.ts'
import { leaveSlots, markedBy } from './record-placed.ts'
import type { PlacedBatch } from './send/place-batch.ts'
import { placeBatch } from './send/place-batch.ts'
import type { Stages } from './stages.ts'

/**
 * The channels whose messages are usually repeated when it is unknown whether they were sent: if the response to the
 * commit is lost and then this process dies as well, there is no way to know that a marked call was never made.
 */
const decidable: ReadonlySet<StepType | undefined> = new Set<StepType>(['in_app', 'email'])

type AtOnceStages = Pick<Stages, 'load' | 'decide' | 'place' | 'dispatch' | 'unconfirmed' | 'weights'>

/** What is read without the database: a statement would be refused. */
interface AtHand {
  readonly load: FactSources
  readonly links: LinkSources
}

/**
 * What is not at hand is left to the job's own turn, and so is any error here: it occurs again there, and is handled.
 */
export function createDecideAtOnce(stages: AtOnceStages, monotonicMs?: () => number): DecideAtOnce {
  const costly = createCostly(monotonicMs)
  const { signingSecrets, linkBase, world } = stages.decide
  const atHand: AtHand = {
    load: { ...stages.load, db: nothingToRead },
    links: { db: nothingToRead, signingSecrets, linkBase, world },
  }
  return async (environment, jobs) => {
    if (costly.has(environment)) return undefined
    if (jobs.some((job) => isLarge(job) && costly.hasLarge(job.versionId))) return undefined
    // Their callers would wait for all of it to be made and written.
    if (jobs.reduce((sum, job) => sum + stages.weights.shareOf(job), 0) > 1) return undefined
    try {
      return await decide(stages, atHand, environment, jobs, costly)
    } catch (error) {
      if (error instanceof DecidedLater && isLarge(error.job)) costly.noteLarge(error.job.versionId)
      if (!(error instanceof NotAtHand || error instanceof DecidedLater))
        stages.decide.world.log.debug({ err: error }, 'Could not decide jobs immediately')
      return undefined
    }
  }
}

async function decide(
  stages: AtOnceStages,
  atHand: AtHand,
  environment: Environment,
  jobs: readonly PreLeasedJob[],
  costly: Costly,
): Promise<DecidedAtOnce | undefined> {
  const { load } = atHand
  const { world, renderer } = stages.decide
  const versions = await load.versions.of(load.db, environment, [...new Set(jobs.map((job) => job.versionId))])
  if (!jobs.every((job) => isDecidable(job, versions.get(job.versionId)))) return undefined
  const facts = await loadFacts(load, environment, jobs)
  const links = await unsubscribeLinks(
    atHand.links,
    environment,
    [...jobs, ...facts.followers.values()],
    facts.versions,
  )
  const now = world.now()
  const parts = {
    environment,
    facts,
    links,
    renderer,
    world,
    holding: stages.decide,
    now,
    answers: new Map(),
    tracing: undefined,
    isAtOnce: true,
  }
  const large = [...new Set(jobs.filter(isLarge).map((job) => job.versionId))]
  const decided = await costly.timed(environment, large, () => decideBatch(parts, jobs))
  stages.weights.note(jobs, decided)
  if (decided.deferred.length + decided.asking.length + decided.calls.length > 0) return undefined
  // None has a row yet, just like a job that is made after another. So each is listed as made after itself: one that waits for a slot
  // is then written as well. A job with a row would only keep its lease.
  const madeAfter = new Map([...jobs.map(({ id }) => [id, id] as const), ...decided.madeAfter])
  // Not at hand, but soon: deciding in its own turn would take another commit.
  const left = facts.mayBeSuppressed
    ? await withoutSuppressed(stages.decide, environment, decided.sends, now)
    : { sends: decided.sends, skipped: [] }
  const placed = await costly.timed(environment, large, () =>
    placeBatch(stages.place, environment, facts, { ...decided, madeAfter }, left, now),
  )
  return decidedAtOnce(stages, environment, jobs, placed, decided.madeAfter)
}

/** A traced event is decided where its spans are created. */
function isDecidable(job: PreLeasedJob, version: WorkflowVersion | undefined): boolean {
  const steps = version?.definition.steps ?? []
  if (!decidable.has(steps[job.step]?.template.type) || job.event?.traceparent != null) return false
  const follower = followerOf(job, version)
  return follower === undefined || decidable.has(steps[follower.step]?.template.type)
}

function decidedAtOnce(
  { place, dispatch: dispatching, unconfirmed, decide: { world } }: AtOnceStages,
  environment: Environment,
  jobs: readonly PreLeasedJob[],
  { settlements, begun, waiting, calls, madeAfter }: PlacedBatch,
  followers: DecidedAtOnce['madeAfter'],
): DecidedAtOnce {
  return {
    settlements,
    madeAfter: followers,
    written: (ended) => {
      countWritten(world.meter, settlements, new Set(settlements.map(({ job }) => job.id)), world.now())
      const followed = new Set(followers.values())
      const goesOn = settlements.filter(({ job, next }) => next !== null && !followed.has(job.id))
      const handedOn = new Set(goesOn.map(({ job }) => followers.get(job.id) ?? job.id))
      const own = jobs.filter(({ id }) => !handedOn.has(id))
      const handling = { done: ended, again: () => {} }
      dispatch(dispatching, environment, { jobs: own, begun, waiting, calls, madeAfter }, handling)
    },
    notWritten: (isUnknown) => {
      if (isUnknown) unconfirmed.note({ jobs, madeAfter: followers, marked: begun.flatMap(markedBy) })
      leaveSlots(begun)
      place.sends.wake()
    },
  }
}

class NotAtHand extends Error {
  constructor() {
    super('More data must be loaded first')
    this.name = 'NotAtHand'
  }
}

const refuse = (): Promise<never> => Promise.reject(new NotAtHand())
const noSql: Sql = { rows: refuse, row: refuse, run: refuse }
const nothingToRead: Db = { ...noSql, transaction: refuse, together: (work) => work(noSql) }
