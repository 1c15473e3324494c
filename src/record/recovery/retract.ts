// Retracts what can be retracted: unsent messages are canceled, in-app messages are removed from the feed, and all of
// it is marked.
import type { Db, Tx } from '../../db/sql.ts'
import type { Channel } from '../../domain/delivery/integration.ts'
import { jobIdOf } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { grouped } from '../../domain/grouped.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { NotificationStep } from '../../domain/workflows/workflow.ts'
import type { Queue } from '../../queue/queue.ts'
import type { RetractedSoFar, RetractionRow } from '../../store/events/retractions.ts'
import { advanceRetraction, lockRetraction } from '../../store/events/retractions.ts'
import { appendDetails } from '../../store/jobs/append.ts'
import type { RecoverableNotification } from '../../store/jobs/redrive.ts'
import { hasRedrivable, lockEvents, markHeld } from '../../store/jobs/redrive.ts'
import type { Task } from '../../store/jobs/tasks.ts'
import { advanceTask, deleteTasks, finishTasks } from '../../store/jobs/tasks.ts'
import type { CountedInboxes } from '../../store/messages/inbox-changes.ts'
import type { SentMessage } from '../../store/messages/retract.ts'
import {
  findRetractableOfEvent,
  lockRetractable,
  lockRetractableOfJobs,
  retractMessages,
} from '../../store/messages/retract.ts'
import type { World } from '../../world/world.ts'
import type { CanceledNotification } from '../cancel/cancel-one.ts'
import { cancelNotification, stepsOf } from '../cancel/cancel-one.ts'
import type { CancelState } from '../cancel/cancel-page.ts'
import { cancelPage, cancelStart } from '../cancel/cancel-page.ts'
import { changeInboxes, changeInboxesOf } from '../change-inboxes.ts'

export interface RetractedNotification extends CanceledNotification {
  readonly removed: readonly SentMessage[]
  readonly sent: readonly SentMessage[]
  /** Whether something in it had failed that can no longer be redriven. */
  readonly isBarred: boolean
}

export async function retractNotification(
  tx: Tx,
  world: World,
  environment: Environment,
  queue: Queue,
  { notification, by }: { notification: RecoverableNotification; by: string },
): Promise<RetractedNotification> {
  const { id, eventId } = notification
  const now = world.now()
  // Nothing of it is redriven in the meantime.
  await lockEvents(tx, environment, [eventId], 'update')
  const canceled = await cancelNotification(tx, world, environment, queue, { notification, by })
  const steps = await stepsOf(tx, environment, notification)
  const jobs = steps.map((_, step) => ({ id: jobIdOf(eventId, id, step), eventId }))
  // Should one that is on its way fail, it is not redriven.
  const held = jobs.filter((_, place) => canceled.onTheirWay.some((step) => step._id === steps[place]?._id))
  const mark = detail(now, 'retracted', { raw: { by, removed: 0, sent: 0 } })
  await markHeld(
    tx,
    environment,
    held.map((job) => job.id),
    [mark],
  )
  const counted = await changeInboxes(tx, world, environment, [notification.subscriberId])
  const said = await lockRetractableOfJobs(tx, environment, jobs)
  const jobIds = jobs.map((job) => job.id)
  const isBarred = await hasRedrivable(tx, environment, jobIds)
  return { ...canceled, ...(await takeBack(tx, environment, { said, jobIds, by, now, counted })), isBarred }
}

interface TakenBack {
  readonly removed: readonly SentMessage[]
  readonly sent: readonly SentMessage[]
}

interface TakingBack {
  readonly said: readonly SentMessage[]
  readonly jobIds: readonly string[]
  readonly by: string
  readonly now: Date
  readonly counted: CountedInboxes
}

