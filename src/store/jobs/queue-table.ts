// The jobs table as a queue.
import { sql } from '../../db/sql.ts'

/** Under the names of `Job` in domain/delivery/job.ts. */
export const jobQueue = {
  name: 'jobs',
  table: sql`jobs`,
  columns: sql`q.environment_id as "environmentId", q.id, q.notification_id as "notificationId", q.event_id as "eventId",
    q.subscriber_id as "subscriberId", q.version_id as "versionId", q.step, q.status, (q.lane & 1) as lane, q.lease,
    q.interruptions, q.faults, q.faulted_since as "faultedSince", q.digest_id as "digestId", q.state`,
} as const
