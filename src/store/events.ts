// The events and transactions tables: what was triggered, said once.
import { arrayText } from '../db/array-text.ts'
import type { Part } from '../db/one-statement.ts'
import type { Column } from '../db/row-set.ts'
import { listed, rowSet } from '../db/row-set.ts'
import type { Sql, Tx } from '../db/sql.ts'
import { json, prepared, sql } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type { TriggeredEvent } from '../domain/event.ts'
import { isUuid } from '../domain/uuid-v7.ts'

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
  /** For everybody in the environment. */
  readonly isBroadcast: boolean
  readonly createdAt: Date
  readonly expandedAt: Date | null
}

/** Claims the callers' own transaction ids; the ones that come back are new. Sorted, as every such statement: two calls then wait and do not deadlock. */
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

const uuid = sql`uuid`
const text = sql`text`
const jsonb = sql`jsonb`
const moment = sql`timestamptz`

const columns: readonly Column<NewEvent>[] = [
  { name: sql`id`, type: uuid, read: (e) => e.id },
  { name: sql`transaction_id`, type: text, read: (e) => e.transactionId },
  { name: sql`workflow_id`, type: uuid, read: (e) => e.workflowId },
  { name: sql`version_id`, type: uuid, read: (e) => e.versionId },
  { name: sql`payload`, type: jsonb, read: (e) => json(e.payload) },
  { name: sql`overrides`, type: jsonb, read: (e) => json(e.overrides) },
  { name: sql`actor_id`, type: uuid, read: (e) => e.actorId },
  { name: sql`tenant_id`, type: uuid, read: (e) => e.tenantId },
  {
    name: sql`context_keys`,
    type: sql`text[]`,
    writtenAs: text,
    read: (e) => e.contextKeys && arrayText(e.contextKeys),
  },
  { name: sql`severity`, type: text, read: (e) => e.severity },
  { name: sql`lane`, type: sql`smallint`, read: (e) => e.lane },
  { name: sql`recipients`, type: jsonb, read: (e) => json(e.recipients) },
  { name: sql`topic_ids`, type: sql`uuid[]`, writtenAs: text, read: (e) => orNull(e.topics.map((topic) => topic.id)) },
  {
    name: sql`topic_keys`,
    type: sql`text[]`,
    writtenAs: text,
    read: (e) => orNull(e.topics.map((topic) => topic.key)),
  },
  { name: sql`excluded`, type: sql`text[]`, writtenAs: text, read: (e) => orNull(e.excluded) },
  { name: sql`warnings`, type: jsonb, read: (e) => (e.warnings.length === 0 ? null : json(e.warnings)) },
  { name: sql`notified`, type: sql`integer`, read: (e) => e.notified },
  { name: sql`is_broadcast`, type: sql`boolean`, read: (e) => e.isBroadcast },
  { name: sql`attachments`, type: sql`smallint`, read: (e) => e.attachments },
  { name: sql`expanded_at`, type: moment, read: (e) => e.expandedAt },
  { name: sql`created_at`, type: moment, read: (e) => e.createdAt },
]
const names = listed(columns.map((column) => column.name))

/** In their order: it is the order in which a digest will tell of them. */
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
                 e.tenant_id as "tenantId", e.context_keys as "contextKeys", e.severity, e.attachments
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
}

export async function findExpandingEvent(
  db: Sql,
  environment: Environment,
  id: string,
): Promise<ExpandingEvent | undefined> {
  return db.row<ExpandingEvent>(sql`
    select id, version_id, lane, actor_id, recipients, topic_ids, excluded, is_broadcast, canceled_at from events
    where environment_id = ${environment.id} and id = ${id}`)
}

/** More of them say nothing new. */
const warningsMax = 100

/** Counts the notifications of a page and keeps what went wrong with it; `expandedAt` with the last one. */
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

export interface CalledOffEvent {
  readonly version_id: string
  /** Whether its recipients were still being found. */
  readonly was_expanding: boolean
}

/** Nobody else is told of it from here on. Undefined when it is not there. */
export async function callOffEvent(
  tx: Tx,
  environment: Environment,
  id: string,
  now: Date,
): Promise<CalledOffEvent | undefined> {
  return tx.row<CalledOffEvent>(sql`
    with before as (
      select id, version_id, expanded_at from events
      where environment_id = ${environment.id} and id = ${id} for update)
    update events e set canceled_at = coalesce(e.canceled_at, ${now}), expanded_at = coalesce(e.expanded_at, ${now})
    from before where e.environment_id = ${environment.id} and e.id = before.id
    returning e.version_id, before.expanded_at is null as was_expanding`)
}
