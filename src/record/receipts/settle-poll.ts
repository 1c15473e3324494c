// A provider's answer about the result of messages: receipts, and when to ask for the others.
import type { Db } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Receipt } from '../../providers/inbound/receipt.ts'
import type { Queue } from '../../queue/queue.ts'
import type { Task } from '../../store/jobs/tasks.ts'
import { finishTasks, repeatTask } from '../../store/jobs/tasks.ts'
import { isPollDue, pollAgain } from '../../store/messages/receipts.ts'
import type { World } from '../../world/world.ts'
import { ensurePolls } from './await-receipts.ts'
import type { Report } from './record-receipts.ts'
import { recordReceipts } from './record-receipts.ts'

export interface PollSettlement {
  readonly task: Task
  readonly integrationId: string
  /** Omitted if the integration is gone, or there is no one left to ask. */
  readonly report?: Report
  /** The messages asked about, and when each is asked about again if nothing is known. */
  readonly asked: readonly {
    readonly id: string
    readonly providerMessageId: string
    readonly again: Date | null
  }[]
}

export async function settlePoll(
  db: Db,
  world: World,
  environment: Environment,
  { clock }: Pick<Queue, 'clock'>,
  { task, integrationId, report, asked }: PollSettlement,
): Promise<void> {
  if (report === undefined) {
    await db.transaction((tx) => finishTasks(tx, environment, [task]))
    return
  }
  const reportedIds = idsOf(report.receipts)
  await recordReceipts(db, world, environment, report, async (tx, early) => {
    const now = world.now()
    const tooEarly = idsOf(early)
    const isKnown = (id: string): boolean => reportedIds.has(id) && !tooEarly.has(id)
    const again = asked.map(({ id, providerMessageId, again: at }) => ({
      id,
      at: isKnown(providerMessageId) ? null : at,
    }))
    const polls = await pollAgain(tx, environment, again, { clock, now })
    const isDue = await isPollDue(tx, environment, { integrationId, clock })
    // What is due later has separate tasks: otherwise, while messages are sent, none would ever end.
    if (!isDue) await finishTasks(tx, environment, [task])
    else await repeatTask(tx, environment, { ...task, waitMs: 0, state: task.state }, clock)
    await ensurePolls(tx, environment, polls)
  })
}

const idsOf = (receipts: readonly Receipt[]): ReadonlySet<string | undefined> =>
  new Set(receipts.map(({ providerMessageId }) => providerMessageId))
