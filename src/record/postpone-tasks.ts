// Tasks that are put off: left in the middle, or after a fault of ours; buried with its words in the end.
import type { Db } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type { PostponedTask } from '../store/tasks.ts'
import { postponeTasks } from '../store/tasks.ts'

export async function putOffTasks(db: Db, environment: Environment, tasks: readonly PostponedTask[]): Promise<void> {
  if (tasks.length === 0) return
  await db.transaction((tx) => postponeTasks(tx, environment, tasks))
}
