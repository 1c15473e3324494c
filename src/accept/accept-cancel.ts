// Cancels an event: from here on nothing of it is started. Messages that are already with a provider are not recalled.
import type { Db } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type { NotificationStep } from '../domain/workflows/workflow.ts'
import type { Queue } from '../queue/queue.ts'
import type { CancelState } from '../record/cancel/cancel-page.ts'
import { cancelPage, cancelStart } from '../record/cancel/cancel-page.ts'
import { cancelTaskId, cancelTaskOf } from '../record/cancel/cancel-task.ts'
import { findEventIds, markEventCanceled } from '../store/events/events.ts'
import { deleteTasks, insertTasks } from '../store/jobs/tasks.ts'
import { findVersions } from '../store/workflows/workflows.ts'
import type { World } from '../world/world.ts'

/** This many pages are cancelled before the response, and for no longer than this; the task does the rest. */
const pagesAtOnce = 3
const atOnceMsMax = 5_000
/** Longer than the caller's own pages take: if this process ends in the middle, a worker goes on after this time. */
const taskWaitMs = 15_000

interface CanceledEvent {
  readonly eventId: string
  readonly versionId: string
  /** Whether its recipients were still being found. */
  readonly wasExpanding: boolean
}

/** False when there was nothing left to cancel. */
export async function cancelEvent(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  transactionId: string,
): Promise<boolean> {
  const eventId = (await findEventIds(db, environment, [transactionId])).get(transactionId)
  const event = eventId === undefined ? undefined : await markCanceled(db, world, environment, queue, eventId)
  if (event === undefined) return false
  const [version] = await findVersions(db, environment, [event.versionId])
  try {
    const steps = version?.definition.steps ?? []
    const { count, next } = await cancelAtOnce(db, world, environment, queue, { ...event, steps })
    if (next !== undefined) {
      await db.transaction((tx) => insertTasks(tx, environment, [cancelTaskOf(event, next, world.now())], world.now()))
      queue.poke()
    }
    return count > 0 || event.wasExpanding
  } catch (error) {
    // It is canceled, and the task is there: what is left is no longer the caller's to repeat.
    world.log.warn({ err: error, eventId }, 'A page of a canceled event failed; its task will finish the cancellation')
    return true
  }
}

/**
 * First of all, and separately: however much there is to cancel, and whatever happens in the meantime, the event is
 * cancelled.
 */
async function markCanceled(
  db: Db,
  world: World,
  environment: Environment,
  { clock }: Queue,
  eventId: string,
): Promise<CanceledEvent | undefined> {
  return db.transaction(async (tx) => {
    const now = world.now()
    const row = await markEventCanceled(tx, environment, eventId, now)
    if (row === undefined) return undefined
    const wasExpanding = (await deleteTasks(tx, environment, [eventId])) > 0
    const event = { eventId, versionId: row.version_id, wasExpanding }
    const task = cancelTaskOf(event, cancelStart, new Date(now.getTime() + taskWaitMs))
    await insertTasks(tx, environment, [task], now, clock)
    return event
  })
}

/** The first pages, each in a separate transaction; `next` is undefined when nothing is left. */
async function cancelAtOnce(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  { eventId, steps }: CanceledEvent & { steps: readonly NotificationStep[] },
): Promise<{ count: number; next: CancelState | undefined }> {
  const untilMs = world.now().getTime() + atOnceMsMax
  let count = 0
  let next: CancelState | undefined = cancelStart
  for (let page = 0; next !== undefined && page < pagesAtOnce && world.now().getTime() < untilMs; page += 1) {
    const state: CancelState = next
    const canceled = await db.transaction(async (tx) => {
      const done = await cancelPage(tx, world, environment, queue, { eventId, steps, state })
      if (done.next === undefined) await deleteTasks(tx, environment, [cancelTaskId(eventId)])
      return done
    })
    count += canceled.count
    next = canceled.next
  }
  return { count, next }
}
