// Erases environments that were deleted: table by table, a batch a transaction, by one node at a time, until nothing is left.
import type { Clock } from '../../db/clock.ts'
import type { Db } from '../../db/sql.ts'
import type { LeasedDeletion } from '../../store/operate/environment-deletions.ts'
import { advanceDeletion, erasedTables, eraseRows, leaseDeletion } from '../../store/operate/environment-deletions.ts'
import { forgetKeysOfEnvironment } from '../../store/operate/installation.ts'
import type { World } from '../../world/world.ts'

/** Small enough that a batch takes milliseconds. */
const batchRows = 1_000
const lookEveryMs = 10_000
const leaseMs = 60_000
/**
 * Calls and steps that had begun when the environment was deleted have written by then. What they wrote is found by another pass over
 * all tables, and the last one finds nothing.
 */
const settlesWithinMs = 60_000

/** One pass over each environment that is being deleted; says how many rows went. */
export async function eraseEnvironments(db: Db, world: World, clock: Clock, signal?: AbortSignal): Promise<number> {
  let total = 0
  for (const seen = new Set<string>(); signal?.aborted !== true; ) {
    const turn = { lease: world.newId(world.now()), leaseMs, clock }
    const deletion = await db.transaction((tx) => leaseDeletion(tx, turn))
    if (deletion === undefined) return total
    total += await erasePass(db, world, clock, deletion, signal)
    // One that is not done yet waits for what had begun: the next look goes on.
    if (seen.has(deletion.environment.id)) return total
    seen.add(deletion.environment.id)
  }
  return total
}

async function erasePass(
  db: Db,
  world: World,
  clock: Clock,
  deletion: LeasedDeletion,
  signal?: AbortSignal,
): Promise<number> {
  const { environment } = deletion
  const removed: Record<string, number> = { ...deletion.removed }
  let total = 0
  for (const table of erasedTables) {
    for (let count = batchRows; count >= batchRows; ) {
      if (signal?.aborted === true) return total
      count = await db.transaction(async (tx) => {
        const gone = await eraseRows(tx, environment, table, batchRows)
        if (gone > 0) removed[table.name] = (removed[table.name] ?? 0) + gone
        const progress = { phase: table.name, removed, leaseMs, completedAt: null }
        const isOurs = await advanceDeletion(tx, deletion, progress, clock)
        if (!isOurs) throw new Error('Another node erases this environment')
        return gone
      })
      total += count
    }
  }
  await endPass(db, world, clock, deletion, { removed, isEmpty: total === 0 })
  return total
}

async function endPass(
  db: Db,
  world: World,
  clock: Clock,
  deletion: LeasedDeletion,
  { removed, isEmpty }: { removed: Readonly<Record<string, number>>; isEmpty: boolean },
): Promise<void> {
  const isDone = isEmpty && deletion.ageMs >= settlesWithinMs
  await db.transaction(async (tx) => {
    if (isDone) await forgetKeysOfEnvironment(tx, deletion.environment)
    const phase = isDone ? 'done' : 'settling'
    const completedAt = isDone ? world.now() : null
    await advanceDeletion(tx, deletion, { phase, removed, leaseMs: 0, completedAt }, clock)
  })
  if (isDone) world.log.info({ environment: deletion.name, removed }, 'The environment was erased')
}

/** Every node looks; one at a time erases. */
export function startErasingEnvironments(db: Db, world: World, clock: Clock): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      await world.sleep(lookEveryMs, stopping.signal)
      if (stopping.signal.aborted) return
      await eraseEnvironments(db, world, clock, stopping.signal).catch((error: Error) => {
        world.log.warn({ error: error.message }, 'An environment could not be erased; it is tried again')
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
