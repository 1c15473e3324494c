// A subscriber's inbox: a page of it, and how many notifications each of some filters finds.
import type { Sql, Statement } from '../../db/sql.ts'
import { shortRead, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Inbox } from '../../domain/messages/inbox.ts'
import { inboxCountMax } from '../../domain/messages/inbox.ts'
import type { InboxFilter } from '../../domain/messages/inbox-filter.ts'
import type { InboxNotification, SocketMessage } from '../../domain/messages/message-views.ts'
import { nilId } from '../../domain/nil-id.ts'
import { badRequest } from '../../domain/problem.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import { inContexts, isOpenOnly, matchesFilter } from '../../store/messages/inbox.ts'
import type { MessageOrigins } from '../../store/messages/origins.ts'
import { findReaderOrigins } from '../../store/messages/origins.ts'
import type { MessageRow } from '../../store/messages/rows.ts'
import { isInFeed, isListed, messageColumns } from '../../store/messages/rows.ts'
import { inboxNotificationOf, socketMessageOf } from '../../store/messages/views.ts'
import type { SubscriberRow } from '../../store/people/subscribers.ts'
import { findSubscriberRows, findSubscribersById } from '../../store/people/subscribers.ts'
import { idMax } from '../activity/activity-filters.ts'
import { weighPage } from '../page/page-weight.ts'

/** The inbox of a subscriber by the caller's own id of them; undefined if there is none. */
export async function findInbox(
  db: Sql,
  environment: Environment,
  { subscriberId, contextKeys }: { subscriberId: string; contextKeys: readonly string[] | undefined },
): Promise<Inbox | undefined> {
  const [row] = await findSubscriberRows(db, environment, [subscriberId])
  return row && { environment, id: row.id, contextKeys }
}

export interface InboxQuery {
  readonly filter: InboxFilter
  readonly limit: number
  /** The id of the last notification before the page. */
  readonly after: string | undefined
  /** Ignored if `after` is given. */
  readonly offset: number
}

/** Newest first. */
export async function inboxPage(
  db: Sql,
  inbox: Inbox,
  query: InboxQuery,
): Promise<{ data: InboxNotification[]; hasMore: boolean }> {
  return shownPage(db, inbox, query, inboxNotificationOf)
}

/** The same as older clients read it. */
export async function inboxMessages(
  db: Sql,
  inbox: Inbox,
  query: InboxQuery,
): Promise<{ data: SocketMessage[]; hasMore: boolean }> {
  return shownPage(db, inbox, query, (...shown) => socketMessageOf(inbox.environment, ...shown))
}

/** Those of the ids that are in the inbox, in the order of the ids. */
export async function inboxMessagesOf(db: Sql, inbox: Inbox, ids: readonly string[]): Promise<SocketMessage[]> {
  const { environment, id, contextKeys } = inbox
  const asked = [...new Set(ids.filter(isUuid).map((one) => one.toLowerCase()))]
  const [[subscriber], rows] = await Promise.all([
    findSubscribersById(db, environment, [id]),
    db.rows<MessageRow>(sql`
      select ${messageColumns} from messages m
      where m.environment_id = ${environment.id} and m.id = any(${asked}::uuid[]) and m.subscriber_id = ${id}
        and m.channel = 'in_app' and ${isListed} and ${inContexts(contextKeys)}`),
  ])
  if (subscriber === undefined) return []
  const origins = await findReaderOrigins(db, environment, rows)
  const found = new Map(rows.map((row) => [row.id, row]))
  return asked.flatMap((one) => {
    const row = found.get(one)
    return row === undefined ? [] : [socketMessageOf(environment, subscriber, row, origins)]
  })
}

async function shownPage<Shown>(
  db: Sql,
  inbox: Inbox,
  query: InboxQuery,
  show: (subscriber: SubscriberRow, row: MessageRow, origins: MessageOrigins) => Shown,
): Promise<{ data: Shown[]; hasMore: boolean }> {
  const after = query.after === undefined ? undefined : await placeOf(db, inbox, query.after)
  await weighPage(db, query.limit, pageStatement(weightOfMessage, inbox, query, after))
  const [[subscriber], rows] = await Promise.all([
    findSubscribersById(db, inbox.environment, [inbox.id]),
    db.rows<MessageRow>(pageStatement(messageColumns, inbox, { ...query, limit: query.limit + 1 }, after)),
  ])
  // Deleted just now.
  if (subscriber === undefined) return { data: [], hasMore: false }
  const shown = rows.slice(0, query.limit)
  const origins = await findReaderOrigins(db, inbox.environment, shown)
  return {
    data: shown.map((row) => show(subscriber, row, origins)),
    hasMore: rows.length > query.limit,
  }
}

interface Place {
  readonly id: string
  readonly created_at: Date
}

/** Even if it was deleted since: the page continues from its position. */
async function placeOf(db: Sql, { environment, id }: Inbox, after: string): Promise<Place> {
  const found = isUuid(after)
    ? await db.row<Place>(sql`
        select m.id, m.created_at from messages m
        where m.environment_id = ${environment.id} and m.id = ${after} and m.subscriber_id = ${id}`)
    : undefined
  if (found === undefined) throw badRequest('after must be the id of a notification of this inbox')
  return found
}

