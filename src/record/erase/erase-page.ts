// One page of an erasure: what is removed, what is counted, and the progress, in one transaction.
import type { Db, Tx } from '../../db/sql.ts'
import { firstIdAt } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { ErasureState, Removed } from '../../domain/people/erasure.ts'
import type { Queue } from '../../queue/queue.ts'
import { deleteAttachmentsOf } from '../../store/events/attachments.ts'
import { deleteWindows, forgetDigestsOf } from '../../store/events/digests.ts'
import { deleteLonelyEvents, removeMentions } from '../../store/events/events.ts'
import { deleteNotifications, findNotificationsOf } from '../../store/events/notifications.ts'
import { forgetRedrivesOf } from '../../store/events/redrives.ts'
import { forgetRetractionsOf } from '../../store/events/retractions.ts'
import { forgetThrottlesOf } from '../../store/events/throttle-windows.ts'
import { cancelJobs } from '../../store/jobs/cancel.ts'
import type { ErasableJob } from '../../store/jobs/erase.ts'
import { deleteJobs, lockJobsToErase } from '../../store/jobs/erase.ts'
import type { Task } from '../../store/jobs/tasks.ts'
import {
  advanceTask,
  deleteTasksOfMessages,
  finishTasks,
  isExpandingSince,
  repeatTask,
} from '../../store/jobs/tasks.ts'
import { eraseMessages, findMessagesToErase } from '../../store/messages/erase.ts'
import { insertCounts } from '../../store/operate/counts.ts'
import { advanceErasure } from '../../store/people/erasures.ts'
import { findEveryoneById } from '../../store/people/former-subscribers.ts'
import { deleteChannels } from '../../store/people/subscriber-channels.ts'
import { eraseSubscribers } from '../../store/people/subscribers.ts'
import { deleteSubscriptionsOfSubscriber } from '../../store/people/topic-subscriptions.ts'
import { eraseDeliveriesOf } from '../../store/webhooks/webhook-deliveries.ts'
import { eraseNewsOf } from '../../store/webhooks/webhook-news.ts'
import type { World } from '../../world/world.ts'
import { countedCanceled } from '../counts/count-canceled.ts'
import { addressesOf, hideAddresses } from './erase-addresses.ts'
import { jobIdsOf } from './erase-jobs.ts'

/** Each has up to 50 steps, whose ids are computed. */
const notificationsPerPage = 50
/** Of all events of the environment; most are not touched. */
const eventsPerPage = 2_000
/** The interval for waiting for a provider's response, or for the end of an expansion. */
const waitMs = 5_000
/**
 * A trigger looks its recipients up first and writes slightly later. No trigger finds the person any more, but one that
 * had found them before has written by then: this is several times as long as a statement may take.
 */
const callsEndWithinMs = 60_000

export interface ErasureStep {
  readonly next: ErasureState | 'completed'
  readonly removed: Removed
  /** Another worker must finish something first. */
  readonly waits: boolean
}

/** Where to continue; undefined when it is done, has to wait, or is no longer ours. */
export async function erasePage(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  { task, state }: { task: Task; state: ErasureState },
): Promise<ErasureState | undefined> {
  try {
    return await db.transaction(async (tx) => {
      const step = await phases[state.phase](tx, world, environment, queue, state)
      return noteStep(tx, world, environment, queue, { task, step })
    })
  } catch (error) {
    if (error instanceof LostTask) return undefined
    throw error
  }
}

/** Another node has it now: what this one did is rolled back. */
class LostTask extends Error {}

