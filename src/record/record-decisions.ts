// One transaction for what a batch of jobs decided: statuses, messages, next steps, digests.
import type { Db } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type { Queue } from '../queue/queue.ts'
import { insertReserved } from '../queue/reserved.ts'
import type { Reservation } from '../queue/worker.ts'
import { holdJobs } from '../store/jobs/settle.ts'
import type { World } from '../world/world.ts'
import { countWritten } from './counts/count-messages.ts'
import { joinDigests } from './join-digests.ts'
import type { DeferredDecision, MadeAfter, Settlement } from './settlement.ts'
import { takeThrottles } from './take-throttles.ts'
import type { Written } from './write-settlements.ts'
import { writeClosing, writeSettlements } from './write-settlements.ts'

export interface Decided {
  readonly settlements: readonly Settlement[]
  readonly madeAfter?: MadeAfter
  readonly deferred: readonly DeferredDecision[]
}

/** Returns the ids of the jobs that were still ours. Next steps are handed to this node's worker if it has capacity. */
export async function recordDecisions(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  decided: Decided,
): Promise<ReadonlySet<string>> {
  const { settlements, deferred, madeAfter } = decided
  const nextCount = settlements.filter(({ next }) => next !== null).length - (madeAfter?.size ?? 0) + deferred.length
  const reservation = nextCount === 0 ? undefined : queue.reserve(nextCount, environment.id)
  const written = await insertReserved(reservation, () =>
    write(db, world, environment, queue, { ...decided, reservation }),
  )
  countWritten(world.meter, settlements, written.stillLeased, world.now())
  const isAgain = settlements.some(({ status, due }) => status === 'queued' && due.kind !== 'leased')
  if ((nextCount > 0 && reservation === undefined) || isAgain) queue.poke()
  return written.stillLeased
}

/** One statement; where digests are joined or closed, more than one, in one transaction. */
async function write(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  { settlements, deferred, ...parts }: Decided & { reservation: Reservation | undefined },
): Promise<Written> {
  if (deferred.length === 0 && settlements.every((settlement) => settlement.closes === null)) {
    return writeSettlements(db, world, environment, queue, { settlements, ...parts })
  }
  return db.transaction(async (tx) => {
    // Locked before anything is decided here: a window must not count an event that another node has counted. Those
    // that close a window too: a cancellation locks an event's jobs first and its windows then.
    const closing = settlements.filter((settlement) => settlement.closes !== null)
    const held = await holdJobs(
      tx,
      environment,
      [...deferred, ...closing].map(({ job }) => job),
    )
    const ours = deferred.filter((decision) => held.has(decision.job.id))
    const joined = await joinDigests(
      tx,
      world,
      environment,
      queue,
      ours.filter((decision) => 'join' in decision),
    )
    const throttled = await takeThrottles(
      tx,
      environment,
      queue,
      ours.filter((decision) => 'take' in decision),
    )
    const all = [...settlements, ...joined, ...throttled]
    return writeClosing(tx, world, environment, queue, { settlements: all, ...parts })
  })
}
