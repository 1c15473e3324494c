// The list of what is in the queues of one environment: what is due, what is worked on, what waits for its time.
import type { Clock } from '../../db/clock.ts'
import type { Sql, Statement } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { depthMax } from '../../queue/depth.ts'
import { findSubscribersById } from '../../store/people/subscribers.ts'
import { laneNames } from '../../world/meter.ts'
import type { PinnedVersions } from '../activity/pinned-versions.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { offsetPage } from '../page/offset-page.ts'

/** As the counts of the queue name them. */
export const queueStates = ['due', 'inHand', 'waiting'] as const
export type QueueState = (typeof queueStates)[number]

export interface QueueQuery {
  readonly state: QueueState
  /** Of one queue, or of one lane; of all unless said. */
  readonly queue?: QueueItem['queue']
  readonly lane?: (typeof laneNames)[number]
  readonly page: number
  readonly limit: number
}

export interface QueueItem {
  readonly _id: string
  readonly queue: 'jobs' | 'tasks'
  readonly lane: string
  readonly dueAt: string
  /** For a task: its kind. */
  readonly task?: string
  readonly notificationId?: string
  readonly transactionId?: string
  /** For a job: the type of its step. */
  readonly stepType?: string
  readonly workflow?: { readonly _id: string; readonly name: string }
  readonly subscriber?: { readonly subscriberId: string; readonly firstName?: string; readonly lastName?: string }
}

interface QueueRow {
  readonly id: string
  readonly queue: 'jobs' | 'tasks'
  readonly lane: number
  readonly due_at: Date
  readonly task: string | null
  readonly notification_id: string | null
  readonly event_id: string | null
  readonly version_id: string | null
  readonly step: number | null
  readonly subscriber_id: string | null
}

/** As far as the counts look, and no further: the first `depthMax` of each queue and lane. */
export async function queuePage(
  db: Sql,
  environment: Environment,
  query: QueueQuery,
  { clock, versions }: { clock: Clock; versions: PinnedVersions },
): Promise<OffsetPage<QueueItem>> {
  const { state, page, limit } = query
  const lanes = laneNames.flatMap((name, lane) => (name === (query.lane ?? name) ? [lane] : []))
  const found = (['jobs', 'tasks'] as const)
    .filter((queue) => queue === (query.queue ?? queue))
    .flatMap((queue) => lanes.map((lane) => laneOf(environment, { queue, lane, state }, clock)))
    .reduce((all, one) => sql`${all} union all ${one}`)
  const rows = await db.rows<{ total: number; is_capped: boolean } & (QueueRow | { id: null })>(sql`
    with found as materialized (${found}),
    page as (select * from found where is_asked order by due_at, id offset ${page * limit} limit ${limit + 1}),
    counted as (
      select coalesce(sum(asked), 0)::int as total, coalesce(bool_or(looked_at >= ${depthMax}::int), false) as is_capped
      from (select count(*) filter (where is_asked) as asked, count(*) as looked_at from found group by queue, lane) as lanes)
    select counted.total, counted.is_capped, page.* from counted left join page on true
    order by page.due_at, page.id`)
  const shown = rows.flatMap((row) => (row.id === null ? [] : [row as QueueRow]))
  const totals = { totalCount: rows[0]?.total ?? 0, totalCountCapped: rows[0]?.is_capped ?? false }
  const whole = offsetPage(shown, query, totals)
  return { ...whole, data: await itemsOf(db, environment, whole.data, versions) }
}

interface Lane {
  readonly queue: 'jobs' | 'tasks'
  readonly lane: number
  readonly state: QueueState
}

/** By the index of what is due, with whether each row is of the state: what was looked at is counted as well. A row that is not due yet is leased until its lease expires, or waits for its time. */
function laneOf(environment: Environment, { queue, lane, state }: Lane, clock: Clock): Statement {
  const isThen = state === 'due' ? sql`q.due_at <= ${clock()}` : sql`q.due_at > ${clock()}`
  const isHeld = { due: sql`true`, inHand: sql`q.lease is not null`, waiting: sql`q.lease is null` }[state]
  const first = sql`q.lane = ${lane}::smallint and ${isThen}
      order by q.due_at limit ${depthMax}::int`
  return queue === 'jobs'
    ? sql`(select q.id, 'jobs'::text as queue, q.lane, q.due_at, null::text as task, q.notification_id, q.event_id, q.version_id,
        q.step, q.subscriber_id, ${isHeld} as is_asked from jobs q
        where q.environment_id = ${environment.id} and ${first})`
    : sql`(select q.id, 'tasks'::text as queue, q.lane, q.due_at, q.kind as task, null::uuid as notification_id,
        coalesce(q.state->>'eventId', q.id::text)::uuid as event_id, null::uuid as version_id, null::smallint as step,
        null::uuid as subscriber_id, ${isHeld} as is_asked from tasks q
        where q.environment_id = ${environment.id} and ${first})`
}

async function itemsOf(
  db: Sql,
  environment: Environment,
  rows: readonly QueueRow[],
  versions: PinnedVersions,
): Promise<QueueItem[]> {
  const [pinned, people, transactions] = await Promise.all([
    versions.of(db, environment, new Set(rows.flatMap((row) => row.version_id ?? []))),
    findSubscribersById(db, environment, [...new Set(rows.flatMap((row) => row.subscriber_id ?? []))]),
    findTransactions(db, environment, [...new Set(rows.flatMap((row) => row.event_id ?? []))]),
  ])
  const subscribers = new Map(people.map((row) => [row.id, row]))
  return rows.map((row) => {
    const version = pinned.get(row.version_id ?? '')
    const stepType = version?.definition.steps[row.step ?? -1]?.template.type
    const subscriber = subscribers.get(row.subscriber_id ?? '')
    const transactionId = transactions.get(row.event_id ?? '')
    return {
      _id: row.id,
      queue: row.queue,
      lane: laneNames[row.lane] ?? String(row.lane),
      dueAt: row.due_at.toISOString(),
      ...(row.task === null ? {} : { task: row.task }),
      ...(row.notification_id === null ? {} : { notificationId: row.notification_id }),
      ...(transactionId === undefined ? {} : { transactionId }),
      ...(stepType === undefined ? {} : { stepType }),
      ...(version === undefined ? {} : { workflow: { _id: version.workflowId, name: version.definition.name } }),
      ...(subscriber === undefined ? {} : { subscriber: namedOf(subscriber) }),
    }
  })
}

export const namedOf = (row: { subscriber_id: string; first_name: string | null; last_name: string | null }) => ({
  subscriberId: row.subscriber_id,
  ...(row.first_name === null ? {} : { firstName: row.first_name }),
  ...(row.last_name === null ? {} : { lastName: row.last_name }),
})

/** By event. A task is an event's own, or names it, or has none. */
export async function findTransactions(
  db: Sql,
  environment: Environment,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const found = await db.rows<{ id: string; transaction_id: string }>(sql`
    select e.id, e.transaction_id from unnest(${ids}::uuid[]) as asked (id)
    cross join lateral (select id, transaction_id from events found
      where found.environment_id = ${environment.id} and found.id = asked.id limit 1) as e`)
  return new Map(found.map((row) => [row.id, row.transaction_id]))
}