/** Marks the jobs, including those without messages: none of them is redriven from here on. */
async function takeBack(
  tx: Tx,
  environment: Environment,
  { said, jobIds, by, now, counted }: TakingBack,
): Promise<TakenBack> {
  const removed = said.filter(({ channel }) => channel === 'in_app')
  const sent = said.filter(({ channel, status }) => channel !== 'in_app' && status !== 'error')
  const snoozed = await retractMessages(
    tx,
    environment,
    removed.map((message) => message.id),
    { now, counted },
  )
  await deleteTasks(tx, environment, snoozed)
  const removedOf = grouped(removed, (message) => message.jobId)
  const sentOf = grouped(sent, (message) => message.jobId)
  await appendDetails(
    tx,
    environment,
    jobIds.map((jobId) => {
      const raw = { by, removed: removedOf.get(jobId)?.length ?? 0, sent: sentOf.get(jobId)?.length ?? 0 }
      return { jobId, details: [detail(now, 'retracted', { raw })] }
    }),
  )
  return { removed, sent }
}

/** The progress of retracting an event: first everything unsent is cancelled, then the sent messages are processed. */
export interface RetractState {
  readonly cancel: CancelState | null
  readonly after: string | null
}

export const retractStart: RetractState = { cancel: cancelStart, after: null }

/** One transaction's worth of messages. */
const messagesPerPage = 500

interface RetractPage {
  readonly retraction: RetractionRow
  readonly steps: readonly NotificationStep[]
  readonly state: RetractState
}

/** A page of it, in the transaction it is given; `next` is undefined when it is done. */
export async function retractPage(
  tx: Tx,
  world: World,
  environment: Environment,
  queue: Queue,
  { retraction, steps, state }: RetractPage,
): Promise<{ retraction: RetractionRow; next: RetractState | undefined }> {
  const now = world.now()
  const { id, event_id: eventId, requested_by: by } = retraction
  await lockEvents(tx, environment, [eventId], 'update')
  if (state.cancel !== null) {
    const { count, next } = await cancelPage(tx, world, environment, queue, { eventId, steps, state: state.cancel })
    const soFar = { ...soFarOf(retraction), canceled: retraction.canceled + count }
    const advanced = await advanceRetraction(tx, environment, id, soFar, { isDone: false, now })
    return { retraction: advanced, next: { ...state, cancel: next ?? null } }
  }
  const ids = await findRetractableOfEvent(tx, environment, { eventId, after: state.after, limit: messagesPerPage })
  const counted = await changeInboxesOf(tx, world, environment, ids)
  const said = await lockRetractable(tx, environment, ids)
  const jobIds = [...new Set(said.map((message) => message.jobId))]
  const { removed, sent } = await takeBack(tx, environment, { said, jobIds, by, now, counted })
  const isDone = ids.length < messagesPerPage
  const sentSoFar: Partial<Record<Channel, number>> = { ...retraction.sent }
  for (const { channel } of sent) sentSoFar[channel] = (sentSoFar[channel] ?? 0) + 1
  const soFar = { ...soFarOf(retraction), removed: retraction.removed + removed.length, sent: sentSoFar }
  const advanced = await advanceRetraction(tx, environment, id, soFar, { isDone, now })
  return { retraction: advanced, next: isDone ? undefined : { ...state, after: ids.at(-1) ?? null } }
}

const soFarOf = ({ canceled, removed, sent }: RetractionRow): RetractedSoFar => ({ canceled, removed, sent })

/** The next page of a task, in one transaction; undefined when it is done, or no longer ours. */
export async function retractNextPage(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  { task, steps, state }: { task: Task; steps: readonly NotificationStep[]; state: RetractState },
): Promise<RetractState | undefined> {
  return db.transaction(async (tx) => {
    if (
      !(await advanceTask(
        tx,
        environment,
        { id: task.id, lease: task.lease, state: { ...task.state, ...state } },
        queue,
      ))
    )
      return undefined
    const retraction = await lockRetraction(tx, environment, task.id)
    const page =
      retraction === undefined
        ? undefined
        : await retractPage(tx, world, environment, queue, { retraction, steps, state })
    if (page?.next === undefined) await finishTasks(tx, environment, [task])
    else {
      const next = { ...task.state, ...page.next }
      await advanceTask(tx, environment, { id: task.id, lease: task.lease, state: next }, queue)
    }
    return page?.next
  })
}
