// Runs a privacy erase, a page at a time, until it is done or has to wait.
import type { Environment } from '../../domain/environment.ts'
import type { ErasureState } from '../../domain/people/erasure.ts'
import { erasePage } from '../../record/erase/erase-page.ts'
import type { Task } from '../../store/jobs/tasks.ts'
import { leaveTask } from '../../store/jobs/tasks.ts'
import type { PagedParts } from './paged-parts.ts'

/** It makes way for the others after this many pages: about a second's work. */
const pagesPerTurn = 10

export async function runErasure(parts: PagedParts, environment: Environment, task: Task): Promise<void> {
  const { db, world, queue } = parts
  let state: ErasureState | undefined = task.state as unknown as ErasureState
  for (let page = 0; state !== undefined && page < pagesPerTurn; page += 1) {
    if (parts.isStopping() || !parts.isAlive()) break
    state = await erasePage(db, world, environment, queue, { task, state })
  }
  if (state !== undefined) await leaveTask(db, environment, task, queue.clock)
}
