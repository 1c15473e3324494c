// The digest tables: windows that gather events, the events they gathered, and when a back-off last heard of something.
import type { Clock } from '../../db/clock.ts'
import { dueNow } from '../../db/due.ts'
import type { Sql, Tx } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import { firstIdAt } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'

/** What one window is for: a step, a subscriber, a value of the digest key. */
export interface DigestIdentity {
  readonly stepId: string
  readonly subscriberId: string
  readonly keyHash: Buffer
}

export interface WindowJoin extends DigestIdentity {
  /** The window's id if this join opens it. */
  readonly id: string
  readonly workflowId: string
  readonly jobId: string
  readonly notificationId: string
  readonly eventCount: number
  /** By this node's clock, and shown only: when the window ends is decided by its job. */
  readonly dueAt: Date
}

export interface JoinedWindow {
  readonly id: string
  readonly step_id: string
  readonly subscriber_id: string
  readonly key_hash: Buffer
  readonly notification_id: string
  readonly due_at: Date
  readonly opened: boolean
}

/** Opens windows or joins those that are open; one join an identity. A join that meets a window just closing opens a new one. */
export async function joinWindows(
  tx: Tx,
  environment: Environment,
  joins: readonly WindowJoin[],
  now: Date,
): Promise<JoinedWindow[]> {
  if (joins.length === 0) return []
  const column = <Value>(read: (join: WindowJoin) => Value): Value[] => joins.map(read)
  return tx.rows<JoinedWindow>(sql`
    insert into digest_windows (environment_id, id, workflow_id, step_id, subscriber_id, key_hash, job_id, notification_id,
                                event_count, opened_at, due_at)
    select ${environment.id}, w.id, w.workflow_id, w.step_id, w.subscriber_id, w.key_hash, w.job_id, w.notification_id,
           w.event_count, ${now}, w.due_at
    from unnest(${column((j) => j.id)}::uuid[], ${column((j) => j.workflowId)}::uuid[], ${column((j) => j.stepId)}::uuid[],
                ${column((j) => j.subscriberId)}::uuid[], ${column((j) => j.keyHash)}::bytea[],
                ${column((j) => j.jobId)}::uuid[], ${column((j) => j.notificationId)}::uuid[],
                ${column((j) => j.eventCount)}::int[], ${column((j) => j.dueAt)}::timestamptz[])
      as w (id, workflow_id, step_id, subscriber_id, key_hash, job_id, notification_id, event_count, due_at)
    order by w.step_id, w.subscriber_id, w.key_hash
    on conflict (environment_id, step_id, subscriber_id, key_hash) where closed_at is null
      do update set event_count = digest_windows.event_count + excluded.event_count
    returning id, step_id, subscriber_id, key_hash, notification_id, due_at, (xmax = 0) as opened`)
}

export interface GatheredEvent {
  readonly windowId: string
  readonly eventId: string
  readonly seq: number
  /** The window of an earlier digest in the same run, whose events come along. */
  readonly carriedWindowId: string | null
}

export async function gatherEvents(tx: Tx, environment: Environment, events: readonly GatheredEvent[]): Promise<void> {
  if (events.length === 0) return
  await tx.run(sql`
    insert into digest_events (environment_id, window_id, seq, event_id)
    select ${environment.id}, g.window_id, coalesce(c.seq, g.seq), coalesce(c.event_id, g.event_id)
    from unnest(${events.map((event) => event.windowId)}::uuid[], ${events.map((event) => event.eventId)}::uuid[],
                ${events.map((event) => event.seq)}::bigint[], ${events.map((event) => event.carriedWindowId)}::uuid[])
      as g (window_id, event_id, seq, carried_id)
    left join lateral (
      select d.seq, d.event_id from digest_events d
      where d.environment_id = ${environment.id} and d.window_id = g.carried_id) c on true
    on conflict (environment_id, window_id, seq) do nothing`)
}

/** Closes windows that are open, and counts what they gathered. */
export async function closeWindows(
  tx: Tx,
  environment: Environment,
  windowIds: readonly string[],
  now: Date,
): Promise<Map<string, number>> {
  if (windowIds.length === 0) return new Map()
  await tx.run(sql`
    update digest_windows set closed_at = ${now}
    where environment_id = ${environment.id} and id = any(${windowIds}::uuid[]) and closed_at is null`)
  // A separate statement: the update may have waited for a join, whose event this snapshot sees.
  const rows = await tx.rows<{ window_id: string; count: number }>(sql`
    select window_id, count(*) as count from digest_events
    where environment_id = ${environment.id} and window_id = any(${windowIds}::uuid[]) group by window_id`)
  return new Map(rows.map((row) => [row.window_id, row.count]))
}

