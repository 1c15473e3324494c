// Redrives: the list of them, and what one would find.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { FailureReason, Redrive, RedriveBounds } from '../../domain/delivery/redrive.ts'
import type { Environment } from '../../domain/environment.ts'
import { grouped } from '../../domain/grouped.ts'
import { failedPerPage, findMatching } from '../../record/recovery/redrive-page.ts'
import type { RedriveRow } from '../../store/events/redrives.ts'
import { redriveOf, shownRedrive } from '../../store/events/redrives.ts'
import type { CursorPage, CursorQuery, List } from '../page/keyset-page.ts'
import { keysetPage } from '../page/keyset-page.ts'

type Row = RedriveRow & { readonly is_buried: boolean }

export async function redrivesPage(
  db: Sql,
  environment: Environment,
  query: CursorQuery,
): Promise<CursorPage<Redrive>> {
  const page = await keysetPage(db, redriveList(environment), query)
  return { ...page, data: page.data.map(redriveOf) }
}

const redriveList = (environment: Environment): List<Row> => ({
  columns: shownRedrive(environment),
  from: sql`from redrives r`,
  where: [sql`r.environment_id = ${environment.id}`],
  id: sql`r.id`,
  orders: { _id: { column: sql`r.id`, cast: 'uuid' } },
  cursorOf: (row) => ({ value: row.id, id: row.id }),
})

export interface DryRun {
  readonly dryRun: true
  /** Failed steps looked at. */
  readonly lookedAt: number
  /** Whether there are more of them. */
  readonly isCapped: boolean
  /** Notifications that fit. */
  readonly matched: number
  readonly reasons: readonly {
    readonly reason: FailureReason
    readonly count: number
    readonly notificationIds: readonly string[]
  }[]
}

/** Enough to judge a filter by, and at most a second's work. */
const lookedAtMax = 10_000
const sampleMax = 10

/** What a redrive would find now. A notification counts once, by its first failure. */
export async function dryRun(db: Sql, environment: Environment, bounds: RedriveBounds): Promise<DryRun> {
  const found = new Map<string, FailureReason>()
  let lookedAt = 0
  let after: string | null = null
  let isMore = true
  while (isMore && lookedAt < lookedAtMax) {
    const walk = { bounds, after, limit: failedPerPage, until: null, redriveId: null }
    const { looked, matched } = await findMatching(db, environment, walk)
    for (const { job, failure } of matched) if (!found.has(job.id)) found.set(job.id, failure.reason)
    lookedAt += looked.length
    after = looked.at(-1)?.jobId ?? after
    isMore = looked.length === failedPerPage
  }
  const byReason = grouped([...found], ([, reason]) => reason)
  const reasons = [...byReason].map(([reason, all]) => ({
    reason,
    count: all.length,
    notificationIds: all.slice(0, sampleMax).map(([id]) => id),
  }))
  reasons.sort((a, b) => b.count - a.count)
  return { dryRun: true, lookedAt, isCapped: isMore, matched: found.size, reasons }
}
