// The session_revocations table, and the subscriber that a session speaks for.
import type { Sql, Tx } from '../../db/sql.ts'
import { prepared, shortRead, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'

export interface SessionSubscriber {
  readonly id: string
  readonly subscriberId: string
  /** Tokens of an earlier one are void. */
  readonly generation: number
}

/**
 * By internal id: whoever has the same subscriberId later is another, and old tokens do not let them in. None in an
 * environment that was deleted, which its callers may still hold.
 */
export async function findSessionSubscriber(
  db: Sql,
  environment: Environment,
  id: string,
): Promise<SessionSubscriber | undefined> {
  return db.row<SessionSubscriber>(
    shortRead(
      'inbox-session-subscriber',
      sql`select s.id, s.subscriber_id as "subscriberId", coalesce(r.generation, 0) as generation
          from subscribers s
          left join session_revocations r on r.environment_id = ${environment.id} and r.subscriber_id = s.id
          where s.environment_id = ${environment.id} and s.id = ${id} and s.deleted_at is null
            and exists (select 1 from environments e where e.id = ${environment.id} and e.deleted_at is null)`,
    ),
  )
}

/** The same for many, by id. Each is looked up by itself, as in `findInboxNumbers`. */
export async function findSessionSubscribers(
  db: Sql,
  environment: Environment,
  ids: readonly string[],
): Promise<Map<string, SessionSubscriber>> {
  const rows = await db.rows<SessionSubscriber>(
    prepared(
      'inbox-session-subscribers',
      sql`select asked.id, s.subscriber_id as "subscriberId", coalesce(r.generation, 0) as generation
          from unnest(${ids}::uuid[]) as asked (id)
          cross join lateral (
            select subscriber_id from subscribers
            where environment_id = ${environment.id} and id = asked.id and deleted_at is null offset 0) s
          left join lateral (
            select generation from session_revocations
            where environment_id = ${environment.id} and subscriber_id = asked.id offset 0) r on true
          where exists (select 1 from environments e where e.id = ${environment.id} and e.deleted_at is null)`,
    ),
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** From now on the subscriber's tokens are void. False when there is no such subscriber. */
export async function revokeSessions(
  tx: Tx,
  environment: Environment,
  subscriberId: string,
  now: Date,
): Promise<boolean> {
  const count = await tx.run(sql`
    insert into session_revocations as r (environment_id, subscriber_id, generation, revoked_at)
    select ${environment.id}, s.id, 1, ${now}::timestamptz from subscribers s
    where s.environment_id = ${environment.id} and s.subscriber_id = ${subscriberId} and s.deleted_at is null
    on conflict (environment_id, subscriber_id) do update
      set generation = r.generation + 1, revoked_at = excluded.revoked_at`)
  return count > 0
}
