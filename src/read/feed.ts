// A subscriber's in-app feed, and how much of it is still unread or unseen.
import type { Sql, Statement } from '../db/sql.ts'
import { allOf, json, sql } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type { FeedItem } from '../domain/message-views.ts'
import { feedNames } from '../store/feeds.ts'
import { inFeeds } from '../store/messages/feeds.ts'
import { findOrigins } from '../store/messages/origins.ts'
import type { MessageRow } from '../store/messages/rows.ts'
import { isInFeed, messageColumns } from '../store/messages/rows.ts'
import { feedItemOf } from '../store/messages/views.ts'
import { findSubscriberRows } from '../store/subscribers.ts'
import type { OffsetPage } from './offset-page.ts'
import { cappedCount, offsetPage } from './offset-page.ts'

export interface FeedFilter {
  readonly read?: boolean
  readonly seen?: boolean
  /** Only those of these feeds. */
  readonly feedIds?: readonly string[]
}

export interface FeedQuery extends FeedFilter {
  /** A part that the event's payload must contain. */
  readonly payload?: Readonly<Record<string, unknown>>
  readonly page: number
  readonly limit: number
}

/** Newest first; undefined when nobody has that id. */
export async function feedPage(
  db: Sql,
  environment: Environment,
  subscriberId: string,
  query: FeedQuery,
): Promise<OffsetPage<FeedItem> | undefined> {
  const [subscriber] = await findSubscriberRows(db, environment, [subscriberId])
  if (subscriber === undefined) return undefined
  const conditions = allOf(conditionsOf(environment, subscriber.id, await withFeedNames(db, environment, query)))
  const from = sql`from messages m ${eventsWith(environment, query.payload)}
    where m.environment_id = ${environment.id} and ${conditions}`
  const [rows, count] = await Promise.all([
    db.rows<MessageRow>(sql`
      select ${messageColumns} ${from}
      order by m.created_at desc, m.id desc offset ${query.page * query.limit} limit ${query.limit + 1}`),
    cappedCount(db, from),
  ])
  const page = offsetPage(rows, query, count)
  const origins = await findOrigins(db, environment, page.data)
  return { ...page, data: page.data.map((row) => feedItemOf(environment, subscriber, row, origins)) }
}

/** How many there are, counted no further than `limit`; undefined when nobody has that id. */
export async function feedCount(
  db: Sql,
  environment: Environment,
  subscriberId: string,
  query: FeedFilter & { limit: number },
): Promise<number | undefined> {
  const [subscriber] = await findSubscriberRows(db, environment, [subscriberId])
  if (subscriber === undefined) return undefined
  const conditions = allOf(conditionsOf(environment, subscriber.id, await withFeedNames(db, environment, query)))
  const row = await db.row<{ count: number }>(sql`
    select count(*) as count from (
      select 1 from messages m
      where m.environment_id = ${environment.id} and ${conditions}
      limit ${query.limit}) as counted`)
  return row?.count ?? 0
}

/** A step may name its feed by id or by identifier, and so may whoever asks. */
async function withFeedNames<Filter extends FeedFilter>(
  db: Sql,
  environment: Environment,
  filter: Filter,
): Promise<Filter> {
  if (filter.feedIds === undefined) return filter
  return { ...filter, feedIds: await feedNames(db, environment, filter.feedIds) }
}

function conditionsOf(environment: Environment, subscriberId: string, filter: FeedFilter): Statement[] {
  return [
    sql`m.subscriber_id = ${subscriberId}`,
    isInFeed,
    // Written out, not as parameters: only so does the planner see that the index of open messages serves them.
    ...(filter.read === undefined ? [] : [filter.read ? sql`m.read` : sql`not m.read`]),
    ...(filter.seen === undefined ? [] : [filter.seen ? sql`m.seen` : sql`not m.seen`]),
    ...(filter.feedIds === undefined ? [] : [inFeeds(environment, filter.feedIds)]),
  ]
}

/** Each message's own event by its key: a join would read the payloads of the whole environment. */
function eventsWith(environment: Environment, payload: Readonly<Record<string, unknown>> | undefined): Statement {
  if (payload === undefined) return sql``
  return sql`cross join lateral (
    select 1 from events found
    where found.environment_id = ${environment.id} and found.id = m.event_id and found.payload @> ${json(payload)}::jsonb
    limit 1) as e`
}
