// The erasures table: receipts of people who were erased, and how far those are who are being.
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Erasure, ErasurePhase, Removed } from '../../domain/people/erasure.ts'
import { addedUp, removedKinds } from '../../domain/people/erasure.ts'

interface ErasureRow {
  readonly id: string
  readonly subscriber_hash: Buffer
  readonly requested_by: string
  readonly requested_at: Date
  readonly phase: ErasurePhase
  readonly removed: Removed
  readonly completed_at: Date | null
  /** Its task was buried, and perhaps swept since. */
  readonly is_stuck: boolean
}

const columnsOf = (environment: Environment): Statement => sql`
  e.id, e.subscriber_hash, e.requested_by, e.requested_at, e.phase, e.removed, e.completed_at,
  not exists (
    select 1 from tasks t
    where t.environment_id = ${environment.id} and t.id = e.id and t.due_at is not null) as is_stuck`

/** Undefined when one is running for the same person. */
export async function insertErasure(
  tx: Tx,
  environment: Environment,
  erasure: { id: string; subscriberHash: Buffer; requestedBy: string; removed: Removed; now: Date },
): Promise<Erasure | undefined> {
  const row = await tx.row<ErasureRow>(sql`
    insert into erasures as e (environment_id, id, subscriber_hash, requested_by, requested_at, phase, removed)
    values (${environment.id}, ${erasure.id}, ${erasure.subscriberHash}, ${erasure.requestedBy}, ${erasure.now}, 'canceling',
            ${json(erasure.removed)}::jsonb)
    on conflict (environment_id, subscriber_hash) where completed_at is null do nothing
    returning ${columnsOf(environment)}`)
  return row && erasureOf(row)
}

export async function findErasure(db: Sql, environment: Environment, id: string): Promise<Erasure | undefined> {
  const row = await db.row<ErasureRow>(sql`
    select ${columnsOf(environment)} from erasures e where e.environment_id = ${environment.id} and e.id = ${id}`)
  return row && erasureOf(row)
}

/** The one that is not over for this person. */
export async function findRunningErasure(
  db: Sql,
  environment: Environment,
  hash: Buffer,
): Promise<Erasure | undefined> {
  const row = await db.row<ErasureRow>(sql`
    select ${columnsOf(environment)} from erasures e
    where e.environment_id = ${environment.id} and e.subscriber_hash = ${hash} and e.completed_at is null`)
  return row && erasureOf(row)
}

/** Counts what a page removed; only the holder of the task does. */
export async function advanceErasure(
  tx: Tx,
  environment: Environment,
  page: { id: string; phase: ErasurePhase; removed: Removed; completedAt: Date | null },
): Promise<void> {
  const before = await tx.row<{ removed: Removed }>(sql`
    select removed from erasures where environment_id = ${environment.id} and id = ${page.id} for update`)
  const removed = addedUp(before?.removed ?? {}, page.removed)
  await tx.run(sql`
    update erasures set phase = ${page.phase}, removed = ${json(removed)}::jsonb, completed_at = ${page.completedAt}
    where environment_id = ${environment.id} and id = ${page.id}`)
}

function erasureOf(row: ErasureRow): Erasure {
  const removed = removedKinds.map((kind) => [kind, row.removed[kind] ?? 0] as const)
  return {
    _id: row.id,
    status: row.completed_at !== null ? 'completed' : row.is_stuck ? 'stuck' : 'running',
    phase: row.phase,
    subscriberHash: row.subscriber_hash.toString('hex'),
    requestedBy: row.requested_by,
    requestedAt: row.requested_at.toISOString(),
    completedAt: row.completed_at?.toISOString() ?? null,
    removed: Object.fromEntries(removed) as Erasure['removed'],
  }
}
