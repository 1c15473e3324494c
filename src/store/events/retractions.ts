// The retractions table: calls to take an event back, and how far each has come.

import type { Sql, Tx } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import type { Channel } from '../../domain/delivery/integration.ts'
import type { RedriveState, Retraction } from '../../domain/delivery/redrive.ts'
import { firstIdAt } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'

export interface RetractionRow {
  readonly id: string
  readonly state: RedriveState
  readonly event_id: string
  readonly transaction_id: string
  readonly requested_by: string
  readonly canceled: number
  readonly removed: number
  readonly sent: Readonly<Partial<Record<Channel, number>>>
  readonly created_at: Date
  readonly updated_at: Date
  readonly ended_at: Date | null
}

const columns = sql`r.id, r.state, r.event_id, r.transaction_id, r.requested_by, r.canceled, r.removed, r.sent,
  r.created_at, r.updated_at, r.ended_at`

export async function insertRetraction(
  tx: Tx,
  environment: Environment,
  retraction: { id: string; eventId: string; transactionId: string; requestedBy: string; now: Date },
): Promise<RetractionRow> {
  const row = await tx.row<RetractionRow>(sql`
    insert into retractions as r (environment_id, id, state, event_id, transaction_id, requested_by, created_at, updated_at)
    values (${environment.id}, ${retraction.id}, 'running', ${retraction.eventId}, ${retraction.transactionId},
            ${retraction.requestedBy}, ${retraction.now}, ${retraction.now})
    returning ${columns}`)
  return row as RetractionRow
}

/** More of the old ones go with the next call. */
const sweptAtOnce = 100

/** Forgets those that ended long ago: a few with every new one, so that there are never many. */
export async function sweepRetractions(tx: Tx, environment: Environment, before: Date): Promise<void> {
  await tx.run(sql`
    delete from retractions where environment_id = ${environment.id} and id = any(array(
      select r.id from retractions r
      where r.environment_id = ${environment.id} and r.id < ${firstIdAt(before)}::uuid and r.ended_at < ${before}
      order by r.id limit ${sweptAtOnce} for update skip locked))`)
}

export async function lockRetraction(tx: Tx, environment: Environment, id: string): Promise<RetractionRow | undefined> {
  return tx.row<RetractionRow>(sql`
    select ${columns} from retractions r where r.environment_id = ${environment.id} and r.id = ${id} for update`)
}

export interface RetractedSoFar {
  readonly canceled: number
  readonly removed: number
  readonly sent: Readonly<Partial<Record<Channel, number>>>
}

/** The total so far, not what a page added. */
export async function advanceRetraction(
  tx: Tx,
  environment: Environment,
  id: string,
  { canceled, removed, sent }: RetractedSoFar,
  { isDone, now }: { isDone: boolean; now: Date },
): Promise<RetractionRow> {
  const row = await tx.row<RetractionRow>(sql`
    update retractions r set canceled = ${canceled}, removed = ${removed}, sent = ${json(sent)}::jsonb,
      updated_at = ${now}, state = ${isDone ? 'completed' : 'running'}, ended_at = ${isDone ? now : null}
    where r.environment_id = ${environment.id} and r.id = ${id} returning ${columns}`)
  return row as RetractionRow
}

export async function findRetraction(db: Sql, environment: Environment, id: string): Promise<Retraction | undefined> {
  const row = await db.row<RetractionRow & { is_buried: boolean }>(sql`
    select ${columns}, coalesce((
      select t.due_at is null from tasks t where t.environment_id = ${environment.id} and t.id = r.id), true) as is_buried
    from retractions r where r.environment_id = ${environment.id} and r.id = ${id}`)
  return row && retractionOf(row)
}

/** Forgets those of events that are gone: the transaction ids were their callers' own words. */
export async function forgetRetractionsOf(
  tx: Tx,
  environment: Environment,
  eventIds: readonly string[],
): Promise<number> {
  if (eventIds.length === 0) return 0
  return tx.run(sql`
    delete from retractions where environment_id = ${environment.id} and event_id = any(${eventIds}::uuid[])`)
}

export const retractionOf = (row: RetractionRow & { readonly is_buried?: boolean }): Retraction => ({
  _id: row.id,
  state: row.state === 'running' && row.is_buried === true ? 'buried' : row.state,
  transactionId: row.transaction_id,
  canceled: row.canceled,
  removed: row.removed,
  sent: row.sent,
  requestedBy: row.requested_by,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  ...(row.ended_at === null ? {} : { endedAt: row.ended_at.toISOString() }),
})
