// A subscriber's in-app feed, and how much of it is still unread or unseen.
import type { Sql, Statement } from '../../db/sql.ts'
import { allOf, json, shortRead, sql, unseen } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { FeedItem } from '../../domain/messages/message-views.ts'
import { nilId } from '../../domain/nil-id.ts'
import { inFeeds } from '../../store/messages/feeds.ts'
import type { MessageEvent, MessageOrigins } from '../../store/messages/origins.ts'
import { findAvatars } from '../../store/messages/origins.ts'
import type { FeedMessageRow } from '../../store/messages/rows.ts'
import { feedMessageColumns, isInFeed } from '../../store/messages/rows.ts'
import type { FeedRecipient } from '../../store/messages/views.ts'
import { feedItemOf, feedSubscriberOf } from '../../store/messages/views.ts'
import { rowNamed } from '../../store/people/subscribers.ts'
import { feedNames } from '../../store/workflows/feeds.ts'
import { idMax } from '../activity/activity-filters.ts'
import type { PinnedVersion, PinnedVersions } from '../activity/pinned-versions.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { cappedAt, countMax, offsetPage, pageOf } from '../page/offset-page.ts'
import { readCharactersMax, throwIfHeavy } from '../page/page-weight.ts'

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

export interface StampedFeedPage {
  readonly page: OffsetPage<FeedItem>
  /**
   * The rows that it was read from, and their versions: while `feedStamp` returns the same, so does a read of the page.
   * Undefined where it shows something else that may change.
   */
  readonly stamp: string | undefined
}

/** Newest first, with its stamp; undefined if no subscriber has that id. */
export async function stampedFeedPage(
  db: Sql,
  environment: Environment,
  subscriberId: string,
  query: FeedQuery,
  versions: PinnedVersions,
): Promise<StampedFeedPage | undefined> {
  const filter = await withFeedNames(db, environment, query)
  const rows = await db.rows<FeedRow>(pageStatement(environment, subscriberId, filter))
  const [first] = rows
  if (first === undefined) return undefined
  // Whoever has an empty page is there all the same.
  const page = offsetPage(first.id === null ? [] : rows, query, cappedAt(first.count))
  const characters = page.data.reduce((sum, row) => sum + (row.characters ?? 0), 0)
  throwIfHeavy(page.data.length, characters, readCharactersMax)
  const { recipient_id, recipient, first_name, last_name, avatar } = first
  const subscriber = feedSubscriberOf({ id: recipient_id, subscriber_id: recipient, first_name, last_name, avatar })
  const { origins, pinned } = await originsOf(db, environment, page.data, versions)
  const isStamped = page.data.every((row) => isCoveredByStamp(row, pinned))
  return {
    page: { ...page, data: page.data.map((row) => feedItemOf(environment, subscriber, row, origins)) },
    stamp: isStamped ? stampOf(first, rows) : undefined,
  }
}

/**
 * What `stampedFeedPage` would return as the stamp of a first page, if it is not one that has none: by a statement that
 * reads no event and returns one short row. Undefined if no subscriber has that id.
 */
export async function feedStamp(
  db: Sql,
  environment: Environment,
  subscriberId: string,
  query: FeedQuery,
): Promise<string | undefined> {
  const row = await db.row<{ stamp: string }>(stampStatement(environment, subscriberId, query))
  return row?.stamp
}

/** How many there are, counted no further than `limit`; undefined if no subscriber has that id. */
export async function feedCount(
  db: Sql,
  environment: Environment,
  subscriberId: string,
  query: FeedFilter & { limit: number },
): Promise<number | undefined> {
  const filter = await withFeedNames(db, environment, query)
  const row = await db.row<{ count: number }>(
    named(
      'feed-count',
      filter,
      sql`with ${recipientNamed(environment, subscriberId)}, ${counted(environment, filter, query.limit)}
          select c.count from s cross join c`,
    ),
  )
  return row?.count
}

