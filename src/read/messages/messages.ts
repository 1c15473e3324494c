// The list of messages.
import type { Sql } from '../../db/sql.ts'
import { shortRead, sql } from '../../db/sql.ts'
import type { Channel } from '../../domain/delivery/integration.ts'
import type { Environment, Principal } from '../../domain/environment.ts'
import { dayMs } from '../../domain/insight/counts.ts'
import type { MessageStatus } from '../../domain/messages/message.ts'
import type { Message } from '../../domain/messages/message-views.ts'
import { messageWithoutAddresses, seesAddresses } from '../../domain/messages/shown-addresses.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import type { Subscriber } from '../../domain/people/subscriber.ts'
import { invalidField } from '../../domain/problem.ts'
import { mapInTurns } from '../../domain/turn.ts'
import { shownTo } from '../../domain/workflows/shown-secrets.ts'
import type { Workflow } from '../../domain/workflows/workflow.ts'
import { findEventIds } from '../../store/events/events.ts'
import { findOrigins } from '../../store/messages/origins.ts'
import type { MessageRow } from '../../store/messages/rows.ts'
import { messageOf } from '../../store/messages/views.ts'
import { findChannels } from '../../store/people/subscriber-channels.ts'
import { findSubscriberRows, findSubscribersById, subscriberOf } from '../../store/people/subscribers.ts'
import type { WorkflowRow } from '../../store/workflows/workflows.ts'
import { workflowColumns, workflowOf } from '../../store/workflows/workflows.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { offsetPage } from '../page/offset-page.ts'
import { readCharactersMax, throwIfHeavy, writtenCharactersMax } from '../page/page-weight.ts'
import { timeRangeOf } from '../page/time-range.ts'
import { asSeenBy, weightOfSubscriber } from '../people/subscribers.ts'
import type { FilteredEvent, ListedMessageRow, MessageFilter } from './message-pages.ts'
import { countMessages, findMessagePage, isWalk } from './message-pages.ts'

export interface MessagesQuery {
  readonly channel?: Channel
  /** The caller's own id of a subscriber. */
  readonly subscriberId?: string
  readonly transactionIds?: readonly string[]
  /** The exact set; empty for messages without a context. */
  readonly contextKeys?: readonly string[]
  readonly statuses?: readonly MessageStatus[]
  readonly providers?: readonly string[]
  readonly errorIds?: readonly string[]
  /** Only those that were captured instead of sent, or only the others. */
  readonly captured?: boolean
  /** Also, or only, those that were deleted or retracted. */
  readonly removed?: 'with' | 'only'
  readonly after?: string
  readonly before?: string
  readonly page: number
  readonly limit: number
}

/** What of a message the list adds. */
export interface ListedMessage extends Message {
  /** When it was deleted or retracted; its contents and addresses are left out then. */
  readonly removedAt?: string
  readonly retracted?: true
}

export async function messagesPage(
  db: Sql,
  sealer: Sealer,
  principal: Principal,
  query: MessagesQuery,
  now: Date,
): Promise<OffsetPage<ListedMessage>> {
  const { environment } = principal
  refuseUnindexed(query)
  const asked = await filterOf(db, environment, query)
  const filter = asked && withBoundedWalk(asked, now)
  if (filter === undefined) return offsetPage([], query, { totalCount: 0, totalCountCapped: false })
  const [rows, count] = await Promise.all([
    findMessagePage(db, environment, filter, { offset: query.page * query.limit, limit: query.limit + 1 }),
    countMessages(db, environment, filter),
  ])
  const page = offsetPage(rows, query, count)
  return { ...page, data: await wholeMessages(db, sealer, principal, page.data) }
}

/** Removed messages are indexed by channel and time only: with these filters all of them would be looked at. */
function refuseUnindexed({ removed, subscriberId, contextKeys }: MessagesQuery): void {
  if (removed === undefined || (subscriberId ?? contextKeys) === undefined) return
  const words =
    'removed cannot be combined with subscriberId or contextKeys: use transactionId, channel, status, providers, errorIds, captured, after or before'
  throw invalidField('removed', words, removed)
}

