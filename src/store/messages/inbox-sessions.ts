// The session_revocations table, and the subscriber that a session speaks for.
import type { Sql, Tx } from '../../db/sql.ts'
import { shortRead, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'

export interface SessionSubscriber {
  readonly id: string
  readonly subscriberId: string
  /** Tokens of an earlier one are void. */
  readonly generation: number
}

/** By internal id: whoever has the same subscriberId later is another, and old tokens do not let them in. */
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
          where s.environment_id = ${environment.id} and s.id = ${id} and s.deleted_at is null`,
    ),
  )
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
