// Jobs that met a fault of ours: tried again later, and buried when that has been done often enough.
import type { Db } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { detail } from '../domain/execution-detail.ts'
import type { Job } from '../domain/job.ts'
import { claimsMax } from '../domain/job.ts'
import type { Queue } from '../queue/queue.ts'
import { postponeJobs } from '../store/jobs/settle.ts'
import type { World } from '../world/world.ts'
import type { RestOfSteps } from './settlement.ts'
import { settles } from './settlement.ts'
import { writeSettlements } from './write-settlements.ts'

/** Waits longer each time; the last time is followed by the grave. */
const postponedMs = [1_000, 10_000, 60_000, 300_000]

export async function postponeOrBury(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  { job, words, laterSteps }: { job: Job; words: string; laterSteps: readonly number[] },
): Promise<'postponed' | 'buried'> {
  const now = world.now()
  if (job.claims < claimsMax) {
    const waitMs = postponedMs[Math.min(job.claims, postponedMs.length) - 1] ?? postponedMs[0] ?? 0
    await db.transaction((tx) => postponeJobs(tx, environment, [job], new Date(now.getTime() + waitMs)))
    return 'postponed'
  }
  await buryJobs(db, world, environment, queue, [{ job, words, laterSteps }])
  return 'buried'
}

export async function buryJobs(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  burials: readonly { job: Job; words: string; laterSteps: readonly number[] }[],
): Promise<void> {
  const now = world.now()
  const settlements = burials.map(({ job, words, laterSteps }) => {
    const rest: RestOfSteps = { steps: laterSteps, status: 'canceled', details: [detail(now, 'previousFailed')] }
    return settles(job, 'failed', {
      details: [detail(now, 'buried', { raw: { message: words } })],
      rest: laterSteps.length === 0 ? null : rest,
    })
  })
  await db.transaction((tx) => writeSettlements(tx, world, environment, queue, settlements, undefined))
}
