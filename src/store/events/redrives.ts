// The redrives table: requests to resend what failed, and the progress of each.

import type { Sql, Tx } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import type { Redrive, RedriveBounds, RedriveFilter, RedriveState, SkipReason } from '../../domain/delivery/redrive.ts'
import { firstIdAt } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'

export interface RedriveRow {
  readonly id: string
  readonly state: RedriveState
  readonly filter: RedriveFilter
  readonly bounds: RedriveBounds
  readonly requested_by: string
  readonly after_id: string | null
  readonly looked_at: number
  readonly matched: number
  readonly redriven: number
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>
  readonly created_at: Date
  readonly updated_at: Date
  readonly ended_at: Date | null
}

/** Of a row called `r`. */
const redriveColumns = sql`r.id, r.state, r.filter, r.bounds, r.requested_by, r.after_id, r.looked_at, r.matched,
  r.redriven, r.skipped, r.created_at, r.updated_at, r.ended_at`

export async function insertRedrive(
  tx: Tx,
  environment: Environment,
  redrive: { id: string; filter: RedriveFilter; bounds: RedriveBounds; requestedBy: string; now: Date },
): Promise<RedriveRow> {
  const row = await tx.row<RedriveRow>(sql`
    insert into redrives as r (environment_id, id, state, filter, bounds, requested_by, created_at, updated_at)
    values (${environment.id}, ${redrive.id}, 'running', ${json(redrive.filter)}::jsonb, ${json(redrive.bounds)}::jsonb,
            ${redrive.requestedBy}, ${redrive.now}, ${redrive.now})
    returning ${redriveColumns}`)
  return row as RedriveRow
}

/** More of the old ones go with the next call. */
const sweptAtOnce = 100

/** Forgets those that ended long ago: a few with every new one, so that there are never many. */
export async function sweepRedrives(tx: Tx, environment: Environment, before: Date): Promise<void> {
  await tx.run(sql`
    delete from redrives where environment_id = ${environment.id} and id = any(array(
      select r.id from redrives r
      where r.environment_id = ${environment.id} and r.id < ${firstIdAt(before)}::uuid and r.ended_at < ${before}
      order by r.id limit ${sweptAtOnce} for update skip locked))`)
}

/** No one else advances it before the transaction ends. */
export async function lockRedrive(tx: Tx, environment: Environment, id: string): Promise<RedriveRow | undefined> {
  return tx.row<RedriveRow>(sql`
    select ${redriveColumns} from redrives r where r.environment_id = ${environment.id} and r.id = ${id} for update`)
}

export interface RedriveProgress {
  readonly afterId: string | null
  readonly lookedAt: number
  readonly matched: number
  readonly redriven: number
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>
  readonly isDone: boolean
}

/** The total so far, not what a page added. */
export async function advanceRedrive(
  tx: Tx,
  environment: Environment,
  id: string,
  progress: RedriveProgress,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update redrives set after_id = ${progress.afterId}, looked_at = ${progress.lookedAt}, matched = ${progress.matched},
      redriven = ${progress.redriven}, skipped = ${json(progress.skipped)}::jsonb, updated_at = ${now},
      state = ${progress.isDone ? 'completed' : 'running'}, ended_at = ${progress.isDone ? now : null}
    where environment_id = ${environment.id} and id = ${id}`)
}

export async function stopRedrive(
  tx: Tx,
  environment: Environment,
  id: string,
  now: Date,
): Promise<RedriveRow | undefined> {
  return tx.row<RedriveRow>(sql`
    update redrives r set state = 'stopped', ended_at = ${now}, updated_at = ${now}
    where r.environment_id = ${environment.id} and r.id = ${id} and r.state = 'running' returning ${redriveColumns}`)
}

/** One whose task was buried is stopped, whatever its own row says; buried tasks are swept after some months. */
const isBuried = (environment: Environment) => sql`coalesce((
  select t.due_at is null from tasks t where t.environment_id = ${environment.id} and t.id = r.id), true) as is_buried`

export const shownRedrive = (environment: Environment) => sql`${redriveColumns}, ${isBuried(environment)}`

export async function findRedrive(db: Sql, environment: Environment, id: string): Promise<Redrive | undefined> {
  const row = await db.row<RedriveRow & { is_buried: boolean }>(sql`
    select ${shownRedrive(environment)} from redrives r where r.environment_id = ${environment.id} and r.id = ${id}`)
  return row && redriveOf(row)
}

export const redriveOf = (row: RedriveRow & { readonly is_buried?: boolean }): Redrive => ({
  _id: row.id,
  state: row.state === 'running' && row.is_buried === true ? 'buried' : row.state,
  filter: row.filter,
  lookedAt: row.looked_at,
  matched: row.matched,
  redriven: row.redriven,
  skipped: row.skipped,
  requestedBy: row.requested_by,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  ...(row.ended_at === null ? {} : { endedAt: row.ended_at.toISOString() }),
})

/**
 * Deletes those that were only for one person: their filter names the person. One that still runs then ends by itself.
 */
export async function forgetRedrivesOf(
  tx: Tx,
  environment: Environment,
  { subscriberId, until }: { subscriberId: string; until: Date },
): Promise<number> {
  return tx.run(sql`
    delete from redrives
    where environment_id = ${environment.id} and filter->>'subscriberId' = ${subscriberId} and created_at <= ${until}`)
}
