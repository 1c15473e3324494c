// Finding notifications for the activity list by the events they come from.
import type { Sql, Statement } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import { firstIdAt, idsOfEvent, timestampOfId } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { findEventIds } from '../../store/events/events.ts'
import type { ActivityFilter } from './activity-filters.ts'
import { eventCondition, inTime, lookups, newestOfKey, versionCondition, versionLookup } from './activity-filters.ts'
import type { ActivityRow, Slice } from './activity-rows.ts'
import { completed, depthOf, notificationColumns, ordered } from './activity-rows.ts'

/** The indexes that events are found by. */
export type EventIndex = 'context' | 'topic' | 'severity'

export async function findByTransactions(
  db: Sql,
  environment: Environment,
  filter: ActivityFilter,
  slice: Slice,
): Promise<ActivityRow[]> {
  const eventIds = await findEventIds(db, environment, filter.transactionIds ?? [])
  return findOfEvents(db, environment, filter, slice, { eventIds: [...eventIds.values()], fit: false })
}

/** Each round requests this many times more events than the previous one. */
const growth = 8

/**
 * The newest matching events, and their notifications. An event with notifications has at least one, so as many events
 * as rows are enough, unless the filter applies to notifications: then more events are requested.
 */
export async function findByEvents(
  db: Sql,
  environment: Environment,
  filter: ActivityFilter,
  slice: Slice,
  index: EventIndex,
): Promise<ActivityRow[]> {
  for (let count = depthOf(slice); ; count *= growth) {
    const { eventIds, all } = await newestEvents(db, environment, filter, index, count)
    const rows = await findOfEvents(db, environment, filter, slice, { eventIds, fit: true })
    if (all || rows.length === slice.limit) return rows
  }
}

/** More than a node can accept in a millisecond. */
const eventsOfTimestampMax = 10_000

/**
 * Events of one millisecond have notifications in a different order, so those of the last millisecond are read
 * completely.
 */
async function newestEvents(
  db: Sql,
  environment: Environment,
  filter: ActivityFilter,
  index: EventIndex,
  count: number,
): Promise<{ eventIds: string[]; all: boolean }> {
  const newest = await findEvents(db, environment, filter, index, count)
  const last = newest.at(-1)
  if (last === undefined || newest.length < count) return { eventIds: newest, all: true }
  const timestamp = timestampOfId(last)
  const range = { from: firstIdAt(timestamp), to: firstIdAt(new Date(timestamp.getTime() + 1)) }
  const ofLastTimestamp = await findEvents(db, environment, { ...filter, ...range }, index, eventsOfTimestampMax)
  return { eventIds: [...new Set([...newest, ...ofLastTimestamp])], all: false }
}

/** Newest first. */
async function findEvents(
  db: Sql,
  environment: Environment,
  filter: ActivityFilter,
  index: EventIndex,
  limit: number,
): Promise<string[]> {
  const version = versionCondition(filter)
  const fitting = sql`select e.id from events e
    ${version === undefined ? sql`` : versionLookup(environment, version, sql`e.version_id`)}
    where e.environment_id = ${environment.id} and e.notified > 0 and ${eventCondition(filter) ?? sql`true`}`
  const rows = await db.rows<{ id: string }>(throughIndex(filter, index, fitting, limit))
  return rows.map((row) => row.id)
}

/** The newest events of one index alone, to be counted. */
export function eventRowsOf(
  environment: Environment,
  filter: ActivityFilter,
  index: EventIndex,
  limit: number,
): Statement {
  const ofEnvironment = sql`select e.id from events e where e.environment_id = ${environment.id}`
  if (index !== 'topic') return throughIndex(filter, index, ofEnvironment, limit)
  return sql`${ofEnvironment} and e.topic_keys @> ${[filter.topicKey]}::text[] and ${inTime(filter, sql`e.id`)}`
}

/** `fitting` is a select of events `e` that ends in its conditions. */
function throughIndex(filter: ActivityFilter, index: EventIndex, fitting: Statement, limit: number): Statement {
  const id = sql`e.id`
  const newest = sql`order by e.id desc limit ${limit}`
  switch (index) {
    case 'context': {
      const value = sql`${filter.contextKeys ?? []}::text[]`
      return sql`${fitting} and e.context_keys is not null
        and ${newestOfKey(filter, { key: sql`e.context_keys`, value, id, limit })}`
    }
    // The index of topics knows no order: what it finds is sorted.
    case 'topic':
      return sql`with e as materialized (${fitting} and ${inTime(filter, id)}) select e.id from e ${newest}`
    case 'severity':
      if (filter.workflowIds !== undefined) return severityOfWorkflows(filter, filter.workflowIds, fitting, limit)
      return sql`select e.id from unnest(${filter.severities ?? []}::text[]) as k (severity)
        cross join lateral (${fitting} and e.severity is not null
          and ${newestOfKey(filter, { key: sql`e.severity`, value: sql`k.severity`, id, limit })}) as e ${newest}`
  }
}

/** Both are in one index: of a busy severity and a quiet workflow neither has to be looked through. */
function severityOfWorkflows(
  filter: ActivityFilter,
  workflowIds: readonly string[],
  fitting: Statement,
  limit: number,
): Statement {
  const key = sql`e.workflow_id, e.severity`
  const value = sql`w.workflow_id, k.severity`
  const order = sql`e.workflow_id desc, e.severity desc`
  return sql`select e.id from unnest(${filter.severities ?? []}::text[]) as k (severity)
    cross join unnest(${workflowIds}::uuid[]) as w (workflow_id)
    cross join lateral (${fitting} and e.severity is not null
      and ${newestOfKey(filter, { key, value, id: sql`e.id`, limit, order })}) as e order by e.id desc limit ${limit}`
}

/** `fit`: whether the events are known to fit the filter. */
async function findOfEvents(
  db: Sql,
  environment: Environment,
  filter: ActivityFilter,
  slice: Slice,
  { eventIds, fit }: { eventIds: readonly string[]; fit: boolean },
): Promise<ActivityRow[]> {
  if (eventIds.length === 0) return []
  const ranges = eventIds.map(idsOfEvent)
  const found = sql`
    select ${notificationColumns}
    from unnest(${eventIds}::uuid[], ${ranges.map((range) => range.from)}::uuid[], ${ranges.map((range) => range.to)}::uuid[])
      as k (id, from_id, to_id)
    cross join lateral (
      select n.* from notifications n ${lookups(environment, filter, fit ? { event: true, version: true } : {})}
      where n.environment_id = ${environment.id} and n.id between k.from_id and k.to_id and n.event_id = k.id
        and ${inTime(filter, sql`n.id`)}
      order by n.id desc limit ${depthOf(slice)}) as n ${ordered(slice)}`
  return db.rows<ActivityRow>(completed(environment, found))
}
