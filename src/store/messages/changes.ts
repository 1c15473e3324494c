// What changed in inboxes, by the numbers of their changes.
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { prepared, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { CountedInboxes } from './inbox-changes.ts'
import { changeNumber } from './inbox-changes.ts'
import type { MessageRow } from './rows.ts'
import { isListed, messageColumns } from './rows.ts'

/** Whose inboxes these messages are in. */
export async function findInboxesOf(
  db: Sql,
  environment: Environment,
  messageIds: readonly string[],
): Promise<string[]> {
  if (messageIds.length === 0) return []
  const rows = await db.rows<{ subscriberId: string }>(sql`
    select distinct m.subscriber_id as "subscriberId" from messages m
    where m.environment_id = ${environment.id} and m.id = any(${messageIds}::uuid[]) and m.channel = 'in_app'`)
  return rows.map((row) => row.subscriberId)
}

/** How far an inbox was read: all changes below the number, and of those with the number the messages up to the id. */
export interface Place {
  readonly number: number
  readonly messageId: string
}

export interface ChangedMessage extends MessageRow {
  readonly change: number
  /** The number of the change that brought it into the feed. */
  readonly arrival: number | null
  readonly is_deleted: boolean
}

/** The next changes of each inbox after its place, in order, at most `limit` of each. */
export async function findChanges(
  db: Sql,
  environment: Environment,
  asked: readonly { readonly subscriberId: string; readonly after: Place }[],
  limit: number,
): Promise<ChangedMessage[]> {
  if (asked.length === 0) return []
  return db.rows<ChangedMessage>(
    prepared(
      'inbox-changes',
      sql`select m.* from unnest(${asked.map((one) => one.subscriberId)}::uuid[],
              ${asked.map((one) => one.after.number)}::bigint[], ${asked.map((one) => one.after.messageId)}::uuid[])
            as asked (subscriber_id, number, message_id)
          cross join lateral (
            select ${messageColumns}, m.change, m.arrival, m.deleted_at is not null as is_deleted from messages m
            where m.environment_id = ${environment.id} and m.subscriber_id = asked.subscriber_id and m.change is not null
              and m.channel = 'in_app' and (m.change, m.id) > (asked.number, asked.message_id)
            order by m.change, m.id limit ${limit}) m`,
    ),
  )
}

/** How many messages of an inbox changed after the number, counted up to `limit`. */
export async function countChanges(
  db: Sql,
  environment: Environment,
  inbox: { subscriberId: string; after: number },
  limit: number,
): Promise<number> {
  const row = await db.row<{ count: number }>(sql`
    select count(*) as count from (
      select from messages m
      where m.environment_id = ${environment.id} and m.subscriber_id = ${inbox.subscriberId} and m.change > ${inbox.after}
      limit ${limit}) as changed`)
  return row?.count ?? 0
}

/**
 * Messages whose statement began before the inbox was opened for the first time, and ended after it, have no number. Of so
 * many of the newest, which they are among.
 */
const stragglersAmong = 100

const isStraggler = (environment: Environment): Statement => sql`
  m.change is null and not pg_visible_in_snapshot(whole_xid(m.xmin), (
    select c.opened_in from inbox_changes c
    where c.environment_id = ${environment.id} and c.subscriber_id = m.subscriber_id))`

/** The ids of such messages of these inboxes. */
export async function findStragglers(
  db: Sql,
  environment: Environment,
  subscriberIds: readonly string[],
): Promise<{ id: string; subscriberId: string }[]> {
  return db.rows(sql`
    select m.id, m.subscriber_id as "subscriberId" from unnest(${subscriberIds}::uuid[]) as asked (id)
    cross join lateral (
      select m.id, m.subscriber_id from (
        select m.id, m.environment_id, m.subscriber_id, m.change, m.xmin from messages m
        where m.environment_id = ${environment.id} and m.subscriber_id = asked.id and m.channel = 'in_app' and ${isListed}
        order by m.created_at desc, m.id desc limit ${stragglersAmong}) m
      where ${isStraggler(environment)}) m`)
}

/** They get the number that the transaction has taken. */
export async function numberStragglers(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
  counted: CountedInboxes,
): Promise<void> {
  await tx.run(sql`
    update messages m set change = ${changeNumber(counted)}, arrival = ${changeNumber(counted)}
    where m.environment_id = ${environment.id} and m.id = any(${ids}::uuid[]) and m.change is null`)
}
