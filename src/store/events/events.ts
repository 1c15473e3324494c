// The events and transactions tables: what was triggered, stored once.
import { arrayText } from '../../db/array-text.ts'
import type { Part } from '../../db/one-statement.ts'
import type { Column } from '../../db/row-set.ts'
import { namesOf, rowSet } from '../../db/row-set.ts'
import type { Sql, Tx } from '../../db/sql.ts'
import { json, prepared, sql } from '../../db/sql.ts'
import type { TriggeredEvent } from '../../domain/delivery/event.ts'
import { firstIdAt } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { isUuid } from '../../domain/uuid-v7.ts'

export interface NewEvent extends TriggeredEvent {
  readonly workflowId: string
  readonly versionId: string
  readonly lane: number
  /** Recipients still to be expanded, as given. */
  readonly recipients: readonly unknown[] | null
  readonly topics: readonly { readonly id: string; readonly key: string }[]
  readonly excluded: readonly string[]
  readonly warnings: readonly string[]
  readonly notified: number
  /** For all subscribers of the environment. */
  readonly isBroadcast: boolean
  readonly createdAt: Date
  readonly expandedAt: Date | null
  /** As in its request. */
  readonly bytes?: number | undefined
}

/**
 * Claims the callers' own transaction ids; the returned ones are new. Sorted, as every such statement: two requests
 * then wait and do not deadlock.
 */
export async function claimTransactions(
  tx: Tx,
  environment: Environment,
  claims: readonly { transactionId: string; eventId: string }[],
): Promise<Set<string>> {
  if (claims.length === 0) return new Set()
  // An id that we made is an event's own id and has no row here: a caller who sends it again means that event.
  const ownIds = claims.map((claim) => claim.transactionId).filter(isUuid)
  const rows = await tx.rows<{ transaction_id: string }>(sql`
    insert into transactions (environment_id, transaction_id, event_id)
    select ${environment.id}, c.transaction_id, c.event_id
    from unnest(${claims.map((claim) => claim.transactionId)}::text[], ${claims.map((claim) => claim.eventId)}::uuid[])
      as c (transaction_id, event_id)
    where not exists (
      select 1 from events e
      where e.environment_id = ${environment.id} and e.id = any(${ownIds}::uuid[]) and e.transaction_id = c.transaction_id)
    order by c.transaction_id
    on conflict (environment_id, transaction_id) do nothing
    returning transaction_id`)
  return new Set(rows.map((row) => row.transaction_id))
}

/**
 * The same, for ids that were unused when they were looked up; as a part of a larger statement, which is given how many
 * are new.
 */
export function transactionClaims(
  environment: Environment,
  claims: readonly { transactionId: string; eventId: string }[],
): Part {
  return {
    as: sql`new_transactions`,
    name: 'transaction',
    statement: sql`
      insert into transactions (environment_id, transaction_id, event_id)
      select ${environment.id}::uuid, c.transaction_id, c.event_id
      from unnest(${claims.map((claim) => claim.transactionId)}::text[], ${claims.map((claim) => claim.eventId)}::uuid[])
        as c (transaction_id, event_id)
      order by c.transaction_id
      on conflict (environment_id, transaction_id) do nothing
      returning transaction_id`,
  }
}

const uuid = sql`uuid`
const text = sql`text`
const jsonb = sql`jsonb`
const timestamp = sql`timestamptz`

