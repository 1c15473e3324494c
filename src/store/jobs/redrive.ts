// Jobs that failed: finding them, and making them due again.

import { dueNow } from '../../db/due.ts'
import type { Sql, Tx } from '../../db/sql.ts'
import { allOf, json, sql } from '../../db/sql.ts'
import type { JobState, JobStatus } from '../../domain/delivery/job.ts'
import type { RedrivableJob, RedriveBounds } from '../../domain/delivery/redrive.ts'
import { idsOfEvent } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import type { StoredDetail } from '../../domain/insight/execution-detail.ts'
import { uncounted } from './settle.ts'

export interface RecoverableNotification {
  readonly id: string
  readonly eventId: string
  readonly subscriberId: string
  readonly versionId: string
}

/** What its jobs' ids are derived from; undefined if it is missing. */
export async function findRecoverable(
  db: Sql,
  environment: Environment,
  id: string,
): Promise<RecoverableNotification | undefined> {
  return db.row<RecoverableNotification>(sql`
    select id, event_id as "eventId", subscriber_id as "subscriberId", version_id as "versionId" from notifications
    where environment_id = ${environment.id} and id = ${id}`)
}

export interface LockedEvent {
  readonly id: string
  readonly isCanceled: boolean
  /** How many files it brought, and how many are still kept. */
  readonly files: number
  readonly filesKept: number
}

/**
 * `share`: none of them is cancelled or retracted in the meantime. `update`: nothing of them is redriven in the
 * meantime either. Before any of their jobs, in the same order as cancelling an event.
 */
export async function lockEvents(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
  mode: 'share' | 'update',
): Promise<LockedEvent[]> {
  if (ids.length === 0) return []
  return tx.rows<LockedEvent>(sql`
    select e.id, e.canceled_at is not null as "isCanceled", e.attachments as files,
      case when e.attachments = 0 then 0 else (
        select count(*)::int from attachments a where a.environment_id = ${environment.id} and a.event_id = e.id)
      end as "filesKept"
    from events e where e.environment_id = ${environment.id} and e.id = any(${ids}::uuid[])
    order by e.id ${mode === 'share' ? sql`for share of e` : sql`for update of e`}`)
}

/**
 * Those of the ids that exist, locked. First the locks, then a look: whoever was waited for may have ended its step and
 * created the next, or canceled the rest, which a statement that began before does not see.
 */
export async function lockRedrivable(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
): Promise<(RedrivableJob & { readonly notificationId: string })[]> {
  if (ids.length === 0) return []
  const these = sql`j.environment_id = ${environment.id} and j.id = any(${ids}::uuid[])`
  await tx.rows(sql`select j.id from jobs j where ${these} order by j.id for update`)
  return tx.rows(sql`
    select j.id, j.notification_id as "notificationId", j.step, j.status, j.state, j.due_at is not null as "isOpen",
      j.details @> '[{"code": "retracted"}]' as "isRetracted",
      j.status = 'canceled' and j.details @> '[{"code": "previousFailed"}]' as "isForFailure",
      case when j.status = 'failed' then j.details else '[]' end as details
    from jobs j where ${these} order by j.id`)
}

export interface RedrivenJob {
  readonly id: string
  readonly status: JobStatus
  readonly state: JobState
}

/** The latest failures of a step that was redriven again and again: more are not listed. */
const failuresKeptMax = 100