/**
 * Notes that each identity heard of something now; returns when it last did before, null for the first time ever. Both by a
 * clock that all nodes share.
 */
export async function noteBackoffs(
  tx: Tx,
  environment: Environment,
  identities: readonly DigestIdentity[],
  clock: Clock,
): Promise<{ step_id: string; subscriber_id: string; key_hash: Buffer; previous_at: Date | null; now: Date }[]> {
  if (identities.length === 0) return []
  return tx.rows(sql`
    insert into digest_backoffs (environment_id, step_id, subscriber_id, key_hash, last_at)
    select ${environment.id}, b.step_id, b.subscriber_id, b.key_hash, ${clock()}
    from unnest(${identities.map((one) => one.stepId)}::uuid[], ${identities.map((one) => one.subscriberId)}::uuid[],
                ${identities.map((one) => one.keyHash)}::bytea[]) as b (step_id, subscriber_id, key_hash)
    order by b.step_id, b.subscriber_id, b.key_hash
    on conflict (environment_id, step_id, subscriber_id, key_hash) do update
      set previous_at = digest_backoffs.last_at, last_at = greatest(digest_backoffs.last_at, excluded.last_at)
    returning step_id, subscriber_id, key_hash, previous_at, ${clock()} as now`)
}

export interface DigestFacts {
  readonly window_id: string
  /** The step that gathered it. */
  readonly step_id: string | null
  readonly total: number
  /** The payloads of the first events, in the order they were accepted. */
  readonly payloads: Record<string, unknown>[]
}

/** What steps after a digest see of it: at most this many payloads, and the count of all. */
export async function findDigests(
  db: Sql,
  environment: Environment,
  windowIds: readonly string[],
  payloadsMax: number,
): Promise<DigestFacts[]> {
  if (windowIds.length === 0) return []
  return db.rows<DigestFacts>(sql`
    select asked.id as window_id,
      (select w.step_id from digest_windows w
       where w.environment_id = ${environment.id} and w.id = asked.id) as step_id,
      (select count(*) from digest_events d
       where d.environment_id = ${environment.id} and d.window_id = asked.id) as total,
      (select coalesce(jsonb_agg(p.payload order by p.seq), '[]') from (
         select e.payload, d.seq from digest_events d
         cross join lateral (select payload from events e
           where e.environment_id = ${environment.id} and e.id = d.event_id limit 1) e
         where d.environment_id = ${environment.id} and d.window_id = asked.id
         order by d.seq limit ${payloadsMax}) p) as payloads
    from unnest(${windowIds}::uuid[]) as asked (id)`)
}

export interface LockedWindow {
  readonly id: string
  readonly subscriberId: string
  /** The run that speaks for the window, and a job of it. */
  readonly notificationId: string
  readonly jobId: string
  readonly isOpen: boolean
}

/** Nothing joins, leaves or closes them until the transaction ends. */
export async function lockWindows(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
): Promise<ReadonlyMap<string, LockedWindow>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.rows<LockedWindow>(sql`
    select id, subscriber_id as "subscriberId", notification_id as "notificationId", job_id as "jobId",
           closed_at is null as "isOpen"
    from digest_windows where environment_id = ${environment.id} and id = any(${ids}::uuid[])
    order by id for update`)
  return new Map(rows.map((row) => [row.id, row]))
}

/** Takes an event out of these windows, which are locked. */
export async function leaveWindows(
  tx: Tx,
  environment: Environment,
  { eventId, windowIds }: { eventId: string; windowIds: readonly string[] },
): Promise<void> {
  if (windowIds.length === 0) return
  await tx.run(sql`
    delete from digest_events
    where environment_id = ${environment.id} and window_id = any(${windowIds}::uuid[]) and event_id = ${eventId}`)
}

export interface OwnerSearch {
  readonly windowId: string
  /** The steps that are still to run, by their ids: an owner begins with the first of them that its version has. */
  readonly stepIds: readonly string[]
  /** Behind this event; null from the first on. */
  readonly afterSeq: number | null
}

export interface NextOwner {
  readonly windowId: string
  readonly eventId: string
  readonly seq: number
  readonly versionId: string
  /** The place of the step in its version's list. */
  readonly step: number
}

