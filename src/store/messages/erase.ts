// The messages of an erased person: found, whether sent or not and listed or not, and deleted permanently.
import type { Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import { idsOfMessages } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'

export interface ErasableMessage {
  readonly id: string
  readonly email: string | null
  readonly phone: string | null
}

/** All messages of these jobs. */
export async function findMessagesToErase(
  tx: Tx,
  environment: Environment,
  jobs: readonly { id: string; eventId: string }[],
): Promise<ErasableMessage[]> {
  if (jobs.length === 0) return []
  const ranges = jobs.map((job) => idsOfMessages(job.eventId, job.id))
  return tx.rows<ErasableMessage>(sql`
    select m.id, m.email, m.phone
    from unnest(${jobs.map((job) => job.id)}::uuid[], ${ranges.map((range) => range.from)}::uuid[],
                ${ranges.map((range) => range.to)}::uuid[]) as asked (job_id, from_id, to_id)
    cross join lateral (
      select * from messages found
      where found.environment_id = ${environment.id} and found.id between asked.from_id and asked.to_id
        and found.job_id = asked.job_id) m`)
}

export async function eraseMessages(tx: Tx, environment: Environment, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0
  return tx.run(sql`delete from messages where environment_id = ${environment.id} and id = any(${ids}::uuid[])`)
}
