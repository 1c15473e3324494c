// Messages whose provider must be asked for the result: when, and the task that asks.
import type { Clock } from '../../db/clock.ts'
import type { Sql } from '../../db/sql.ts'
import { fanOutLane } from '../../domain/delivery/event.ts'
import { notificationIdOf } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import type { NewTask } from '../../store/jobs/tasks.ts'
import { ensureTasks } from '../../store/jobs/tasks.ts'
import type { Poll } from '../../store/messages/receipts.ts'
import { pollFrom } from '../../store/messages/receipts.ts'

export interface AwaitedReceipt {
  readonly messageId: string
  readonly integrationId: string
  /** The first question, by this node's clock. */
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
  time: { readonly clock: Clock; readonly now: Date },
): Promise<void> {
  if (polls.length === 0) return
  await ensurePolls(db, environment, await pollFrom(db, environment, polls, time))
}

/** One task for each interval in which a message has to be asked about: the same one for all nodes, whatever their clocks. */
export async function ensurePolls(db: Sql, environment: Environment, polls: readonly Poll[]): Promise<void> {
  const [first] = polls
  if (first === undefined) return
  const tasks = new Map(polls.map(taskOf).map((task) => [task.id, task]))
  await ensureTasks(db, environment, [...tasks.values()], first.now)
}

function taskOf({ integrationId, at }: Poll): NewTask {
  const place = Math.floor(at.getTime() / togetherMs)
  return {
    id: notificationIdOf(integrationId, `poll ${place}`),
    kind: 'poll',
    lane: fanOutLane,
    dueAt: new Date((place + 1) * togetherMs + graceMs),
    state: { integrationId },
  }
}
