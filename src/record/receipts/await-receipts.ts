// Messages whose provider must be asked for the result: when, and the task that asks.
import type { Sql } from '../../db/sql.ts'
import { fanOutLane } from '../../domain/delivery/event.ts'
import { notificationIdOf } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import type { NewTask } from '../../store/jobs/tasks.ts'
import { ensureTasks } from '../../store/jobs/tasks.ts'
import { pollFrom } from '../../store/messages/receipts.ts'

export interface AwaitedReceipt {
  readonly messageId: string
  readonly integrationId: string
  /** The first question. */
  readonly at: Date
}

/** Messages of so long a time are asked about together. */
const togetherMs = 300_000
/**
 * When their time is over, the outcome of the last may still be on its way into the database; their task comes after
 * it, because a finished task asks for no one. Twice as long as recording an outcome is retried.
 */
const graceMs = 60_000

export async function awaitReceipts(
  db: Sql,
  environment: Environment,
  polls: readonly AwaitedReceipt[],
  now: Date,
): Promise<void> {
  if (polls.length === 0) return
  await pollFrom(db, environment, polls)
  await ensurePolls(db, environment, polls, now)
}

/** One task for each interval in which a message has to be asked about. */
export async function ensurePolls(
  db: Sql,
  environment: Environment,
  polls: readonly Pick<AwaitedReceipt, 'integrationId' | 'at'>[],
  now: Date,
): Promise<void> {
  const tasks = new Map(polls.map(taskOf).map((task) => [task.id, task]))
  await ensureTasks(db, environment, [...tasks.values()], now)
}

function taskOf({ integrationId, at }: Pick<AwaitedReceipt, 'integrationId' | 'at'>): NewTask {
  const place = Math.floor(at.getTime() / togetherMs)
  return {
    id: notificationIdOf(integrationId, `poll ${place}`),
    kind: 'poll',
    lane: fanOutLane,
    dueAt: new Date((place + 1) * togetherMs + graceMs),
    state: { integrationId },
  }
}