const columns: readonly Column<NewEvent>[] = [
  { name: sql`id`, type: uuid, read: (e) => e.id },
  { name: sql`transaction_id`, type: text, read: (e) => e.transactionId },
  { name: sql`workflow_id`, type: uuid, read: (e) => e.workflowId },
  { name: sql`version_id`, type: uuid, read: (e) => e.versionId },
  { name: sql`payload`, type: jsonb, read: (e) => json(e.payload) },
  { name: sql`overrides`, type: jsonb, read: (e) => json(e.overrides) },
  { name: sql`actor_id`, type: uuid, isUsuallySame: true, read: (e) => e.actorId },
  { name: sql`tenant_id`, type: uuid, isUsuallySame: true, read: (e) => e.tenantId },
  {
    name: sql`context_keys`,
    type: sql`text[]`,
    isUsuallySame: true,
    writtenAs: text,
    read: (e) => e.contextKeys && arrayText(e.contextKeys),
  },
  { name: sql`severity`, type: text, isUsuallySame: true, read: (e) => e.severity },
  { name: sql`lane`, type: sql`smallint`, isUsuallySame: true, read: (e) => e.lane },
  { name: sql`recipients`, type: jsonb, isUsuallySame: true, read: (e) => json(e.recipients) },
  {
    name: sql`topic_ids`,
    type: sql`uuid[]`,
    writtenAs: text,
    isUsuallySame: true,
    read: (e) => orNull(e.topics.map((topic) => topic.id)),
  },
  {
    name: sql`topic_keys`,
    type: sql`text[]`,
    isUsuallySame: true,
    writtenAs: text,
    read: (e) => orNull(e.topics.map((topic) => topic.key)),
  },
  { name: sql`excluded`, type: sql`text[]`, writtenAs: text, isUsuallySame: true, read: (e) => orNull(e.excluded) },
  {
    name: sql`warnings`,
    type: jsonb,
    isUsuallySame: true,
    read: (e) => (e.warnings.length === 0 ? null : json(e.warnings)),
  },
  { name: sql`notified`, type: sql`integer`, isUsuallySame: true, read: (e) => e.notified },
  { name: sql`is_broadcast`, type: sql`boolean`, isUsuallySame: true, read: (e) => e.isBroadcast },
  { name: sql`attachments`, type: sql`smallint`, isUsuallySame: true, read: (e) => e.attachments },
  { name: sql`expanded_at`, type: timestamp, isUsuallySame: true, read: (e) => e.expandedAt },
  { name: sql`created_at`, type: timestamp, isUsuallySame: true, read: (e) => e.createdAt },
  { name: sql`test`, type: jsonb, isUsuallySame: true, read: (e) => (e.test ? json(e.test) : null) },
  { name: sql`traceparent`, type: text, isUsuallySame: true, read: (e) => e.traceparent ?? null },
]
const names = namesOf(columns)

/** In their order: it is the order in which a digest will list them. */
export function eventInsertion(environment: Environment, events: readonly NewEvent[]): Part {
  const { values, from, shape } = rowSet(events, columns)
  return {
    as: sql`new_events`,
    name: `event-${shape}`,
    statement: sql`insert into events (environment_id, ${names}) select ${environment.id}::uuid, ${values} from ${from}`,
  }
}

const orNull = (values: readonly string[]): string | null => (values.length === 0 ? null : arrayText(values))

/** What jobs need to know of their events. */
export async function findEvents(db: Sql, environment: Environment, ids: readonly string[]): Promise<TriggeredEvent[]> {
  if (ids.length === 0) return []
  return db.rows<TriggeredEvent>(
    prepared(
      'events-find',
      sql`select e.id, e.transaction_id as "transactionId", e.payload, e.overrides, e.actor_id as "actorId",
                 e.tenant_id as "tenantId", e.context_keys as "contextKeys", e.severity, e.attachments, e.test,
                 e.traceparent, e.canceled_at as "canceledAt"
          from unnest(${ids}::uuid[]) as asked (id)
          cross join lateral (select * from events found
            where found.environment_id = ${environment.id} and found.id = asked.id limit 1) as e`,
    ),
  )
}

/** The place of each in the order of acceptance. */
export async function findEventOrder(
  db: Sql,
  environment: Environment,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db.rows<{ id: string; seq: number }>(sql`
    select e.id, e.seq from unnest(${ids}::uuid[]) as asked (id)
    cross join lateral (select id, seq from events found
      where found.environment_id = ${environment.id} and found.id = asked.id limit 1) as e`)
  return new Map(rows.map((row) => [row.id, row.seq]))
}

/** The events of these transactions: an id of the caller's by its claim, an id of ours as the event's own. */
export async function findEventIds(
  db: Sql,
  environment: Environment,
  transactionIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.rows<{ transaction_id: string; event_id: string }>(sql`
    select transaction_id, event_id from transactions
    where environment_id = ${environment.id} and transaction_id = any(${transactionIds}::text[])
    union all
    select transaction_id, id from events
    where environment_id = ${environment.id} and id = any(${transactionIds.filter(isUuid)}::uuid[])
      and transaction_id = any(${transactionIds}::text[])`)
  return new Map(rows.map((row) => [row.transaction_id, row.event_id]))
}

