// The worker of a node: jobs and tasks under one clock, poked in process, by other nodes, and by a poll.
import type { Clock } from '../db/clock.ts'
import { databaseClock } from '../db/clock.ts'
import type { Session } from '../db/session.ts'
import type { Db } from '../db/sql.ts'
import type { Credentials } from '../domain/integration.ts'
import type { Job } from '../domain/job.ts'
import type { Renderer } from '../domain/rendering.ts'
import { createClaims } from '../queue/claims.ts'
import { createHint } from '../queue/hint.ts'
import { releaseLeases } from '../queue/leases.ts'
import type { Queue } from '../queue/queue.ts'
import { leaseMs, queueOf } from '../queue/queue.ts'
import type { Worker } from '../queue/worker.ts'
import { createWorker } from '../queue/worker.ts'
import type { ResolveChannels } from '../record/resolve-recipients.ts'
import { jobQueue } from '../store/jobs/queue-table.ts'
import type { Task } from '../store/tasks.ts'
import { taskQueue } from '../store/tasks.ts'
import type { World } from '../world/world.ts'
import { createEnvironments } from './cache/environments.ts'
import { createDeciding } from './deciding.ts'
import { startNode } from './node/start-node.ts'
import type { Pipeline } from './pipeline.ts'
import { runJobs } from './run-jobs.ts'
import { fileBytesAtOnceMax, fileWaitMs } from './send/attachments.ts'
import { createByteBudget } from './send/byte-budget.ts'
import { createCaller } from './send/caller.ts'
import { createSender } from './send/sender.ts'
import { runTasks } from './tasks/run-tasks.ts'

export interface Workers {
  readonly queue: Queue
  readonly jobs: Worker
  readonly tasks: Worker
  /** `false` while this node cannot show the others that it lives: it begins nothing. */
  setAlive(alive: boolean): void
  /** Gives back what was not begun, and waits for the rest. */
  stop(): Promise<void>
}

export interface WorkerParts {
  readonly db: Db
  /** Connections of their own for what providers answered and for the marks of calls. */
  readonly outcomesDb: Db
  readonly world: World
  readonly clock: Clock
  readonly renderer: Renderer
  readonly resolveChannels: ResolveChannels
  readonly operatorMail: Credentials | undefined
  /** As in the pipeline. */
  readonly linkBase?: string | undefined
  newLease(): string
  isAlive(): boolean
  isStopping(): boolean
  /** Tells other nodes that something is due. */
  hint(): void
}

/**
 * Enough to keep a few batches going and their calls under way; what a node holds is lost for a while if it dies. More of
 * those born here: written free and claimed a moment later, each would cost another version of its row.
 */
const jobsClaimedMax = 2_000
const jobsBornMax = 3_000
const jobsPerBatchMax = 300
/** Two cores: one batch in the database while another is being rendered, and one to spare. */
const jobRunnersMax = 3
const tasksPerBatchMax = 48
const taskRunnersMax = 1
/** Two batches: while one waits for calls outside, another is claimed. */
const tasksClaimedMax = 96

