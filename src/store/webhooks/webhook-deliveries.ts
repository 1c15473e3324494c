// The webhook_deliveries table: each event for each endpoint that wants it, with its attempts.
import type { Clock } from '../../db/clock.ts'
import { dueNow } from '../../db/due.ts'
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import { firstIdAt } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import type { DeliveryAttempt, DeliveryStatus } from '../../domain/webhooks/webhook-delivery.ts'
import { attemptsInOrder, attemptsShownMax, deliveriesKeptMs } from '../../domain/webhooks/webhook-delivery.ts'

export interface NewDelivery {
  readonly endpointId: string
  readonly id: string
  readonly type: string
  readonly subjectId: string
  readonly subscriberId: string | null
  readonly body: object
  /** That of the event: its place among those about the same subject. */
  readonly number: number
  readonly createdAt: Date
}

/** Due at once. Those that are there already stay as they are. */
export async function insertDeliveries(
  tx: Tx,
  environment: Environment,
  deliveries: readonly NewDelivery[],
  now: Date,
): Promise<void> {
  if (deliveries.length === 0) return
  const column = <Value>(read: (one: NewDelivery) => Value): Value[] => deliveries.map(read)
  await tx.run(sql`
    insert into webhook_deliveries (environment_id, endpoint_id, id, type, subject_id, subscriber_id, body, number, status,
      due_at, created_at)
    select ${environment.id}::uuid, d.endpoint_id, d.id, d.type, d.subject_id, d.subscriber_id, d.body::json, d.number, 'waiting',
      ${dueNow(now)}, d.created_at
    from unnest(${column((one) => one.endpointId)}::uuid[], ${column((one) => one.id)}::uuid[],
      ${column((one) => one.type)}::text[], ${column((one) => one.subjectId)}::uuid[],
      ${column((one) => one.subscriberId)}::uuid[], ${column((one) => json(one.body))}::text[],
      ${column((one) => one.number)}::bigint[], ${column((one) => one.createdAt)}::timestamptz[])
      as d (endpoint_id, id, type, subject_id, subscriber_id, body, number, created_at)
    on conflict (environment_id, endpoint_id, id) do nothing`)
}

export interface DueDelivery {
  readonly id: string
  readonly type: string
  /** Exactly what is sent. */
  readonly body: string
  /** Made since it was created or redriven. */
  readonly attempts: number
}

/** Not behind an earlier event about the same subject that is still tried soon. Of a row called `d`. */
const isInTurn = (environment: Environment): Statement => sql`
  not exists (
    select 1 from webhook_deliveries earlier
    where earlier.environment_id = ${environment.id} and earlier.endpoint_id = d.endpoint_id
      and earlier.subject_id = d.subject_id and earlier.due_at is not null
      and (earlier.number, earlier.id) < (d.number, d.id)
      and earlier.attempts < ${attemptsInOrder})`

/** The next that an endpoint is sent. */
export async function findDueDeliveries(
  db: Sql,
  environment: Environment,
  { endpointId, clock, limit }: { endpointId: string; clock: Clock; limit: number },
): Promise<DueDelivery[]> {
  return db.rows(sql`
    select d.id, d.type, d.body::text as body, d.attempts from webhook_deliveries d
    where d.environment_id = ${environment.id} and d.endpoint_id = ${endpointId} and d.due_at <= ${clock()} and ${isInTurn(environment)}
    order by d.due_at, d.id limit ${limit}`)
}

/** How long until the next is due, 0 if one is; undefined if nothing waits. */
export async function nextDeliveryInMs(
  db: Sql,
  environment: Environment,
  { endpointId, clock }: { endpointId: string; clock: Clock },
): Promise<number | undefined> {
  const row = await db.row<{ ms: number }>(sql`
    select greatest(0, ceil(extract(epoch from (d.due_at - ${clock()})) * 1000))::float8 as ms from webhook_deliveries d
    where d.environment_id = ${environment.id} and d.endpoint_id = ${endpointId} and d.due_at is not null
      and ${isInTurn(environment)}
    order by d.due_at limit 1`)
  return row?.ms
}

export interface AttemptedDelivery {
  readonly id: string
  /** How many there had been before. */
  readonly attempts: number
  readonly status: DeliveryStatus
  /** How long until the next one; null when there is none. */
  readonly waitMs: number | null
  readonly attempt: DeliveryAttempt
}

/** One that was attempted or redriven by another in the meantime is left to it. */
export async function recordAttempts(
  tx: Tx,
  environment: Environment,
  endpointId: string,
  attempted: readonly AttemptedDelivery[],
  { clock, now }: { clock: Clock; now: Date },
): Promise<void> {
  const column = <Value>(read: (one: AttemptedDelivery) => Value): Value[] => attempted.map(read)
  // Locked in the order of their ids, as everyone locks them.
  await tx.run(sql`
    with held as materialized (
      select d.id from webhook_deliveries d
      where d.environment_id = ${environment.id} and d.endpoint_id = ${endpointId}
        and d.id = any(${column((one) => one.id)}::uuid[])
      order by d.id for no key update)
    update webhook_deliveries d
    set status = a.status, attempts = d.attempts + 1,
      due_at = ${clock()} + a.wait_ms * interval '1 millisecond',
      settled_at = case when a.wait_ms is null then ${now}::timestamptz end,
      answers = (case when jsonb_array_length(d.answers) < ${attemptsShownMax} then d.answers else d.answers - 0 end)
        || jsonb_build_array(a.attempt::jsonb)
    from unnest(${column((one) => one.id)}::uuid[], ${column((one) => one.attempts)}::int[],
      ${column((one) => one.status)}::text[], ${column((one) => one.waitMs)}::double precision[],
      ${column((one) => json(one.attempt))}::text[]) as a (id, attempts, status, wait_ms, attempt)
      join held on held.id = a.id
    where d.environment_id = ${environment.id} and d.endpoint_id = ${endpointId} and d.id = a.id
      and d.attempts = a.attempts and d.due_at is not null`)
}

