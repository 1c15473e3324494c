// Leases of jobs in flight: whether they still hold, and the jobs as the database has them.

import type { Clock } from '../../db/clock.ts'
import { dueAfter } from '../../db/due.ts'
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Job } from '../../domain/delivery/job.ts'
import type { Environment } from '../../domain/environment.ts'
import { jobQueue } from './queue-table.ts'

type Held = Pick<Job, 'id' | 'lease'>

/** Lets the leases that still hold count from now; returns the ids of their jobs. */
export async function extendLeases(
  db: Sql,
  environment: Environment,
  jobs: readonly Held[],
  { clock, leaseMs }: { clock: Clock; leaseMs: number },
): Promise<ReadonlySet<string>> {
  const rows = await db.rows<{ id: string }>(sql`
    update jobs j set due_at = ${dueAfter(clock, leaseMs)}
    from unnest(${jobs.map((job) => job.id)}::uuid[], ${jobs.map((job) => job.lease)}::uuid[]) as h (id, lease)
    where j.environment_id = ${environment.id} and j.id = any(${jobs.map((job) => job.id)}::uuid[]) and j.id = h.id
      and j.lease = h.lease
    returning j.id`)
  return new Set(rows.map((row) => row.id))
}

/** Those of the ids that one of the leases holds, as they are now. */
export async function findLeased(
  db: Sql,
  environment: Environment,
  { ids, leases }: { ids: readonly string[]; leases: readonly string[] },
): Promise<Job[]> {
  return db.rows<Job>(sql`
    select ${jobQueue.columns} from jobs q
    where q.environment_id = ${environment.id} and q.id = any(${ids}::uuid[]) and q.lease = any(${leases}::uuid[])
      and q.due_at is not null`)
}
