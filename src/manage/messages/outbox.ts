// The outbox: taking messages out of it, one or all that a filter means.
import { once } from '../../commit/once.ts'
import type { Db } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { noContent, ok } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import type { OutboxFilter } from '../../domain/messages/outbox.ts'
import { notFound } from '../../domain/problem.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import { clearedAtOnceMax, clearFromOutbox, takeFromOutbox } from '../../store/messages/outbox.ts'
import type { World } from '../../world/world.ts'

interface Call {
  readonly idempotency: Idempotency | undefined
}

/** One statement per batch, all of them one change: a caller who gets the number finds none of them any more. */
export async function clearOutbox(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { filter: OutboxFilter },
): Promise<Answer<{ removed: number }>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    let removed = 0
    let count = clearedAtOnceMax
    while (count === clearedAtOnceMax) {
      count = await clearFromOutbox(tx, environment, call.filter)
      removed += count
    }
    return ok({ removed })
  })
}

export async function removeFromOutbox(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { messageId: string },
): Promise<Answer<null>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    if (isUuid(call.messageId) && (await takeFromOutbox(tx, environment, call.messageId))) return noContent
    throw notFound(`Message ${call.messageId} is not in the outbox`)
  })
}
