// The sending_holds table: environments in which nothing is sent until what is due was released or cancelled.
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'

export interface SendingHold {
  readonly heldAt: Date
  /** When the backup was taken that was restored. The same as `heldAt` where nothing was restored: everything has moved elsewhere. */
  readonly backupAt: Date
}

/** Of a row: another database has the same to send. */
export const movedAway: Statement = sql`held_at = backup_at`

/** Holds all that is not held already; the ids of those. */
export async function holdMovedAway(tx: Tx, now: Date): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(sql`
    insert into sending_holds (environment_id, held_at, backup_at)
    select e.id, ${now}, ${now} from environments e where ${isThere}
    on conflict (environment_id) do nothing returning environment_id as id`)
  return rows.map(({ id }) => id)
}

/** They have not moved after all. */
export async function deleteHolds(tx: Tx, environmentIds: readonly string[]): Promise<void> {
  await tx.run(sql`delete from sending_holds where environment_id = any(${environmentIds}::uuid[])`)
}

/** Of an environment called `e`: not deleted with all its rows. */
const isThere = sql`
  not exists (select 1 from environment_deletions d where d.environment_id = e.id and d.completed_at is not null)`

/** A lease in a restored database is that of a process that is gone: what it held is due too. */
export const isDueNow = (row: Statement): Statement =>
  sql`${row}.due_at is not null and (${row}.due_at <= now() or ${row}.lease is not null)`

/**
 * Holds every environment, whether it has anything to do or not: what leaves it later (an audit stream that continues from where
 * it was, an event that is repeated) may have left it before.
 */
export async function holdEverywhere(tx: Tx, { heldAt, backupAt }: SendingHold): Promise<number> {
  return tx.run(sql`
    insert into sending_holds (environment_id, held_at, backup_at)
    select e.id, ${heldAt}, ${backupAt} from environments e where ${isThere}
    on conflict (environment_id) do update set held_at = excluded.held_at, backup_at = excluded.backup_at`)
}

export async function findHold(db: Sql, environment: Environment): Promise<SendingHold | undefined> {
  return db.row<SendingHold>(sql`
    select held_at as "heldAt", backup_at as "backupAt" from sending_holds where environment_id = ${environment.id}`)
}

/** The environments that are held, in their order. */
export async function listHeldEnvironments(db: Sql): Promise<Environment[]> {
  return db.rows<Environment>(sql`
    select e.id, e.organization_id as "organizationId", e.name
    from sending_holds h join environments e on e.id = h.environment_id where e.deleted_at is null order by e.id`)
}

/** Undefined where it was not held. */
export async function deleteHold(tx: Tx, environment: Environment): Promise<SendingHold | undefined> {
  return tx.row<SendingHold>(sql`
    delete from sending_holds where environment_id = ${environment.id}
    returning held_at as "heldAt", backup_at as "backupAt"`)
}

/** Those that were asked for before the restore and are under way: they may have come to their end since the backup. */
export async function findDueRedrives(db: Sql, environment: Environment, heldAt: Date): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select t.id from tasks t
    where t.environment_id = ${environment.id} and ${isDueNow(sql`t`)} and t.kind = 'redrive' and t.created_at < ${heldAt}
    order by t.id`)
  return rows.map(({ id }) => id)
}

/**
 * Those with anything due that were accepted before the restore and are not cancelled yet. A digest that is due is due for each
 * of its events: were only its owner cancelled, it would be sent for the others. An event may bring along a digest of its own.
 */
export async function findDueEvents(db: Sql, environment: Environment, heldAt: Date): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    with recursive runs (notification_id, event_id) as (
      select j.notification_id, j.event_id from jobs j
      where j.environment_id = ${environment.id} and ${isDueNow(sql`j`)} and j.created_at < ${heldAt}
      union
      select n.id, n.event_id from runs r
      join digest_windows w on w.environment_id = ${environment.id} and w.notification_id = r.notification_id
      join digest_events d on d.environment_id = ${environment.id} and d.window_id = w.id
      join notifications n on n.environment_id = ${environment.id} and n.subscriber_id = w.subscriber_id
        and n.event_id = d.event_id)
    select e.id from events e
    where e.environment_id = ${environment.id} and e.canceled_at is null and e.id in (
      select r.event_id from runs r
      union
      select t.id from tasks t
      where t.environment_id = ${environment.id} and ${isDueNow(sql`t`)} and t.kind = 'expand' and t.created_at < ${heldAt})
    order by e.id`)
  return rows.map(({ id }) => id)
}
