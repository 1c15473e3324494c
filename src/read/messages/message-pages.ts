// Which messages are on a page of the list: the shortest way to them, depending on the filters.
import type { Sql, Statement } from '../../db/sql.ts'
import { allOf, sql } from '../../db/sql.ts'
import type { Channel } from '../../domain/delivery/integration.ts'
import { channels } from '../../domain/delivery/integration.ts'
import { idsOfEvent, idsOfMessages, jobIdOf, notificationIdOf } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import type { MessageStatus } from '../../domain/messages/message.ts'
import { providerOf } from '../../providers/registry.ts'
import type { MessageRow } from '../../store/messages/rows.ts'
import { contentLength, isListed, messageColumns } from '../../store/messages/rows.ts'
import { noProvider } from '../../world/meter.ts'
import { cappedCount, countMax } from '../page/offset-page.ts'
import { throwIfHeavy, writtenCharactersMax } from '../page/page-weight.ts'
import type { TimeRange } from '../page/time-range.ts'

export interface MessageFilter {
  readonly channel?: Channel
  /** The subscriber's internal id. */
  readonly subscriberId?: string
  /** The events of the transactions that were asked for. */
  readonly events?: readonly FilteredEvent[]
  /** The exact set; empty for messages without a context. */
  readonly contextKeys?: readonly string[]
  readonly statuses?: readonly MessageStatus[]
  /** Whom it was sent by, or would have been; `none` for those without a provider, `any` for those with one. */
  readonly providers?: readonly string[]
  readonly errorIds?: readonly string[]
  /** Whether it was captured instead of sent. */
  readonly captured?: boolean
  readonly time?: TimeRange
  /** Also, or only, those that were deleted or retracted. */
  readonly removed?: 'with' | 'only'
}

