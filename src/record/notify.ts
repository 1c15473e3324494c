// Notifications and their first jobs, for the recipients of events.
import type { Tx } from '../db/sql.ts'
import { jobIdOf, notificationIdOf } from '../domain/derived-id.ts'
import type { Environment } from '../domain/environment.ts'
import type { Job } from '../domain/job.ts'
import type { Queue } from '../queue/queue.ts'
import type { Reservation } from '../queue/worker.ts'
import type { NewJob } from '../store/jobs/insert.ts'
import { insertJobs } from '../store/jobs/insert.ts'
import type { NewNotification } from '../store/notifications.ts'
import { insertMissingNotifications, insertNotifications } from '../store/notifications.ts'

export interface Notified {
  readonly eventId: string
  readonly versionId: string
  /** The first active step of the version. */
  readonly firstStep: number
  readonly lane: number
  /** The subscriber's internal id. */
  readonly subscriberId: string
  readonly recipient: Readonly<Record<string, unknown>> | null
  readonly topicIds: readonly string[] | null
}

export interface Notifications {
  /** How many were new: a page that was written before adds nobody. */
  readonly count: number
  /** Jobs that were born with the reservation's lease. */
  readonly born: readonly Job[]
}

export async function notify(
  tx: Tx,
  environment: Environment,
  queue: Queue,
  notified: readonly Notified[],
  birth: {
    reservation: Reservation | undefined
    now: Date /** The page may have been written before. */
    isReplay?: true
  },
): Promise<Notifications> {
  const notifications = notified.map((one): NewNotification & { notified: Notified } => ({
    id: notificationIdOf(one.eventId, one.subscriberId),
    eventId: one.eventId,
    subscriberId: one.subscriberId,
    versionId: one.versionId,
    recipient: one.recipient,
    topicIds: one.topicIds,
    notified: one,
  }))
  const made = await insertAll(tx, environment, notifications, birth.isReplay === true)
  const jobs = made.map(
    ({ notified: one, id }): NewJob => ({
      id: jobIdOf(one.eventId, id, one.firstStep),
      notificationId: id,
      eventId: one.eventId,
      subscriberId: one.subscriberId,
      versionId: one.versionId,
      step: one.firstStep,
      status: 'queued',
      lane: one.lane,
      digestId: null,
      state: null,
      details: [],
    }),
  )
  const lease = birth.reservation?.lease ?? null
  await insertJobs(tx, environment, jobs, { clock: queue.clock, leaseMs: queue.leaseMs, lease, now: birth.now })
  const born = lease === null ? [] : jobs.map((job) => ({ ...job, environmentId: environment.id, lease, claims: 1 }))
  return { count: jobs.length, born }
}

/** Those that were not there; of new events that is all of them, and need not be asked. */
async function insertAll<Row extends NewNotification>(
  tx: Tx,
  environment: Environment,
  notifications: readonly Row[],
  isReplay: boolean,
): Promise<readonly Row[]> {
  if (isReplay) {
    const missing = await insertMissingNotifications(tx, environment, notifications)
    return notifications.filter((notification) => missing.has(notification.id))
  }
  await insertNotifications(tx, environment, notifications)
  return notifications
}
