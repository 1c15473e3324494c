// Deleting messages: one, or all that a transaction made.
import { once } from '../commit/once.ts'
import type { Db, Tx } from '../db/sql.ts'
import type { Answer, Idempotency } from '../domain/answer.ts'
import { noContent, ok } from '../domain/answer.ts'
import type { Environment } from '../domain/environment.ts'
import type { Channel } from '../domain/integration.ts'
import { notFound } from '../domain/problem.ts'
import { isUuid } from '../domain/uuid-v7.ts'
import { changeInboxesOf } from '../record/change-inboxes.ts'
import { findEventIds } from '../store/events.ts'
import { deleteMessages, findMessagesOfEvent } from '../store/messages/delete.ts'
import { deleteTasks } from '../store/tasks.ts'
import type { World } from '../world/world.ts'
import { unknownMessage } from './message-marks.ts'

interface Call {
  readonly idempotency: Idempotency | undefined
}

export async function removeMessage(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { messageId: string },
): Promise<Answer<{ acknowledged: true; status: 'deleted' }>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    if (!isUuid(call.messageId)) throw unknownMessage(call.messageId)
    await changeInboxesOf(tx, world, environment, [call.messageId])
    const count = await removeBatch(tx, environment, [call.messageId], world.now())
    if (count === 0) throw unknownMessage(call.messageId)
    return ok({ acknowledged: true, status: 'deleted' })
  })
}

/** A batch a statement, all of them one change: a caller who is told 204 finds none of them any more. */
export async function removeMessagesOfTransaction(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { transactionId: string; channel: Channel | undefined },
): Promise<Answer<null>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const now = world.now()
    const eventId = (await findEventIds(tx, environment, [call.transactionId])).get(call.transactionId)
    let count = 0
    let after: string | undefined
    while (eventId !== undefined) {
      const ids = await findMessagesOfEvent(tx, environment, { id: eventId, channel: call.channel, after })
      after = ids.at(-1)
      if (after === undefined) break
      await changeInboxesOf(tx, world, environment, ids)
      count += await removeBatch(tx, environment, ids, now)
    }
    if (count === 0) throw notFound('Invalid transactionId or channel')
    return noContent
  })
}

/** With the tasks that would have brought some of them back. */
export async function removeBatch(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
  now: Date,
): Promise<number> {
  const deleted = await deleteMessages(tx, environment, ids, now)
  const snoozed = deleted.filter((message) => message.wasSnoozed).map((message) => message.id)
  await deleteTasks(tx, environment, snoozed)
  return deleted.length
}
