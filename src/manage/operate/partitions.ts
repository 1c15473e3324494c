// Creates the partitions of this month and the next, one table at a time, without blocking reads or writes.
import { codeOf } from '../../db/failure.ts'
import type { Db } from '../../db/sql.ts'
import { DatabaseUnavailable } from '../../db/sql.ts'
import type { MissingPartition } from '../../store/operate/partitions.ts'
import { attachPartition, isInDefault, listMissingPartitions } from '../../store/operate/partitions.ts'
import { presumeStatistics } from '../../store/operate/presumed-statistics.ts'
import type { World } from '../../world/world.ts'

/**
 * How long each try waits for its locks. A statement that reads the default partition waits behind it as long, so it is
 * little; there is time, since partitions are made two weeks ahead.
 */
const lockWaitMs = 100
const triesMax = 5
const betweenTriesMs = 1_000

export interface PreparedPartitions {
  readonly made: number
  /** Tables that were in use all the time: they are tried again later. */
  readonly busy: number
}

/** `tries`: startup makes one attempt, and leaves the rest to the housekeeping. */
export async function preparePartitions(
  db: Db,
  world: World,
  { tries = triesMax, signal }: { tries?: number; signal?: AbortSignal } = {},
): Promise<PreparedPartitions> {
  let made = 0
  let busy = 0
  try {
    for (const missing of await listMissingPartitions(db, world.now())) {
      if (signal?.aborted === true || (await isInDefault(db, missing))) continue
      const end = await attach(db, world, missing, tries, signal)
      if (end === 'made') made += 1
      if (end === 'busy') busy += 1
    }
    await presumeStatistics(db)
  } catch (error) {
    // Without them everything still has a place, the default partition; so a failure waits for the next time.
    world.log.warn({ error: (error as Error).message }, 'Could not create partitions; will retry later')
    return { made, busy: busy + 1 }
  }
  if (made > 0) world.log.info({ made }, 'Created partitions')
  if (busy > 0) world.log.info({ busy }, 'Could not attach partitions to tables in use; will retry later')
  return { made, busy }
}

async function attach(
  db: Db,
  world: World,
  missing: MissingPartition,
  tries: number,
  signal: AbortSignal | undefined,
): Promise<'made' | 'elsewhere' | 'busy'> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction((tx) => attachPartition(tx, missing, lockWaitMs))
    } catch (error) {
      if (isTaken(error)) return 'elsewhere'
      if (!(error instanceof DatabaseUnavailable && error.busy)) throw error
      if (attempt >= tries || signal?.aborted === true) return 'busy'
      await world.sleep(betweenTriesMs, signal)
    }
  }
}

/**
 * Rows of the month arrived in the default partition in the meantime, or a node of an earlier version created the same
 * table.
 */
function isTaken(error: unknown): boolean {
  const code = codeOf(error)
  return code === '23514' || code === '42P07' || code === '23505'
}
