// A task that is done page by page: it makes way for others after a few, and stops between two pages if the node does.
import type { Environment } from '../../domain/environment.ts'
import type { Task } from '../../store/jobs/tasks.ts'
import { leaveTask } from '../../store/jobs/tasks.ts'
import type { Writing } from '../writing.ts'

export interface PagedParts extends Writing {
  /** False while this node cannot show the others that it is alive. */
  isAlive(): boolean
  /** True when the service is stopping: what was started continues elsewhere. */
  isStopping(): boolean
}

/** About a second's work. */
const pagesPerTurn = 10

/** `next` does a page and returns where the following one begins; undefined when it was the last. */
export async function inPages<State>(
  { db, queue, isAlive, isStopping }: PagedParts,
  environment: Environment,
  task: Task,
  start: State,
  next: (state: State) => Promise<State | undefined>,
): Promise<void> {
  let state: State | undefined = start
  for (let page = 0; state !== undefined && page < pagesPerTurn; page += 1) {
    if (isStopping() || !isAlive()) break
    state = await next(state)
  }
  if (state !== undefined) await leaveTask(db, environment, task, queue.clock)
}
