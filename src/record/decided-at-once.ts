// Jobs that are decided before their events are written: their rows are made as what they have come to.
import type { Part } from '../db/one-statement.ts'
import type { Job } from '../domain/delivery/job.ts'
import type { Environment } from '../domain/environment.ts'
import { fastFlatMap } from '../domain/fast-flat-map.ts'
import type { InsertLease, NewJob } from '../store/jobs/insert.ts'
import { jobInsertions } from '../store/jobs/insert.ts'
import { messageInsertions } from '../store/messages/insert.ts'
import type { CountedJob, CountedKey } from '../store/operate/counts.ts'
import { countedJobs } from './counts/count-settlements.ts'
import type { PreLeasedJob } from './notify.ts'
import type { MadeAfter, Settlement } from './settlement.ts'
import { decidedJobs, endedJobsOf, nextJobs } from './write-settlements.ts'

/** What first jobs have come to. It holds slots of providers until one of its functions is called. */
export interface DecidedAtOnce {
  readonly settlements: readonly Settlement[]
  /** The jobs that follow others at once. */
  readonly madeAfter: MadeAfter
  /** Committed: what was begun goes out. `ended` is called for each notification of which no step is left to its own turn. */
  written(ended: () => void): void
  /** Nothing of it is kept; or, where the database gave no answer, perhaps. */
  notWritten(isUnknown: boolean): void
}

/** Their callers wait while they are decided, and so do those that come after them. */
export const decidedAtOnceMax = 100

/** Undefined where they need their own turn: something must be asked first, or is decided only where it is written. */
export type DecideAtOnce = (
  environment: Environment,
  jobs: readonly PreLeasedJob[],
) => Promise<DecidedAtOnce | undefined>

export interface DecidedRows {
  readonly parts: readonly Part[]
  readonly counted: readonly CountedKey[]
  /** The steps that have their own turn, one of a notification at the most. */
  readonly next: readonly NewJob[]
}

/** All of it is new, so nothing is fenced. */
export function decidedRows(
  environment: Environment,
  jobs: readonly Job[],
  { settlements, madeAfter }: DecidedAtOnce,
  insertLease: InsertLease,
): DecidedRows {
  const newJobs = new Map([...jobs.map(({ id }) => [id, id] as const), ...madeAfter])
  const over = fastFlatMap(settlements, (settlement) => endedJobsOf(settlement))
  const next = nextJobs(settlements, madeAfter)
  const messages = fastFlatMap(settlements, (settlement) => settlement.messages)
  return {
    parts: [
      ...jobInsertions(environment, [...decidedJobs(settlements, newJobs), ...over, ...next], insertLease),
      ...messageInsertions(environment, messages),
    ],
    counted: added(countedJobs(settlements, over, [], insertLease.now)),
    next,
  }
}

/** Jobs that count alike share their list of keys: most do. */
function added(jobs: readonly CountedJob[]): CountedKey[] {
  const counts = new Map<CountedJob['keys'], number>()
  for (const { keys } of jobs) counts.set(keys, (counts.get(keys) ?? 0) + 1)
  return [...counts].flatMap(([keys, count]) => keys.map((key) => ({ key, count })))
}
