// The end of handing on an answer to an e-mail, or its next try: the task and its job's story in one transaction.
import type { Db } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type { StoredDetail } from '../domain/execution-detail.ts'
import { appendDetails } from '../store/jobs/append.ts'
import type { Task } from '../store/tasks.ts'
import { finishTasks, repeatTask } from '../store/tasks.ts'

export interface ReplySettlement {
  readonly task: Task
  readonly jobId: string | undefined
  readonly told: StoredDetail | undefined
  /** When it is tried again, with how often it was. */
  readonly again: { readonly at: Date; readonly calls: number } | undefined
}

/** A task that is no longer ours is left to whoever holds it now. */
export async function settleReply(db: Db, environment: Environment, settlement: ReplySettlement): Promise<void> {
  const { task, jobId, told, again } = settlement
  await db.transaction(async (tx) => {
    if (again !== undefined) {
      await repeatTask(tx, environment, { ...task, dueAt: again.at, state: { calls: again.calls } })
      return
    }
    const ours = await finishTasks(tx, environment, [task])
    if (!ours.has(task.id) || jobId === undefined || told === undefined) return
    await appendDetails(tx, environment, [{ jobId, details: [told] }])
  })
}
