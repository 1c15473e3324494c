// What came of a round of deliveries to one endpoint: attempts, how the endpoint is doing, and its task, in one transaction.
import type { Db, Tx } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { DeliveryAttempt } from '../../domain/webhooks/webhook-delivery.ts'
import { disabledAfterMs, retryWaitMs } from '../../domain/webhooks/webhook-delivery.ts'
import type { Disabler, WebhookEndpoint } from '../../domain/webhooks/webhook-endpoint.ts'
import type { Queue } from '../../queue/queue.ts'
import type { Task } from '../../store/jobs/tasks.ts'
import { advanceTask, finishTasks, repeatTask } from '../../store/jobs/tasks.ts'
import type { AttemptedDelivery, DueDelivery } from '../../store/webhooks/webhook-deliveries.ts'
import { nextDeliveryInMs, recordAttempts } from '../../store/webhooks/webhook-deliveries.ts'
import {
  disableEndpoint,
  isEndpointEnabled,
  lockEndpoint,
  noteDelivered,
  noteFailed,
} from '../../store/webhooks/webhook-endpoints.ts'
import type { World } from '../../world/world.ts'

export interface Round {
  readonly task: Task
  readonly endpoint: WebhookEndpoint
  readonly calls: readonly { readonly delivery: DueDelivery; readonly attempt: DeliveryAttempt }[]
  /** Writes to the audit log that the endpoint was disabled: the last statement of the transaction. */
  readonly audited: (tx: Tx, by: Disabler, lastError: string) => Promise<void>
}

export interface SettledRound {
  /** Whether the task is still ours. */
  readonly isOurs: boolean
  readonly disabledBy: Disabler | undefined
}

/** What was called is recorded even where the task is another's by now: the endpoint has it. */
export async function settleRound(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  { task, endpoint, calls, audited }: Round,
): Promise<SettledRound> {
  const now = world.now()
  const attempted = calls.map(({ delivery, attempt }) => attemptedOf(delivery, attempt, world.random()))
  const failed = calls.filter(({ attempt }) => attempt.error !== null)
  const lastError = failed.at(-1)?.attempt.error ?? ''
  const isGone = calls.some(({ attempt }) => attempt.status === goneStatus)
  // The endpoint first, then its deliveries, then its task: whoever changes or redrives locks them in the same order. It is
  // locked even where nothing is noted of it: a redrive locks many deliveries, and not in the order of these.
  return db.transaction(async (tx) => {
    await lockEndpoint(tx, environment, endpoint.id)
    if (failed.length < calls.length) await noteDelivered(tx, environment, endpoint.id, now)
    const noted = { count: failed.length, error: lastError, now }
    const since = failed.length === calls.length ? await noteFailed(tx, environment, endpoint.id, noted) : undefined
    const isTooLong = since !== undefined && now.getTime() - since.getTime() >= disabledAfterMs
    const by: Disabler | undefined = isGone ? 'gone' : isTooLong ? 'failures' : undefined
    const isDisabled = by !== undefined && (await disableEndpoint(tx, environment, endpoint.id, { by, now }))
    await recordAttempts(tx, environment, endpoint.id, attempted, { clock: queue.clock, now })
    const { id, lease } = task
    const isOurs = await advanceTask(tx, environment, { id, lease, state: { endpointId: endpoint.id } }, queue)
    if (by === undefined || !isDisabled) return { isOurs, disabledBy: undefined }
    await finishTasks(tx, environment, [task])
    await audited(tx, by, lastError)
    return { isOurs, disabledBy: by }
  })
}

/** The receiver says that it wants nothing any more. */
const goneStatus = 410

function attemptedOf({ id, attempts }: DueDelivery, attempt: DeliveryAttempt, random: number): AttemptedDelivery {
  if (attempt.error === null) return { id, attempts, status: 'delivered', waitMs: null, attempt }
  const waitMs = retryWaitMs(attempts + 1, random)
  return { id, attempts, status: waitMs === undefined ? 'failed' : 'waiting', waitMs: waitMs ?? null, attempt }
}

/**
 * Nothing more is due. The task is held first: whoever has written a delivery and wakes it waits for this, and finds it free or
 * gone.
 */
export async function restTask(
  db: Db,
  environment: Environment,
  queue: Queue,
  { task, endpointId }: { task: Task; endpointId: string },
): Promise<void> {
  const { clock } = queue
  await db.transaction(async (tx) => {
    const isOurs = await advanceTask(tx, environment, { ...task, state: { endpointId } }, queue)
    if (!isOurs) return
    const waitMs = await nextDeliveryInMs(tx, environment, { endpointId, clock })
    if (waitMs === undefined) await finishTasks(tx, environment, [task])
    else await repeatTask(tx, environment, { ...task, waitMs, state: {} }, clock)
  })
}

/** Every call of a round failed: the next begins later, whatever happens meanwhile. */
export async function pauseTask(
  db: Db,
  environment: Environment,
  { clock }: Queue,
  { task, waitMs, failedRounds }: { task: Task; waitMs: number; failedRounds: number },
): Promise<void> {
  const paused = { ...task, waitMs, state: { failedRounds }, isPaused: true } as const
  await db.transaction((tx) => repeatTask(tx, environment, paused, clock))
}

/** As it is, later. */
export async function postponeTask(
  db: Db,
  environment: Environment,
  { clock }: Queue,
  { task, waitMs }: { task: Task; waitMs: number },
): Promise<void> {
  await db.transaction((tx) => repeatTask(tx, environment, { ...task, waitMs, state: {} }, clock))
}

/**
 * Its endpoint is disabled or deleted. The task is held before that is read once more: whoever enables the endpoint wakes the task,
 * and a task that is leased stays as it is.
 */
export async function endTask(
  db: Db,
  environment: Environment,
  queue: Queue,
  { task, endpointId }: { task: Task; endpointId: string },
): Promise<void> {
  await db.transaction(async (tx) => {
    const isOurs = await advanceTask(tx, environment, { ...task, state: { endpointId } }, queue)
    if (!isOurs) return
    const isEnabled = await isEndpointEnabled(tx, environment, endpointId)
    if (isEnabled) await repeatTask(tx, environment, { ...task, waitMs: 0, state: {} }, queue.clock)
    else await finishTasks(tx, environment, [task])
  })
}
