// Steps of a run that came before, with what became of their messages.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { EarlierMessage } from '../../domain/conditions/condition-evaluation.ts'
import type { JobState, JobStatus } from '../../domain/delivery/job.ts'
import type { Environment } from '../../domain/environment.ts'

export interface PreviousStep {
  readonly notificationId: string
  /** The place of the step in the version's list. */
  readonly step: number
  readonly status: JobStatus
  readonly state: JobState | null
  readonly messages: readonly EarlierMessage[]
}

/** A job by its id, and the range in which the ids of its messages are. */
export interface AskedStep {
  readonly id: string
  readonly messages: { readonly from: string; readonly to: string }
}

export async function findStepRuns(
  db: Sql,
  environment: Environment,
  asked: readonly AskedStep[],
): Promise<PreviousStep[]> {
  return db.rows<PreviousStep>(sql`
    select j.notification_id as "notificationId", j.step, j.status, j.state, m.messages
    from unnest(${asked.map(({ id }) => id)}::uuid[], ${asked.map(({ messages }) => messages.from)}::uuid[],
                ${asked.map(({ messages }) => messages.to)}::uuid[]) as asked (id, from_id, to_id)
    cross join lateral (
      select notification_id, step, status, state from jobs
      where environment_id = ${environment.id} and id = asked.id limit 1) j
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object('status', status, 'seen', seen, 'read', read)), '[]') as messages
      from messages
      where environment_id = ${environment.id} and id between asked.from_id and asked.to_id and job_id = asked.id) m`)
}
