// Removes unregistered device tokens from the subscribers' entries, with the outcome that reported them.
import type { Db, Sql } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type { DeadToken } from '../store/people/subscriber-channels.ts'
import { removeDeviceTokens } from '../store/people/subscriber-channels.ts'
import type { World } from '../world/world.ts'

/**
 * One transaction with what `write` writes. Subscribers are locked before jobs, as everywhere. A device is unregistered
 * whoever holds the job's lease, so it is removed even if the lease was lost in the meantime.
 */
export function pruneTokens<Written>(
  db: Db,
  world: World,
  environment: Environment,
  dead: readonly DeadToken[],
  write: (place: Sql) => Promise<Written>,
): Promise<Written> {
  return db.transaction(async (tx) => {
    await removeDeviceTokens(tx, world.sealer, environment, dead, world.now())
    return write(tx)
  })
}