/** Of each window the first event, in the order they were accepted, that is not cancelled and can go on. */
export async function findNextOwners(
  tx: Tx,
  environment: Environment,
  searches: readonly OwnerSearch[],
): Promise<NextOwner[]> {
  if (searches.length === 0) return []
  return tx.rows<NextOwner>(sql`
    select asked.window_id as "windowId", found.*
    from unnest(${searches.map((one) => one.windowId)}::uuid[], ${searches.map((one) => json(one.stepIds))}::text[],
                ${searches.map((one) => one.afterSeq ?? 0)}::bigint[]) as asked (window_id, step_ids, after_seq)
    cross join lateral (
      select d.event_id as "eventId", d.seq, e.version_id as "versionId", place.step
      from digest_events d
      cross join lateral (select version_id from events found
        where found.environment_id = ${environment.id} and found.id = d.event_id and found.canceled_at is null limit 1) e
      cross join lateral (
        select (own.place - 1)::int as step from workflow_versions v
        cross join jsonb_array_elements(v.definition->'steps') with ordinality as own (step, place)
        join jsonb_array_elements_text(asked.step_ids::jsonb) with ordinality as wanted (id, place)
          on wanted.id = own.step->>'_id'
        where v.environment_id = ${environment.id} and v.id = e.version_id and (own.step->>'active')::boolean
        order by wanted.place limit 1) place
      where d.environment_id = ${environment.id} and d.window_id = asked.window_id and d.seq > asked.after_seq
      order by d.seq limit 1) found`)
}

/** Another run owns these windows from now on; open ones without an owner are closed. */
export async function handOnWindows(
  tx: Tx,
  environment: Environment,
  windows: readonly { id: string; jobId: string | null; notificationId: string | null }[],
  now: Date,
): Promise<void> {
  if (windows.length === 0) return
  await tx.run(sql`
    update digest_windows w
    set job_id = coalesce(n.job_id, w.job_id), notification_id = coalesce(n.notification_id, w.notification_id),
        closed_at = coalesce(w.closed_at, case when n.job_id is null then ${now}::timestamptz end)
    from unnest(${windows.map((one) => one.id)}::uuid[], ${windows.map((one) => one.jobId)}::uuid[],
                ${windows.map((one) => one.notificationId)}::uuid[]) as n (id, job_id, notification_id)
    where w.environment_id = ${environment.id} and w.id = any(${windows.map((one) => one.id)}::uuid[]) and w.id = n.id`)
}

/**
 * Deletes at most `limit` windows that were closed before, with their events. The activity and the steps after a digest
 * read a window for as long as its notifications exist: the sweeper knows that those are gone.
 */
export async function sweepWindows(
  tx: Tx,
  environment: Environment,
  { closedBefore, limit }: { closedBefore: Date; limit: number },
): Promise<number> {
  const rows = await tx.rows<{ id: string }>(sql`
    select id from digest_windows
    where environment_id = ${environment.id} and id < ${firstIdAt(closedBefore)} and closed_at < ${closedBefore}
    order by id limit ${limit} for update skip locked`)
  await deleteWindows(
    tx,
    environment,
    rows.map((row) => row.id),
  )
  return rows.length
}

/** Windows and what they gathered, whether they are open or not. */
export async function deleteWindows(tx: Tx, environment: Environment, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0
  await tx.run(
    sql`delete from digest_events where environment_id = ${environment.id} and window_id = any(${ids}::uuid[])`,
  )
  return tx.run(sql`delete from digest_windows where environment_id = ${environment.id} and id = any(${ids}::uuid[])`)
}

/** Deletes at most `limit` back-offs that heard of nothing for so long. */
export async function sweepBackoffs(
  tx: Tx,
  environment: Environment,
  { now, silentMs, limit }: { now: Date; silentMs: number; limit: number },
): Promise<number> {
  return tx.run(sql`
    delete from digest_backoffs where environment_id = ${environment.id} and ctid = any(array(
      select ctid from digest_backoffs
      where environment_id = ${environment.id}
        and last_at < ${dueNow(now)} - ${silentMs}::double precision * interval '1 millisecond' limit ${limit} for update skip locked))`)
}

/** What is still stored about a person: windows that collect for them, and when their back-offs last saw an event. */
export async function forgetDigestsOf(
  tx: Tx,
  environment: Environment,
  subscriberIds: readonly string[],
): Promise<{ windows: number; backoffs: number }> {
  const open = await tx.rows<{ id: string }>(sql`
    select id from digest_windows
    where environment_id = ${environment.id} and subscriber_id = any(${subscriberIds}::uuid[]) and closed_at is null`)
  const windows = await deleteWindows(
    tx,
    environment,
    open.map((row) => row.id),
  )
  const backoffs = await tx.run(sql`
    delete from digest_backoffs
    where environment_id = ${environment.id} and subscriber_id = any(${subscriberIds}::uuid[])`)
  return { windows, backoffs }
}
