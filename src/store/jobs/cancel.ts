// Jobs that a caller cancels, those of one event a page at a time; and how a digest's run goes from one event to the next.
import type { Clock } from '../../db/clock.ts'
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import type { JobState, JobStatus } from '../../domain/delivery/job.ts'
import { idsOfEvent } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import type { StoredDetail } from '../../domain/insight/execution-detail.ts'
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
  readonly dueAt: Date | null
  /** A node has claimed it. */
  readonly isHeld: boolean
}

/** What can be cancelled of an event, or of a notification. */
export interface LockedJobs {
  readonly jobs: readonly CancelableJob[]
  /** The last that was examined; null if there was none. */
  readonly lastId: string | null
  /** How many were looked at. */
  readonly looked: number
  /** Some moved between digests in the meantime: they are not among the jobs, and need another look. */
  readonly isPartial: boolean
}

/** The open jobs of an event and those that were merged into a digest, in the order of their ids; locked. */
export async function lockCancelable(
  tx: Tx,
  environment: Environment,
  { eventId, after, limit }: { eventId: string; after: string | null; limit: number },
  clock: Clock,
): Promise<LockedJobs> {
  const range = idsOfEvent(eventId)
  return lockAfterWindows(
    tx,
    environment,
    clock,
    sql`
    id > ${after ?? range.from}::uuid and id <= ${range.to}::uuid
      and event_id = ${eventId} and ${isCancelable}
    order by id limit ${limit}`,
  )
}

/** The same of some jobs. */
export async function lockCancelableAmong(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
  clock: Clock,
): Promise<LockedJobs> {
  return lockAfterWindows(
    tx,
    environment,
    clock,
    sql`
    id = any(${ids}::uuid[]) and ${isCancelable} order by id`,
  )
}

/** The first half of these locks' keys: any number that no other two-part lock uses. */
const turnsLock = 7_071_956
/** Windows share turns: a page of many windows then takes no more locks than this. A power of two. */
const turns = 256

/**
 * Two events of one digest may be cancelled at once, and each then changes jobs of the other. So cancellations take
 * turns by window, before they lock a job: by advisory locks, as the rows of windows are locked after jobs everywhere
 * else.
 */
async function lockAfterWindows(
  tx: Tx,
  environment: Environment,
  clock: Clock,
  condition: Statement,
): Promise<LockedJobs> {
  const seen = await tx.rows<{ windowId: string }>(sql`
    select distinct w.id as "windowId" from (
      select state, digest_id from jobs where environment_id = ${environment.id} and ${condition}) as j
    cross join lateral (values ((j.state->>'windowId')::uuid), (j.digest_id)) as w (id)
    where w.id is not null`)
  const windows = new Set(seen.map((row) => row.windowId))
  if (windows.size > 0) {
    await tx.run(sql`
      select pg_advisory_xact_lock(${turnsLock}::int, place) from (
        select distinct (hashtextextended(id, 0) & ${turns - 1}::int)::int as place
        from unnest(${[...windows]}::text[]) as id order by place) as turns`)
  }
  const rows = await tx.rows<CancelableJob>(
    sql`select ${cancelableColumns(clock)} from jobs where environment_id = ${environment.id} and ${condition} for update`,
  )
  const isKnown = (id: string | null | undefined): boolean => id == null || windows.has(id)
  const jobs = rows.filter((job) => isKnown(job.state?.windowId) && isKnown(job.digestId))
  return { jobs, lastId: rows.at(-1)?.id ?? null, looked: rows.length, isPartial: jobs.length < rows.length }
}

const cancelableColumns = (clock: Clock): Statement => sql`
  id, notification_id as "notificationId", subscriber_id as "subscriberId", version_id as "versionId",
  event_id as "eventId", lane, step, status, state, digest_id as "digestId", due_at as "dueAt",
  lease is not null and due_at > ${clock()} as "isHeld"`

