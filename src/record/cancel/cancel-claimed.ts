// Cancels jobs that a node has claimed although their event was canceled: the pages of the cancel have not come to them yet.
import type { Db } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { NotificationStep } from '../../domain/workflows/workflow.ts'
import type { Queue } from '../../queue/queue.ts'
import { findStatuses, lockCancelableAmong } from '../../store/jobs/cancel.ts'
import type { World } from '../../world/world.ts'
import { cancelFound } from './cancel-page.ts'

/** Some may move between digests while they are waited for: then another look is needed. */
const looksMax = 3

export interface ClaimedJobs {
  readonly eventId: string
  /** Of the event's version. */
  readonly steps: readonly NotificationStep[]
  readonly ids: readonly string[]
}

/** As a page does it. Returns those that continue anyway: their content is needed by other events of a digest. */
export async function cancelClaimed(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  { eventId, steps, ids }: ClaimedJobs,
): Promise<ReadonlySet<string>> {
  return db.transaction(async (tx) => {
    const details = [detail(world.now(), 'canceled')]
    for (let look = 0; look < looksMax; look += 1) {
      const found = await lockCancelableAmong(tx, environment, ids, queue.clock)
      const { isPartial } = await cancelFound(tx, world, environment, queue, { eventId, steps, found, details })
      if (!isPartial) break
    }
    const statuses = await findStatuses(tx, environment, ids)
    return new Set(ids.filter((id) => statuses.get(id) !== 'canceled'))
  })
}
