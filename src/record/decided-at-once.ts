// Jobs that are decided before their events are written: their rows are inserted with their result.
import type { Part } from '../db/one-statement.ts'
import { sql } from '../db/sql.ts'
import type { Job } from '../domain/delivery/job.ts'
import type { Environment } from '../domain/environment.ts'
import { fastFlatMap } from '../domain/fast-flat-map.ts'
import type { InsertLease, NewJob } from '../store/jobs/insert.ts'
import { jobInsertions } from '../store/jobs/insert.ts'
import { messageInsertions } from '../store/messages/insert.ts'
import type { CountedJob, CountedKey } from '../store/operate/counts.ts'
import { newsInsertions } from '../store/webhooks/webhook-news.ts'
import type { World } from '../world/world.ts'
import { countedJobs } from './counts/count-settlements.ts'
import type { PreLeasedJob } from './notify.ts'
import type { MadeAfter, Settlement } from './settlement.ts'
import { newsOfMessages } from './webhooks/message-news.ts'
import { decidedJobs, endedJobsOf, nextJobs } from './write-settlements.ts'

/** The results of first jobs. It holds slots of providers until one of its functions is called. */
export interface DecidedAtOnce {
  readonly settlements: readonly Settlement[]
  /** The jobs that follow others at once. */
  readonly madeAfter: MadeAfter
  /**
   * Committed: the started calls are made. `ended` is called for each notification without a step that runs separately.
   */
  written(ended: () => void): void
  /** Nothing was written; or, if the database did not respond, possibly. */
  notWritten(isUnknown: boolean): void
}

/** Their callers wait while they are decided, and so do those that come after them. */
export const decidedAtOnceMax = 100

/** Undefined if they must run separately: something must be called first, or is decided only when it is written. */
export type DecideAtOnce = (
  environment: Environment,
  jobs: readonly PreLeasedJob[],
) => Promise<DecidedAtOnce | undefined>

export interface DecidedRows {
  readonly parts: readonly Part[]
  readonly counted: readonly CountedKey[]
  /** The steps that run separately, at most one per notification. */
  readonly next: readonly NewJob[]
}

/** All of it is new, so nothing is fenced. */
export function decidedRows(
  world: World,
  environment: Environment,
  jobs: readonly Job[],
  { settlements, madeAfter }: DecidedAtOnce,
  insertLease: InsertLease,
): DecidedRows {
  const newJobs = new Map([...jobs.map(({ id }) => [id, id] as const), ...madeAfter])
  const over = fastFlatMap(settlements, (settlement) => endedJobsOf(settlement))
  const next = nextJobs(settlements, madeAfter)
  const messages = fastFlatMap(settlements, (settlement) => settlement.messages)
  const { now } = insertLease
  const news = { as: sql`news_new`, name: 'new', news: newsOfMessages(world, messages, now) }
  return {
    parts: [
      ...jobInsertions(environment, [...decidedJobs(settlements, newJobs), ...over, ...next], insertLease),
      ...messageInsertions(environment, messages),
      ...newsInsertions(environment, [news], { newId: () => world.newId(now), now }),
    ],
    counted: added(countedJobs(settlements, over, [], now)),
    next,
  }
}

/** Jobs that count alike share their list of keys: most do. */
function added(jobs: readonly CountedJob[]): CountedKey[] {
  const counts = new Map<CountedJob['keys'], number>()
  for (const { keys } of jobs) counts.set(keys, (counts.get(keys) ?? 0) + 1)
  return [...counts].flatMap(([keys, count]) => keys.map((key) => ({ key, count })))
}
