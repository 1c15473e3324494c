// The worker of a node: jobs and tasks under one clock, poked in process, by other nodes, and by a poll.
import { databaseClock } from '../db/clock.ts'
import type { Session } from '../db/session.ts'
import type { Db } from '../db/sql.ts'
import { createHint } from '../queue/hint.ts'
import type { QueueTable } from '../queue/leases.ts'
import type { Queue } from '../queue/queue.ts'
import { queueOf } from '../queue/queue.ts'
import type { DecideAtOnce } from '../record/decided-at-once.ts'
import { jobQueue } from '../store/jobs/queue-table.ts'
import { taskQueue } from '../store/jobs/tasks.ts'
import type { World } from '../world/world.ts'
import { clearLeftovers } from './node/leftovers.ts'
import { startNode } from './node/start-node.ts'
import type { WorkerParts } from './workers.ts'
import { createWorkers } from './workers.ts'

export interface StartedWorker {
  readonly queue: Queue
  readonly decideAtOnce: DecideAtOnce
  /** Whether it works: it lives, and has looked for work of late. */
  isReady(): boolean
  /** Whether some environment sends nothing after a restore, until it is released. */
  isHeld(): boolean
  /** The process of another node was seen to end. */
  reportDeath(nodeId: string): void
  stop(): Promise<void>
}

/** How long something due waits at the most when every hint was lost. */
const pollMs = 500
/** Possibly poisonous rows are few and not urgent: they are looked for every so many polls. */
const pollsPerPoisonCheck = 4

export function startWorker(
  parts: Pick<WorkerParts, 'db' | 'outcomesDb' | 'world' | 'renderer' | 'operatorMail' | 'linkBase'> & {
    readonly heartbeatDb: Db
    /** As in NodeOptions, and so are the next three. */
    openSession?: ((onNotification: () => void) => Promise<Session>) | undefined
    readonly soleHolder?: boolean | undefined
    readonly pooled?: boolean | undefined
    readonly nodeId?: string | undefined
  },
): StartedWorker {
  const { db, heartbeatDb, world, openSession, soleHolder, pooled, nodeId } = parts
  const clock = databaseClock
  // Their start is known before any of them is seen in the database.
  const isOneOfSeveral = nodeId !== undefined
  const stopping = new AbortController()
  const poke = (): void => {
    workers.jobs.poke()
    workers.tasks.poke()
  }
  const pokePossiblyPoisonous = (): void => {
    for (const worker of workers.possiblyPoisonous) worker.poke()
  }
  const node = startNode({
    db,
    heartbeatDb,
    world,
    clock,
    soleHolder,
    pooled,
    nodeId,
    queues: countedQueues(world),
    openSession: openSession === undefined ? undefined : () => openSession(poke),
    onDue: () => {
      poke()
      pokePossiblyPoisonous()
    },
    onAlive: (alive) => workers.setAlive(alive),
  })
  const workers = createWorkers({
    ...parts,
    clock,
    newLease: () => node.newLease(),
    isAlive: () => node.isAlive(),
    heldEnvironments: () => node.heldEnvironments(),
    lastBeatAgeMs: () => node.lastBeatAgeMs(),
    isStopping: () => stopping.signal.aborted,
    hint: node.hint,
    amongOthers: { nodeId: node.id, hasOthers: () => isOneOfSeveral || node.hasOthers() },
  })
  workers.setAlive(node.isAlive())
  for (const worker of [workers.jobs, workers.tasks, ...workers.possiblyPoisonous]) worker.start()
  const polling = pollUntil(stopping.signal, world, (isPoisonCheck) => {
    poke()
    if (isPoisonCheck) pokePossiblyPoisonous()
  })
  return {
    queue: workers.queue,
    decideAtOnce: workers.decideAtOnce,
    isReady: () => node.isAlive(),
    isHeld: () => node.heldEnvironments().size > 0,
    reportDeath: (dead) => node.reportDeath(dead),
    stop: async () => {
      stopping.abort()
      await polling
      await workers.stop()
      await node.stop()
    },
  }
}

async function pollUntil(
  stopping: AbortSignal,
  world: World,
  look: (atPossiblyPoisonous: boolean) => void,
): Promise<void> {
  for (let polls = 1; !stopping.aborted; polls += 1) {
    await world.sleep(pollMs, stopping)
    look(polls % pollsPerPoisonCheck === 0)
  }
}

const countedQueues = (world: World): readonly QueueTable[] =>
  [jobQueue, taskQueue].map((queue) => ({
    ...queue,
    onFreed: (count: number) => world.meter.countLeaseExpiries(queue.name, count),
  }))

/**
 * For a process that alone holds the database and starts several nodes on it: what an earlier run left leased is due
 * again.
 */
export function freeLeftovers(db: Db, world: World): Promise<void> {
  return clearLeftovers({ db, world, clock: databaseClock, queues: countedQueues(world) })
}

/** For a node that only accepts: workers find what it created by polling, and sooner through its hints. */
export function acceptingQueue(db: Db): Queue {
  return queueOf(
    databaseClock,
    createHint(db, () => true),
  )
}
