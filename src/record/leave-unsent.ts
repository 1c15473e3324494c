// Ends jobs whose messages are not sent after all: no provider is called for them again.
import type { Db } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type { Queue } from '../queue/queue.ts'
import { dropReady } from '../store/messages/sending.ts'
import type { World } from '../world/world.ts'
import type { Settlement } from './settlement.ts'
import { writeSettlements } from './write-settlements.ts'

export interface LeftUnsent {
  readonly settlement: Settlement
  /** Those that are ready are not sent. */
  readonly messageIds: readonly string[]
}

/** A job whose lease was lost in the meantime is left to its current holder. */
export async function leaveUnsent(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  left: readonly LeftUnsent[],
): Promise<void> {
  await db.transaction(async (tx) => {
    const settlements = left.map(({ settlement }) => settlement)
    const { stillLeased } = await writeSettlements(tx, world, environment, queue, {
      settlements,
      reservation: undefined,
    })
    const ours = left.filter(({ settlement }) => stillLeased.has(settlement.job.id))
    await dropReady(
      tx,
      environment,
      ours.flatMap(({ messageIds }) => messageIds),
    )
  })
  if (left.some(({ settlement }) => settlement.next !== null)) queue.poke()
}
