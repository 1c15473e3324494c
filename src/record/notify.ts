// Notifications and their first jobs, for the recipients of events.
import { oneStatement } from '../db/one-statement.ts'
import type { Tx } from '../db/sql.ts'
import { atOnce } from '../domain/delivery/due.ts'
import type { TriggeredEvent } from '../domain/delivery/event.ts'
import type { Job } from '../domain/delivery/job.ts'
import { jobIdOf, notificationIdOf } from '../domain/derived-id.ts'
import type { Environment } from '../domain/environment.ts'
import type { Tenant } from '../domain/people/tenant.ts'
import type { Queue } from '../queue/queue.ts'
import type { NewNotification } from '../store/events/notifications.ts'
import { insertMissingNotifications } from '../store/events/notifications.ts'
import type { NewJob } from '../store/jobs/insert.ts'
import { jobInsertions } from '../store/jobs/insert.ts'
import type { ConfigurationStamps } from '../store/operate/configuration-stamps.ts'
import type { ContextRow } from '../store/people/contexts.ts'
import type { RecipientRow } from '../store/people/subscribers.ts'
import type { NamedOverride } from '../store/workflows/workflow-overrides.ts'

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

export interface FirstJobs {
  readonly notifications: readonly NewNotification[]
  /** One a notification, in the same order. */
  readonly jobs: readonly NewJob[]
}

/** The notifications of these recipients, and the job each begins with. */
export function firstJobs(notified: readonly Notified[]): FirstJobs {
  const notifications = notified.map((one) => ({
    id: notificationIdOf(one.eventId, one.subscriberId),
    eventId: one.eventId,
    subscriberId: one.subscriberId,
    versionId: one.versionId,
    recipient: one.recipient,
    topicIds: one.topicIds,
  }))
  const jobs = notified.map((one, index): NewJob => {
    const notificationId = notifications[index]?.id ?? ''
    return {
      id: jobIdOf(one.eventId, notificationId, one.firstStep),
      notificationId,
      eventId: one.eventId,
      subscriberId: one.subscriberId,
      versionId: one.versionId,
      step: one.firstStep,
      status: 'queued',
      due: atOnce,
      lane: one.lane,
      digestId: null,
      state: null,
      details: [],
    }
  })
  return { notifications, jobs }
}

/** What the events of one acceptance name besides people. What is missing has to be read. */
export interface Surroundings {
  readonly tenants: readonly Tenant[]
  /** Of those tenants, for the workflows of their events; null where there is none. */
  readonly overrides: readonly NamedOverride[]
  readonly contexts: readonly ContextRow[]
}

/** What was read when an event was accepted, and is still fresh enough to decide by if that happens at once. */
export interface ForeseenFacts {
  readonly readAt: Date
  readonly stamps: ConfigurationStamps
  readonly recipient: RecipientRow
  /** If the event has one. */
  readonly actor?: RecipientRow | undefined
  /** If any event of the same acceptance names something. */
  readonly surroundings?: Surroundings | undefined
  /** Whether the event is kept only while it is decided at once: a job that waits reads it when its turn comes. */
  readonly isLarge?: boolean | undefined
}

/** A job that this node created already leased. */
export interface PreLeasedJob extends Job {
  readonly foreseen?: ForeseenFacts | undefined
}

export function preLeasedJob(
  environment: Environment,
  job: NewJob,
  lease: string,
  event: TriggeredEvent | undefined,
  foreseen?: ForeseenFacts | undefined,
): PreLeasedJob {
  // Field by field: a spread costs ten times as much, and there is one for every job.
  return {
    environmentId: environment.id,
    id: job.id,
    notificationId: job.notificationId,
    eventId: job.eventId,
    subscriberId: job.subscriberId,
    versionId: job.versionId,
    step: job.step,
    status: job.status,
    lane: job.lane,
    lease,
    interruptions: 0,
    faults: 0,
    faultedSince: null,
    digestId: job.digestId,
    state: job.state,
    event,
    foreseen,
  }
}

/** Those of a page that do not exist yet: a page that was written before adds none. Returns their jobs. */
export async function notifyMissing(
  tx: Tx,
  environment: Environment,
  queue: Queue,
  notified: readonly Notified[],
  insertLease: { lease: string | null; now: Date },
): Promise<readonly NewJob[]> {
  const { notifications, jobs } = firstJobs(notified)
  const missing = await insertMissingNotifications(tx, environment, notifications)
  const made = jobs.filter((job) => missing.has(job.notificationId))
  if (made.length === 0) return []
  const { clock, leaseMs } = queue
  await tx.run(oneStatement(jobInsertions(environment, made, { clock, leaseMs, ...insertLease })))
  return made
}
