// Old data by month: which months exist, what keeps one, detaching one, and the progress of that.
import type { Sql, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import { firstIdAt, timestampOfId } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import type { KeptBy, RowCounts } from '../../domain/operate/retention.ts'

/** One month of all four tables. */
export interface Month {
  readonly from: Date
  /** Where the next one begins. */
  readonly to: Date
  readonly partitions: readonly { readonly name: string; readonly bytes: number }[]
}

/** Oldest first. */
export async function listMonths(db: Sql): Promise<Month[]> {
  const rows = await db.rows<{ name: string; from_id: string; to_id: string; bytes: number }>(
    sql`select name, from_id, to_id, bytes from month_partitions() order by from_id, name`,
  )
  const months = new Map<string, Month & { partitions: { name: string; bytes: number }[] }>()
  for (const { name, from_id, to_id, bytes } of rows) {
    const month = months.get(from_id) ?? { from: timestampOfId(from_id), to: timestampOfId(to_id), partitions: [] }
    month.partitions.push({ name, bytes })
    months.set(from_id, month)
  }
  return [...months.values()]
}

/** Detached from their tables by a process that could not drop them any more. */
export async function listDetached(db: Sql): Promise<{ name: string; bytes: number }[]> {
  return db.rows(sql`select name, bytes from detached_months() order by name`)
}

export interface Span {
  readonly from: Date
  readonly to: Date
}

/** Whether a step of that time is still to run; by the queue's own index. */
async function hasOpenJobs(db: Sql, environments: readonly Environment[], { from, to }: Span): Promise<boolean> {
  const environmentIds = environments.map((environment) => environment.id)
  const row = await db.row(sql`
    select 1 from jobs
    where environment_id = any(${environmentIds}::uuid[]) and id >= ${firstIdAt(from)} and id < ${firstIdAt(to)}
      and due_at is not null
    limit 1`)
  return row !== undefined
}

/** Whether a message of that time is still snoozed, or an event still being expanded: such tasks have their ids. */
async function hasOpenTasks(db: Sql, environments: readonly Environment[], { from, to }: Span): Promise<boolean> {
  const environmentIds = environments.map((environment) => environment.id)
  const row = await db.row(sql`
    select 1 from tasks
    where environment_id = any(${environmentIds}::uuid[]) and id >= ${firstIdAt(from)} and id < ${firstIdAt(to)}
      and kind in ('expand', 'unsnooze') and due_at is not null
    limit 1`)
  return row !== undefined
}

/** What keeps a month according to the queue: few rows are examined, so it can be queried while others wait. */
export async function keptByQueue(
  db: Sql,
  environments: readonly Environment[],
  span: Span,
): Promise<KeptBy | undefined> {
  if (await hasOpenJobs(db, environments, span)) return 'open_jobs'
  return (await hasOpenTasks(db, environments, span)) ? 'open_tasks' : undefined
}

/**
 * Whether a step that still has to run, of any time, includes an event of that time: a digest collects events long
 * after they were accepted, and is sent long after it collected them. It scans every open step. Checked after the
 * queue: what has no open step of its own is not collected any more.
 */
export async function isGathered(db: Sql, environments: readonly Environment[], { from, to }: Span): Promise<boolean> {
  const environmentIds = environments.map((environment) => environment.id)
  const row = await db.row(sql`
    select 1 from jobs j
    cross join lateral (values (j.digest_id), ((j.state->>'windowId')::uuid)) as seen (window_id)
    join digest_events d on d.environment_id = j.environment_id and d.window_id = seen.window_id
    where j.environment_id = any(${environmentIds}::uuid[]) and j.due_at is not null
      and d.event_id >= ${firstIdAt(from)} and d.event_id < ${firstIdAt(to)}
    limit 1`)
  return row !== undefined
}

/** One page of messages of a time: whether one of them still has to be sent, and where to continue. */
export async function lookForUnsent(
  db: Sql,
  environment: Environment,
  { from, to, after, limit }: Span & { after: string | undefined; limit: number },
): Promise<{ isUnsent: boolean; next: string | undefined }> {
  const begin = after === undefined ? sql`id >= ${firstIdAt(from)}` : sql`id > ${after}`
  const row = await db.row<{ is_unsent: boolean | null; last_id: string | null; seen: number }>(sql`
    select bool_or(state <> 'done') as is_unsent, max(id::text collate "C") as last_id, count(*) as seen
    from (select id, state from messages
          where environment_id = ${environment.id} and ${begin} and id < ${firstIdAt(to)}
          order by id limit ${limit}) as page`)
  const isFull = row !== undefined && row.seen >= limit
  return { isUnsent: row?.is_unsent === true, next: isFull ? (row.last_id ?? undefined) : undefined }
}

/** How much there is of some days: a month at once may take longer than a statement is given. */
export async function countSpan(db: Sql, environments: readonly Environment[], { from, to }: Span): Promise<RowCounts> {
  const environmentIds = environments.map((environment) => environment.id)
  const within = sql`environment_id = any(${environmentIds}::uuid[]) and id >= ${firstIdAt(from)} and id < ${firstIdAt(to)}`
  const row = await db.row<RowCounts>(sql`
    select (select count(*) from events where ${within}) as events,
           (select count(*) from notifications where ${within}) as notifications,
           (select count(*) from jobs where ${within}) as jobs,
           (select count(*) from messages where ${within}) as messages`)
  return row ?? { events: 0, notifications: 0, jobs: 0, messages: 0 }
}

/** True when this run is the one that drops old data, for so long; false when another is. By the database's clock. */
export async function holdRetention(db: Sql, runId: string, forMs: number): Promise<boolean> {
  const held = await db.run(sql`
    update retention_progress set run_id = ${runId}, run_until = statement_timestamp() + ${forMs} * interval '1 ms'
    where run_id is null or run_id = ${runId} or run_until < statement_timestamp()`)
  return held > 0
}

export async function releaseRetention(db: Sql, runId: string): Promise<void> {
  await db.run(sql`update retention_progress set run_id = null, run_until = null where run_id = ${runId}`)
}

/** Any number; whoever holds it changes what is kept, and no one else in the meantime. */
const retentionLock = 7_071_957

/** Until the transaction ends; false when another node, or a command, is at it. */
export async function tryRetentionLock(tx: Tx): Promise<boolean> {
  const row = await tx.row<{ locked: boolean }>(sql`select pg_try_advisory_xact_lock(${retentionLock}) as locked`)
  return row?.locked === true
}

/**
 * No one reads or writes the four tables until the transaction ends. In the order in which accepting writes them, and
 * without long waits: whoever comes after us in the queue for the lock waits as long as we do.
 */
export async function lockMonths(tx: Tx, waitMs: number): Promise<void> {
  await tx.run(sql`select set_config('lock_timeout', ${`${waitMs}ms`}, true)`)
  await tx.run(sql`select lock_months()`)
}

/** How many partitions were detached; none if another node was faster. */
export async function detachMonth(tx: Tx, { from }: Pick<Month, 'from'>): Promise<number> {
  const row = await tx.row<{ taken: number }>(sql`select detach_month(${firstIdAt(from)}) as taken`)
  return row?.taken ?? 0
}

export async function dropDetached(tx: Tx, name: string): Promise<boolean> {
  const row = await tx.row<{ dropped: boolean }>(sql`select drop_detached(${name}) as dropped`)
  return row?.dropped === true
}

/**
 * Rows that belong to no month: up to where those older than `before` may be deleted. What is still needed keeps what
 * came after it too. Mostly there are no such events, and then the digests need not be examined.
 */
export async function strayBound(db: Sql, environment: Environment, before: Date): Promise<Date> {
  const older = sql`environment_id = ${environment.id} and id < ${firstIdAt(before)}`
  const row = await db.row<{ id: string | null }>(sql`
    select least(
      (select id from jobs_default where ${older} and due_at is not null order by id limit 1),
      (select id from messages_default where ${older} and state <> 'done' order by id limit 1),
      (select id from tasks where ${older} and kind in ('expand', 'unsnooze') and due_at is not null order by id limit 1),
      (select d.event_id from jobs j
         cross join lateral (values (j.digest_id), ((j.state->>'windowId')::uuid)) as seen (window_id)
         join digest_events d on d.environment_id = j.environment_id and d.window_id = seen.window_id
         where j.environment_id = ${environment.id} and j.due_at is not null and d.event_id < ${firstIdAt(before)}
           and exists (select 1 from events_default where ${older})
         order by d.event_id limit 1)) as id`)
  return row?.id == null ? before : timestampOfId(row.id)
}

export async function countStrays(db: Sql, environment: Environment, before: Date): Promise<RowCounts> {
  const older = sql`environment_id = ${environment.id} and id < ${firstIdAt(before)}`
  const row = await db.row<RowCounts>(sql`
    select (select count(*) from events_default where ${older}) as events,
           (select count(*) from notifications_default where ${older}) as notifications,
           (select count(*) from jobs_default where ${older}) as jobs,
           (select count(*) from messages_default where ${older}) as messages`)
  return row ?? { events: 0, notifications: 0, jobs: 0, messages: 0 }
}

/** Deletes at most `limit` rows of each table that belong to no month and are older, and says how many. */
export async function deleteStrays(
  tx: Tx,
  environment: Environment,
  { before, limit }: { before: Date; limit: number },
): Promise<RowCounts> {
  const oldest = sql`where environment_id = ${environment.id} and id < ${firstIdAt(before)} order by id limit ${limit}`
  const events = await tx.run(sql`delete from events_default where environment_id = ${environment.id}
    and id = any(array(select id from events_default ${oldest}))`)
  const notifications = await tx.run(sql`delete from notifications_default where environment_id = ${environment.id}
    and id = any(array(select id from notifications_default ${oldest}))`)
  const jobs = await tx.run(sql`delete from jobs_default where environment_id = ${environment.id}
    and id = any(array(select id from jobs_default ${oldest}))`)
  const messages = await tx.run(sql`delete from messages_default where environment_id = ${environment.id}
    and id = any(array(select id from messages_default ${oldest}))`)
  return { events, notifications, jobs, messages }
}

/** The time of the oldest event that belongs to no month. */
export async function oldestStrayAt(db: Sql, environments: readonly Environment[]): Promise<Date | undefined> {
  const environmentIds = environments.map((environment) => environment.id)
  const row = await db.row<{ id: string }>(sql`
    select id from events_default where environment_id = any(${environmentIds}::uuid[]) order by id limit 1`)
  return row && timestampOfId(row.id)
}

export interface RetentionProgress {
  readonly sweptBefore: Date | null
  readonly droppedAt: Date | null
}

export async function findRetentionProgress(db: Sql): Promise<RetentionProgress> {
  const row = await db.row<RetentionProgress>(
    sql`select swept_before as "sweptBefore", dropped_at as "droppedAt" from retention_progress`,
  )
  return row ?? { sweptBefore: null, droppedAt: null }
}

export async function noteDropped(tx: Tx, now: Date): Promise<void> {
  await tx.run(sql`update retention_progress set dropped_at = ${now}`)
}

export async function noteSwept(tx: Tx, before: Date): Promise<void> {
  await tx.run(sql`update retention_progress set swept_before = ${before}`)
}