const weightOfMessage = sql`coalesce(length(m.content::text), 0) + coalesce(length(m.data::text), 0) as characters`

/** As a range in the order of an index, so that only the indexes of subscribers give the order; see `feed.ts`. */
function pageStatement(
  columns: Statement,
  inbox: Inbox,
  { filter, limit, offset }: InboxQuery,
  after: Place | undefined,
): Statement {
  const { environment, id, contextKeys } = inbox
  const isOpen = isOpenOnly(filter)
  const key = isOpen ? sql`m.subscriber_id` : sql`m.subscriber_id, m.channel`
  const value = isOpen ? sql`${id}::uuid` : sql`${id}::uuid, 'in_app'`
  const order = isOpen ? sql`m.subscriber_id desc` : sql`m.subscriber_id desc, m.channel desc`
  const end =
    after === undefined
      ? sql`<= (${value}, 'infinity'::timestamptz, ${idMax}::uuid)`
      : sql`< (${value}, ${after.created_at}::timestamptz, ${after.id}::uuid)`
  return sql`
    select ${columns} from messages m
    where m.environment_id = ${environment.id} and m.channel = 'in_app' and ${isListed} and ${inContexts(contextKeys)}
      and ${isOpen ? isOpenInFeed : sql`true`} and ${matchesFilter(environment, filter)}
      and m.subscriber_id >= ${id} and m.subscriber_id <= ${id}
      and (${key}, m.created_at, m.id) >= (${value}, '-infinity'::timestamptz, ${nilId}::uuid)
      and (${key}, m.created_at, m.id) ${end}
    order by ${order}, m.created_at desc, m.id desc
    offset ${after === undefined ? offset : 0} limit ${limit}`
}

/** The words of the index of open messages. */
const isOpenInFeed = sql`${isInFeed} and not (m.read and m.seen)`

/** A count examines at most this many of one inbox: a bell that says 100 need not know how many more there are. */
const lookedAtMax = 10_000

/** The number for each filter, at most 100, in one statement: open ones are walked once, by their index alone. */
export async function inboxCounts(db: Sql, inbox: Inbox, filters: readonly InboxFilter[]): Promise<number[]> {
  if (filters.length === 0) return []
  const row = await db.row<{ counts: number[] }>(countStatement(inbox, filters))
  return row?.counts ?? filters.map(() => 0)
}

function countStatement(inbox: Inbox, filters: readonly InboxFilter[]): Statement {
  const open = filters.filter(isOpenOnly)
  const numbers = filters.map((filter) => {
    const place = open.indexOf(filter)
    return place === -1 ? countedAlone(inbox, filter) : sql`o.counts[${place + 1}]`
  })
  const statement = sql`select array[${list(numbers)}]::integer[] as counts from (${countedOpen(inbox, open)}) as o`
  // What a bell asks for, again and again. Plans of other filters depend on their values.
  return filters.every(isPlain) && open.length === filters.length ? shortRead('inbox-counts', statement) : statement
}

/** All that are open are walked once, whatever the number of filters. */
function countedOpen(inbox: Inbox, open: readonly InboxFilter[]): Statement {
  if (open.length === 0) return sql`select null::bigint[] as counts`
  const { environment } = inbox
  // Tags, data and feeds are not in the index: for them the rows are read.
  const columns = open.every(isPlain) ? openColumns : sql`m.*`
  const counts = open.map(
    (filter) => sql`least(count(*) filter (where ${matchesFilter(environment, filter)}), ${inboxCountMax})`,
  )
  return sql`
    select array[${list(counts)}]::bigint[] as counts from (
      select ${columns} from messages m
      where m.environment_id = ${environment.id} and ${ofInbox(inbox)} and ${isOpenInFeed}
      limit ${lookedAtMax}) as m`
}

const isPlain = ({ tags = [], data = [], feedIds }: InboxFilter): boolean =>
  tags.length === 0 && data.length === 0 && feedIds === undefined

/** Those of the index. */
const openColumns = sql`m.read, m.seen, m.archived, m.severity, m.created_at, null::timestamptz as snoozed_until`

const countedAlone = (inbox: Inbox, filter: InboxFilter): Statement => sql`(
  select count(*) from (
    select from (
      select m.* from messages m
      where m.environment_id = ${inbox.environment.id} and ${ofInbox(inbox)} and m.channel = 'in_app' and ${isListed}
      order by m.created_at desc, m.id desc limit ${lookedAtMax}) as m
    where ${matchesFilter(inbox.environment, filter)} limit ${inboxCountMax}) as found)`

const ofInbox = ({ id, contextKeys }: Inbox): Statement => sql`m.subscriber_id = ${id} and ${inContexts(contextKeys)}`

const list = (parts: readonly Statement[]): Statement => {
  const [first = sql``, ...rest] = parts
  return rest.reduce((all, part) => sql`${all}, ${part}`, first)
}