/** A message, its event, and what is the same on every row: its subscriber, and the total. */
interface FeedRow extends FeedMessageRow, Omit<FeedRecipient, 'id' | 'subscriber_id'> {
  readonly recipient_id: string
  readonly recipient: string
  readonly recipient_version: string
  readonly row_version: string | null
  readonly count: number
  readonly event: boolean | null
  /** Of the payload and the overrides, which are left out where there are too many. */
  readonly characters: number | null
  readonly transaction_id: string
  readonly payload: Record<string, unknown>
  readonly overrides: Record<string, unknown>
  readonly actor_id: string | null
  readonly severity: string | null
}

/**
 * All in one round trip. Each part is looked up by a key of the previous part; the count is computed once and not again
 * for every row.
 */
function pageStatement(environment: Environment, subscriberId: string, query: FeedQuery): Statement {
  const page = pageRows(sql`m.*`, environment, query)
  return named(
    page.name && `feed-page ${page.name}`,
    query,
    sql`with ${recipientNamed(environment, subscriberId)}, ${counted(environment, query, countMax + 1)}
        select s.id as recipient_id, s.subscriber_id as recipient, s.row_version as recipient_version, s.first_name,
               s.last_name, s.avatar, c.count, m.row_version, ${feedMessageColumns}, e.found as event, e.transaction_id,
               e.characters, e.actor_id, e.severity,
               case when ${fits} then e.payload end as payload, case when ${fits} then e.overrides end as overrides
        from s cross join c
        left join lateral (${page.statement}) as m on true
        left join lateral (
          select true as found, transaction_id, payload, overrides, actor_id, severity,
                 ${eventCharacters} as characters
          from events found
          where found.environment_id = ${environment.id} and found.id = m.event_id limit 1) as e on true
        window newest as (order by m.created_at desc, m.id desc)
        order by m.created_at desc, m.id desc`,
  )
}

/** In bytes. Written out, the worst of them (powers of ten) has 27 times as many characters: a hundred are a sixth of what a page may have. */
const smallEventBytes = 1_000
/**
 * Of an event. To write it out only to count it takes a fifteenth of the statement: a small one counts as what is stored, unless that is
 * compressed.
 */
const eventCharacters = sql`case
  when pg_column_compression(payload) is null and pg_column_compression(overrides) is null
    and pg_column_size(payload) + pg_column_size(overrides) <= ${smallEventBytes}
  then pg_column_size(payload) + pg_column_size(overrides)
  else length(payload::text) + length(overrides::text) end`

/** The same rows in the same order, of which only the versions are returned, as `stampOf` writes them. */
function stampStatement(environment: Environment, subscriberId: string, query: FeedQuery): Statement {
  const page = pageRows(sql`m.id, m.created_at`, environment, query)
  return named(
    page.name && `feed-stamp ${page.name}`,
    query,
    sql`with ${recipientNamed(environment, subscriberId)}, ${counted(environment, query, countMax + 1)}
        select concat_ws(' ', s.id, s.row_version, c.count, page.versions) as stamp
        from s cross join c
        cross join lateral (
          select string_agg(m.id || ' ' || m.row_version, ' ' order by m.created_at desc, m.id desc) as versions
          from (${page.statement}) as m) as page`,
  )
}

/** An id and an `xmin`, the transaction that wrote the row, name one committed version of it. The row behind the page is among them. */
function stampOf({ recipient_id, recipient_version, count }: FeedRow, rows: readonly FeedRow[]): string {
  const versions = rows.flatMap((row) => (row.id === null ? [] : [row.id, row.row_version]))
  return [recipient_id, recipient_version, count, ...versions].join(' ')
}

/**
 * What an item shows besides its own row and its subscriber's: its event, of which nothing shown changes while it is there; its
 * version; and the picture that a user who acted has now.
 */
function isCoveredByStamp(row: FeedRow, pinned: ReadonlyMap<string, PinnedVersion>): boolean {
  return row.event !== null && row.actor?.type !== 'user' && pinned.get(row.version_id)?.isFinal === true
}

/** A page of rows of `s`, one more than it shows. */
function pageRows(columns: Statement, environment: Environment, query: FeedQuery): ReturnType<typeof pageOf> {
  const rows = sql`select ${columns}, m.xmin::text as row_version ${inFeed(environment, query)} and ${newestFirst(query)}`
  return pageOf(rows, { offset: query.page * query.limit, limit: query.limit + 1 })
}

