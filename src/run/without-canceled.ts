// Jobs of canceled events that the cancellation itself has not reached yet: nothing of them is decided any more.
import { until } from '../domain/delivery/due.ts'
import type { TriggeredEvent } from '../domain/delivery/event.ts'
import type { Job } from '../domain/delivery/job.ts'
import type { Environment } from '../domain/environment.ts'
import { grouped } from '../domain/grouped.ts'
import { cancelClaimed } from '../record/cancel/cancel-claimed.ts'
import { settles } from '../record/settlement.ts'
import { writeSettlements } from '../record/write-settlements.ts'
import type { Facts } from './decide/load-facts.ts'
import type { Writing } from './writing.ts'

/** Whoever cancels does it within this time, and reports how much it was; its task starts then. */
const cancelMsMax = 15_000
const requeueAfterMs = 2_000

/**
 * Ends or postpones them, and returns the others. Events that came with their jobs were written just before, and are
 * not checked.
 */
export async function withoutCanceled(
  { db, world, queue }: Writing,
  environment: Environment,
  { events, versions }: Pick<Facts, 'events' | 'versions'>,
  jobs: readonly Job[],
): Promise<readonly Job[]> {
  const canceled = jobs.filter(({ eventId }) => events.get(eventId)?.canceledAt != null)
  if (canceled.length === 0) return jobs
  const over = new Set(canceled.map(({ id }) => id))
  const now = world.now()
  const isFresh = ({ eventId }: Job): boolean => isBeingCanceled(events.get(eventId), now)
  const due = new Date(now.getTime() + requeueAfterMs)
  const settlements = canceled.filter(isFresh).map((job) => settles(job, job.status, { due: until(due) }))
  await writeSettlements(db, world, environment, queue, { settlements, reservation: undefined })
  const left = canceled.filter((job) => !isFresh(job))
  for (const [eventId, own] of grouped(left, (job) => job.eventId)) {
    const steps = versions.get(own[0]?.versionId ?? '')?.definition.steps ?? []
    const call = { eventId, steps, ids: own.map(({ id }) => id) }
    for (const id of await cancelClaimed(db, world, environment, queue, call)) over.delete(id)
  }
  return jobs.filter(({ id }) => !over.has(id))
}

const isBeingCanceled = (event: TriggeredEvent | undefined, now: Date): boolean =>
  event?.canceledAt != null && now.getTime() - event.canceledAt.getTime() < cancelMsMax