/** Due at once; when they failed is kept. `lane`: where they wait; null keeps the lane they had. */
export async function redriveJobs(
  tx: Tx,
  environment: Environment,
  jobs: readonly RedrivenJob[],
  { details, lane, now }: { details: readonly StoredDetail[]; lane: number | null; now: Date },
): Promise<void> {
  if (jobs.length === 0) return
  const ids = jobs.map((job) => job.id)
  await tx.run(sql`
    update jobs j set status = r.status, state = r.state::jsonb, due_at = ${dueNow(now)}, lease = null, ${uncounted},
      failed_before = case when j.status = 'failed' then (array_prepend(j.updated_at, j.failed_before))[1:${failuresKeptMax}]
        else j.failed_before end,
      buried_at = null, updated_at = ${now}, lane = coalesce(${lane}::smallint, j.lane & 1::smallint),
      details = j.details || ${json(details)}::jsonb
    from unnest(${ids}::uuid[], ${jobs.map((job) => job.status)}::text[], ${jobs.map((job) => json(job.state))}::text[])
      as r (id, status, state)
    where j.environment_id = ${environment.id} and j.id = any(${ids}::uuid[]) and j.id = r.id
      and j.status in ('failed', 'skipped') and j.due_at is null`)
}

/** Whether one of these failed, and may be redriven unless it was retracted. */
export async function hasRedrivable(tx: Tx, environment: Environment, ids: readonly string[]): Promise<boolean> {
  const row = await tx.row(sql`
    select 1 from jobs where environment_id = ${environment.id} and id = any(${ids}::uuid[]) and status = 'failed'
      and not details @> '[{"code": "retracted"}]' limit 1`)
  return row !== undefined
}

/** Adds details to jobs that are leased. The transaction holds them. */
export async function markHeld(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
  details: readonly StoredDetail[],
): Promise<void> {
  if (ids.length === 0) return
  await tx.run(sql`
    update jobs set details = details || ${json(details)}::jsonb
    where environment_id = ${environment.id} and id = any(${ids}::uuid[]) and due_at is not null`)
}

/**
 * Steps that were canceled because of a failure, as if they had not started: a step that has a row is not created
 * again.
 */
export async function reopenSteps(tx: Tx, environment: Environment, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx.run(sql`
    delete from jobs where environment_id = ${environment.id} and id = any(${ids}::uuid[]) and status = 'canceled'`)
}

export interface FailedJob extends RecoverableNotification {
  readonly jobId: string
  readonly step: number
  readonly state: JobState | null
  readonly details: readonly StoredDetail[]
}

export interface FailedWalk {
  readonly bounds: RedriveBounds
  readonly after: string | null
  readonly limit: number
  /** Whoever failed after this is left to the next call; null for all that failed. */
  readonly until: Date | null
  /** Whoever this one redrove, and failed again, is not redriven by it once more. */
  readonly redriveId: string | null
  /** Only these. */
  readonly among?: readonly string[]
}

/** The next failed jobs within the bounds of ids, in their order. */
export async function findFailed(db: Sql, environment: Environment, walk: FailedWalk): Promise<FailedJob[]> {
  const { bounds, after, limit, until, redriveId, among } = walk
  const range = bounds.eventId === undefined ? undefined : idsOfEvent(bounds.eventId)
  const within = allOf([
    ...(range === undefined ? [] : [sql`j.id between ${range.from}::uuid and ${range.to}::uuid`]),
    ...(bounds.fromId === undefined ? [] : [sql`j.id >= ${bounds.fromId}::uuid`]),
    ...(bounds.beforeId === undefined ? [] : [sql`j.id < ${bounds.beforeId}::uuid`]),
    ...(after === null ? [] : [sql`j.id > ${after}::uuid`]),
    ...(among === undefined ? [] : [sql`j.id = any(${among}::uuid[])`]),
    ...(until === null ? [] : [sql`j.updated_at <= ${until}`]),
    ...(redriveId === null ? [] : [sql`j.state->>'redriveId' is distinct from ${redriveId}::text`]),
  ])
  return db.rows<FailedJob>(sql`
    select j.id as "jobId", j.notification_id as id, j.event_id as "eventId", j.subscriber_id as "subscriberId",
      j.version_id as "versionId", j.step, j.state, j.details
    from jobs j
    where j.environment_id = ${environment.id} and j.status = 'failed' and ${within}
    order by j.id limit ${limit}`)
}
