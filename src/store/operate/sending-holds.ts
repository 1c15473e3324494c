// The sending_holds table: environments in which nothing is sent until what is due was released or cancelled.
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import { notificationIdOf } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'

/** Held by a restore, by a move, or by both. */
export interface SendingHold {
  readonly heldAt: Date
  /** When the backup was taken that was restored. */
  readonly backupAt: Date | null
  /** When everything moved to another database, which sends what is due here. */
  readonly movedAt: Date | null
}

const columns = sql`held_at as "heldAt", backup_at as "backupAt", moved_at as "movedAt"`

/** Of a row: a move holds it, and no restore. */
export const heldByMoveAlone: Statement = sql`backup_at is null`

/** Holds everything, and says of everything that it has moved. Returns the ids of the environments of which that is new. */
export async function holdMovedAway(tx: Tx, now: Date): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(sql`
    insert into sending_holds (environment_id, held_at, moved_at)
    select e.id, ${now}, ${now} from environments e where ${isThere}
    on conflict (environment_id) do update set moved_at = excluded.moved_at where sending_holds.moved_at is null
    returning environment_id as id`)
  return rows.map(({ id }) => id)
}

/** They have not moved after all: what a restore holds stays held. */
export async function undoMovedAway(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.run(sql`delete from sending_holds where environment_id = any(${ids}::uuid[]) and ${heldByMoveAlone}`)
  await tx.run(sql`update sending_holds set moved_at = null where environment_id = any(${ids}::uuid[])`)
}

/** For the database that everything moved to: what is held there is held by a restore alone. */
export const holdsOfRestores: Statement = sql`
  update sending_holds set moved_at = null where environment_id in (select id from environments)`

/** Whether a move holds everything here. */
export async function hasMovedAway(db: Sql): Promise<boolean> {
  const row = await db.row<{ moved: boolean }>(sql`
    select count(*) > 0 and bool_and(exists (
      select 1 from sending_holds h where h.environment_id = e.id and h.moved_at is not null)) as moved
    from environments e where ${isThere}`)
  return row?.moved === true
}

/** Of an environment called `e`: not deleted with all its rows. */
const isThere = sql`
  not exists (select 1 from environment_deletions d where d.environment_id = e.id and d.completed_at is not null)`

/** A lease in a restored database is that of a process that is gone: what it held is due too. */
export const isDueNow = (row: Statement): Statement =>
  sql`${row}.due_at is not null and (${row}.due_at <= now() or ${row}.lease is not null)`

/**
 * For a restore. Holds every environment, whether it has anything to do or not: what leaves it later (an audit stream that continues
 * from where it was, an event that is repeated) may have left it before. What had moved when the backup was taken has moved still.
 */
export async function holdEverywhere(
  tx: Tx,
  { heldAt, backupAt }: { readonly heldAt: Date; readonly backupAt: Date },
): Promise<number> {
  return tx.run(sql`
    insert into sending_holds (environment_id, held_at, backup_at)
    select e.id, ${heldAt}, ${backupAt} from environments e where ${isThere}
    on conflict (environment_id) do update set held_at = excluded.held_at, backup_at = excluded.backup_at`)
}

export async function findHold(db: Sql, environment: Environment): Promise<SendingHold | undefined> {
  return db.row<SendingHold>(sql`
    select ${columns} from sending_holds where environment_id = ${environment.id}`)
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
    delete from sending_holds where environment_id = ${environment.id} returning ${columns}`)
}

/** Those that were asked for before the restore and are under way: they may have come to their end since the backup. */
export async function findDueRedrives(db: Sql, environment: Environment, heldAt: Date): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select t.id from tasks t
    where t.environment_id = ${environment.id} and ${isDueNow(sql`t`)} and t.kind = 'redrive' and t.created_at < ${heldAt}
    order by t.id`)
  return rows.map(({ id }) => id)
}

/** No index leads from runs to the windows that they speak for: each look reads all windows once. */
const runsPerLook = 20_000

/**
 * Those with anything due that were accepted before the restore and are not cancelled yet. A digest that is due is due for each
 * of its events: were only its owner cancelled, it would be sent for the others. An event may bring along a digest of its own.
 */
export async function findDueEvents(
  db: Sql,
  environment: Environment,
  heldAt: Date,
  atOnce = runsPerLook,
): Promise<string[]> {
  const due = await db.rows<{ eventId: string; runId: string }>(sql`
    select j.event_id as "eventId", j.notification_id as "runId" from jobs j
    where j.environment_id = ${environment.id} and ${isDueNow(sql`j`)} and j.created_at < ${heldAt}`)
  const expanding = await db.rows<{ id: string }>(sql`
    select t.id from tasks t
    where t.environment_id = ${environment.id} and ${isDueNow(sql`t`)} and t.kind = 'expand' and t.created_at < ${heldAt}`)
  const events = new Set([...due.map(({ eventId }) => eventId), ...expanding.map(({ id }) => id)])
  const runs = [...new Set(due.map(({ runId }) => runId))]
  const known = new Set(runs)
  // With those that are found on the way.
  for (let page = runs.slice(0, atOnce), at = 0; page.length > 0; page = runs.slice(at, at + atOnce)) {
    at += page.length
    for (const { eventId, subscriberId } of await findDigested(db, environment, page)) {
      const runId = notificationIdOf(eventId, subscriberId)
      if (!known.has(runId)) runs.push(runId)
      known.add(runId)
      events.add(eventId)
    }
  }
  return findOpenEvents(db, environment, [...events].sort(), atOnce)
}

/** Those that are not cancelled, in their order. */
async function findOpenEvents(
  db: Sql,
  environment: Environment,
  ids: readonly string[],
  atOnce: number,
): Promise<string[]> {
  const open: string[] = []
  for (let at = 0; at < ids.length; at += atOnce) {
    const rows = await db.rows<{ id: string }>(sql`
      select e.id from events e
      where e.environment_id = ${environment.id} and e.id = any(${ids.slice(at, at + atOnce)}::uuid[])
        and e.canceled_at is null
      order by e.id`)
    for (const { id } of rows) open.push(id)
  }
  return open
}

/** What these runs speak for. */
async function findDigested(
  db: Sql,
  environment: Environment,
  runIds: readonly string[],
): Promise<{ eventId: string; subscriberId: string }[]> {
  return db.rows(sql`
    select d.event_id as "eventId", w.subscriber_id as "subscriberId" from digest_windows w
    join digest_events d on d.environment_id = ${environment.id} and d.window_id = w.id
    where w.environment_id = ${environment.id} and w.notification_id = any(${runIds}::uuid[])`)
}
