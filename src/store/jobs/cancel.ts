// Jobs that a caller calls off: those of one event, a page at a time.
import type { Clock } from '../../db/clock.ts'
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import { idsOfEvent } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import type { StoredDetail } from '../../domain/execution-detail.ts'
import type { JobState, JobStatus } from '../../domain/job.ts'
import { cleared } from './settle.ts'

export interface CancelableJob {
  readonly id: string
  readonly notificationId: string
  readonly subscriberId: string
  readonly versionId: string
  readonly eventId: string
  readonly lane: number
  readonly step: number
  readonly status: JobStatus
  readonly state: JobState | null
  readonly digestId: string | null
  /** Somebody works on it this moment. */
  readonly isHeld: boolean
}

/** The open jobs of an event and those that wait in a digest, in the order of their ids; locked. */
export async function lockCancelable(
  tx: Tx,
  environment: Environment,
  { eventId, after, limit }: { eventId: string; after: string | null; limit: number },
  clock: Clock,
): Promise<CancelableJob[]> {
  const range = idsOfEvent(eventId)
  return tx.rows<CancelableJob>(sql`
    select ${cancelableColumns(clock)} from jobs
    where environment_id = ${environment.id} and id > ${after ?? range.from}::uuid and id <= ${range.to}::uuid
      and event_id = ${eventId} and ${isCancelable}
    order by id limit ${limit} for update`)
}

/** The same of some jobs. */
export async function lockCancelableAmong(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
  clock: Clock,
): Promise<CancelableJob[]> {
  return tx.rows<CancelableJob>(sql`
    select ${cancelableColumns(clock)} from jobs
    where environment_id = ${environment.id} and id = any(${ids}::uuid[]) and ${isCancelable}
    order by id for update`)
}

const cancelableColumns = (clock: Clock): Statement => sql`
  id, notification_id as "notificationId", subscriber_id as "subscriberId", version_id as "versionId",
  event_id as "eventId", lane, step, status, state, digest_id as "digestId",
  lease is not null and due_at > ${clock()} as "isHeld"`

const isCancelable = sql`(due_at is not null or (status = 'merged' and state ? 'windowId'))`

/** Whether something of the event is open that is not being sent this moment; without waiting for anybody. */
export async function hasCancelable(tx: Tx, environment: Environment, eventId: string, clock: Clock): Promise<boolean> {
  const range = idsOfEvent(eventId)
  const row = await tx.row(sql`
    select 1 from jobs
    where environment_id = ${environment.id} and id between ${range.from}::uuid and ${range.to}::uuid
      and event_id = ${eventId} and due_at is not null
      and not (status = 'running' and lease is not null and due_at > ${clock()}) limit 1`)
  return row !== undefined
}

/** Those of the event that are being sent: as many at the most as the nodes have in hand, however many it was for. */
export async function findRunning(
  tx: Tx,
  environment: Environment,
  eventId: string,
): Promise<readonly { readonly notificationId: string; readonly step: number }[]> {
  const range = idsOfEvent(eventId)
  return tx.rows(sql`
    select notification_id as "notificationId", step from jobs
    where environment_id = ${environment.id} and id between ${range.from}::uuid and ${range.to}::uuid
      and event_id = ${eventId} and due_at is not null and status = 'running'`)
}

/** Of jobs in hand those that were called off while somebody asked a provider for them: retracted, or with their event. */
export async function findCanceled(
  db: Sql,
  environment: Environment,
  jobs: readonly { readonly id: string; readonly eventId: string }[],
): Promise<ReadonlySet<string>> {
  if (jobs.length === 0) return new Set()
  const rows = await db.rows<{ id: string }>(sql`
    select j.id from jobs j
    where j.environment_id = ${environment.id} and j.id = any(${jobs.map((job) => job.id)}::uuid[])
      and (j.details @> '[{"code": "retracted"}]' or j.event_id in (
        select e.id from events e
        where e.environment_id = ${environment.id} and e.id = any(${jobs.map((job) => job.eventId)}::uuid[])
          and e.canceled_at is not null))`)
  return new Set(rows.map((row) => row.id))
}

export async function cancelJobs(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
  { details, now }: { details: readonly StoredDetail[]; now: Date },
): Promise<number> {
  if (ids.length === 0) return 0
  return tx.run(sql`
    update jobs set status = 'canceled', due_at = null, lease = null, ${cleared}, updated_at = ${now},
      details = details || ${json(details)}::jsonb
    where environment_id = ${environment.id} and id = any(${ids}::uuid[]) and status <> 'canceled'`)
}

export interface DigestFollower {
  readonly id: string
  readonly windowId: string
  readonly notificationId: string
  readonly eventId: string
  readonly versionId: string
  readonly step: number
}

/** Of these ids the jobs that were merged into a digest. */
export async function findFollowers(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
): Promise<DigestFollower[]> {
  if (ids.length === 0) return []
  return tx.rows<DigestFollower>(sql`
    select id, state->>'windowId' as "windowId", notification_id as "notificationId", version_id as "versionId",
           event_id as "eventId", step
    from jobs
    where environment_id = ${environment.id} and id = any(${ids}::uuid[]) and status = 'merged' and state ? 'windowId'`)
}

/** A follower waits for the digest's end in the place of the one that was called off; the steps after it are open again. */
export async function promoteFollowers(
  tx: Tx,
  environment: Environment,
  promoted: readonly { id: string; dueAt: Date; laterIds: readonly string[] }[],
  { details, now }: { details: readonly StoredDetail[]; now: Date },
): Promise<void> {
  if (promoted.length === 0) return
  await tx.run(sql`
    update jobs j set status = 'delayed', due_at = p.due_at, lease = null, ${cleared}, updated_at = ${now},
      state = j.state - 'digestedNotificationId', details = j.details || ${json(details)}::jsonb
    from unnest(${promoted.map((one) => one.id)}::uuid[], ${promoted.map((one) => one.dueAt)}::timestamptz[])
      as p (id, due_at)
    where j.environment_id = ${environment.id} and j.id = any(${promoted.map((one) => one.id)}::uuid[]) and j.id = p.id`)
  await tx.run(sql`
    delete from jobs where environment_id = ${environment.id} and status = 'merged'
      and id = any(${promoted.flatMap((one) => one.laterIds)}::uuid[])`)
}

/** How these jobs stand; those whose turn has not come are left out. */
export async function findStatuses(
  db: Sql,
  environment: Environment,
  ids: readonly string[],
): Promise<Map<string, JobStatus>> {
  const rows = await db.rows<{ id: string; status: JobStatus }>(sql`
    select id, status from jobs where environment_id = ${environment.id} and id = any(${ids}::uuid[])`)
  return new Map(rows.map((row) => [row.id, row.status]))
}