export interface ExpandingEvent {
  readonly id: string
  readonly version_id: string
  readonly lane: number
  readonly actor_id: string | null
  readonly recipients: unknown[] | null
  readonly topic_ids: string[] | null
  readonly excluded: string[] | null
  readonly is_broadcast: boolean
  readonly canceled_at: Date | null
  readonly traceparent: string | null
}

/** Locked, as it is written at the end of the page. */
export async function findExpandingEvent(
  tx: Tx,
  environment: Environment,
  id: string,
): Promise<ExpandingEvent | undefined> {
  return tx.row<ExpandingEvent>(sql`
    select id, version_id, lane, actor_id, recipients, topic_ids, excluded, is_broadcast, canceled_at, traceparent
    from events
    where environment_id = ${environment.id} and id = ${id} for no key update`)
}

/**
 * Removes a person from the lists that still have to be walked, or would be if a buried task were restarted. By
 * position, so their places stay, empty.
 */
export async function blankRecipient(tx: Tx, environment: Environment, subscriberId: string): Promise<void> {
  await tx.run(sql`
    with expanding as materialized (
      select e.id from tasks t
      join events e on e.environment_id = t.environment_id and e.id = t.id
      where t.environment_id = ${environment.id} and t.kind = 'expand'
        and e.recipients @> ${json([{ subscriberId }])}::jsonb
      order by e.id for no key update of e)
    update events e set recipients = (
      select jsonb_agg(case when one->>'subscriberId' = ${subscriberId} then 'null' else one end order by place)
      from jsonb_array_elements(e.recipients) with ordinality as listed (one, place))
    from expanding where e.environment_id = ${environment.id} and e.id = expanding.id`)
}

/** More of them say nothing new. */
const warningsMax = 100

/** Counts the notifications of a page and records its problems; `expandedAt` with the last one. */
export async function countNotified(
  tx: Tx,
  environment: Environment,
  page: { eventId: string; count: number; expandedAt: Date | null; warnings: readonly string[] },
): Promise<void> {
  const warned =
    page.warnings.length === 0
      ? sql``
      : sql`, warnings = case when jsonb_array_length(coalesce(warnings, '[]')) < ${warningsMax}::int
                         then coalesce(warnings, '[]') || ${json(page.warnings.slice(0, warningsMax))}::jsonb
                         else warnings end`
  await tx.run(sql`
    update events set notified = notified + ${page.count}, expanded_at = ${page.expandedAt}${warned}
    where environment_id = ${environment.id} and id = ${page.eventId}`)
}

export interface CanceledEventRow {
  readonly id: string
  readonly version_id: string
  /** Whether its recipients were still being found. */
  readonly was_expanding: boolean
}

/** No one else is notified of it from here on. Undefined if it is missing. */
export async function markEventCanceled(
  tx: Tx,
  environment: Environment,
  id: string,
  now: Date,
): Promise<CanceledEventRow | undefined> {
  const [event] = await markEventsCanceled(tx, environment, [id], now)
  return event
}

export async function markEventsCanceled(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
  now: Date,
): Promise<CanceledEventRow[]> {
  return tx.rows<CanceledEventRow>(sql`
    with before as (
      select id, version_id, expanded_at from events
      where environment_id = ${environment.id} and id = any(${ids}::uuid[]) order by id for update)
    update events e set canceled_at = coalesce(e.canceled_at, ${now}), expanded_at = coalesce(e.expanded_at, ${now})
    from before where e.environment_id = ${environment.id} and e.id = before.id
    returning e.id, e.version_id, before.expanded_at is null as was_expanding`)
}

/**
 * Examines the next callers' transaction ids after the given one and deletes those whose events are gone: the ids may
 * be used again from then on. `next` is undefined after the last.
 */
