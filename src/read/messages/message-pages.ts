// Which messages are on a page of the list: the shortest way to them, depending on the filters.
import type { Sql, Statement } from '../../db/sql.ts'
import { allOf, sql } from '../../db/sql.ts'
import type { Channel } from '../../domain/delivery/integration.ts'
import { channels } from '../../domain/delivery/integration.ts'
import { idsOfEvent, idsOfMessages, jobIdOf, notificationIdOf } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import type { MessageRow } from '../../store/messages/rows.ts'
import { isListed, messageColumns } from '../../store/messages/rows.ts'
import { cappedCount, countMax } from '../page/offset-page.ts'

export interface MessageFilter {
  readonly channel?: Channel
  /** The subscriber's internal id. */
  readonly subscriberId?: string
  /** The events of the transactions that were asked for. */
  readonly events?: readonly FilteredEvent[]
  /** The exact set; empty for messages without a context. */
  readonly contextKeys?: readonly string[]
}

export interface FilteredEvent {
  readonly id: string
  /** How many people it was for. */
  readonly notified: number
  /** How many steps its workflow has. */
  readonly steps: number
}

export interface PageOf {
  readonly offset: number
  readonly limit: number
}

/**
 * Messages of more people than this are listed in the order of their ids: by event, and randomly within it. Sorting a
 * broadcast to a million by the time of each message would mean reading them all for every page.
 */
const sortedPeopleMax = 10_000
/**
 * More than the people above can have. It keeps the planner from joining, which reads whole tables if it guesses wrong.
 */
const sortedMessagesMax = 1_000_000

/** The page itself, newest first. */
export async function findMessagePage(
  db: Sql,
  environment: Environment,
  filter: MessageFilter,
  page: PageOf,
): Promise<MessageRow[]> {
  const byId = (filter.events ?? []).reduce((sum, event) => sum + event.notified, 0) > sortedPeopleMax
  const order = byId ? sql`p.id desc` : sql`p.created_at desc, p.id desc`
  const places = placesOf(environment, filter, { reach: page.offset + page.limit, byId })
  // The positions come from an index alone; only the page's own rows are read completely.
  return db.rows<MessageRow>(sql`
    with page as materialized (
      select p.created_at, p.id from (${places}) as p order by ${order} offset ${page.offset} limit ${page.limit})
    select ${messageColumns} from page p
    cross join lateral (
      select * from messages found where found.environment_id = ${environment.id} and found.id = p.id limit 1) as m
    order by ${order}`)
}

export async function countMessages(
  db: Sql,
  environment: Environment,
  filter: MessageFilter,
): Promise<{ totalCount: number; totalCountCapped: boolean }> {
  if (filter.events !== undefined) {
    return cappedCount(db, sql`from (${placesOf(environment, filter, { reach: countMax + 1, byId: true })}) as p`)
  }
  return cappedCount(
    db,
    sql`from messages m where m.environment_id = ${environment.id} and ${allOf(conditionsOf(filter))}`,
  )
}

/** Creation time and id of the candidates for the page: each way returns its nearest `reach`. */
function placesOf(environment: Environment, filter: MessageFilter, walk: { reach: number; byId: boolean }): Statement {
  const { events, channel, ...rest } = filter
  if (events !== undefined) return placesOfEvents(environment, { ...filter, events }, walk)
  const newestFirst = sql`order by m.created_at desc, m.id desc`
  if (rest.subscriberId === undefined && rest.contextKeys !== undefined && rest.contextKeys.length > 0) {
    // `offset 0` keeps the channel out of the inner query, which then has no way but the context's own index.
    return sql`
      select m.created_at, m.id from (
        select m.created_at, m.id, m.channel from messages m
        where m.environment_id = ${environment.id} and ${allOf(conditionsOf(rest))} ${newestFirst} offset 0) as m
      where ${channel === undefined ? sql`true` : sql`m.channel = ${channel}`} ${newestFirst} limit ${walk.reach}`
  }
  // The channel comes before the time in the indexes: the newest of each channel, then the newest of all.
  return sql`
    select m.created_at, m.id from unnest(${channel === undefined ? channels : [channel]}::text[]) as one (channel)
    cross join lateral (
      select m.created_at, m.id from messages m
      where m.environment_id = ${environment.id} and ${allOf(conditionsOf(rest))} and m.channel = one.channel
      ${newestFirst} limit ${walk.reach}) as m`
}

function placesOfEvents(
  environment: Environment,
  filter: MessageFilter & { events: readonly FilteredEvent[] },
  walk: { reach: number; byId: boolean },
): Statement {
  const { events, ...rest } = filter
  const conditions = allOf(conditionsOf(rest))
  if (walk.byId && filter.subscriberId === undefined) {
    // An event a branch, its range written out: only so does the planner see one partition, whose order is the index's.
    return events
      .map(({ id }): Statement => {
        const { from, to } = idsOfEvent(id)
        return sql`(
          select m.created_at, m.id from messages m
          where m.environment_id = ${environment.id} and ${conditions}
            and m.id >= ${from} and m.id <= ${to} and m.event_id = ${id}
          order by m.id desc limit ${walk.reach})`
      })
      .reduce((all, branch) => sql`${all} union all ${branch}`)
  }
  const ranges = events.flatMap((event) => rangesOf(event, filter.subscriberId))
  return sql`
    select m.created_at, m.id
    from unnest(${ranges.map((range) => range.eventId)}::uuid[], ${ranges.map((range) => range.from)}::uuid[],
                ${ranges.map((range) => range.to)}::uuid[]) as one (event_id, first_id, last_id)
    cross join lateral (
      select m.created_at, m.id from messages m
      where m.environment_id = ${environment.id} and ${conditions}
        and m.id >= one.first_id and m.id <= one.last_id and m.event_id = one.event_id
      limit ${sortedMessagesMax}) as m`
}

/** Where the messages of an event lie: all of them together, one person's by the ids that their steps give. */
function rangesOf(
  event: FilteredEvent,
  subscriberId: string | undefined,
): { eventId: string; from: string; to: string }[] {
  if (subscriberId === undefined) return [{ eventId: event.id, ...idsOfEvent(event.id) }]
  const notificationId = notificationIdOf(event.id, subscriberId)
  return Array.from({ length: event.steps }, (_, step) => ({
    eventId: event.id,
    ...idsOfMessages(event.id, jobIdOf(event.id, notificationId, step)),
  }))
}

function conditionsOf({ channel, subscriberId, contextKeys }: Omit<MessageFilter, 'events'>): Statement[] {
  return [
    isListed,
    ...(subscriberId === undefined ? [] : [sql`m.subscriber_id = ${subscriberId}`]),
    ...(channel === undefined ? [] : [sql`m.channel = ${channel}`]),
    ...(contextKeys === undefined ? [] : [contextCondition(contextKeys)]),
  ]
}

function contextCondition(contextKeys: readonly string[]): Statement {
  if (contextKeys.length === 0) return sql`m.context_keys is null`
  return sql`m.context_keys = ${[...new Set(contextKeys)].sort()}::text[]`
}
