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
import type { Pipeline } from '../pipeline.ts'

/** Then it makes way for the endpoints of others, where more wait than a node sends to at a time. */
const turnMs = 20_000

interface SendingState {
  readonly endpointId: string
  readonly failedRounds?: number
}

/** What a node waits if it sends to as many endpoints as it may. */
const slotAgainMs = 1_000

export async function sendWebhooks(
  pipeline: Pipeline,
  parts: { isStopping(): boolean },
  environment: Environment,
  task: Task,
): Promise<void> {
  const leave = pipeline.webhookSlots.take()
  if (leave === undefined) return postponeTask(pipeline.db, environment, pipeline.queue, { task, waitMs: slotAgainMs })
  try {
    await sendTo(pipeline, parts, environment, task)
  } finally {
    leave()
  }
}

async function sendTo(
  pipeline: Pipeline,
  { isStopping }: { isStopping(): boolean },
  environment: Environment,
  task: Task,
): Promise<void> {
  const { db, world, queue } = pipeline
  const { endpointId, ...before } = task.state as unknown as SendingState
  let failedRounds = before.failedRounds ?? 0
  const startedMs = world.now().getTime()
  for (;;) {
    // Read again for each round: a change of the address or of the secret applies at once.
    const endpoint = await findEndpoint(db, world.sealer, environment, endpointId)
    if (endpoint === undefined || endpoint.disabledAt !== null) return endTask(db, environment, task)
    const isOver = isStopping() || !pipeline.isAlive() || world.now().getTime() - startedMs > turnMs
    if (isOver) return leaveTask(db, environment, task, queue.clock)
    const limit = endpoint.concurrency
    const due = await findDueDeliveries(db, environment, { endpointId, clock: queue.clock, limit })
    if (due.length === 0) return restTask(db, environment, queue, { task, endpointId })
    const calls = await Promise.all(
      due.map(async (delivery) => ({ delivery, attempt: await callWebhook(world, endpoint, delivery) })),
    )
    const audited = (tx: Tx, by: Disabler, lastError: string): Promise<void> =>
      auditDisabled(pipeline, tx, environment, endpoint, by, lastError)
    const { isOurs, disabledBy } = await settleRound(db, world, environment, queue, { task, endpoint, calls, audited })
    for (const { attempt } of calls) world.meter.countWebhook(attempt.error === null ? 'delivered' : 'failed')
    if (disabledBy !== undefined) return warn(pipeline, environment, endpoint, disabledBy)
    if (!isOurs) return
    failedRounds = calls.every(({ attempt }) => attempt.error !== null) ? failedRounds + 1 : 0
    const waitMs = failedRounds === 0 ? 0 : pauseAfterMs(failedRounds)
    if (waitMs > 0) return pauseTask(db, world, environment, queue, { task, waitMs, failedRounds })
  }
}

/** As the audit log names what the service does by itself. */
const worker = { keyId: 'worker', keyName: 'worker', address: '', requestId: null } as const

async function auditDisabled(
  { world }: Pipeline,
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

function warn({ world }: Pipeline, environment: Environment, { id, url }: WebhookEndpoint, by: Disabler): void {
  const fields = { environment: environment.name, endpoint: id, host: new URL(url).host, disabledBy: by }
  world.log.warn(fields, 'A webhook endpoint was disabled: it accepted nothing for three days, or answered 410')
}