/** It starts over, whatever became of it; false if there is none. */
export async function redriveDelivery(
  tx: Tx,
  environment: Environment,
  { endpointId, id, now }: { endpointId: string; id: string; now: Date },
): Promise<boolean> {
  const count = await tx.run(sql`
    update webhook_deliveries set ${startedOver(now)}
    where environment_id = ${environment.id} and endpoint_id = ${endpointId} and id = ${id}`)
  return count > 0
}

const startedOver = (now: Date): Statement =>
  sql`status = 'waiting', attempts = 0, settled_at = null, due_at = ${dueNow(now)}`

/** The next of those that happened in a range of time, oldest first; the ids of what was found. */
export async function redriveRange(
  tx: Tx,
  environment: Environment,
  range: {
    endpointId: string
    from: Date
    to: Date
    statuses: readonly DeliveryStatus[]
    after: string | undefined
    limit: number
    now: Date
  },
): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(sql`
    with found as materialized (
      select d.id from webhook_deliveries d
      where d.environment_id = ${environment.id} and d.endpoint_id = ${range.endpointId}
        and d.status = any(${range.statuses}::text[]) and d.id >= ${firstIdAt(range.from)}
        and d.id < ${firstIdAt(range.to)} and (${range.after ?? null}::uuid is null or d.id > ${range.after ?? null})
      order by d.id limit ${range.limit} for update)
    update webhook_deliveries d set ${startedOver(range.now)} from found
    where d.environment_id = ${environment.id} and d.endpoint_id = ${range.endpointId} and d.id = found.id
    returning d.id`)
  return rows.map(({ id }) => id).sort()
}

/** Locked by endpoint and id, as everyone locks them: a round of an endpoint's deliveries waits, and does not deadlock. */
export async function eraseDeliveriesOf(
  tx: Tx,
  environment: Environment,
  subscriberIds: readonly string[],
): Promise<number> {
  return tx.run(sql`
    with held as materialized (
      select d.endpoint_id, d.id from webhook_deliveries d
      where d.environment_id = ${environment.id} and d.subscriber_id = any(${subscriberIds}::uuid[])
      order by d.endpoint_id, d.id for update)
    delete from webhook_deliveries d using held
    where d.environment_id = ${environment.id} and d.endpoint_id = held.endpoint_id and d.id = held.id`)
}

/** Above every id that is made. */
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * What is too old, and everything of endpoints that were deleted. Locked rows are skipped. One bound for both, because an `or`
 * would read everything that is kept.
 */
export async function sweepDeliveries(tx: Tx, now: Date, limit: number): Promise<number> {
  const oldest = firstIdAt(new Date(now.getTime() - deliveriesKeptMs))
  return tx.run(sql`
    with swept as materialized (
      select old.environment_id, old.endpoint_id, old.id from webhook_endpoints w
      cross join lateral (
        select d.environment_id, d.endpoint_id, d.id from webhook_deliveries d
        where d.environment_id = w.environment_id and d.endpoint_id = w.id
          and d.id < case when w.deleted_at is null then ${oldest}::uuid else ${lastId}::uuid end
        order by d.id limit ${limit} for update skip locked) as old
      limit ${limit})
    delete from webhook_deliveries d using swept
    where d.environment_id = swept.environment_id and d.endpoint_id = swept.endpoint_id and d.id = swept.id`)
}

export interface DeliveryRow {
  readonly id: string
  readonly type: string
  readonly status: DeliveryStatus
  readonly attempts: number
  readonly body: object
  readonly answers: readonly DeliveryAttempt[]
  readonly dueAt: Date | null
  readonly createdAt: Date
  readonly settledAt: Date | null
}

/** Of a row called `d`. */
export const deliveryColumns = sql`d.id, d.type, d.status, d.attempts, d.body, d.answers, d.due_at as "dueAt",
  d.created_at as "createdAt", d.settled_at as "settledAt"`

export async function findDelivery(
  db: Sql,
  environment: Environment,
  { endpointId, id }: { endpointId: string; id: string },
): Promise<DeliveryRow | undefined> {
  return db.row(sql`
    select ${deliveryColumns} from webhook_deliveries d
    where d.environment_id = ${environment.id} and d.endpoint_id = ${endpointId} and d.id = ${id}`)
}

/** How many wait, over all environments, counted up to the bound. */
export async function countWaitingDeliveries(db: Sql, max: number): Promise<number> {
  const row = await db.row<{ count: number }>(sql`
    select count(*)::int as count from (
      select 1 from webhook_deliveries d where d.due_at is not null limit ${max}) as waiting`)
  return row?.count ?? 0
}
