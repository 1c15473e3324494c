// Receipts that arrived too early, checked again; and those that a provider must be asked for.
import { mostAreDead } from '../../deliver/token-deaths.ts'
import type { Integration } from '../../domain/delivery/integration.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Polling, Receipt } from '../../providers/inbound/receipt.ts'
import { providerOf } from '../../providers/registry.ts'
import { isLastLook, lateReceiptsOf, nextLookAt } from '../../record/receipts/late-receipts.ts'
import { recordReceipts } from '../../record/receipts/record-receipts.ts'
import { settlePoll } from '../../record/receipts/settle-poll.ts'
import { findIntegration } from '../../store/integrations/integrations.ts'
import type { Task } from '../../store/jobs/tasks.ts'
import { finishTasks, repeatTask } from '../../store/jobs/tasks.ts'
import { findPolled } from '../../store/messages/receipts.ts'
import type { Writing } from '../writing.ts'

export async function lookAtLateReceipts(
  { db, world, queue }: Writing,
  environment: Environment,
  task: Task,
): Promise<void> {
  const { integrationId, receipts, looks } = lateReceiptsOf(task.state)
  const integration = await findIntegration(db, world.sealer, environment, integrationId)
  const isLast = isLastLook(looks)
  const known = integration === undefined ? [] : receipts
  const report = { integration: integration ?? gone(integrationId), receipts: known, isLast }
  await recordReceipts(db, world, environment, report, async (tx, early) => {
    const now = world.now()
    const dueAt = early.length === 0 ? undefined : nextLookAt(looks + 1, now)
    if (dueAt === undefined || isLast) return void (await finishTasks(tx, environment, [task]))
    const state = { integrationId, receipts: early, looks: looks + 1 }
    await repeatTask(tx, environment, { ...task, waitMs: dueAt.getTime() - now.getTime(), state }, queue.clock)
  })
}

/** Nothing is recorded for a deleted one; its id is all that is needed. */
const gone = (_id: string): Integration => ({ _id, providerId: '' }) as Integration

/** One query; what is left is asked when it is due. */
export async function pollReceipts({ db, world, queue }: Writing, environment: Environment, task: Task): Promise<void> {
  const { integrationId } = task.state as { integrationId: string }
  const integration = await findIntegration(db, world.sealer, environment, integrationId)
  const polling = integration && providerOf(integration.providerId)?.polling
  const now = world.now()
  const asked =
    polling === undefined
      ? []
      : await findPolled(db, environment, { integrationId, clock: queue.clock, limit: polling.max })
  const ids = asked.map(({ providerMessageId }) => providerMessageId)
  const receipts =
    integration === undefined || polling === undefined || ids.length === 0
      ? []
      : await (polling as Polling<unknown>).ask(world, ids, integration.credentials)
  await settlePoll(db, world, environment, queue, {
    task,
    integrationId,
    asked: asked.map((one) => ({ ...one, again: nextPollOf(polling, one.createdAt, now) })),
    ...(integration === undefined || polling === undefined
      ? {}
      : { report: { integration, receipts: receipts ?? [], prunes: mayPrune(receipts ?? []) } }),
  })
}

function nextPollOf(polling: Polling<never> | undefined, createdAt: Date, now: Date): Date | null {
  if (polling === undefined || now.getTime() - createdAt.getTime() > polling.givesUpAfterMs) return null
  return new Date(now.getTime() + polling.againAfterMs)
}

const mayPrune = (receipts: readonly Receipt[]): boolean =>
  !mostAreDead(receipts.filter(({ deadToken }) => deadToken === true).length, receipts.length)
