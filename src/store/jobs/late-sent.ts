// Jobs whose messages a provider has accepted, as learned by a worker whose lease on them was lost.
import type { Part } from '../../db/one-statement.ts'
import { json, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { StoredDetail } from '../../domain/insight/execution-detail.ts'

export interface LateJob {
  readonly id: string
  readonly messageIds: readonly string[]
  readonly details: readonly StoredDetail[]
}

/**
 * Records it, and that the person was reached, if one of the messages is not settled. Before the messages, as every
 * writer writes jobs first: whoever holds the job now is waited for.
 */
export function lateJobs(environment: Environment, jobs: readonly LateJob[]): Part {
  const ids = jobs.map(({ id }) => id)
  const messageIds = jobs.flatMap((job) => job.messageIds)
  return {
    as: sql`marked_late`,
    name: 'jobs-late',
    statement: sql`
      update jobs j set details = j.details || added.details::jsonb, state = coalesce(j.state, '{}') || '{"reached": true}'
      from unnest(${ids}::uuid[], ${jobs.map(({ details }) => json(details))}::text[]) as added (id, details)
      where j.environment_id = ${environment.id} and j.id = any(${ids}::uuid[]) and j.id = added.id and exists (
        select 1 from messages m where m.environment_id = ${environment.id} and m.id = any(${messageIds}::uuid[])
          and m.job_id = j.id and m.state <> 'done')
      returning j.id`,
  }
}
