// Makes the jobs of dead nodes due again: the leases of one of them, or everything if no other process can be at work.
import type { Clock } from '../../db/clock.ts'
import type { Db, Sql } from '../../db/sql.ts'
import { nilId } from '../../domain/nil-id.ts'
import { everyLease } from '../../queue/lease-source.ts'
import type { DeadNode, QueueTable } from '../../queue/leases.ts'
import { freeLeases } from '../../queue/leases.ts'
import { leaseMs } from '../../queue/queue.ts'
import { endAllOthers, listHeartbeats } from '../../store/operate/nodes.ts'
import type { World } from '../../world/world.ts'

export interface Freed {
  readonly freed: number
  readonly left: number
}

export interface LeftoverParts {
  readonly db: Db
  readonly world: World
  readonly clock: Clock
  readonly queues: readonly QueueTable[]
}

/** No other process works on this database: every node in its tables is dead, and nothing is in flight. */
export async function clearLeftovers(parts: LeftoverParts): Promise<void> {
  // No node has this id: all are others.
  await parts.db.transaction((tx) => endAllOthers(tx, nilId))
  await freeEverything({ ...parts, heartbeatDb: parts.db })
}

/** Everything that is leased, by whomever. */
export async function freeEverything(parts: LeftoverParts & { readonly heartbeatDb: Db }): Promise<void> {
  const nodes = await listHeartbeats(parts.heartbeatDb)
  const [seenFirst] = nodes.map(({ seenAt }) => seenAt).sort((a, b) => a.getTime() - b.getTime())
  const { freed, left } = await freeLeasesOf(parts.db, parts, {
    ...everyLease,
    ...(seenFirst && { aliveAt: seenFirst }),
  })
  if (freed + left > 0) parts.world.log.info({ freed, left }, 'Jobs left over from an earlier run are due again')
}

export async function freeLeasesOf(
  db: Sql,
  { clock, queues }: Pick<LeftoverParts, 'clock' | 'queues'>,
  dead: Omit<DeadNode, 'leaseMs'>,
): Promise<Freed> {
  const results: Freed[] = []
  for (const queue of queues) results.push(await freeLeases(db, queue, clock, { ...dead, leaseMs }))
  return {
    freed: results.reduce((sum, one) => sum + one.freed, 0),
    left: results.reduce((sum, one) => sum + one.left, 0),
  }
}
