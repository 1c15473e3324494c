// Turns events into deliveries of webhooks, a page at a time, and makes way for others after a few.
import type { Environment } from '../../domain/environment.ts'
import { releaseLeases } from '../../queue/leases.ts'
import { expandNewsPage } from '../../record/webhooks/expand-news.ts'
import type { Task } from '../../store/jobs/tasks.ts'
import { taskQueue } from '../../store/jobs/tasks.ts'
import type { PagedParts } from './in-pages.ts'
import { inPages } from './in-pages.ts'

/** Those of one environment, together. */
export async function becomeDeliveries(
  parts: PagedParts,
  environment: Environment,
  tasks: readonly Task[],
): Promise<void> {
  const { db, world, queue } = parts
  const [first, ...others] = tasks
  if (first === undefined) return
  if (parts.isStopping() || !parts.isAlive()) return void (await releaseLeases(db, taskQueue, queue.clock, tasks))
  await inPages(parts, environment, first, 'more', async () =>
    (await expandNewsPage(db, world, environment, queue, [first, ...others])) ? 'more' : undefined,
  )
  // Endpoints have something to be sent.
  queue.poke()
}
