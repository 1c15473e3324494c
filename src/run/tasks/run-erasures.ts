// Runs a privacy erase, a page at a time, until it is done or has to wait.
import type { Environment } from '../../domain/environment.ts'
import type { ErasureState } from '../../domain/people/erasure.ts'
import { erasePage } from '../../record/erase/erase-page.ts'
import type { Task } from '../../store/jobs/tasks.ts'
import type { PagedParts } from './in-pages.ts'
import { inPages } from './in-pages.ts'

export async function runErasure(parts: PagedParts, environment: Environment, task: Task): Promise<void> {
  const { db, world, queue } = parts
  await inPages(parts, environment, task, task.state as unknown as ErasureState, (state) =>
    erasePage(db, world, environment, queue, { task, state }),
  )
}
