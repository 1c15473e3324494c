// Partitions of what grows with every event: made ahead of their month, by whichever node comes first.
import type { Tx } from '../db/sql.ts'
import { sql } from '../db/sql.ts'

/** Any number; every node asks for the same lock, so one makes them and the others go on. */
const partitionLock = 7_071_958
/** This month and the next two: a service that was asleep over the turn of a month still finds its place. */
const monthsAhead = 3

/** How many were made. A month that has none yet is kept in the default partition, so nothing is ever lost for want of one. */
export async function makePartitions(tx: Tx, now: Date): Promise<number> {
  const held = await tx.row<{ locked: boolean }>(sql`select pg_try_advisory_xact_lock(${partitionLock}) as locked`)
  if (held?.locked !== true) return 0
  const row = await tx.row<{ made: number }>(sql`select make_partitions(${now}, ${monthsAhead}) as made`)
  return row?.made ?? 0
}
