// Runs redrives by filter: one page per transaction, until it is done, stopped, or others should have their turn.
import type { Environment } from '../../domain/environment.ts'
import { redriveNextPage } from '../../record/recovery/redrive-page.ts'
import type { RetractState } from '../../record/recovery/retract.ts'
import { retractNextPage } from '../../record/recovery/retract.ts'
import type { Task } from '../../store/jobs/tasks.ts'
import { leaveTask } from '../../store/jobs/tasks.ts'
import type { Versions } from '../cache/versions.ts'
import type { PagedParts } from './paged-parts.ts'

/** About a second's work; then it makes way for the others. */
const pagesPerTurn = 10

export async function runRedrive(parts: PagedParts, environment: Environment, task: Task): Promise<void> {
  const { db, world, queue } = parts
  let isMore = true
  for (let page = 0; isMore && page < pagesPerTurn; page += 1) {
    if (parts.isStopping() || !parts.isAlive()) break
    isMore = await redriveNextPage(db, world, environment, queue, task)
  }
  if (isMore) await leaveTask(db, environment, task, queue.clock)
}

export async function runRetraction(
  parts: PagedParts & { readonly versions: Versions },
  environment: Environment,
  task: Task,
): Promise<void> {
  const { db, world, queue, versions } = parts
  const { versionId, cancel, after } = task.state as unknown as RetractState & { versionId: string }
  const version = (await versions.of(db, environment, [versionId])).get(versionId)
  const steps = version?.definition.steps ?? []
  let state: RetractState | undefined = { cancel, after }
  for (let page = 0; state !== undefined && page < pagesPerTurn; page += 1) {
    if (parts.isStopping() || !parts.isAlive()) break
    state = await retractNextPage(db, world, environment, queue, { task, steps, state })
  }
  if (state !== undefined) await leaveTask(db, environment, task, queue.clock)
}
