// Calling one notification off, and taking back a notification or a whole event.
import { once } from '../../commit/once.ts'
import type { Db } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { accepted, ok } from '../../domain/answer.ts'
import { fanOutLane } from '../../domain/delivery/event.ts'
import type { Channel } from '../../domain/delivery/integration.ts'
import type { JobStatus } from '../../domain/delivery/job.ts'
import type { Retraction } from '../../domain/delivery/redrive.ts'
import { recoveriesKeptMs } from '../../domain/delivery/redrive.ts'
import type { Principal } from '../../domain/environment.ts'
import { conflict, notFound } from '../../domain/problem.ts'
import type { NotificationStep, StepType } from '../../domain/workflows/workflow.ts'
import type { Queue } from '../../queue/queue.ts'
import type { CanceledNotification } from '../../record/cancel/cancel-one.ts'
import { cancelNotification } from '../../record/cancel/cancel-one.ts'
import type { RetractState } from '../../record/recovery/retract.ts'
import { retractNotification, retractPage, retractStart } from '../../record/recovery/retract.ts'
import { findEventIds, markEventCanceled } from '../../store/events/events.ts'
import { insertRetraction, retractionOf, sweepRetractions } from '../../store/events/retractions.ts'
import { lockEvents } from '../../store/jobs/redrive.ts'
import { deleteTasks, insertTasks } from '../../store/jobs/tasks.ts'
import type { SentMessage } from '../../store/messages/retract.ts'
import { findVersions } from '../../store/workflows/workflows.ts'
import type { World } from '../../world/world.ts'
import { recoverableNotification } from './redrives.ts'

interface Call {
  readonly idempotency: Idempotency | undefined
}

interface ShownStep {
  readonly stepId: string
  readonly name?: string
  readonly type: StepType
}

export interface NotificationCanceled {
  readonly notificationId: string
  readonly canceled: readonly (ShownStep & { readonly was: JobStatus })[]
  readonly onTheirWay: readonly ShownStep[]
}

export async function cancelOne(
  db: Db,
  world: World,
  { environment, keyId }: Principal,
  queue: Queue,
  call: Call & { notificationId: string },
): Promise<Answer<NotificationCanceled>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const notification = await recoverableNotification(tx, environment, call.notificationId)
    // A redrive of it, or a cancellation of the whole event, waits.
    await lockEvents(tx, environment, [notification.eventId], 'update')
    const done = await cancelNotification(tx, world, environment, queue, { notification, by: keyId })
    if (done.canceled.length === 0) throw nothingLeft(call.notificationId, done)
    return ok({ notificationId: notification.id, ...shownCanceled(done) })
  })
}

const nothingLeft = (id: string, { onTheirWay }: CanceledNotification) =>
  conflict(
    onTheirWay.length === 0
      ? `Nothing is left to cancel in notification ${id}: all its steps have finished`
      : `Nothing is left to cancel in notification ${id}: its last step is being sent`,
  )

const shownCanceled = ({ canceled, onTheirWay }: CanceledNotification) => ({
  canceled: canceled.map(({ step, was }) => ({ ...shownStep(step), was })),
  onTheirWay: onTheirWay.map(shownStep),
})

const shownStep = (step: NotificationStep): ShownStep => ({
  stepId: step._id,
  ...(step.name === undefined ? {} : { name: step.name }),
  type: step.template.type,
})

interface ShownMessage {
  readonly _id: string
  readonly channel: Channel
}

export interface NotificationRetracted extends NotificationCanceled {
  readonly removed: readonly ShownMessage[]
  readonly sent: readonly ShownMessage[]
}

export async function retractOne(
  db: Db,
  world: World,
  { environment, keyId }: Principal,
  queue: Queue,
  call: Call & { notificationId: string },
): Promise<Answer<NotificationRetracted>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const notification = await recoverableNotification(tx, environment, call.notificationId)
    const done = await retractNotification(tx, world, environment, queue, { notification, by: keyId })
    const { canceled, onTheirWay, removed, sent, isBarred } = done
    if (canceled.length + onTheirWay.length + removed.length + sent.length === 0 && !isBarred) {
      throw conflict(`Nothing is left to retract in notification ${call.notificationId}`)
    }
    const messages = { removed: removed.map(shownMessage), sent: sent.map(shownMessage) }
    return ok({ notificationId: notification.id, ...shownCanceled(done), ...messages })
  })
}

const shownMessage = ({ id, channel }: SentMessage): ShownMessage => ({ _id: id, channel })

/** This many pages are processed before the response; the rest of a large audience follows. */
const pagesAtOnce = 4

export async function retractEvent(
  db: Db,
  world: World,
  { environment, keyId }: Principal,
  queue: Queue,
  call: Call & { transactionId: string },
): Promise<Answer<Retraction>> {
  const { transactionId } = call
  const answer = await once<Retraction>(db, world, environment, call.idempotency, async (tx) => {
    const now = world.now()
    const eventId = (await findEventIds(tx, environment, [transactionId])).get(transactionId)
    const event = eventId === undefined ? undefined : await markEventCanceled(tx, environment, eventId, now)
    if (eventId === undefined || event === undefined) throw notFound(`No event has the transactionId ${transactionId}`)
    // No further recipients are resolved for it.
    await deleteTasks(tx, environment, [eventId])
    const [version] = await findVersions(tx, environment, [event.version_id])
    const steps = version?.definition.steps ?? []
    await sweepRetractions(tx, environment, new Date(now.getTime() - recoveriesKeptMs))
    const id = world.newId(now)
    let retraction = await insertRetraction(tx, environment, { id, eventId, transactionId, requestedBy: keyId, now })
    let state: RetractState | undefined = retractStart
    for (let page = 0; state !== undefined && page < pagesAtOnce; page += 1) {
      const done = await retractPage(tx, world, environment, queue, { retraction, steps, state })
      retraction = done.retraction
      state = done.next
    }
    if (state === undefined) return ok(retractionOf(retraction))
    const task = { id, kind: 'retract', lane: fanOutLane, dueAt: now } as const
    await insertTasks(tx, environment, [{ ...task, state: { ...state, versionId: event.version_id } }], now)
    return accepted(retractionOf(retraction))
  })
  queue.poke()
  return answer
}
