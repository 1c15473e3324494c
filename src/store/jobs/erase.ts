// The steps of an erased person: found, and deleted permanently.
import type { Clock } from '../../db/clock.ts'
import type { Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { JobStatus } from '../../domain/delivery/job.ts'
import type { Environment } from '../../domain/environment.ts'

export interface ErasableJob {
  readonly id: string
  readonly eventId: string
  readonly notificationId: string
  readonly versionId: string
  readonly step: number
  readonly status: JobStatus
  readonly isOpen: boolean
  /** A worker is running it right now. */
  readonly isHeld: boolean
  /** The digests it opened, joined or sees. */
  readonly windowIds: string[]
}

/** Those of the ids that are there, locked in their order. */
export async function lockJobsToErase(
  tx: Tx,
  environment: Environment,
  ids: readonly string[],
  clock: Clock,
): Promise<ErasableJob[]> {
  if (ids.length === 0) return []
  return tx.rows<ErasableJob>(sql`
    select id, event_id as "eventId", notification_id as "notificationId", version_id as "versionId", step, status,
           due_at is not null as "isOpen",
           lease is not null and due_at > ${clock()} as "isHeld",
           array_remove(array[(state->>'windowId')::uuid, digest_id], null) as "windowIds"
    from jobs where environment_id = ${environment.id} and id = any(${ids}::uuid[])
    order by id for update`)
}

export async function deleteJobs(tx: Tx, environment: Environment, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0
  return tx.run(sql`delete from jobs where environment_id = ${environment.id} and id = any(${ids}::uuid[])`)
}
