// What runs jobs and tasks on one node, wired and not yet started.
import type { Clock } from '../db/clock.ts'
import type { Db } from '../db/sql.ts'
import { createLimits } from '../deliver/limits.ts'
import type { Credentials } from '../domain/delivery/integration.ts'
import type { Job } from '../domain/delivery/job.ts'
import type { Renderer } from '../domain/workflows/rendering.ts'
import type { ClaimParts } from '../queue/claims.ts'
import { createClaims, createSoloClaims } from '../queue/claims.ts'
import type { QueueTable } from '../queue/leases.ts'
import { forgetLeases, releaseLeases } from '../queue/leases.ts'
import type { Queue } from '../queue/queue.ts'
import { leaseMs } from '../queue/queue.ts'
import { createRightOfWay } from '../queue/right-of-way.ts'
import type { Leased, Worker, WorkerOptions } from '../queue/worker.ts'
import { createWorker } from '../queue/worker.ts'
import type { DecideAtOnce } from '../record/decided-at-once.ts'
import { jobQueue } from '../store/jobs/queue-table.ts'
import type { Task } from '../store/jobs/tasks.ts'
import { taskQueue } from '../store/jobs/tasks.ts'
import type { World } from '../world/world.ts'
import { createBatchWeights } from './batch-weights.ts'
import { createEnvironments } from './cache/environments.ts'
import { createDecideAtOnce } from './decide-at-once.ts'
import type { Deciding } from './deciding.ts'
import { createDeciding } from './deciding.ts'
import { createJobFaults } from './job-faults.ts'
import { runJobs } from './run-jobs.ts'
import { fileBytesAtOnceMax, fileWaitMs } from './send/attachments.ts'
import { createByteBudget } from './send/byte-budget.ts'
import { createCallQueue } from './send/call-queue.ts'
import type { CallShares } from './send/call-shares.ts'
import { closeIdleConnections, createCallShares } from './send/call-shares.ts'
import type { CustomCallQueue } from './send/custom-calls.ts'
import { createCustomCalls } from './send/custom-calls.ts'
import { createFreshness } from './send/freshness.ts'
import type { OutcomeRecorder } from './send/outcome-recorder.ts'
import { createOutcomeRecorder } from './send/outcome-recorder.ts'
import { withOperatorMail } from './send/outgoing.ts'
import type { PlaceParts, SendQueue } from './send/place-sends.ts'
import { createProviderCalls } from './send/provider-calls.ts'
import { createRateShares } from './send/rate-shares.ts'
import type { Stages } from './stages.ts'
import type { TaskParts } from './tasks/run-tasks.ts'
import { runTasks } from './tasks/run-tasks.ts'
import { createSlots } from './tasks/slots.ts'
import { createUnconfirmed } from './unconfirmed.ts'

export interface Workers {
  readonly queue: Queue
  readonly jobs: Worker
  readonly tasks: Worker
  /** Jobs and tasks that are suspected of ending their process: each runs alone. */
  readonly possiblyPoisonous: readonly Worker[]
  readonly decideAtOnce: DecideAtOnce
  /** `false` while this node cannot show the others that it is alive: it starts nothing. */
  setAlive(alive: boolean): void
  /** Releases what was not started, and waits for the rest. */
  stop(): Promise<void>
}

export interface WorkerParts {
  readonly db: Db
  /** Separate connections for recording provider responses and for the marks of calls. */
  readonly outcomesDb: Db
  readonly world: World
  readonly clock: Clock
  readonly renderer: Renderer
  readonly operatorMail: Credentials | undefined
  /** The base URL of links in messages; left out if the service has no URL that they could point to. */
  readonly linkBase?: string | undefined
  newLease(): string
  isAlive(): boolean
  /** The environments whose jobs and tasks stay where they are. Omitted: none. */
  heldEnvironments?(): ReadonlySet<string>
  /** How long ago this node last showed the others that it lives. */
  lastBeatAgeMs(): number
  isStopping(): boolean
  /** By which it is measured how long callers wait. Omitted: the process's own. */
  monotonicMs?(): number
  /** Other nodes should look: something is due. */
  hint(): void
  /**
   * This node among others, with which it shares the accounts that allow few concurrent calls. Omitted: it is alone.
   */
  readonly amongOthers?: { readonly nodeId: string; hasOthers(): boolean } | undefined
}

/**
 * Enough to keep a few batches going and their calls in flight; what a node has in flight is interrupted if it dies.
 * More for rows created already leased: written free and claimed soon after, each would cost another version of its
 * row.
 */