/** What runs jobs and tasks, not yet started. */
export function createWorkers(parts: WorkerParts): Workers {
  const { db, world, clock } = parts
  const jobs: Worker = createWorker({
    log: world.log,
    name: 'jobs',
    claimedMax: jobsClaimedMax,
    bornMax: jobsBornMax,
    batchMax: jobsPerBatchMax,
    runnersMax: jobRunnersMax,
    newLease: parts.newLease,
    claim: createClaims<Job>(db, jobQueue, clock, (count) => world.meter.countLeaseExpiries('jobs', count)),
    run: (batch) => runJobs(pipeline, sender, batch),
    release: (rows) => releaseLeases(db, jobQueue, clock, rows).then(() => {}),
  })
  const tasks: Worker = createWorker({
    log: world.log,
    name: 'tasks',
    claimedMax: tasksClaimedMax,
    // None is.
    bornMax: 0,
    batchMax: tasksPerBatchMax,
    runnersMax: taskRunnersMax,
    newLease: parts.newLease,
    claim: createClaims<Task>(db, taskQueue, clock, (count) => world.meter.countLeaseExpiries('tasks', count)),
    run: (batch) => runTasks(pipeline, parts, batch),
    release: (rows) => releaseLeases(db, taskQueue, clock, rows).then(() => {}),
  })
  const queue: Queue = {
    clock,
    leaseMs,
    reserve: (count) => jobs.reserve(count),
    poke: () => {
      jobs.poke()
      tasks.poke()
      parts.hint()
    },
  }
  const pipeline: Pipeline = {
    ...createDeciding(parts),
    queue,
    environments: createEnvironments(db),
    fileBudget: createByteBudget(world, { bytesMax: fileBytesAtOnceMax, waitMs: fileWaitMs }),
    caller: createCaller(() => pipeline),
    isAlive: parts.isAlive,
  }
  const sender = createSender(pipeline, jobsClaimedMax + jobsBornMax)
  const stop = async (): Promise<void> => {
    const stopping = [jobs.stop(), tasks.stop()]
    await releaseLeases(db, jobQueue, clock, [...sender.stop(), ...pipeline.caller.stop()]).catch((error: Error) => {
      world.log.warn({ error: error.message }, 'Leases could not be given back; they will end')
    })
    await Promise.all(stopping)
  }
  const setAlive = (alive: boolean): void => {
    jobs.setAlive(alive)
    tasks.setAlive(alive)
    if (!alive) return
    sender.wake()
    pipeline.caller.wake()
  }
  return { queue, jobs, tasks, setAlive, stop }
}

export interface StartedWorker {
  readonly queue: Queue
  /** Whether it works: it lives, and has looked for work of late. */
  isReady(): boolean
  stop(): Promise<void>
}

/** How long something due waits at the most when every hint was lost. */
const pollMs = 500

export function startWorker(
  parts: Pick<
    WorkerParts,
    'db' | 'outcomesDb' | 'world' | 'renderer' | 'resolveChannels' | 'operatorMail' | 'linkBase'
  > & {
    readonly heartbeatDb: Db
    /** As in NodeOptions, and so are the next two. */
    openSession?: ((onNotification: () => void) => Promise<Session>) | undefined
    readonly soleHolder?: boolean | undefined
    readonly pooled?: boolean | undefined
  },
): StartedWorker {
  const { db, heartbeatDb, world, openSession, soleHolder, pooled } = parts
  const clock = databaseClock
  const stopping = new AbortController()
  const poke = (): void => {
    workers.jobs.poke()
    workers.tasks.poke()
  }
  const node = startNode({
    db,
    heartbeatDb,
    world,
    clock,
    soleHolder,
    pooled,
    queues: [jobQueue, taskQueue].map((queue) => ({
      ...queue,
      onFreed: (count: number) => world.meter.countLeaseExpiries(queue.name, count),
    })),
    openSession: openSession === undefined ? undefined : () => openSession(poke),
    onDue: poke,
    onAlive: (alive) => workers.setAlive(alive),
  })
  const workers = createWorkers({
    ...parts,
    clock,
    newLease: () => node.newLease(),
    isAlive: () => node.isAlive(),
    isStopping: () => stopping.signal.aborted,
    hint: node.hint,
  })
  workers.setAlive(node.isAlive())
  workers.jobs.start()
  workers.tasks.start()
  const polling = (async () => {
    while (!stopping.signal.aborted) {
      await world.sleep(pollMs, stopping.signal)
      poke()
    }
  })()
  return {
    queue: workers.queue,
    isReady: () => node.isAlive(),
    stop: async () => {
      stopping.abort()
      await polling
      await workers.stop()
      await node.stop()
    },
  }
}

/** For a node that only accepts: those who work find what it made by their polls, sooner by its hints. */
export function acceptingQueue(db: Db): Queue {
  return queueOf(
    databaseClock,
    createHint(db, () => true),
  )
}
