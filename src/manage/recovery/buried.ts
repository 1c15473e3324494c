// Restarts what was buried: a task where it stopped, a job with everything else that failed in its notification.
import { once } from '../../commit/once.ts'
import type { Db } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { accepted } from '../../domain/answer.ts'
import type { Principal } from '../../domain/environment.ts'
import { notFound } from '../../domain/problem.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { Queue } from '../../queue/queue.ts'
import { findBuriedJob } from '../../store/jobs/buried.ts'
import { redriveTask } from '../../store/jobs/tasks.ts'
import type { World } from '../../world/world.ts'
import { redriveOne } from './redrives.ts'

export interface BuriedRedriven {
  readonly _id: string
  readonly kind: 'job' | 'task'
  readonly notificationId?: string
}

export async function redriveBuried(
  db: Db,
  world: World,
  { environment, keyId }: Principal,
  queue: Queue,
  { id, idempotency }: { id: string; idempotency: Idempotency | undefined },
): Promise<Answer<BuriedRedriven>> {
  const answer = await once<BuriedRedriven>(db, world, environment, idempotency, async (tx) => {
    if (!isUuid(id)) throw unknownBuried(id)
    if (await redriveTask(tx, environment, id, world.now())) return accepted({ _id: id, kind: 'task' })
    const job = await findBuriedJob(tx, environment, id)
    if (job === undefined) throw unknownBuried(id)
    const { notificationId } = await redriveOne(tx, world, environment, { ...job, by: keyId })
    return accepted({ _id: id, kind: 'job', notificationId })
  })
  queue.poke()
  return answer
}

const unknownBuried = (id: string) => notFound(`No buried step or task has the id ${id}`)
