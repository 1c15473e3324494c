// The sending_holds table: environments in which nothing is sent until what is due was released or cancelled.
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'

export interface SendingHold {
  readonly heldAt: Date
  /** When the backup was taken that was restored. */
  readonly backupAt: Date
}

/** A lease in a restored database is that of a process that is gone: what it held is due too. */
export const isDueNow = (row: Statement): Statement =>
  sql`${row}.due_at is not null and (${row}.due_at <= now() or ${row}.lease is not null)`

/** Holds every environment that has anything to do, now or later; the others have nothing that could be sent twice. */
export async function holdEverywhere(tx: Tx, { heldAt, backupAt }: SendingHold): Promise<number> {
  return tx.run(sql`
    insert into sending_holds (environment_id, held_at, backup_at)
    select e.id, ${heldAt}, ${backupAt} from environments e
    where exists (select 1 from jobs j where j.environment_id = e.id and j.due_at is not null)
       or exists (select 1 from tasks t where t.environment_id = e.id and t.due_at is not null)
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

/** Those with anything due that were accepted before the restore and are not cancelled yet. */
export async function findDueEvents(db: Sql, environment: Environment, heldAt: Date): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select e.id from events e
    where e.environment_id = ${environment.id} and e.canceled_at is null and e.id in (
      select j.event_id from jobs j
      where j.environment_id = ${environment.id} and ${isDueNow(sql`j`)} and j.created_at < ${heldAt}
      union
      select t.id from tasks t
      where t.environment_id = ${environment.id} and ${isDueNow(sql`t`)} and t.kind = 'expand' and t.created_at < ${heldAt})
    order by e.id`)
  return rows.map(({ id }) => id)
}
