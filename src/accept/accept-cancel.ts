// Calls an event off: nobody else is told of it. What a provider was asked to send is not called back.
import type { Db } from '../db/sql.ts'
import { notificationIdOf } from '../domain/derived-id.ts'
import type { Environment } from '../domain/environment.ts'
import { fanOutLane } from '../domain/event.ts'
import type { Queue } from '../queue/queue.ts'
import type { CancelState } from '../record/cancel-page.ts'
import { cancelPage, cancelStart } from '../record/cancel-page.ts'
import { callOffEvent, findEventIds } from '../store/events.ts'
import { deleteTasks, insertTasks } from '../store/tasks.ts'
import { findVersions } from '../store/workflows.ts'
import type { World } from '../world/world.ts'

/** So many pages are called off before the caller is answered; the rest of a large audience follows. */
const pagesAtOnce = 3

/** False when there was nothing left to call off. */
export async function cancelEvent(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  transactionId: string,
): Promise<boolean> {
  const eventId = (await findEventIds(db, environment, [transactionId])).get(transactionId)
  if (eventId === undefined) return false
  const { count, isLeft } = await db.transaction(async (tx) => {
    const now = world.now()
    const event = await callOffEvent(tx, environment, eventId, now)
    if (event === undefined) return { count: 0, isLeft: false }
    const expansions = await deleteTasks(tx, environment, [eventId])
    const [version] = await findVersions(tx, environment, [event.version_id])
    const steps = version?.definition.steps ?? []
    let total = expansions
    let state: CancelState | undefined = cancelStart
    for (let page = 0; state !== undefined && page < pagesAtOnce; page += 1) {
      const canceled = await cancelPage(tx, world, environment, queue, { eventId, steps, state })
      total += canceled.count
      state = canceled.next
    }
    if (state !== undefined) {
      const task = { id: cancelTaskId(eventId), kind: 'cancel', lane: fanOutLane, dueAt: now } as const
      await insertTasks(tx, environment, [{ ...task, state: { ...state, eventId, versionId: event.version_id } }], now)
    }
    return { count: total, isLeft: state !== undefined }
  })
  if (isLeft) queue.poke()
  return count > 0
}

/** Apart from the event's own id, which is that of its expansion. */
const cancelTaskId = (eventId: string): string => notificationIdOf(eventId, 'cancel')