async function noteStep(
  tx: Tx,
  world: World,
  environment: Environment,
  queue: Queue,
  { task, step: { next, removed, waits } }: { task: Task; step: ErasureStep },
): Promise<ErasureState | undefined> {
  const { id, lease } = task
  const now = world.now()
  if (next === 'completed') {
    const ours = await finishTasks(tx, environment, [task])
    if (ours.size === 0) throw new LostTask()
    await advanceErasure(tx, environment, { id, phase: 'completed', removed, completedAt: now })
    return undefined
  }
  const isOurs = await advanceTask(tx, environment, { id, lease, state: { ...next } }, queue)
  if (!isOurs) throw new LostTask()
  await advanceErasure(tx, environment, { id, phase: next.phase, removed, completedAt: null })
  if (!waits) return next
  await repeatTask(tx, environment, { id, lease, waitMs, state: { ...next } }, queue.clock)
  return undefined
}

type Phase = (tx: Tx, world: World, environment: Environment, queue: Queue, state: ErasureState) => Promise<ErasureStep>

const to = (state: ErasureState, phase: ErasureState['phase']): ErasureState => ({
  ...state,
  phase,
  after: null,
  met: false,
})
const goesOn = (next: ErasureState, removed: Removed = {}): ErasureStep => ({ next, removed, waits: false })
const waitsWith = (next: ErasureState, removed: Removed = {}): ErasureStep => ({ next, removed, waits: true })

const phases: Readonly<Record<ErasureState['phase'], Phase>> = {
  canceling: cancelOpen,
  waiting: async (tx, world, environment, _queue, state) => {
    const requestedAt = new Date(state.requestedAt)
    const isEarly = world.now().getTime() < requestedAt.getTime() + callsEndWithinMs
    const isNamed = isEarly || (await isExpandingSince(tx, environment, requestedAt))
    return isNamed ? waitsWith(state) : goesOn(to(state, 'removing'))
  },
  removing: removePage,
  searching: searchEvents,
  finishing: finish,
  completed: async () => ({ next: 'completed', removed: {}, waits: false }),
}

/**
 * Nothing more is sent. A step that is being sent right now finishes as it does; then it is checked again, with the
 * steps that came after it.
 */
async function cancelOpen(
  tx: Tx,
  world: World,
  environment: Environment,
  { clock }: Queue,
  state: ErasureState,
): Promise<ErasureStep> {
  const page = { subscriberIds: state.ids, after: state.after, limit: notificationsPerPage }
  const notifications = await findNotificationsOf(tx, environment, page)
  const jobs = await lockJobsToErase(tx, environment, jobIdsOf(notifications), clock)
  const open = jobs.filter((job) => job.isOpen)
  const free = open.filter((job) => !(job.isHeld && job.status === 'running'))
  const now = world.now()
  const ids = free.map((job) => job.id)
  const canceledSteps = await cancelJobs(tx, environment, ids, { details: [detail(now, 'canceled')], now })
  await insertCounts(tx, environment, countedCanceled(free, isLastOf(jobs)), now)
  const met = state.met || free.length < open.length
  const last = notifications.at(-1)
  if (last !== undefined && notifications.length === notificationsPerPage) {
    return goesOn({ ...state, after: last.id, met }, { canceledSteps })
  }
  return met ? waitsWith(to(state, 'canceling'), { canceledSteps }) : goesOn(to(state, 'waiting'), { canceledSteps })
}

/**
 * The steps after it have no rows, and no more of them are created. If one was cancelled before, it has a row, and was
 * the last.
 */
function isLastOf(jobs: readonly ErasableJob[]): (job: ErasableJob) => boolean {
  const lastSteps = new Map<string, number>()
  for (const { notificationId, step } of jobs) {
    lastSteps.set(notificationId, Math.max(step, lastSteps.get(notificationId) ?? step))
  }
  return ({ notificationId, step }) => step === lastSteps.get(notificationId)
}

