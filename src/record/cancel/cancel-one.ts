// Cancels one notification, in the given transaction: waiting steps are canceled, a running one ends with its current
// step.
import type { Sql, Tx } from '../../db/sql.ts'
import type { JobStatus } from '../../domain/delivery/job.ts'
import { jobIdOf } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { NotificationStep } from '../../domain/workflows/workflow.ts'
import type { Queue } from '../../queue/queue.ts'
import { findStatuses, lockCancelableAmong } from '../../store/jobs/cancel.ts'
import type { RecoverableNotification } from '../../store/jobs/redrive.ts'
import { findVersions } from '../../store/workflows/workflows.ts'
import type { World } from '../../world/world.ts'
import { cancelFound } from './cancel-page.ts'

export interface CanceledStep {
  readonly step: NotificationStep
  /** Its status before; `pending` if it had not started. */
  readonly was: JobStatus
}

export interface CanceledNotification {
  readonly canceled: readonly CanceledStep[]
  /** A provider is being called right now: its result stands. */
  readonly onTheirWay: readonly NotificationStep[]
}

/**
 * A step may end while it is waited for, and the next one be created in the meantime: the second look sees that one.
 */
const looksMax = 3

export async function cancelNotification(
  tx: Tx,
  world: World,
  environment: Environment,
  queue: Queue,
  { notification, by }: { notification: RecoverableNotification; by: string },
): Promise<CanceledNotification> {
  const steps = await stepsOf(tx, environment, notification)
  const ids = steps.map((_, step) => jobIdOf(notification.eventId, notification.id, step))
  const details = [detail(world.now(), 'canceled', { raw: { by, notificationId: notification.id } })]
  const before = await findStatuses(tx, environment, ids)
  for (let look = 0; look < looksMax; look += 1) {
    const found = await lockCancelableAmong(tx, environment, ids, queue.clock)
    const call = { eventId: notification.eventId, steps, found, details }
    const { count, isPartial } = await cancelFound(tx, world, environment, queue, call)
    // The first look may have waited for a step to end, and sees nothing of what that created.
    if (count === 0 && !isPartial && look > 0) break
  }
  const after = await findStatuses(tx, environment, ids)
  const entries = steps.flatMap((step, place) => {
    const id = ids[place] ?? ''
    return step.active ? [{ step, was: before.get(id) ?? 'pending', is: after.get(id) }] : []
  })
  return {
    canceled: entries
      .filter(({ was, is }) => is === 'canceled' && was !== 'canceled')
      .map(({ step, was }) => ({ step, was })),
    onTheirWay: entries.filter(({ is }) => is === 'running').map(({ step }) => step),
  }
}

export async function stepsOf(
  db: Sql,
  environment: Environment,
  { versionId }: RecoverableNotification,
): Promise<readonly NotificationStep[]> {
  const [version] = await findVersions(db, environment, [versionId])
  return version?.definition.steps ?? []
}
