// How long data is kept, how old the oldest is, and what is dropped next.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import { timestampOfId } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import type { RetentionDays } from '../../domain/operate/retention.ts'
import { cutoffOf, droppableAt, monthName } from '../../domain/operate/retention.ts'
import { listEnvironments } from '../../store/operate/installation.ts'
import type { Month } from '../../store/operate/retention.ts'
import { findRetentionProgress, isGathered, keptByQueue, listMonths } from '../../store/operate/retention.ts'

export interface RetentionView {
  /** Null when everything is kept. */
  readonly retentionDays: number | null
  /** Of the caller's environment. */
  readonly oldestEventAt: string | null
  /** The oldest month that is there, of all environments. */
  readonly oldestMonth: string | null
  readonly nextDrop: { readonly month: string; readonly at: string } | null
  /** Months that have expired, and in which something still has to run, to return or to be sent. */
  readonly keptMonths: readonly string[]
  readonly lastDroppedAt: string | null
}

export async function findRetention(
  db: Sql,
  environment: Environment,
  { days, now }: { days: RetentionDays; now: Date },
): Promise<RetentionView> {
  const [months, progress, environments, oldestEventAt] = await Promise.all([
    listMonths(db),
    findRetentionProgress(db),
    listEnvironments(db),
    findOldestEvent(db, environment),
  ])
  const cutoff = cutoffOf(days, now)
  const old = cutoff === undefined ? [] : months.filter((month) => month.to <= cutoff)
  const kept = new Set<Month>()
  for (const month of old) {
    const isQueued = (await keptByQueue(db, environments, month)) !== undefined
    if (isQueued || (await isGathered(db, environments, month))) kept.add(month)
  }
  const next = months.find((month) => !kept.has(month))
  return {
    retentionDays: days === 'off' ? null : days,
    oldestEventAt: oldestEventAt?.toISOString() ?? null,
    oldestMonth: months[0] === undefined ? null : monthName(months[0].from),
    nextDrop:
      days === 'off' || next === undefined
        ? null
        : { month: monthName(next.from), at: droppableAt(days, next.to).toISOString() },
    keptMonths: [...kept].map((month) => monthName(month.from)),
    lastDroppedAt: progress.droppedAt?.toISOString() ?? null,
  }
}

async function findOldestEvent(db: Sql, environment: Environment): Promise<Date | undefined> {
  const row = await db.row<{ id: string }>(sql`
    select id from events where environment_id = ${environment.id} order by id limit 1`)
  return row && timestampOfId(row.id)
}