/** How far back messages are looked for where no index helps and no start was given. */
export const walkedDays = 30

function withBoundedWalk(filter: MessageFilter, now: Date): MessageFilter {
  if (!isWalk(filter) || filter.time?.afterMs !== undefined) return filter
  const endMs = filter.time?.beforeMs ?? now.getTime()
  return { ...filter, time: { ...filter.time, afterMs: endMs - walkedDays * dayMs } }
}

/** Undefined if nothing can match: no subscriber has that id, or no event that transaction. */
async function filterOf(db: Sql, environment: Environment, query: MessagesQuery): Promise<MessageFilter | undefined> {
  const { channel, contextKeys, statuses, providers, errorIds, captured, removed } = query
  const own = {
    time: timeRangeOf(query),
    ...(channel === undefined ? {} : { channel }),
    ...(contextKeys === undefined ? {} : { contextKeys }),
    ...(statuses === undefined ? {} : { statuses }),
    ...(providers === undefined ? {} : { providers }),
    ...(errorIds === undefined ? {} : { errorIds }),
    ...(captured === undefined ? {} : { captured }),
    ...(removed === undefined ? {} : { removed }),
  }
  const [people, events] = await Promise.all([
    query.subscriberId === undefined ? undefined : findSubscriberRows(db, environment, [query.subscriberId]),
    query.transactionIds === undefined ? undefined : findFilteredEvents(db, environment, query.transactionIds),
  ])
  if (people?.length === 0 || events?.length === 0) return undefined
  const subscriberId = people?.[0]?.id
  return {
    ...own,
    ...(subscriberId === undefined ? {} : { subscriberId }),
    ...(events === undefined ? {} : { events }),
  }
}

async function findFilteredEvents(
  db: Sql,
  environment: Environment,
  transactionIds: readonly string[],
): Promise<FilteredEvent[]> {
  const ids = await findEventIds(db, environment, transactionIds)
  return db.rows<FilteredEvent>(sql`
    select e.id, e.notified, jsonb_array_length(v.definition->'steps') as steps
    from unnest(${[...new Set(ids.values())]}::uuid[]) as asked (id)
    cross join lateral (select * from events found
      where found.environment_id = ${environment.id} and found.id = asked.id limit 1) as e
    cross join lateral (select * from workflow_versions found
      where found.environment_id = ${environment.id} and found.id = e.version_id limit 1) as v`)
}

/** With their subscribers and their workflows. */
async function wholeMessages(
  db: Sql,
  sealer: Sealer,
  principal: Principal,
  rows: readonly ListedMessageRow[],
): Promise<ListedMessage[]> {
  const { environment } = principal
  if (rows.length === 0) return []
  await refuseHeavyPage(db, environment, rows)
  const [origins, subscribers, templates] = await Promise.all([
    findOrigins(db, environment, rows),
    findSubscribers(db, sealer, principal, [...new Set(rows.map((row) => row.subscriber_id))]),
    findTemplates(db, principal, [...new Set(rows.map((row) => row.version_id))]),
  ])
  return mapInTurns(rows, (row) => {
    const message = messageOf(environment, row, origins, seesAddresses(principal) ? sealer : undefined)
    const shown = {
      ...(seesAddresses(principal) ? message : messageWithoutAddresses(message)),
      subscriber: subscribers.get(row.subscriber_id),
      template: templates.get(row.version_id),
    }
    return row.deleted_at === null ? shown : withoutContents(shown, row.deleted_at, row.retracted_at !== null)
  })
}

