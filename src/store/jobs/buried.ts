// Jobs that were given up by a fault of ours.
import type { Sql, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'

/** So that they are found among all that failed. */
export async function markBuried(tx: Tx, environment: Environment, ids: readonly string[], now: Date): Promise<void> {
  if (ids.length === 0) return
  await tx.run(sql`
    update jobs set buried_at = ${now}
    where environment_id = ${environment.id} and id = any(${ids}::uuid[]) and status = 'failed'`)
}

/** The notification of a job that was buried. */
export async function findBuriedJob(
  db: Sql,
  environment: Environment,
  id: string,
): Promise<{ readonly notificationId: string } | undefined> {
  return db.row(sql`
    select notification_id as "notificationId" from jobs
    where environment_id = ${environment.id} and id = ${id} and buried_at is not null`)
}
