// One statement before providers are called: only for calls that hold a slot now, and only if the lease is still valid.
import { oneStatement } from '../db/one-statement.ts'
import type { Sql } from '../db/sql.ts'
import { sql } from '../db/sql.ts'
import { leased } from '../domain/delivery/due.ts'
import type { Job } from '../domain/delivery/job.ts'
import type { Environment } from '../domain/environment.ts'
import type { Queue } from '../queue/queue.ts'
import { jobSettlements, settledJobs } from '../store/jobs/settle.ts'
import type { Beginning } from '../store/messages/sending.ts'
import { callBeginnings } from '../store/messages/sending.ts'
import type { World } from '../world/world.ts'

export interface JobBeginning {
  readonly job: Job
  readonly messages: readonly Beginning[]
}

/** Returns the ids of the jobs whose calls may be made, all of them; their leases count from now. */
export async function recordBeginnings(
  db: Sql,
  world: World,
  environment: Environment,
  queue: Queue,
  beginnings: readonly JobBeginning[],
): Promise<ReadonlySet<string>> {
  if (beginnings.length === 0) return new Set()
  const now = world.now()
  const { clock, leaseMs } = queue
  const begun = beginnings.map(({ job: { id, lease } }) => ({ id, lease, ...keepsRunning }))
  const messages = beginnings.flatMap((beginning) => beginning.messages)
  const rows = await db.rows<{ id: string }>(
    oneStatement(
      [
        ...jobSettlements(environment, begun, { clock, leaseMs, now }),
        ...(messages.length === 0 ? [] : [callBeginnings(environment, messages, settledJobs, now)]),
      ],
      messages.length === 0 ? settledJobs : sql`${settledJobs} union all select id from begun`,
    ),
  )
  const ours = new Set(rows.map((row) => row.id))
  const isOurs = (one: JobBeginning): boolean => ours.has(one.job.id) && one.messages.every(({ id }) => ours.has(id))
  return new Set(beginnings.filter(isOurs).map(({ job }) => job.id))
}

const keepsRunning = { status: 'running', due: leased, state: null, details: [] } as const