/** Whoever removed it wanted it to be read no more: what is left is that it was there. */
function withoutContents(message: Message, removedAt: Date, isRetracted: boolean): ListedMessage {
  return {
    ...message,
    content: undefined,
    subject: undefined,
    title: undefined,
    email: undefined,
    phone: undefined,
    directWebhookUrl: undefined,
    deviceTokens: undefined,
    actor: undefined,
    data: undefined,
    cta: {},
    payload: {},
    overrides: {},
    removedAt: removedAt.toISOString(),
    ...(isRetracted ? { retracted: true } : {}),
  }
}

/** So many are within every bound: an event has half a megabyte at most, and so has a workflow. */
const unweighedMax = 10

/** Each event, each version and each subscriber is read once, and written with every message that has it. */
async function refuseHeavyPage(db: Sql, environment: Environment, rows: readonly MessageRow[]): Promise<void> {
  if (rows.length <= unweighedMax) return
  const [events, versions] = [countsOf(rows.map((row) => row.event_id)), countsOf(rows.map((row) => row.version_id))]
  const people = countsOf(rows.map((row) => row.subscriber_id))
  const weighed = await db.rows<{ characters: number; count: number }>(
    shortRead(
      'messages-weight',
      sql`select length(e.payload::text) + length(e.overrides::text) as characters, asked.count
          from unnest(${[...events.keys()]}::uuid[], ${[...events.values()]}::integer[]) as asked (id, count)
          cross join lateral (select payload, overrides from events found
            where found.environment_id = ${environment.id} and found.id = asked.id limit 1) as e
          union all
          select length(v.definition::text) as characters, asked.count
          from unnest(${[...versions.keys()]}::uuid[], ${[...versions.values()]}::integer[]) as asked (id, count)
          cross join lateral (select definition from workflow_versions found
            where found.environment_id = ${environment.id} and found.id = asked.id limit 1) as v
          union all
          select ${weightOfSubscriber} as characters, asked.count
          from unnest(${[...people.keys()]}::uuid[], ${[...people.values()]}::integer[]) as asked (id, count)
          cross join lateral (select data, preferences from subscribers found
            where found.environment_id = ${environment.id} and found.id = asked.id limit 1) as s`,
    ),
  )
  const [read, written] = [
    weighed.reduce((sum, { characters }) => sum + characters, 0),
    weighed.reduce((sum, { characters, count }) => sum + characters * count, 0),
  ]
  throwIfHeavy(rows.length, read, readCharactersMax)
  throwIfHeavy(rows.length, written, writtenCharactersMax)
}

function countsOf(ids: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}

/** By internal id. Deleted ones are in no read. */
async function findSubscribers(
  db: Sql,
  sealer: Sealer,
  principal: Principal,
  ids: readonly string[],
): Promise<Map<string, Subscriber>> {
  const { environment } = principal
  const [rows, channels] = await Promise.all([
    findSubscribersById(db, environment, ids),
    findChannels(db, sealer, environment, ids),
  ])
  return new Map(
    rows.map((row) => [row.id, asSeenBy(principal, subscriberOf(environment, row, channels.get(row.id) ?? []))]),
  )
}

/** The workflow of each version, as it was in that version and as this principal may see it. */
async function findTemplates(
  db: Sql,
  principal: Principal,
  versionIds: readonly string[],
): Promise<Map<string, Workflow>> {
  const { environment } = principal
  const rows = await db.rows<WorkflowRow & { pinned_id: string }>(sql`
    select asked.id as pinned_id, ${workflowColumns}
    from unnest(${versionIds}::uuid[]) as asked (id)
    cross join lateral (select * from workflow_versions found
      where found.environment_id = ${environment.id} and found.id = asked.id limit 1) as v
    cross join lateral (select * from workflows found
      where found.environment_id = ${environment.id} and found.id = v.workflow_id limit 1) as w
    cross join lateral (select * from notification_groups found
      where found.environment_id = ${environment.id} and found.id = w.group_id limit 1) as g`)
  const shown = (row: WorkflowRow): Workflow => shownTo(principal, workflowOf(environment, row))
  return new Map(await mapInTurns(rows, (row) => [row.pinned_id, shown(row)] as const))
}
