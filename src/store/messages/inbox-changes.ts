// The inbox_changes table: how often the inbox of each subscriber changed who has opened it once.
import type { Part } from '../../db/one-statement.ts'
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { json, prepared, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'

export interface InboxNumber {
  /** The subscriber's internal id. */
  readonly subscriberId: string
  /** Of the last change that was committed. */
  readonly number: number
  /** Tokens of an earlier one are void. */
  readonly generation: number
  /** Messages whose statement began before may lack a number. */
  readonly openedAt: Date
}

/** From now on the inbox's changes are numbered. */
export async function openInbox(tx: Tx, environment: Environment, subscriberId: string): Promise<void> {
  await tx.run(sql`
    insert into inbox_changes (environment_id, subscriber_id) values (${environment.id}, ${subscriberId})
    on conflict (environment_id, subscriber_id) do nothing`)
}

/**
 * For the transaction that moves everything from another server, whose transactions had other ids: all that it writes was there
 * before. A snapshot of its own does not say so for certain.
 */
export const reopenInboxes: Statement = sql`
  update inbox_changes set opened_in = format('%1$s:%1$s:', pg_current_xact_id()::text::bigint + 1)::pg_snapshot`

/**
 * Of those subscribers who are there and have opened their inbox. Each is looked up by itself: as a join, a plan made
 * while few inboxes were open would read all subscribers for every look. None in an environment that was deleted.
 */
export async function findInboxNumbers(
  db: Sql,
  environment: Environment,
  subscriberIds: readonly string[],
): Promise<InboxNumber[]> {
  return db.rows<InboxNumber>(
    prepared(
      'inbox-numbers',
      sql`select asked.id as "subscriberId", c.number, coalesce(r.generation, 0) as generation, c.opened_at as "openedAt"
          from unnest(${subscriberIds}::uuid[]) as asked (id)
          cross join lateral (
            select number, opened_at from inbox_changes
            where environment_id = ${environment.id} and subscriber_id = asked.id offset 0) c
          cross join lateral (
            select from subscribers
            where environment_id = ${environment.id} and id = asked.id and deleted_at is null offset 0) s
          left join lateral (
            select generation from session_revocations
            where environment_id = ${environment.id} and subscriber_id = asked.id offset 0) r on true
          where exists (select 1 from environments e where e.id = ${environment.id} and e.deleted_at is null)`,
    ),
  )
}

/**
 * Locked in one order, so that two batches that share subscribers wait for each other and nothing worse. A change takes its
 * inbox's number before it takes messages of it, for the same reason.
 */
const counting = (environment: Environment, subscriberIds: readonly string[]): Statement => sql`
  update inbox_changes c set number = c.number + 1
  from (
    select subscriber_id from inbox_changes
    where environment_id = ${environment.id} and subscriber_id = any(${subscriberIds}::uuid[])
    order by subscriber_id for no key update) as held
  where c.environment_id = ${environment.id} and c.subscriber_id = held.subscriber_id
  returning c.subscriber_id, c.number`

/** What the running transaction has counted inboxes up to, by subscriber. Inboxes that were never opened are not in it. */
export type CountedInboxes = ReadonlyMap<string, number>

/** Counts up those of the inboxes that were opened once; they stay locked until the transaction ends. */
export async function countInboxChange(
  tx: Tx,
  environment: Environment,
  subscriberIds: readonly string[],
): Promise<CountedInboxes> {
  if (subscriberIds.length === 0) return new Map()
  const rows = await tx.rows<{ subscriber_id: string; number: number }>(counting(environment, subscriberIds))
  return new Map(rows.map((row) => [row.subscriber_id, row.number]))
}

/** The same as a part of a statement, where others find the numbers: `subscriber_id`, `number`. */
export const inboxNumbers = sql`inbox_numbers`

export function inboxCounting(environment: Environment, subscriberIds: readonly string[]): Part {
  return { as: inboxNumbers, name: 'inbox', statement: counting(environment, subscriberIds) }
}

/** Whose inboxes were counted up, as one text; an expression of the statement that has the part. */
export const countedInboxes = sql`(select string_agg(subscriber_id::text, ',') from ${inboxNumbers})`

/**
 * The number of the change of a row called `m`; null for other channels, and if the inbox was never opened. As it was
 * counted: an inbox that was opened since stands at a number that its streams have passed already.
 */
export const changeNumber = (counted: CountedInboxes): Statement =>
  sql`case when m.channel = 'in_app' then (${json(Object.fromEntries(counted))}::jsonb ->> m.subscriber_id::text)::bigint end`
