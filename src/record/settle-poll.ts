// What a provider answered when it was asked what became of messages: receipts, and when to ask for the others.
import type { Db } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { nextPollAt, pollAgain } from '../store/messages/receipts.ts'
import type { Task } from '../store/tasks.ts'
import { finishTasks, repeatTask } from '../store/tasks.ts'
import type { World } from '../world/world.ts'
import type { Report } from './record-receipts.ts'
import { recordReceipts } from './record-receipts.ts'

export interface PollSettlement {
  readonly task: Task
  readonly integrationId: string
  /** Left out where the integration is gone. */
  readonly report?: Report
  /** Those that nothing was known of. */
  readonly again: readonly { readonly id: string; readonly at: Date | null }[]
}

export async function settlePoll(
  db: Db,
  world: World,
  environment: Environment,
  { task, integrationId, report, again }: PollSettlement,
): Promise<void> {
  if (report === undefined) {
    await db.transaction((tx) => finishTasks(tx, environment, [task]))
    return
  }
  await recordReceipts(db, world, environment, report, async (tx) => {
    await pollAgain(tx, environment, again)
    const dueAt = await nextPollAt(tx, environment, integrationId)
    if (dueAt === undefined) await finishTasks(tx, environment, [task])
    else await repeatTask(tx, environment, { ...task, dueAt, state: task.state })
  })
}
