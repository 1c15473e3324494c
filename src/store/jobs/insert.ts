// New jobs: open ones for the queue, perhaps born leased, and ended ones for steps that will never run.
import type { Clock } from '../../db/clock.ts'
import type { Tx } from '../../db/sql.ts'
import { json, prepared, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { StoredDetail } from '../../domain/execution-detail.ts'
import type { JobState, JobStatus } from '../../domain/job.ts'

export interface NewJob {
  /** Derived from notification and step. */
  readonly id: string
  readonly notificationId: string
  readonly eventId: string
  readonly subscriberId: string
  readonly versionId: string
  readonly step: number
  /** `queued` is due at once; anything else is over. */
  readonly status: JobStatus
  readonly lane: number
  readonly digestId: string | null
  readonly state: JobState | null
  readonly details: readonly StoredDetail[]
}

export interface BirthOfJobs {
  readonly clock: Clock
  /** Whose they are from birth; null leaves them to whoever claims them first. */
  readonly lease: string | null
  readonly leaseMs: number
  readonly now: Date
}

/** Each is made once: with its notification, or by the settling of the job before it, which only its lease's holder can do. */
export async function insertJobs(
  tx: Tx,
  environment: Environment,
  jobs: readonly NewJob[],
  birth: BirthOfJobs,
): Promise<void> {
  if (jobs.length === 0) return
  const column = <Value>(read: (job: NewJob) => Value): Value[] => jobs.map(read)
  await tx.run(
    prepared(
      'jobs-insert',
      sql`insert into jobs (environment_id, id, notification_id, event_id, subscriber_id, version_id, step, status, lane,
                            due_at, lease, claims, digest_id, state, details, created_at, updated_at)
          select ${environment.id}, j.id, j.notification_id, j.event_id, j.subscriber_id, j.version_id, j.step, j.status, j.lane,
                 case when j.status = 'queued' then born.at end, case when j.status = 'queued' then ${birth.lease}::uuid end,
                 case when j.status = 'queued' and ${birth.lease}::uuid is not null then 1 else 0 end,
                 j.digest_id, j.state::jsonb, j.details::jsonb, ${birth.now}, ${birth.now}
          from (select ${birth.clock()} + case when ${birth.lease}::uuid is null then interval '0'
                         else ${birth.leaseMs}::double precision * interval '1 millisecond' end as at) as born,
            unnest(${column((j) => j.id)}::uuid[], ${column((j) => j.notificationId)}::uuid[],
              ${column((j) => j.eventId)}::uuid[], ${column((j) => j.subscriberId)}::uuid[],
              ${column((j) => j.versionId)}::uuid[], ${column((j) => j.step)}::smallint[], ${column((j) => j.status)}::text[],
              ${column((j) => j.lane)}::smallint[], ${column((j) => j.digestId)}::uuid[],
              ${column((j) => json(j.state))}::text[], ${column((j) => json(j.details))}::text[])
              as j (id, notification_id, event_id, subscriber_id, version_id, step, status, lane, digest_id, state, details)`,
    ),
  )
}
