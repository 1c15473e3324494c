// Outcomes on their way into the database: known results are kept until they are written, or until another worker has
// the job.
import type { Group } from '../../commit/group.ts'
import { createGroup } from '../../commit/group.ts'
import { isClosedPool, isInfrastructureError } from '../../db/failure.ts'
import type { Db } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Queue } from '../../queue/queue.ts'
import type { JobOutcome } from '../../record/job-outcome.ts'
import { recordOutcomes } from '../../record/record-outcomes.ts'
import type { World } from '../../world/world.ts'
import { createFailingReports } from './failing-reports.ts'
import { createGather } from './gather.ts'

export interface OutcomeRecorder {
  /** Resolves when it is written, or when the job turns out to be another's. Never rejects. */
  record(environment: Environment, outcome: JobOutcome): Promise<void>
  /** Whether the database did not respond: nothing new is claimed before what is known is written. */
  isBehind(): boolean
  /** The service stops: what the database will not take within a few seconds is left to the next start. */
  stop(): void
}

/**
 * Outcomes arrive one by one, and one that is written alone costs twice as much as one of many. So those that follow
 * another closely are collected; the first of a while does not wait. Should the process die in the meantime, what is
 * not written yet is sent again: 20 ms are little compared with the duration of a call to a provider.
 */
const gatheredMs = 20
/** What a batch of jobs sent is recorded in one go, and some more with it. */
const outcomesPerCommitMax = 400
const againMsMin = 200
const againMsMax = 2_000
/** Once the service stops; by then the database is unavailable, or it would have responded. */
const triesAfterStop = 5
/** About once a minute. */
const triesPerWarning = 30
/** An outcome that PostgreSQL rejects because of its content is written without its text. */
const wordyTries = 2
const plainTries = 5

export interface RecorderParts {
  readonly db: Db
  readonly world: World
  readonly queue: Queue
  /** The kept outcomes are written: claims may continue. */
  onCaughtUp(): void
}

export function createOutcomeRecorder(parts: RecorderParts): OutcomeRecorder {
  const { db, world, queue } = parts
  const reports = createFailingReports()
  const group: Group<JobOutcome, true> = createGroup({
    sizeMax: outcomesPerCommitMax,
    keyOf: (outcome) => outcome.settlement.job.id,
    commit: async (environment, items) => {
      await reports.once(items, (some) => recordOutcomes(db, world, environment, queue, some))
      return items.map((): true => true)
    },
  })
  const gather = createGather(world, gatheredMs)
  let behind = 0
  let stopped = false

  /** Until it is written, or given up. */
  async function keepTrying(environment: Environment, given: JobOutcome): Promise<void> {
    let refusals = 0
    for (let attempt = 1; ; attempt += 1) {
      await world.sleep(Math.min(againMsMax, againMsMin * 2 ** Math.min(attempt, 8)))
      try {
        await group.add(environment, refusals < wordyTries ? given : withoutWords(given))
        return
      } catch (error) {
        const facts = { err: error, jobId: given.settlement.job.id, attempt }
        if (!isInfrastructureError(error)) refusals += 1
        const isOver = isClosedPool(error) || (stopped && attempt >= triesAfterStop)
        if (isOver || refusals >= wordyTries + plainTries) {
          world.log.error(facts, 'Could not record an outcome; the job will run again when its lease expires')
          return
        }
        if (attempt % triesPerWarning === 0) world.log.warn(facts, 'Could not record an outcome; it is kept in memory')
      }
    }
  }

  return {
    record: async (environment, outcome) => {
      const gathered = gather.pass()
      if (gathered !== undefined) await gathered
      try {
        await group.add(environment, outcome)
      } catch (error) {
        if (behind === 0)
          world.log.warn({ err: error }, 'Could not record outcomes; they are kept in memory until this succeeds')
        // One that is rejected because of its content holds up no other.
        if (!isInfrastructureError(error)) return keepTrying(environment, outcome)
        behind += 1
        await keepTrying(environment, outcome)
        behind -= 1
        if (behind === 0) parts.onCaughtUp()
      }
    },
    isBehind: () => behind > 0,
    stop: () => {
      stopped = true
    },
  }
}

/** Characters that no vendor's id contains. */
const unusual = /[^\x20-\x7e]/g

/** What matters of it: the words of a provider are not worth a message that is sent twice. */
function withoutWords({ settlement, results, ...more }: JobOutcome): JobOutcome {
  return {
    ...more,
    settlement: { ...settlement, details: [] },
    results: results.map((result) => ({
      ...result,
      providerMessageId: result.providerMessageId?.replaceAll(unusual, '') ?? null,
      error: result.error && { ...result.error, errorText: 'The response of the provider could not be stored' },
    })),
  }
}