const isCancelable = sql`(due_at is not null or (status = 'merged' and state ? 'windowId'))`

/** Whether a job that was decided speaks for other events too, which are not cancelled: then it is sent as it is. */
const isShared = (environment: Environment): Statement => sql`exists (
  select 1 from digest_events d
  cross join lateral (select 1 from events e
    where e.environment_id = ${environment.id} and e.id = d.event_id and e.canceled_at is null limit 1) live
  where d.environment_id = ${environment.id} and d.window_id = j.digest_id and d.event_id <> j.event_id)`

/** Whether something of the event is open that is not being sent; without waiting for anything. */
export async function hasCancelable(tx: Tx, environment: Environment, eventId: string, clock: Clock): Promise<boolean> {
  const range = idsOfEvent(eventId)
  const row = await tx.row(sql`
    select 1 from jobs j
    where j.environment_id = ${environment.id} and j.id between ${range.from}::uuid and ${range.to}::uuid
      and j.event_id = ${eventId} and j.due_at is not null
      and not (j.status = 'running' and (j.lease is not null and j.due_at > ${clock()} or ${isShared(environment)})) limit 1`)
  return row !== undefined
}

/**
 * Those of the event that are being sent: at most as many as the nodes have in flight, however many recipients it has.
 */
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

/**
 * Of leased jobs those that were cancelled while a provider was being called for them: retracted, or with their event.
 * Not those that own a digest with other events: what was decided for all of them is sent.
 */
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
          and e.canceled_at is not null))
      and not ${isShared(environment)}`)
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

/** The windows that these jobs opened or joined. */
export async function findWindowsOf(tx: Tx, environment: Environment, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await tx.rows<{ windowId: string }>(sql`
    select distinct state->>'windowId' as "windowId" from jobs
    where environment_id = ${environment.id} and id = any(${ids}::uuid[]) and state ? 'windowId'`)
  return rows.map((row) => row.windowId)
}

/** Jobs of the runs that speak for these windows, by the window. */
export async function findSpeakers(
  tx: Tx,
  environment: Environment,
  windows: readonly { readonly id: string; readonly jobId: string }[],
): Promise<ReadonlyMap<string, Speaker>> {
  if (windows.length === 0) return new Map()
  const rows = await tx.rows<Speaker & { windowId: string }>(sql`
    select w.id as "windowId", j.event_id as "eventId", j.notification_id as "notificationId", j.version_id as "versionId"
    from unnest(${windows.map((one) => one.id)}::uuid[], ${windows.map((one) => one.jobId)}::uuid[]) as w (id, job_id)
    cross join lateral (select * from jobs found
      where found.environment_id = ${environment.id} and found.id = w.job_id limit 1) j`)
  return new Map(rows.map(({ windowId, ...speaker }) => [windowId, speaker]))
}

export interface Speaker {
  readonly eventId: string
  readonly notificationId: string
  readonly versionId: string
}

/** Where the runs of these jobs are: those that are open, and those that were merged into a digest; locked. */
export async function lockFronts(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
  clock: Clock,
): Promise<CancelableJob[]> {
  if (ids.length === 0) return []
  return tx.rows<CancelableJob>(sql`
    select ${cancelableColumns(clock)} from jobs
    where environment_id = ${environment.id} and id = any(${ids}::uuid[]) and ${isCancelable}
    order by id for update`)
}

/** Of these ids the jobs that a caller has cancelled: their messages were not sent. */
export async function findCanceledSteps(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
): Promise<readonly { readonly notificationId: string; readonly step: number }[]> {
  if (ids.length === 0) return []
  return tx.rows(sql`
    select notification_id as "notificationId", step from jobs
    where environment_id = ${environment.id} and id = any(${ids}::uuid[]) and status = 'canceled'
      and details @> '[{"code": "canceled"}]'`)
}

/** A node that has claimed one of these has lost it: it is decided again at once. */
export async function withdrawLeases(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
  clock: Clock,
): Promise<void> {
  if (ids.length === 0) return
  await tx.run(sql`
    update jobs set lease = null, due_at = ${clock()}
    where environment_id = ${environment.id} and id = any(${ids}::uuid[]) and lease is not null`)
}

/** A job that was merged goes on in the place of one that is cancelled. */
export interface TakeOver {
  readonly id: string
  readonly status: 'queued' | 'delayed'
  /** Null for at once. */
  readonly dueAt: Date | null
  readonly state: JobState | null
  /** Null leaves its own. */
  readonly digestId: string | null
  readonly details: readonly StoredDetail[]
  /** The steps after it, which are open again. */
  readonly laterIds: readonly string[]
  /** Earlier steps that ran for both: from whose row to which. */
  readonly earlier: readonly { readonly from: string; readonly to: string }[]
}

/** Returns those that were merged, and now go on. */
export async function takeOver(
  tx: Tx,
  environment: Environment,
  jobs: readonly TakeOver[],
  { clock, now }: { clock: Clock; now: Date },
): Promise<ReadonlySet<string>> {
  if (jobs.length === 0) return new Set()
  const column = <Value>(read: (job: TakeOver) => Value): Value[] => jobs.map(read)
  const ids = column((job) => job.id)
  const rows = await tx.rows<{ id: string }>(sql`
    update jobs j set status = t.status, due_at = coalesce(t.due_at, ${clock()}), lease = null, ${cleared},
      updated_at = ${now}, digest_id = coalesce(t.digest_id, j.digest_id), state = t.state::jsonb,
      details = j.details || t.details::jsonb
    from unnest(${ids}::uuid[], ${column((job) => job.status)}::text[], ${column((job) => job.dueAt)}::timestamptz[],
                ${column((job) => json(job.state))}::text[], ${column((job) => job.digestId)}::uuid[],
                ${column((job) => json(job.details))}::text[]) as t (id, status, due_at, state, digest_id, details)
    where j.environment_id = ${environment.id} and j.id = any(${ids}::uuid[]) and j.id = t.id and j.status = 'merged'
    returning j.id`)
  const taken = new Set(rows.map((row) => row.id))
  const ours = jobs.filter((job) => taken.has(job.id))
  await tx.run(sql`
    delete from jobs where environment_id = ${environment.id} and status = 'merged'
      and id = any(${ours.flatMap((job) => job.laterIds)}::uuid[])`)
  await shareResults(
    tx,
    environment,
    ours.flatMap((job) => job.earlier),
  )
  return taken
}

/** The response of a customer's service for a digest, for the steps that continue elsewhere. */
async function shareResults(
  tx: Tx,
  environment: Environment,
  steps: readonly { readonly from: string; readonly to: string }[],
): Promise<void> {
  if (steps.length === 0) return
  await tx.run(sql`
    update jobs j set state = jsonb_build_object('result', ran.result)
    from unnest(${steps.map((one) => one.from)}::uuid[], ${steps.map((one) => one.to)}::uuid[]) as s (from_id, to_id)
    cross join lateral (select found.state->'result' as result from jobs found
      where found.environment_id = ${environment.id} and found.id = s.from_id and found.state ? 'result' limit 1) ran
    where j.environment_id = ${environment.id} and j.id = any(${steps.map((one) => one.to)}::uuid[]) and j.id = s.to_id
      and j.status = 'merged' and j.state is null`)
}

/** The status of these jobs; those that have not started are left out. */
export async function findStatuses(
  db: Sql,
  environment: Environment,
  ids: readonly string[],
): Promise<Map<string, JobStatus>> {
  const rows = await db.rows<{ id: string; status: JobStatus }>(sql`
    select id, status from jobs where environment_id = ${environment.id} and id = any(${ids}::uuid[])`)
  return new Map(rows.map((row) => [row.id, row.status]))
}
