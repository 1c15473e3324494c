// Whether a request was answered before, for requests that must call an outside service before their transaction
// starts.
import { claimCalls } from '../../commit/once.ts'
import type { Db } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import { Problem } from '../../domain/problem.ts'
import type { World } from '../../world/world.ts'

/**
 * The stored response to a request with the same idempotency key, so that a repeat does not call the provider again.
 */
export async function answeredBefore<Body>(
  db: Db,
  world: World,
  environment: Environment,
  idempotency: Idempotency | undefined,
): Promise<Answer<Body> | undefined> {
  if (idempotency === undefined) return undefined
  return db.transaction(async (tx) => {
    const [stored] = await claimCalls<Body>(tx, world, environment, [idempotency])
    if (stored instanceof Problem) throw stored
    return stored
  })
}