export async function sweepTransactions(
  tx: Tx,
  environment: Environment,
  { before, after, limit }: { before: string; after: string | undefined; limit: number },
): Promise<{ deleted: number; next: string | undefined }> {
  const row = await tx.row<{ deleted: number; looked: number; last: string | null }>(sql`
    with looked as materialized (
      select transaction_id, event_id from transactions
      where environment_id = ${environment.id} and transaction_id > ${after ?? ''}
      order by transaction_id limit ${limit}),
    gone as (
      delete from transactions t using looked
      where t.environment_id = ${environment.id} and t.transaction_id = looked.transaction_id
        and looked.event_id < ${before}::uuid
      returning 1)
    select (select count(*) from gone) as deleted, (select count(*) from looked) as looked,
      (select transaction_id from looked order by transaction_id desc limit 1) as last`)
  const isLast = (row?.looked ?? 0) < limit
  return { deleted: row?.deleted ?? 0, next: isLast ? undefined : (row?.last ?? undefined) }
}

/**
 * Deletes those of the events that no longer have a notification, with their transaction ids, which may then be used
 * again. An event that is still being expanded may still become a notification of someone else.
 */
export async function deleteLonelyEvents(tx: Tx, environment: Environment, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await tx.rows<{ id: string; transaction_id: string }>(sql`
    delete from events e
    where e.environment_id = ${environment.id} and e.id = any(${ids}::uuid[]) and e.expanded_at is not null
      and not exists (
        select 1 from notifications n
        where n.environment_id = ${environment.id} and n.event_id = e.id
          and n.id >= (left(e.id::text, 14) || '7' || right(e.id::text, 3) || '-8000-000000000000')::uuid
          and n.id <= (left(e.id::text, 14) || '7' || right(e.id::text, 3) || '-bfff-ffffffffffff')::uuid)
    returning e.id, e.transaction_id`)
  await tx.run(sql`
    delete from transactions
    where environment_id = ${environment.id} and transaction_id = any(${rows.map((row) => row.transaction_id)}::text[])
      and event_id = any(${rows.map((row) => row.id)}::uuid[])`)
  return rows.map((row) => row.id)
}

export interface MentionSearch {
  /** The person's internal ids, and the id that callers know. */
  readonly ids: readonly string[]
  readonly subscriberId: string
  readonly after: string | null
  readonly before: string
  readonly limit: number
}

/**
 * Looks at the next events and takes the person out of those that mention them: as actor, among the recipients as given,
 * among those left out of topics, in warnings. No index leads there, so all events are walked, a page at a time.
 */
export async function removeMentions(
  tx: Tx,
  environment: Environment,
  { ids, subscriberId, after, before, limit }: MentionSearch,
): Promise<{ changed: number; next: string | null }> {
  const asRecipient = json([{ subscriberId }])
  const warned = `Channels of ${subscriberId} were not stored`
  const row = await tx.row<{ changed: number; looked: number; last: string | null }>(sql`
    with looked as materialized (
      select id from events
      where environment_id = ${environment.id} and id > ${after ?? firstIdAt(new Date(0))}::uuid and id < ${before}::uuid
      order by id limit ${limit}),
    changed as (
      update events e set
        actor_id = case when e.actor_id = any(${ids}::uuid[]) then null else e.actor_id end,
        excluded = array_remove(e.excluded, ${subscriberId}),
        recipients = case when e.recipients is not null then (
          select coalesce(jsonb_agg(one order by place), '[]')
          from jsonb_array_elements(e.recipients) with ordinality as listed (one, place)
          where one->>'subscriberId' is distinct from ${subscriberId}) end,
        warnings = case when e.warnings is not null then (
          select coalesce(jsonb_agg(one order by place), '[]')
          from jsonb_array_elements(e.warnings) with ordinality as listed (one, place)
          where not starts_with(one #>> '{}', ${warned})) end
      from looked
      where e.environment_id = ${environment.id} and e.id = looked.id
        and (e.actor_id = any(${ids}::uuid[]) or ${subscriberId} = any(e.excluded)
          or e.recipients @> ${asRecipient}::jsonb or exists (select 1 from jsonb_array_elements_text(e.warnings) as warning (one) where starts_with(one, ${warned})))
      returning 1)
    select (select count(*) from changed) as changed, (select count(*) from looked) as looked,
      (select id from looked order by id desc limit 1) as last`)
  const isLast = (row?.looked ?? 0) < limit
  return { changed: row?.changed ?? 0, next: isLast ? null : (row?.last ?? null) }
}
