// The end of handing on an answer to an e-mail, or its next try: the task and its job's story in one transaction.
import type { Db } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { StoredDetail } from '../../domain/insight/execution-detail.ts'
import type { Queue } from '../../queue/queue.ts'
import { appendDetails } from '../../store/jobs/append.ts'
import type { Task } from '../../store/jobs/tasks.ts'
import { finishTasks, repeatTask } from '../../store/jobs/tasks.ts'

export interface ReplySettlement {
  readonly task: Task
  readonly jobId: string | undefined
  readonly detail: StoredDetail | undefined
  /** How long until it is tried again, and how often it was. */
  readonly again: { readonly waitMs: number; readonly calls: number } | undefined
}

/** A task that is no longer ours is left to whoever holds it now. */
export async function settleReply(
  db: Db,
  environment: Environment,
  { clock }: Pick<Queue, 'clock'>,
  settlement: ReplySettlement,
): Promise<void> {
  const { task, jobId, detail, again } = settlement
  await db.transaction(async (tx) => {
    if (again !== undefined) {
      await repeatTask(tx, environment, { ...task, waitMs: again.waitMs, state: { calls: again.calls } }, clock)
      return
    }
    const ours = await finishTasks(tx, environment, [task])
    if (!ours.has(task.id) || jobId === undefined || detail === undefined) return
    await appendDetails(tx, environment, [{ jobId, details: [detail] }])
  })
}
