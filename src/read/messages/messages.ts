// The list of messages.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Channel } from '../../domain/delivery/integration.ts'
import type { Environment, Principal } from '../../domain/environment.ts'
import type { Message } from '../../domain/messages/message-views.ts'
import { messageWithoutAddresses, seesAddresses } from '../../domain/messages/shown-addresses.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import type { Subscriber } from '../../domain/people/subscriber.ts'
import { invalidField } from '../../domain/problem.ts'
import { shownTo } from '../../domain/workflows/shown-secrets.ts'
import type { Workflow } from '../../domain/workflows/workflow.ts'
import { findEventIds } from '../../store/events/events.ts'
import type { MessageOrigins } from '../../store/messages/origins.ts'
import { findOrigins } from '../../store/messages/origins.ts'
import type { MessageRow } from '../../store/messages/rows.ts'
import { messageOf } from '../../store/messages/views.ts'
import { findChannels } from '../../store/people/subscriber-channels.ts'
import { findSubscriberRows, findSubscribersById, subscriberOf } from '../../store/people/subscribers.ts'
import type { WorkflowRow } from '../../store/workflows/workflows.ts'
import { workflowColumns, workflowOf } from '../../store/workflows/workflows.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { offsetPage } from '../page/offset-page.ts'
import { asSeenBy } from '../people/subscribers.ts'
import type { FilteredEvent, MessageFilter } from './message-pages.ts'
import { countMessages, findMessagePage } from './message-pages.ts'

export interface MessagesQuery {
  readonly channel?: Channel
  /** The caller's own id of a subscriber. */
  readonly subscriberId?: string
  readonly transactionIds?: readonly string[]
  /** The exact set; empty for messages without a context. */
  readonly contextKeys?: readonly string[]
  readonly page: number
  readonly limit: number
}

/** A page is one response in memory. Larger ones come from payloads and workflows near their own limits. */
const pageBytesMax = 64 * 1024 * 1024
/** Pages of no more than this are bounded well enough by the limits of payloads and workflows: weighing costs as much as writing. */
const unweighedMax = 100

export async function messagesPage(
  db: Sql,
  sealer: Sealer,
  principal: Principal,
  query: MessagesQuery,
): Promise<OffsetPage<Message>> {
  const { environment } = principal
  const filter = await filterOf(db, environment, query)
  if (filter === undefined) return offsetPage([], query, { totalCount: 0, totalCountCapped: false })
  const [rows, count] = await Promise.all([
    findMessagePage(db, environment, filter, { offset: query.page * query.limit, limit: query.limit + 1 }),
    countMessages(db, environment, filter),
  ])
  const page = offsetPage(rows, query, count)
  return { ...page, data: await wholeMessages(db, sealer, principal, page.data) }
}

/** Undefined if nothing can match: no subscriber has that id, or no event that transaction. */
async function filterOf(db: Sql, environment: Environment, query: MessagesQuery): Promise<MessageFilter | undefined> {
  const { channel, contextKeys } = query
  const own = { ...(channel === undefined ? {} : { channel }), ...(contextKeys === undefined ? {} : { contextKeys }) }
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
  rows: readonly MessageRow[],
): Promise<Message[]> {
  const { environment } = principal
  if (rows.length === 0) return []
  const [origins, subscribers, templates] = await Promise.all([
    findOrigins(db, environment, rows),
    findSubscribers(db, sealer, principal, [...new Set(rows.map((row) => row.subscriber_id))]),
    findTemplates(db, principal, [...new Set(rows.map((row) => row.version_id))]),
  ])
  refuseHeavyPage(rows, origins, templates)
  return rows.map((row) => {
    const message = messageOf(environment, row, origins, seesAddresses(principal) ? sealer : undefined)
    return {
      ...(seesAddresses(principal) ? message : messageWithoutAddresses(message)),
      subscriber: subscribers.get(row.subscriber_id),
      template: templates.get(row.version_id),
    }
  })
}

/** How long each thing is that rows refer to, once each, added up over the rows. */
function weightsOf(
  rows: readonly MessageRow[],
  keyOf: (row: MessageRow) => string,
  find: (key: string) => object | undefined,
): number {
  const known = new Map<string, number>()
  return rows.reduce((sum, row) => {
    const key = keyOf(row)
    const weight = known.get(key) ?? JSON.stringify(find(key) ?? null).length
    known.set(key, weight)
    return sum + weight
  }, 0)
}

function refuseHeavyPage(
  rows: readonly MessageRow[],
  origins: MessageOrigins,
  templates: ReadonlyMap<string, Workflow>,
): void {
  if (rows.length <= unweighedMax) return
  const events = weightsOf(
    rows,
    (row) => row.event_id,
    (id) => origins.events.get(id),
  )
  const workflows = weightsOf(
    rows,
    (row) => row.version_id,
    (id) => templates.get(id),
  )
  const bytes = events + workflows
  if (bytes <= pageBytesMax) return
  const message = `limit must be smaller: ${rows.length} messages with their payloads and workflows have ${bytes} characters, more than ${pageBytesMax}`
  throw invalidField('limit', message)
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
  return new Map(rows.map((row) => [row.pinned_id, shownTo(principal, workflowOf(environment, row))]))
}
