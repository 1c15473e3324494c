// The tables inbox_processes and inbox_presence: which subscribers have an inbox connected, and to which process.
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'

/**
 * Shows that a process is alive. True where it was not registered, or silent for so long that others may have taken it for lost:
 * rows that it wrote earlier may be gone.
 */
export async function beatInboxProcess(db: Sql, processId: string, silentSeconds: number): Promise<boolean> {
  const row = await db.row<{ wasLost: boolean }>(sql`
    with before as (
      select ${isSilent(silentSeconds)} as silent from inbox_processes p where p.id = ${processId})
    insert into inbox_processes (id) values (${processId})
    on conflict (id) do update set seen_at = clock_timestamp()
    returning coalesce((select silent from before), true) as "wasLost"`)
  return row?.wasLost ?? false
}

/** Whether a process is unknown or silent now: it may have come back since its rows were found. */
export async function isProcessLost(tx: Tx, processId: string, silentSeconds: number): Promise<boolean> {
  const row = await tx.row<{ silent: boolean }>(sql`
    select ${isSilent(silentSeconds)} as silent from inbox_processes p where p.id = ${processId}`)
  return row?.silent ?? true
}

/** Of a row called `p`. */
const isSilent = (seconds: number): Statement => sql`p.seen_at < clock_timestamp() - make_interval(secs => ${seconds})`

/** In one order, until the transaction ends; returns those that are there. */
export async function lockPresence(
  tx: Tx,
  environment: Pick<Environment, 'id'>,
  ids: readonly string[],
): Promise<Set<string>> {
  const rows = await tx.rows<{ id: string }>(sql`
    select id from subscribers where environment_id = ${environment.id} and id = any(${ids}::uuid[])
    order by id for no key update`)
  return new Set(rows.map((row) => row.id))
}

export interface PresenceChange {
  readonly processId: string
  /** Internal ids of subscribers. */
  readonly arrived: readonly string[]
  readonly left: readonly string[]
}

/** The subscribers' rows are locked already: two processes that report one subscriber wait for each other. */
export async function writePresence(
  tx: Tx,
  environment: Pick<Environment, 'id'>,
  change: PresenceChange,
): Promise<void> {
  const { processId, arrived, left } = change
  if (arrived.length > 0) {
    await tx.run(sql`
      insert into inbox_presence (environment_id, subscriber_id, process_id)
      select ${environment.id}, id, ${processId} from unnest(${arrived}::uuid[]) as id
      on conflict (environment_id, subscriber_id, process_id) do nothing`)
  }
  if (left.length === 0) return
  await tx.run(sql`
    delete from inbox_presence
    where environment_id = ${environment.id} and subscriber_id = any(${left}::uuid[]) and process_id = ${processId}`)
}

/** Which of the subscribers are connected to some process. */
export async function findPresent(
  tx: Tx,
  environment: Pick<Environment, 'id'>,
  ids: readonly string[],
): Promise<Set<string>> {
  const rows = await tx.rows<{ id: string }>(sql`
    select distinct subscriber_id as id from inbox_presence
    where environment_id = ${environment.id} and subscriber_id = any(${ids}::uuid[])`)
  return new Set(rows.map((row) => row.id))
}

export interface DeadPresence {
  readonly environmentId: string
  readonly subscriberId: string
  readonly processId: string
}

/** Rows of processes that are unknown, or have not shown for so long that they are alive. */
export async function findDeadPresence(db: Sql, silentSeconds: number, limit: number): Promise<DeadPresence[]> {
  return db.rows<DeadPresence>(sql`
    select r.environment_id as "environmentId", r.subscriber_id as "subscriberId", r.process_id as "processId"
    from inbox_presence r left join inbox_processes p on p.id = r.process_id
    where p.id is null or ${isSilent(silentSeconds)}
    limit ${limit}`)
}

/** Forgets processes that are gone for so long and have no rows left. */
export async function deleteDeadProcesses(db: Sql, silentSeconds: number): Promise<void> {
  await db.run(sql`
    delete from inbox_processes p
    where ${isSilent(silentSeconds)}
      and not exists (select from inbox_presence r where r.process_id = p.id)`)
}
