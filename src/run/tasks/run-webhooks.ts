// Sends the deliveries of one endpoint: so many at a time, in the order of their subjects, until none is due.
import { audit } from '../../commit/audited.ts'
import type { Tx } from '../../db/sql.ts'
import { callWebhook } from '../../deliver/call-webhook.ts'
import type { Environment } from '../../domain/environment.ts'
import { pauseAfterMs } from '../../domain/webhooks/webhook-delivery.ts'
import type { Disabler, WebhookEndpoint } from '../../domain/webhooks/webhook-endpoint.ts'
import { endTask, pauseTask, postponeTask, restTask, settleRound } from '../../record/webhooks/settle-deliveries.ts'
import type { Task } from '../../store/jobs/tasks.ts'
import { leaveTask } from '../../store/jobs/tasks.ts'
import { findDueDeliveries } from '../../store/webhooks/webhook-deliveries.ts'
import { findEndpoint } from '../../store/webhooks/webhook-endpoints.ts'
import type { World } from '../../world/world.ts'
import type { PagedParts } from './in-pages.ts'
import type { Slots } from './slots.ts'

/** Then it makes way for the endpoints of others, where more wait than a node sends to at a time. */
const turnMs = 20_000

export interface SendingParts extends PagedParts {
  /** The endpoints that this node sends to at a time: slow ones hold their slot for a while. */
  readonly webhookSlots: Slots
}

interface SendingState {
  readonly endpointId: string
  readonly failedRounds?: number
}

/** What a node waits if it sends to as many endpoints as it may. */
const slotAgainMs = 1_000

export async function sendWebhooks(parts: SendingParts, environment: Environment, task: Task): Promise<void> {
  const leave = parts.webhookSlots.take()
  if (leave === undefined) return postponeTask(parts.db, environment, parts.queue, { task, waitMs: slotAgainMs })
  try {
    await sendTo(parts, environment, task)
  } finally {
    leave()
  }
}

async function sendTo(parts: PagedParts, environment: Environment, task: Task): Promise<void> {
  const { db, world, queue } = parts
  const { endpointId, ...before } = task.state as unknown as SendingState
  let failedRounds = before.failedRounds ?? 0
  const startedMs = world.now().getTime()
  for (;;) {
    // Read again for each round: a change of the address or of the secret applies at once.
    const endpoint = await findEndpoint(db, world.sealer, environment, endpointId)
    if (endpoint === undefined || endpoint.disabledAt !== null)
      return endTask(db, environment, queue, { task, endpointId })
    const isOver = parts.isStopping() || !parts.isAlive() || world.now().getTime() - startedMs > turnMs
    if (isOver) return leaveTask(db, environment, task, queue.clock)
    const limit = endpoint.concurrency
    const due = await findDueDeliveries(db, environment, { endpointId, clock: queue.clock, limit })
    if (due.length === 0) return restTask(db, environment, queue, { task, endpointId })
    const calls = await Promise.all(
      due.map(async (delivery) => ({ delivery, attempt: await callWebhook(world, endpoint, delivery) })),
    )
    const audited = (tx: Tx, by: Disabler, lastError: string): Promise<void> =>
      auditDisabled(world, tx, environment, endpoint, by, lastError)
    const { isOurs, disabledBy } = await settleRound(db, world, environment, queue, { task, endpoint, calls, audited })
    for (const { attempt } of calls) world.meter.countWebhook(attempt.error === null ? 'delivered' : 'failed')
    if (disabledBy !== undefined) return warn(world, environment, endpoint, disabledBy)
    if (!isOurs) return
    failedRounds = calls.every(({ attempt }) => attempt.error !== null) ? failedRounds + 1 : 0
    const waitMs = failedRounds === 0 ? 0 : pauseAfterMs(failedRounds)
    if (waitMs > 0) return pauseTask(db, environment, queue, { task, waitMs, failedRounds })
  }
}

/** As the audit log names what the service does by itself. */
const worker = { keyId: 'worker', keyName: 'worker', address: '', requestId: null } as const

async function auditDisabled(
  world: World,
  tx: Tx,
  environment: Environment,
  { id, url }: WebhookEndpoint,
  by: Disabler,
  lastError: string,
): Promise<void> {
  const state = (enabled: boolean, more: object = {}) => {
    const shown = { enabled, ...more }
    return { compared: shown, shown }
  }
  await audit(tx, world, environment, worker, {
    kind: 'webhook-endpoint',
    id,
    name: new URL(url).host,
    action: 'change',
    before: state(true),
    after: state(false, { disabledBy: by, lastError }),
  })
}

function warn(world: World, environment: Environment, { id, url }: WebhookEndpoint, by: Disabler): void {
  const fields = { environment: environment.name, endpoint: id, host: new URL(url).host, disabledBy: by }
  world.log.warn(fields, 'A webhook endpoint was disabled: it accepted nothing for three days, or answered 410')
}
