// One transaction before providers are asked: only for calls that hold a slot now, and only where the lease still holds.
import type { Db } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type { Job } from '../domain/job.ts'
import type { Queue } from '../queue/queue.ts'
import { settleJobs } from '../store/jobs/settle.ts'
import type { Beginning } from '../store/messages/sending.ts'
import { beginCalls } from '../store/messages/sending.ts'
import type { World } from '../world/world.ts'

export interface JobBeginning {
  readonly job: Job
  readonly messages: readonly Beginning[]
}

/** Returns the ids of the jobs whose calls may be made; their leases count from now. */
export async function recordBeginnings(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  beginnings: readonly JobBeginning[],
): Promise<ReadonlySet<string>> {
  return db.transaction(async (tx) => {
    const now = world.now()
    const kept = await settleJobs(
      tx,
      environment,
      beginnings.map(({ job }) => ({
        id: job.id,
        lease: job.lease,
        status: 'running',
        due: 'kept',
        state: null,
        details: [],
      })),
      { clock: queue.clock, leaseMs: queue.leaseMs, now },
    )
    const ours = beginnings.filter(({ job }) => kept.has(job.id))
    await beginCalls(
      tx,
      environment,
      ours.flatMap(({ messages }) => messages),
      now,
    )
    return kept
  })
}
