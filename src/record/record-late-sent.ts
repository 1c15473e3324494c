// Messages that were certainly sent although their jobs are another's by now: written, counted and shown all the same.
import { oneStatement } from '../db/one-statement.ts'
import type { Sql } from '../db/sql.ts'
import { sql } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { fastFlatMap } from '../domain/fast-flat-map.ts'
import { lateJobs } from '../store/jobs/late-sent.ts'
import { lateSent, sentLate } from '../store/messages/late-sent.ts'
import { jobCountInsertion } from '../store/operate/counts.ts'
import { newsInsertions } from '../store/webhooks/webhook-news.ts'
import type { World } from '../world/world.ts'
import { countedLate } from './counts/count-settlements.ts'
import type { JobOutcome } from './job-outcome.ts'
import { newsOfResults } from './webhooks/message-news.ts'

/** Whoever holds such a job finds its message done. Returns the ids of those that were not settled before. */
export async function recordLateSent(
  db: Sql,
  environment: Environment,
  lost: readonly JobOutcome[],
  world: World,
): Promise<ReadonlySet<string>> {
  const known = fastFlatMap(lost, onlySent)
  if (known.length === 0) return new Set()
  const now = world.now()
  const jobs = known.map(({ settlement: { job, details }, results }) => ({
    id: job.id,
    messageIds: results.map(({ id }) => id),
    details: details.filter(({ code }) => code === 'messageSent'),
  }))
  const results = fastFlatMap(known, (outcome) => outcome.results)
  const counted = jobCountInsertion(environment, countedLate(lost, now), { name: 'late', ids: sentLate }, now)
  const news = newsInsertions(
    environment,
    [{ as: sql`news_late`, name: 'late', news: newsOfResults(world, results, now), written: sentLate }],
    { newId: () => world.newId(now), now },
  )
  const parts = [lateJobs(environment, jobs), lateSent(environment, results, now), counted, ...news]
  const rows = await db.rows<{ id: string }>(oneStatement(parts, sentLate))
  return new Set(rows.map(({ id }) => id))
}

function onlySent(outcome: JobOutcome): JobOutcome[] {
  const results = outcome.results.filter(({ state, status }) => state === 'done' && status === 'sent')
  return results.length === 0 ? [] : [{ ...outcome, results }]
}
