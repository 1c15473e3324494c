// Jobs that were held back for a subscriber: checked again when that person changes their preferences.

import { dueNow } from '../../db/due.ts'
import type { Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'

/**
 * Due at once, and without the time they were held until: whether they continue to wait is decided by what applies now.
 */
export async function wakeHeld(
  tx: Tx,
  environment: Environment,
  { subscriberId, now }: { subscriberId: string; now: Date },
): Promise<number> {
  return tx.run(sql`
    update jobs set due_at = ${dueNow(now)}, state = state - 'until', updated_at = ${now}
    where environment_id = ${environment.id} and status = 'delayed' and lease is null and state ? 'heldBy'
      and id = any(array(
        select job_id from digest_windows
        where environment_id = ${environment.id} and subscriber_id = ${subscriberId} and closed_at is null))`)
}
