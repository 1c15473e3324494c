// Runs redrives by filter: one page per transaction, until it is done, stopped, or others should have their turn.
import type { Environment } from '../../domain/environment.ts'
import { redriveNextPage } from '../../record/recovery/redrive-page.ts'
import type { RetractState } from '../../record/recovery/retract.ts'
import { retractNextPage } from '../../record/recovery/retract.ts'
import type { Task } from '../../store/jobs/tasks.ts'
import type { Versions } from '../cache/versions.ts'
import type { PagedParts } from './in-pages.ts'
import { inPages } from './in-pages.ts'

export async function runRedrive(parts: PagedParts, environment: Environment, task: Task): Promise<void> {
  const { db, world, queue } = parts
  // Where it goes on is in the row of the redrive.
  await inPages(parts, environment, task, 'more', async () =>
    (await redriveNextPage(db, world, environment, queue, task)) ? 'more' : undefined,
  )
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
  const start: RetractState = { cancel, after }
  await inPages(parts, environment, task, start, (state) =>
    retractNextPage(db, world, environment, queue, { task, steps, state }),
  )
}
