// Messages that were certainly sent although their jobs are another's by now: written, counted and shown all the same.
import { oneStatement } from '../db/one-statement.ts'
import type { Sql } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { jobCountInsertion } from '../store/counts.ts'
import type { LateSent } from '../store/messages/late-sent.ts'
import { lateSent, sentLate } from '../store/messages/late-sent.ts'
import { countedLate } from './count-settlements.ts'
import type { JobOutcome } from './record-outcomes.ts'

/** Whoever holds such a job finds its message done. Returns the ids of those that were not settled before. */
export async function recordLateSent(
  db: Sql,
  environment: Environment,
  lost: readonly JobOutcome[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const sent = lost.flatMap(sentOf)
  if (sent.length === 0) return new Set()
  const counted = jobCountInsertion(environment, countedLate(lost, now), { name: 'late', ids: sentLate }, now)
  const parts = [...lateSent(environment, sent, now), counted]
  const rows = await db.rows<{ id: string }>(oneStatement(parts, sentLate))
  return new Set(rows.map(({ id }) => id))
}

function sentOf({ settlement: { job, details }, results }: JobOutcome): LateSent[] {
  const told = details.filter(({ code }) => code === 'messageSent')
  const sent = results.filter(({ status, state }) => state === 'done' && status === 'sent')
  // What there is to tell is told once a job.
  return sent.map((result, place) => ({ result, jobId: job.id, details: place === 0 ? told : [] }))
}