const jobsClaimedMax = 2_000
const jobsPreLeasedMax = 3_000
/** What is decided together is in memory together: larger batches save little more, and outlive the young part of the heap. */
const jobsPerBatchMax = 100
/** Two cores: one batch in the database while another is being rendered, and one to spare. */
const jobRunnersMax = 3
const tasksPerBatchMax = 48
const taskRunnersMax = 1
/** Two batches: while one waits for calls outside, another is claimed. */
const tasksClaimedMax = 96
/** Of the tasks in flight, those that send webhooks: the others find two thirds free. */
const webhookEndpointsMax = tasksClaimedMax / 3
/** Suspected rows that may wait for services outside at a time; only one is being decided. */
const possiblyPoisonousInFlightMax = 50
/** Of all that is in flight, what may wait for one integration: the others find three quarters free. */
const waitingPerIntegrationMax = (jobsClaimedMax + jobsPreLeasedMax) / 4
/** Half of what the batches under way can bring: enough for the calls that become free while the next is decided. */
const crowdMin = (jobsPerBatchMax * jobRunnersMax) / 2
/** What a customer's service that responds in half a second serves while a job may wait for it. */
const waitingCustomCallsMax = 500

type Part<Row extends Leased> = Pick<WorkerOptions<Row>, 'run'> & { readonly table: QueueTable }

export function createWorkers(parts: WorkerParts): Workers {
  const { db, world, clock } = parts
  const jobs: Part<Job> = { table: jobQueue, run: (batch, handling) => runJobs(wired.stages, batch, handling) }
  const tasks: Part<Task> = { table: taskQueue, run: (batch, handling) => runTasks(wired.tasks, batch, handling) }
  const rightOfWay = createRightOfWay((ms) => world.sleep(ms))
  const jobWorker = createWorker<Job>({
    ...common(parts, jobs, () => !recorder.isBehind()),
    rest: rightOfWay.rest,
    claim: createClaims<Job>(claimParts(parts, jobQueue)),
    name: 'jobs',
    claimedMax: jobsClaimedMax,
    preLeasedMax: jobsPreLeasedMax,
    batchMax: jobsPerBatchMax,
    shareOf: (job) => wired.stages.weights.shareOf(job),
    mustRun: (job) => wired.stages.unconfirmed.has(job),
    runnersMax: jobRunnersMax,
  })
  const taskWorker = createWorker<Task>({
    ...common(parts, tasks, () => !recorder.isBehind()),
    claim: createClaims<Task>(claimParts(parts, taskQueue)),
    name: 'tasks',
    claimedMax: tasksClaimedMax,
    preLeasedMax: 0,
    batchMax: tasksPerBatchMax,
    runnersMax: taskRunnersMax,
  })
  const possiblyPoisonous = [solo(parts, jobs), solo(parts, tasks)]
  const queue: Queue = {
    clock,
    leaseMs,
    reserve: (count, environmentId) =>
      parts.heldEnvironments?.().has(environmentId) === true ? undefined : jobWorker.reserve(count),
    callerWaits: rightOfWay.enter,
    poke: () => {
      jobWorker.poke()
      taskWorker.poke()
      parts.hint()
    },
  }
  const recorder = createOutcomeRecorder({ db: parts.outcomesDb, world, queue, onCaughtUp: () => queue.poke() })
  const wired = wire(parts, queue, recorder)
  const { stages, sends, customCalls, calls } = wired
  const workers = [jobWorker, taskWorker, ...possiblyPoisonous]
  return {
    queue,
    jobs: jobWorker,
    tasks: taskWorker,
    possiblyPoisonous,
    decideAtOnce: createDecideAtOnce(stages, parts.monotonicMs),
    setAlive: (alive) => {
      for (const worker of workers) worker.setAlive(alive)
      if (!alive) return
      sends.wake()
      customCalls.wake()
    },
    stop: async () => {
      recorder.stop()
      const stopping = workers.map((worker) => worker.stop())
      const waiting = [...sends.stop(), ...customCalls.stop()]
      await releaseLeases(db, jobQueue, clock, waiting).catch((error: Error) => {
        world.log.warn({ error: error.message }, 'Could not release leases; they will expire')
      })
      await Promise.all(stopping)
      await calls.stop()
    },
  }
}

/** Rows that run one at a time, so that a death is the row's own. */
function solo<Row extends Leased>(parts: WorkerParts, { table, run }: Part<Row>): Worker {
  return createWorker<Row>({
    ...common(parts, { table, run }, () => true),
    claim: createSoloClaims<Row>(claimParts(parts, table)),
    name: `suspected ${table.name}`,
    claimedMax: possiblyPoisonousInFlightMax,
    preLeasedMax: 0,
    batchMax: 1,
    runnersMax: 1,
    claimsToRun: true,
  })
}

