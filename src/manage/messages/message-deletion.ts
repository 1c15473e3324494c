// Deleting messages: one, or all that a transaction made.
import { once, onceInPages } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { noContent, ok } from '../../domain/answer.ts'
import type { Channel } from '../../domain/delivery/integration.ts'
import type { Environment } from '../../domain/environment.ts'
import { notFound } from '../../domain/problem.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import { changeInboxesOf } from '../../record/change-inboxes.ts'
import { findEventIds } from '../../store/events/events.ts'
import { deleteTasks } from '../../store/jobs/tasks.ts'
import { deletedAtOnceMax, deleteMessages, findMessagesOfEvent } from '../../store/messages/delete.ts'
import type { CountedInboxes } from '../../store/messages/inbox-changes.ts'
import type { World } from '../../world/world.ts'
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
    const counted = await changeInboxesOf(tx, world, environment, [call.messageId])
    const count = await removeBatch(tx, environment, [call.messageId], { now: world.now(), counted })
    if (count === 0) throw unknownMessage(call.messageId)
    return ok({ acknowledged: true, status: 'deleted' })
  })
}

/** A caller who gets 204 finds none of them any more. One who does not, because it was interrupted, asks again. */
export async function removeMessagesOfTransaction(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { transactionId: string; channel: Channel | undefined },
): Promise<Answer<null>> {
  const start: RemovedSoFar = { count: 0, after: undefined }
  return onceInPages(db, world, environment, call.idempotency, start, async (tx, soFar) => {
    const id = (await findEventIds(tx, environment, [call.transactionId])).get(call.transactionId)
    // One more than a page shows whether it is the last.
    const asked = { channel: call.channel, after: soFar.after, limit: deletedAtOnceMax + 1 }
    const found = id === undefined ? [] : await findMessagesOfEvent(tx, environment, { id, ...asked })
    const ids = found.slice(0, deletedAtOnceMax)
    const counted = await changeInboxesOf(tx, world, environment, ids)
    const count = soFar.count + (await removeBatch(tx, environment, ids, { now: world.now(), counted }))
    if (found.length > ids.length) return { next: { count, after: ids.at(-1) } }
    if (count === 0) throw notFound('Invalid transactionId or channel')
    return { answer: noContent }
  })
}

interface RemovedSoFar {
  readonly count: number
  /** The id of the last one. */
  readonly after: string | undefined
}

/** With the tasks that would have brought some of them back. */
export async function removeBatch(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
  change: { now: Date; counted: CountedInboxes },
): Promise<number> {
  if (ids.length === 0) return 0
  const deleted = await deleteMessages(tx, environment, ids, change)
  const snoozed = deleted.filter((message) => message.wasSnoozed).map((message) => message.id)
  await deleteTasks(tx, environment, snoozed)
  return deleted.length
}
