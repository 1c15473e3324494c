// Messages whose provider must be asked what became of them: when, and the task that asks.
import type { Sql } from '../db/sql.ts'
import { notificationIdOf } from '../domain/derived-id.ts'
import type { Environment } from '../domain/environment.ts'
import { fanOutLane } from '../domain/event.ts'
import { pollFrom } from '../store/messages/receipts.ts'
import type { NewTask } from '../store/tasks.ts'
import { ensureTasks } from '../store/tasks.ts'

export interface AwaitedReceipt {
  readonly messageId: string
  readonly integrationId: string
  /** The first question. */
  readonly at: Date
}

/** Messages of so long a time are asked about together. A task that is over is not needed by any message that came later. */
const togetherMs = 300_000

export async function awaitReceipts(
  db: Sql,
  environment: Environment,
  polls: readonly AwaitedReceipt[],
  now: Date,
): Promise<void> {
  if (polls.length === 0) return
  await pollFrom(db, environment, polls)
  const tasks = new Map(polls.map(taskOf).map((task) => [task.id, task]))
  await ensureTasks(db, environment, [...tasks.values()], now)
}

function taskOf({ integrationId, at }: AwaitedReceipt): NewTask {
  const place = Math.floor(at.getTime() / togetherMs)
  return {
    id: notificationIdOf(integrationId, `poll ${place}`),
    kind: 'poll',
    lane: fanOutLane,
    dueAt: new Date((place + 1) * togetherMs),
    state: { integrationId },
  }
}
