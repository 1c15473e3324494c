// Partitions of what grows with every event: which are missing for this month and the next, and attaching one.
import type { Sql, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'

export interface MissingPartition {
  readonly parent: string
  /** Its start. */
  readonly month: Date
}

/** Any number; every node requests the same lock, so one creates them and the others continue. */
const partitionLock = 7_071_958
/**
 * The next month has its partitions from so long before it begins: a service that is suspended over the turn of a month still finds
 * them. Not sooner: every connection plans its statements for every partition, and a month costs ten of them 13 MB.
 */
const aheadMs = 14 * 24 * 3_600_000
/** A default partition that takes longer to scan, under its lock, is left for later. */
const attachMsMax = 2_000

export async function listMissingPartitions(db: Sql, now: Date): Promise<MissingPartition[]> {
  const soon = new Date(now.getTime() + aheadMs)
  return db.rows(sql`
    select parent, month from missing_partitions(${now}, 1)
    union select parent, month from missing_partitions(${soon}, 1)
    order by month, parent`)
}

/** Whether rows of that month are in the default partition. Checked without a lock, before one is requested. */
export async function isInDefault(db: Sql, { parent, month }: MissingPartition): Promise<boolean> {
  const row = await db.row<{ holds: boolean }>(sql`select default_holds(${parent}, ${month}) as holds`)
  return row?.holds === true
}

/** `elsewhere`: another node is at it, or was faster. */
export async function attachPartition(
  tx: Tx,
  { parent, month }: MissingPartition,
  waitMs: number,
): Promise<'made' | 'elsewhere'> {
  const held = await tx.row<{ locked: boolean }>(sql`select pg_try_advisory_xact_lock(${partitionLock}) as locked`)
  if (held?.locked !== true) return 'elsewhere'
  await tx.run(sql`select set_config('lock_timeout', ${`${waitMs}ms`}, true),
                          set_config('statement_timeout', ${`${attachMsMax}ms`}, true)`)
  const row = await tx.row<{ made: boolean }>(sql`select attach_partition(${parent}, ${month}) as made`)
  return row?.made === true ? 'made' : 'elsewhere'
}