async function removePage(
  tx: Tx,
  world: World,
  environment: Environment,
  { clock }: Queue,
  state: ErasureState,
): Promise<ErasureStep> {
  // Those before are gone: the first ones are the next ones.
  const page = { subscriberIds: state.ids, after: null, limit: notificationsPerPage }
  const notifications = await findNotificationsOf(tx, environment, page)
  if (notifications.length === 0) return goesOn(to(state, 'searching'))
  const jobs = await lockJobsToErase(tx, environment, jobIdsOf(notifications), clock)
  // Reported by a call that was in progress when the erasure started.
  if (jobs.some((job) => job.isOpen)) return goesOn(to(state, 'canceling'))
  const messages = await findMessagesToErase(tx, environment, jobs)
  const messageIds = messages.map((message) => message.id)
  const addresses = addressesOf([...messages, ...notifications.map(({ recipient }) => recipient ?? {})])
  const suppressedAddresses = await hideAddresses(tx, world, environment, addresses)
  const tasks = await deleteTasksOfMessages(tx, environment, messageIds)
  const digestWindows = await deleteWindows(tx, environment, [...new Set(jobs.flatMap((job) => job.windowIds))])
  const erased = await eraseMessages(tx, environment, messageIds)
  const jobIds = jobs.map((job) => job.id)
  const steps = await deleteJobs(tx, environment, jobIds)
  const ids = notifications.map((notification) => notification.id)
  const gone = await deleteNotifications(tx, environment, ids)
  const eventIds = [...new Set(notifications.map((notification) => notification.eventId))]
  const events = await deleteLonelyEvents(tx, environment, eventIds)
  const attachments = await deleteAttachmentsOf(tx, environment, events)
  const retractions = await forgetRetractionsOf(tx, environment, events)
  const counts = { notifications: gone, steps, messages: erased, events: events.length, attachments, retractions }
  return goesOn(state, { ...counts, digestWindows, tasks, suppressedAddresses })
}

/** Events that had other recipients too, or in which the person took part without being notified. */
async function searchEvents(
  tx: Tx,
  _world: World,
  environment: Environment,
  _queue: Queue,
  state: ErasureState,
): Promise<ErasureStep> {
  const [person] = await findEveryoneById(tx, environment, state.ids)
  if (person === undefined) return goesOn(to(state, 'finishing'))
  const { changed, next } = await removeMentions(tx, environment, {
    ids: state.ids,
    subscriberId: person.subscriber_id,
    after: state.after,
    // Events accepted later refer to whoever has the id then.
    before: firstIdAt(new Date(Date.parse(state.requestedAt) + 1)),
    limit: eventsPerPage,
  })
  const removed = { mentionsInEvents: changed }
  return goesOn(next === null ? to(state, 'finishing') : { ...state, after: next }, removed)
}

async function finish(
  tx: Tx,
  world: World,
  environment: Environment,
  _queue: Queue,
  state: ErasureState,
): Promise<ErasureStep> {
  const { ids } = state
  const left = await findNotificationsOf(tx, environment, { subscriberIds: ids, after: null, limit: 1 })
  if (left.length > 0) return goesOn(to(state, 'canceling'))
  const people = await findEveryoneById(tx, environment, ids)
  const suppressedAddresses = await hideAddresses(tx, world, environment, addressesOf(people))
  const { windows, backoffs } = await forgetDigestsOf(tx, environment, ids)
  const throttleWindows = await forgetThrottlesOf(tx, environment, ids)
  let [channels, topicSubscriptions] = [0, 0]
  for (const id of ids) {
    channels += await deleteChannels(tx, environment, id)
    topicSubscriptions += await deleteSubscriptionsOfSubscriber(tx, environment, id)
  }
  const [person] = people
  const until = new Date(state.requestedAt)
  const redrives =
    person === undefined ? 0 : await forgetRedrivesOf(tx, environment, { subscriberId: person.subscriber_id, until })
  const webhookDeliveries = (await eraseNewsOf(tx, environment, ids)) + (await eraseDeliveriesOf(tx, environment, ids))
  const subscribers = await eraseSubscribers(tx, environment, ids)
  const counts = { subscribers, channels, topicSubscriptions, digestWindows: windows, digestBackoffs: backoffs }
  const removed = { ...counts, throttleWindows, redrives, suppressedAddresses, webhookDeliveries }
  return { next: 'completed', removed, waits: false }
}
