// Writes settlements within a transaction: the fence first, then only what belongs to jobs that were still ours.
import type { Tx } from '../db/sql.ts'
import { jobIdOf } from '../domain/derived-id.ts'
import type { Environment } from '../domain/environment.ts'
import { detail } from '../domain/execution-detail.ts'
import type { Job } from '../domain/job.ts'
import type { Queue } from '../queue/queue.ts'
import type { Reservation } from '../queue/worker.ts'
import { closeWindows } from '../store/digests.ts'
import type { NewJob } from '../store/jobs/insert.ts'
import { insertJobs } from '../store/jobs/insert.ts'
import { settleJobs } from '../store/jobs/settle.ts'
import { insertMessages } from '../store/messages/insert.ts'
import type { World } from '../world/world.ts'
import type { Settlement } from './settlement.ts'

export interface Written {
  /** The ids of the jobs that were still ours. */
  readonly kept: ReadonlySet<string>
  /** The next steps, born with the reservation's lease. */
  readonly born: readonly Job[]
}

export async function writeSettlements(
  tx: Tx,
  world: World,
  environment: Environment,
  queue: Queue,
  settlements: readonly Settlement[],
  reservation: Reservation | undefined,
): Promise<Written> {
  const now = world.now()
  const closed = await closeWindows(
    tx,
    environment,
    settlements.flatMap((settlement) => settlement.closes ?? []),
    now,
  )
  const kept = await settleJobs(
    tx,
    environment,
    settlements.map((settlement) => ({
      id: settlement.job.id,
      lease: settlement.job.lease,
      status: settlement.status,
      due: settlement.due,
      state: settlement.state,
      details: withDigestCount(settlement, closed, now),
    })),
    { clock: queue.clock, leaseMs: queue.leaseMs, now },
  )
  const ours = settlements.filter((settlement) => kept.has(settlement.job.id))
  // A window is closed by its own job alone: should that have been lost, nothing of this may stand.
  if (ours.length < settlements.length && settlements.some((one) => one.closes !== null && !kept.has(one.job.id))) {
    throw new LostLease()
  }
  await insertMessages(
    tx,
    environment,
    ours.flatMap((settlement) => settlement.messages),
  )
  const next = ours.flatMap(nextJobOf)
  const lease = reservation?.lease ?? null
  await insertJobs(tx, environment, [...next, ...ours.flatMap(endedJobsOf)], {
    clock: queue.clock,
    leaseMs: queue.leaseMs,
    lease,
    now,
  })
  const born = lease === null ? [] : next.map((job) => ({ ...job, environmentId: environment.id, lease, claims: 1 }))
  return { kept, born }
}

/** A lease that was needed for the whole of a transaction had gone: it is rolled back, and tried without that job. */
export class LostLease extends Error {
  constructor() {
    super('A lease was lost')
    this.name = 'LostLease'
  }
}

function withDigestCount(settlement: Settlement, closed: ReadonlyMap<string, number>, now: Date) {
  if (settlement.closes === null) return settlement.details
  const total = closed.get(settlement.closes) ?? 0
  return [...settlement.details, detail(now, 'digestTriggered', { raw: { total_count: total } })]
}

function nextJobOf({ job, next }: Settlement): NewJob[] {
  if (next === null) return []
  return [{ ...siblingOf(job, next.step), status: 'queued', digestId: next.digestId, state: null, details: [] }]
}

function endedJobsOf({ job, rest }: Settlement): NewJob[] {
  if (rest === null) return []
  return rest.steps.map((step) => ({
    ...siblingOf(job, step),
    status: rest.status,
    digestId: job.digestId,
    state: null,
    details: rest.details,
  }))
}

function siblingOf(job: Job, step: number) {
  const { notificationId, eventId, subscriberId, versionId, lane } = job
  return { id: jobIdOf(eventId, notificationId, step), notificationId, eventId, subscriberId, versionId, step, lane }
}
