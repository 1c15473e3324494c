// What the database holds of one environment after a simulated run, in the words of the ledger.
import type { Sql } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'

export interface WrittenNotification {
  readonly number: number
  readonly to: string
}

export interface WrittenJob extends WrittenNotification {
  readonly id: string
  readonly step: number
  readonly type: string
  readonly workflow: string
  readonly status: string
  readonly isDue: boolean
  readonly isBuried: boolean
  readonly codes: readonly string[]
  readonly updatedAt: Date
}

export interface WrittenMessage extends WrittenNotification {
  readonly jobId: string
  readonly step: number
  readonly channel: string
  readonly workflow: string
  readonly state: string
  readonly status: string | null
  /** The numbers of the events in its text. */
  readonly numbers: readonly number[]
  readonly createdAt: Date
}

export interface Written {
  readonly notifications: readonly WrittenNotification[]
  readonly jobs: readonly WrittenJob[]
  readonly messages: readonly WrittenMessage[]
  readonly tasks: readonly { kind: string; isBuried: boolean }[]
}

/** Texts of simulated templates hold `#12#13`. */
export const numbersIn = (text: string): number[] => [...text.matchAll(/#(\d+)/g)].map((found) => Number(found[1]))

export async function readWritten(db: Sql, environmentId: string): Promise<Written> {
  const people = sql`
    join events e on e.environment_id = t.environment_id and e.id = t.event_id
    join subscribers s on s.environment_id = t.environment_id and s.id = t.subscriber_id
    join workflow_versions v on v.environment_id = t.environment_id and v.id = t.version_id
    join workflows w on w.environment_id = v.environment_id and w.id = v.workflow_id`
  const named = sql`(e.payload->>'n')::integer as number, s.subscriber_id as "to", w.identifier as workflow`
  const notifications = await db.rows<WrittenNotification>(
    sql`select ${named} from notifications t ${people} where t.environment_id = ${environmentId}`,
  )
  const jobs = await db.rows<WrittenJob>(sql`
    select ${named}, t.id, t.step, v.definition #>> array['steps', t.step::text, 'template', 'type'] as type, t.status,
      t.due_at is not null as "isDue", t.buried_at is not null as "isBuried",
      array(select d->>'code' from jsonb_array_elements(t.details) as d) as codes, t.updated_at as "updatedAt"
    from jobs t ${people} where t.environment_id = ${environmentId}`)
  const messages = await db.rows<WrittenMessage & { text: string }>(sql`
    select ${named}, t.job_id as "jobId", t.step, t.channel, t.state, t.status,
      coalesce(t.subject, '') || coalesce(t.content::text, '') as text, t.created_at as "createdAt"
    from messages t ${people} where t.environment_id = ${environmentId}`)
  const tasks = await db.rows<{ kind: string; isBuried: boolean }>(
    sql`select kind, buried_at is not null as "isBuried" from tasks where environment_id = ${environmentId}`,
  )
  return { notifications, jobs, messages: messages.map((one) => ({ ...one, numbers: numbersIn(one.text) })), tasks }
}