function common<Row extends Leased>(
  { db, world, clock, newLease }: WorkerParts,
  { table, run }: Part<Row>,
  mayClaim: () => boolean,
) {
  return {
    log: world.log,
    newLease,
    mayClaim,
    run,
    forget: (leases: readonly string[]) => forgetLeases(db, table, clock, leases),
    release: async (rows: readonly Row[]): Promise<void> => void (await releaseLeases(db, table, clock, rows)),
    sleep: (ms: number, signal?: AbortSignal) => world.sleep(ms, signal),
  }
}

function claimParts({ db, world, clock, heldEnvironments }: WorkerParts, queue: QueueTable): ClaimParts {
  const onExpired = (count: number): void => world.meter.countLeaseExpiries(queue.name, count)
  return { db, queue, clock, onExpired, ...(heldEnvironments === undefined ? {} : { heldEnvironments }) }
}

/** The stages, the tasks, and what has to be woken and stopped. */
interface Wired {
  readonly stages: Stages
  readonly tasks: TaskParts
  readonly sends: SendQueue
  readonly customCalls: CustomCallQueue
  readonly calls: CallShares
}

function wire(parts: WorkerParts, queue: Queue, recorder: OutcomeRecorder): Wired {
  const { db, outcomesDb, world, isAlive } = parts
  const deciding = createDeciding(parts)
  const { versions, limits, signingSecrets, operatorMail } = deciding
  const environments = createEnvironments(db)
  const fileBudget = createByteBudget(world, { bytesMax: fileBytesAtOnceMax, waitMs: fileWaitMs })
  const faults = createJobFaults({ db, world, queue, versions })
  const calls: CallShares = createCallShares({
    db: outcomesDb,
    nodeId: parts.amongOthers?.nodeId ?? '',
    hasOthers: () => parts.amongOthers?.hasOthers() === true,
    underWay: (integrationId) => limits.underWay(integrationId),
    onMore: (integrationId) => sends.wake(integrationId),
    keepConnections: (integration, max) => closeIdleConnections(withOperatorMail(parts, integration), max),
    monotonicMs: () => performance.now(),
    sleep: (ms, signal) => world.sleep(ms, signal),
  })
  const rates = createRateShares({
    db: outcomesDb,
    calls,
    onMore: (integrationId) => sends.wake(integrationId),
    sleep: (ms) => world.sleep(ms),
  })
  const asking = { db, world, fileBudget, signingSecrets, operatorMail }
  const freshness = createFreshness({ db: outcomesDb, queue, lastBeatAgeMs: parts.lastBeatAgeMs })
  const common = { outcomesDb, world, queue, faults }
  const onFree = (integrationId: string): void => sends.wake(integrationId)
  const queueParts = { world, recorder, crowdMin, isAlive, poke: () => queue.poke() }
  const sends: SendQueue = createCallQueue(
    createProviderCalls({ ...common, asking, limits, operatorMail, rates, freshness, onFree }),
    { ...queueParts, waitingMax: waitingPerIntegrationMax },
  )
  const onFreeService = (key: string): void => customCalls.wake(key)
  const customCalls: CustomCallQueue = createCallQueue(
    createCustomCalls({ ...common, db, signingSecrets, limits: createLimits(), onFree: onFreeService }),
    { ...queueParts, waitingMax: waitingCustomCallsMax },
  )
  const stages = stagesOf(deciding, { queue, environments, faults, sends, customCalls, rates, isAlive })
  const writing = { db, world, queue }
  const isStopping = (): boolean => parts.isStopping()
  const webhookSlots = createSlots(webhookEndpointsMax)
  const kept = { environments, versions, signingSecrets, fileBudget, webhookSlots }
  const tasks = { ...writing, ...kept, isAlive, isStopping }
  return { stages, tasks, sends, customCalls, calls }
}

type StageParts = Pick<Stages, 'environments' | 'faults'> &
  Pick<PlaceParts, 'rates' | 'isAlive'> & {
    readonly queue: Queue
    readonly sends: SendQueue
    readonly customCalls: CustomCallQueue
  }

/** One object for each stage, made once: a batch passes through them as they are. */
function stagesOf(
  { db, world, renderer, versions, integrations, wordings, limits, signingSecrets, linkBase, operatorMail }: Deciding,
  { queue, environments, faults, sends, customCalls, rates, isAlive }: StageParts,
): Stages {
  const unconfirmed = createUnconfirmed()
  return {
    environments,
    load: { db, world, versions, integrations, wordings },
    decide: { db, world, renderer, limits, sends, signingSecrets, linkBase, operatorMail },
    place: { world, renderer, operatorMail, limits, rates, sends, isAlive },
    record: { db, world, queue, sends, unconfirmed },
    dispatch: { sends, customCalls },
    faults,
    unconfirmed,
    weights: createBatchWeights(),
  }
}