/** A message, and whether it was taken out of the lists. */
export interface ListedMessageRow extends MessageRow {
  readonly deleted_at: Date | null
  readonly retracted_at: Date | null
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

/** The contents of so many are read without a look at how long they are: each has a megabyte at most. */
const unweighedMax = 21

/** The page itself, newest first. */
export async function findMessagePage(
  db: Sql,
  environment: Environment,
  filter: MessageFilter,
  page: PageOf,
): Promise<ListedMessageRow[]> {
  const byId = (filter.events ?? []).reduce((sum, event) => sum + event.notified, 0) > sortedPeopleMax
  const order = byId ? sql`p.id desc` : sql`p.created_at desc, p.id desc`
  const places = allPlaces(environment, filter, { reach: page.offset + page.limit, byId })
  // The positions come from an index alone; only the page's own rows are read completely.
  const found = sql`page as materialized (
      select p.created_at, p.id from (${places}) as p order by ${order} offset ${page.offset} limit ${page.limit})`
  if (page.limit > unweighedMax) {
    // Without the last, which only shows whether there are more.
    const weight = await db.row<{ count: number; characters: number }>(sql`
      with ${found} select count(*) as count, coalesce(sum(${contentLength}), 0)::bigint as characters
      from (select p.id from page p order by ${order} limit ${page.limit - 1}) as p
      cross join lateral (
        select content, envelope from messages found where found.environment_id = ${environment.id} and found.id = p.id limit 1) as m`)
    throwIfHeavy(weight?.count ?? 0, weight?.characters ?? 0, writtenCharactersMax / 2)
  }
  return db.rows<ListedMessageRow>(sql`
    with ${found}
    select ${messageColumns}, m.deleted_at, m.retracted_at from page p
    cross join lateral (
      select * from messages found where found.environment_id = ${environment.id} and found.id = p.id limit 1) as m
    order by ${order}`)
}

export async function countMessages(
  db: Sql,
  environment: Environment,
  filter: MessageFilter,
): Promise<{ totalCount: number; totalCountCapped: boolean }> {
  // A walk in the order of its index ends where there are enough; one without an order would read all of the time first.
  if (filter.events !== undefined || isWalk(filter)) {
    const byId = filter.events !== undefined
    return cappedCount(db, sql`from (${allPlaces(environment, filter, { reach: countMax + 1, byId })}) as p`)
  }
  const [first, second] = kindsOf(filter).map(
    (kind) =>
      sql`from messages m where m.environment_id = ${environment.id} and ${allOf([kind, ...conditionsOf(filter)])}`,
  )
  if (second === undefined) return cappedCount(db, first ?? sql``)
  return cappedCount(db, sql`from (select 1 ${first ?? sql``} union all select 1 ${second}) as p`)
}

/** What was removed. The words of its partial index. */
const isRemoved = sql`m.status is not null and m.deleted_at is not null`

/** What is listed and what was removed are in different indexes: each is looked for in its own. What was not sent is in one. */
function kindsOf(filter: MessageFilter): readonly Statement[] {
  const { removed } = filter
  if (removed === undefined) return [isListed]
  if (removed === 'only') return [isRemoved]
  return isOfUnsent(filter) ? [sql`m.status is not null`] : [isListed, isRemoved]
}

const isOfUnsent = ({ statuses, errorIds }: MessageFilter): boolean =>
  errorIds !== undefined || statuses?.includes('sent') === false

/** A provider has no index: without a narrower filter that has one, all messages of the time are looked at. */
export function isWalk(filter: MessageFilter): boolean {
  const { providers, subscriberId, events, contextKeys = [], captured, removed } = filter
  if (subscriberId !== undefined || events !== undefined || contextKeys.length > 0) return false
  // What was not sent has an index; what of it was removed may be rare in it.
  if (isOfUnsent(filter)) return removed === 'only'
  // What was captured has one as well, unless it was removed; what was not may be rare among it.
  return providers !== undefined || captured === false || (captured === true && removed !== undefined)
}

interface Walk {
  readonly reach: number
  readonly byId: boolean
}

const allPlaces = (environment: Environment, filter: MessageFilter, walk: Walk): Statement =>
  kindsOf(filter)
    .map((kind) => placesOf(environment, filter, kind, walk))
    .reduce((all, one) => sql`(${all}) union all (${one})`)

/** Creation time and id of the candidates for the page: each way returns its nearest `reach`. */
function placesOf(environment: Environment, filter: MessageFilter, kind: Statement, walk: Walk): Statement {
  const { events, channel, ...rest } = filter
  if (events !== undefined) return placesOfEvents(environment, { ...filter, events }, kind, walk)
  const newestFirst = sql`order by m.created_at desc, m.id desc`
  if (rest.subscriberId === undefined && rest.contextKeys !== undefined && rest.contextKeys.length > 0) {
    // `offset 0` keeps the channel out of the inner query, which then has no way but the context's own index.
    return sql`
      select m.created_at, m.id from (
        select m.created_at, m.id, m.channel from messages m
        where m.environment_id = ${environment.id} and ${allOf([kind, ...conditionsOf(rest)])} ${newestFirst} offset 0) as m
      where ${channel === undefined ? sql`true` : sql`m.channel = ${channel}`} ${newestFirst} limit ${walk.reach}`
  }
  // The channel comes before the time in the indexes: the newest of each channel, then the newest of all.
  return sql`
    select m.created_at, m.id from unnest(${channel === undefined ? channelsOf(rest) : [channel]}::text[]) as one (channel)
    cross join lateral (
      select m.created_at, m.id from messages m
      where m.environment_id = ${environment.id} and ${allOf([kind, ...conditionsOf(rest)])} and m.channel = one.channel
      ${newestFirst} limit ${walk.reach}) as m`
}

/** Those that the providers have: without their messages, other channels would be walked to their end. */
function channelsOf({ providers }: MessageFilter): readonly Channel[] {
  const served = providers?.map((id) => providerOf(id)?.channel)
  if (served === undefined || served.includes(undefined)) return channels
  return channels.filter((channel) => served.includes(channel))
}

function placesOfEvents(
  environment: Environment,
  filter: MessageFilter & { events: readonly FilteredEvent[] },
  kind: Statement,
  walk: Walk,
): Statement {
  const { events, ...rest } = filter
  const conditions = allOf([kind, ...conditionsOf(rest)])
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

function conditionsOf(filter: Omit<MessageFilter, 'events'>): Statement[] {
  const { channel, subscriberId, contextKeys, statuses, providers, errorIds, captured, time } = filter
  return [
    ...(statuses === undefined ? [] : statusConditions(statuses)),
    ...(providers === undefined ? [] : [providerCondition(providers)]),
    ...(captured === undefined ? [] : [captured ? sql`m.is_captured` : sql`not m.is_captured`]),
    // What was sent has no error.
    ...(errorIds === undefined ? [] : [sql`m.error_id = any(${errorIds}::text[])`, isUnsent]),
    ...(time?.afterMs === undefined ? [] : [sql`m.created_at >= ${new Date(time.afterMs)}::timestamptz`]),
    ...(time?.beforeMs === undefined ? [] : [sql`m.created_at <= ${new Date(time.beforeMs)}::timestamptz`]),
    ...(subscriberId === undefined ? [] : [sql`m.subscriber_id = ${subscriberId}`]),
    ...(channel === undefined ? [] : [sql`m.channel = ${channel}`]),
    ...(contextKeys === undefined ? [] : [contextCondition(contextKeys)]),
  ]
}

/** What was not sent has an index of its own, whose words these are: it is rare among what was. */
export const isUnsent = sql`m.status in ('error', 'warning')`

/** Of messages with the status `warning`: those that were perhaps sent. */
const anyProvider = 'any'

function providerCondition(providers: readonly string[]): Statement {
  if (providers.includes(anyProvider))
    return providers.includes(noProvider) ? sql`true` : sql`m.provider_id is not null`
  const isNamed = sql`m.provider_id = any(${providers}::text[])`
  return providers.includes(noProvider) ? sql`(${isNamed} or m.provider_id is null)` : isNamed
}

function statusConditions(statuses: readonly MessageStatus[]): Statement[] {
  const isOneOf = sql`m.status = any(${statuses}::text[])`
  return statuses.includes('sent') ? [isOneOf] : [isOneOf, isUnsent]
}

function contextCondition(contextKeys: readonly string[]): Statement {
  if (contextKeys.length === 0) return sql`m.context_keys is null`
  return sql`m.context_keys = ${[...new Set(contextKeys)].sort()}::text[]`
}
