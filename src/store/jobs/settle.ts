// Settling jobs: fenced by the lease, so that whoever lost it changes nothing.
import type { Clock } from '../../db/clock.ts'
import type { Tx } from '../../db/sql.ts'
import { json, prepared, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { StoredDetail } from '../../domain/execution-detail.ts'
import type { JobState, JobStatus } from '../../domain/job.ts'

export interface JobSettlement {
  readonly id: string
  readonly lease: string
  readonly status: JobStatus
  /** `kept`: the lease goes on, from now. A moment: free until then. Null: the job is over. */
  readonly due: 'kept' | Date | null
  /** Null leaves it as it is. */
  readonly state: JobState | null
  readonly details: readonly StoredDetail[]
}

/** Returns the ids of those that were still ours. */
export async function settleJobs(
  tx: Tx,
  environment: Environment,
  settlements: readonly JobSettlement[],
  time: { clock: Clock; leaseMs: number; now: Date },
): Promise<Set<string>> {
  if (settlements.length === 0) return new Set()
  const column = <Value>(read: (settlement: JobSettlement) => Value): Value[] => settlements.map(read)
  const ids = column((s) => s.id)
  const rows = await tx.rows<{ id: string }>(
    prepared(
      'jobs-settle',
      sql`update jobs j
          set status = s.status, claims = 0, updated_at = ${time.now},
              lease = case when s.kept then j.lease end,
              due_at = case when s.kept then ${time.clock()} + ${time.leaseMs}::double precision * interval '1 millisecond'
                       else s.due_at end,
              state = coalesce(s.state::jsonb, j.state), details = j.details || s.details::jsonb
          from unnest(${ids}::uuid[], ${column((s) => s.lease)}::uuid[], ${column((s) => s.status)}::text[],
                      ${column((s) => s.due === 'kept')}::boolean[],
                      ${column((s) => (s.due instanceof Date ? s.due : null))}::timestamptz[],
                      ${column((s) => json(s.state))}::text[], ${column((s) => json(s.details))}::text[])
            as s (id, lease, status, kept, due_at, state, details)
          where j.environment_id = ${environment.id} and j.id = any(${ids}::uuid[]) and j.id = s.id and j.lease = s.lease
          returning j.id`,
    ),
  )
  return new Set(rows.map((row) => row.id))
}

/** Locks those that are still ours until the transaction ends, for decisions that are made within it. */
export async function holdJobs(
  tx: Tx,
  environment: Environment,
  jobs: readonly { id: string; lease: string }[],
): Promise<Set<string>> {
  if (jobs.length === 0) return new Set()
  const ids = jobs.map((job) => job.id)
  const rows = await tx.rows<{ id: string; lease: string | null }>(sql`
    select id, lease from jobs where environment_id = ${environment.id} and id = any(${ids}::uuid[])
    order by id for update`)
  const leases = new Map(rows.map((row) => [row.id, row.lease]))
  return new Set(jobs.filter((job) => leases.get(job.id) === job.lease).map((job) => job.id))
}

/** After a fault of ours: free again later, the claims still counted, so that it is buried one day. */
export async function postponeJobs(
  tx: Tx,
  environment: Environment,
  jobs: readonly { id: string; lease: string }[],
  until: Date,
): Promise<number> {
  return tx.run(sql`
    update jobs j set lease = null, due_at = ${until}
    from unnest(${jobs.map((job) => job.id)}::uuid[], ${jobs.map((job) => job.lease)}::uuid[]) as p (id, lease)
    where j.environment_id = ${environment.id} and j.id = any(${jobs.map((job) => job.id)}::uuid[]) and j.id = p.id
      and j.lease = p.lease`)
}
