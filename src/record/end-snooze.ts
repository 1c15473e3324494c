// The end of a snooze: the message is back at the top of the feed, unread.
import type { Db, Tx } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { detail } from '../domain/insight/execution-detail.ts'
import { appendDetails } from '../store/jobs/append.ts'
import type { Task } from '../store/jobs/tasks.ts'
import { finishTasks } from '../store/jobs/tasks.ts'
import type { CountedInboxes } from '../store/messages/inbox-changes.ts'
import { unsnoozeMessages } from '../store/messages/snooze.ts'
import type { World } from '../world/world.ts'
import { changeInboxesOf } from './change-inboxes.ts'

/** The snoozes whose time has come, in one transaction with their tasks. */
export async function endDueSnoozes(
  db: Db,
  world: World,
  environment: Environment,
  tasks: readonly Task[],
): Promise<void> {
  if (tasks.length === 0) return
  await db.transaction(async (tx) => {
    // Before the tasks, as everywhere: a reader who ends a snooze holds the inbox and waits for its task.
    const messageIds = tasks.map((task) => task.id)
    const counted = await changeInboxesOf(tx, world, environment, messageIds)
    const ours = await finishTasks(tx, environment, tasks)
    await endSnoozes(tx, world, environment, { messageIds: [...ours], counted })
  })
}

/** How many returned. One that is no longer snoozed is left alone, so a task that runs twice does no harm. */
export async function endSnoozes(
  tx: Tx,
  world: World,
  environment: Environment,
  { messageIds, counted }: { messageIds: readonly string[]; counted: CountedInboxes },
): Promise<number> {
  if (messageIds.length === 0) return 0
  const now = world.now()
  const jobIds = await unsnoozeMessages(tx, environment, messageIds, { now, counted })
  const details = [detail(now, 'unsnoozed')]
  await appendDetails(
    tx,
    environment,
    jobIds.map((jobId) => ({ jobId, details })),
  )
  return jobIds.length
}
