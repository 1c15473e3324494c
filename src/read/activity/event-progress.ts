// The progress of an event: whether its recipients are all resolved, and the results of their notifications.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import { idsOfEvent } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import type { EventProgress, NotificationOutcome } from '../../domain/insight/activity.ts'
import { notificationOutcomes } from '../../domain/insight/activity.ts'
import { findEventIds } from '../../store/events/events.ts'
import { countMax } from '../page/offset-page.ts'

interface EventRow {
  readonly id: string
  readonly transaction_id: string
  readonly identifier: string
  /** The places of the active steps. */
  readonly steps: number[]
  readonly warnings: string[] | null
  readonly notified: number
  readonly expanded_at: Date | null
  readonly created_at: Date
}

/** Undefined when no event has this transactionId. */
export async function findEventProgress(
  db: Sql,
  environment: Environment,
  transactionId: string,
): Promise<EventProgress | undefined> {
  const eventId = (await findEventIds(db, environment, [transactionId])).get(transactionId)
  const event = eventId === undefined ? undefined : await findEvent(db, environment, eventId)
  if (event === undefined) return undefined
  const found = await countOutcomes(db, environment, event, everyRow)
  const total = Object.values(found).reduce((sum, count) => sum + count, 0)
  // What is redriven is open while its last step has a row as well: then each is counted once at the price of a sort.
  const isDoubled = total > event.notified
  const byOutcome = isDoubled ? await countOutcomes(db, environment, event, openFirst) : found
  const isExpanded = event.expanded_at !== null
  const isRunning = byOutcome.open > 0 || byOutcome.delayed > 0
  return {
    transactionId: event.transaction_id,
    name: event.identifier,
    state: isExpanded ? (isRunning ? 'running' : 'completed') : 'expanding',
    createdAt: event.created_at.toISOString(),
    counts: {
      ...(isExpanded ? { recipients: event.notified } : {}),
      notifications: event.notified,
      byOutcome,
    },
    countsCapped: event.notified > countMax,
    warnings: event.warnings ?? [],
  }
}

async function findEvent(db: Sql, environment: Environment, id: string): Promise<EventRow | undefined> {
  return db.row<EventRow>(sql`
    select e.id, e.transaction_id, w.identifier, e.warnings, e.notified, e.expanded_at, e.created_at,
      array(select (place - 1)::int from jsonb_array_elements(v.definition->'steps') with ordinality as listed (step, place)
            where (step->>'active')::boolean order by place) as steps
    from events e
    cross join lateral (select * from workflow_versions found
      where found.environment_id = ${environment.id} and found.id = e.version_id limit 1) as v
    cross join lateral (select * from workflows found
      where found.environment_id = ${environment.id} and found.id = e.workflow_id limit 1) as w
    where e.environment_id = ${environment.id} and e.id = ${id}`)
}

const everyRow = { each: sql``, order: sql`` }
const openFirst = {
  each: sql`distinct on (notification_id)`,
  order: sql`order by notification_id, outcome in ('open', 'delayed') desc, step`,
}

/**
 * A notification has one open job until it is over, and then its last step has a row: so each is counted once, without
 * sorting. The ids of jobs are as good as random, so the first rows of a large event speak for the others.
 */
async function countOutcomes(
  db: Sql,
  environment: Environment,
  event: EventRow,
  { each, order }: typeof everyRow,
): Promise<Record<NotificationOutcome, number>> {
  const ids = idsOfEvent(event.id)
  const lastStep = event.steps.at(-1) ?? -1
  const rows = await db.rows<{ outcome: NotificationOutcome; count: number }>(sql`
    select outcome, count(*) as count from (
      select ${each} outcome from (
        select notification_id, step,
          case when status in ('queued', 'running') then 'open'
               when status = 'canceled' and details @> '[{"code": "previousFailed"}]' then 'failed'
               else status end as outcome
        from jobs
        where environment_id = ${environment.id} and id between ${ids.from}::uuid and ${ids.to}::uuid
          and event_id = ${event.id}
        limit ${countMax * event.steps.length}) as looked_at
      where step = ${lastStep} or outcome in ('open', 'delayed') ${order}) as counted
    group by outcome`)
  const counted = new Map(rows.map((row) => [row.outcome, row.count]))
  const all = notificationOutcomes.map((outcome) => [outcome, counted.get(outcome) ?? 0])
  return Object.fromEntries(all) as Record<NotificationOutcome, number>
}