/** Whether an event is within what is read for one page; the first one is. */
const fits = sql`(sum(e.characters) over newest <= ${readCharactersMax} or row_number() over newest = 1)`

/** Prepared if the text is one of a few. The payload filter decides how it is best searched. */
function named(name: string | undefined, filter: FeedFilter & { payload?: unknown }, statement: Statement): Statement {
  if (name === undefined || filter.payload !== undefined || filter.feedIds !== undefined) return statement
  const marks = (['read', 'seen'] as const).map((mark) =>
    filter[mark] === undefined ? '' : ` ${mark} ${filter[mark]}`,
  )
  return shortRead(`${name}${marks.join('')}`, statement)
}

const recipientNamed = (environment: Environment, subscriberId: string): Statement =>
  sql`s as materialized (select s.* from ${rowNamed(environment, subscriberId)})`

/** How many there are for `s`, as `c`. */
const counted = (environment: Environment, filter: FeedFilter, limit: number): Statement => sql`c as materialized (
  select count(*) as count from s cross join lateral (
    select 1 ${inFeed(environment, filter)} and m.subscriber_id = s.id limit ${unseen(sql`${limit}::bigint`)}) as m)`

/** The messages of feeds, as `m`. */
function inFeed(environment: Environment, filter: FeedFilter & Pick<FeedQuery, 'payload'>): Statement {
  return sql`from messages m ${eventsWith(environment, filter.payload)}
    where m.environment_id = ${environment.id} and ${allOf(conditionsOf(environment, filter))}`
}

/**
 * Written as a range in the order of an index, so that only the indexes of subscribers give the order: if a month has
 * few subscribers, the planner would walk its whole channel. For a first page the range of the subscriber alone shows
 * that the rows are few; for a later one it must not assume so, or it would sort them all.
 */
function newestFirst({ read, seen, page }: FeedQuery): Statement {
  // The index of what is open has no channel.
  const isOpen = read === false || seen === false
  const key = isOpen ? sql`m.subscriber_id` : sql`m.subscriber_id, m.channel`
  const value = isOpen ? sql`s.id` : sql`s.id, 'in_app'`
  const order = isOpen ? sql`m.subscriber_id desc` : sql`m.subscriber_id desc, m.channel desc`
  const few = page === 0 ? sql`m.subscriber_id >= s.id and m.subscriber_id <= s.id` : sql`true`
  return sql`${few}
    and (${key}, m.created_at, m.id) >= (${value}, '-infinity'::timestamptz, ${nilId}::uuid)
    and (${key}, m.created_at, m.id) <= (${value}, 'infinity'::timestamptz, ${idMax}::uuid)
    order by ${order}, m.created_at desc, m.id desc`
}

async function originsOf(
  db: Sql,
  environment: Environment,
  rows: readonly FeedRow[],
  versions: PinnedVersions,
): Promise<{ origins: MessageOrigins; pinned: ReadonlyMap<string, PinnedVersion> }> {
  const actors = rows.flatMap((row) => (row.actor?.type === 'user' ? (row.actor_id ?? []) : []))
  const [pinned, avatars] = await Promise.all([
    versions.of(
      db,
      environment,
      rows.map((row) => row.version_id),
    ),
    findAvatars(db, environment, actors),
  ])
  const events = rows.flatMap((row): [string, MessageEvent][] => {
    const { event_id, transaction_id, payload, overrides, actor_id, severity } = row
    if (row.event === null) return []
    return [[event_id, { transactionId: transaction_id, payload, overrides, actorId: actor_id, severity }]]
  })
  const workflows = new Map([...pinned].map(([id, version]) => [id, version.ofMessages]))
  return { origins: { events: new Map(events), workflows, avatars }, pinned }
}

/** A step may name its feed by id or by identifier, and so may the caller. */
async function withFeedNames<Filter extends FeedFilter>(
  db: Sql,
  environment: Environment,
  filter: Filter,
): Promise<Filter> {
  if (filter.feedIds === undefined) return filter
  return { ...filter, feedIds: await feedNames(db, environment, filter.feedIds) }
}

function conditionsOf(environment: Environment, filter: FeedFilter): Statement[] {
  return [
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
