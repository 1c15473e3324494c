// What every transaction of the worker needs: the database, the world, and the queue whose leases it checks.
import type { Db } from '../db/sql.ts'
import type { Queue } from '../queue/queue.ts'
import type { World } from '../world/world.ts'

export interface Writing {
  readonly db: Db
  readonly world: World
  readonly queue: Queue
}
