// Folds what batches counted into counts by minute and by day, and lets old ones go.
import type { Db } from '../../db/sql.ts'
import { storedGrains } from '../../domain/insight/counts.ts'
import { foldDeltas, sweepCounts } from '../../store/operate/counts.ts'
import type { World } from '../../world/world.ts'

/** Readers add up what is not folded yet: a busy node leaves some thousand rows in so long. */
const foldEveryMs = 10_000
/** One statement's worth; more at once would hold the counts of this minute from other nodes for longer. */
const foldBatch = 5_000

/**
 * Folds until a batch comes back short; returns how many rows were folded. A batch that fails is folded another time.
 */
export async function foldCounts(db: Db, signal?: AbortSignal): Promise<number> {
  let total = 0
  let count = foldBatch
  while (count >= foldBatch && signal?.aborted !== true) {
    count = await db.transaction((tx) => foldDeltas(tx, foldBatch))
    total += count
  }
  return total
}

/** Deletes counts that are older than their grain is kept; returns how many rows. */
export async function sweepOldCounts(db: Db, world: World, signal?: AbortSignal): Promise<number> {
  let total = 0
  for (const grain of storedGrains) {
    let count = foldBatch
    while (count >= foldBatch && signal?.aborted !== true) {
      count = await db.transaction((tx) => sweepCounts(tx, world.now(), grain, foldBatch))
      total += count
    }
  }
  return total
}

/** Every node folds; what another one folds is skipped. */
export function startFolding(db: Db, world: World): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      await world.sleep(foldEveryMs, stopping.signal)
      if (stopping.signal.aborted) return
      await foldCounts(db, stopping.signal).catch((error: Error) => {
        world.log.warn({ error: error.message }, 'Could not aggregate counts; will retry shortly')
      })
    }
  })()
  return {
    stop: async () => {
      stopping.abort()
      await loop
    },
  }
}
