// Runs tasks: expands events to their recipients and calls them off, ends snoozes, asks for receipts, hands answers on.
import type { Environment } from '../../domain/environment.ts'
import { grouped } from '../../domain/grouped.ts'
import { claimsMax } from '../../domain/job.ts'
import { activeStepFrom } from '../../domain/workflow.ts'
import { releaseLeases } from '../../queue/leases.ts'
import type { Ending } from '../../queue/worker.ts'
import type { CancelState } from '../../record/cancel-page.ts'
import { cancelNextPage } from '../../record/cancel-page.ts'
import { endDueSnoozes } from '../../record/end-snooze.ts'
import type { ExpansionState } from '../../record/expand-page.ts'
import { expandPage, expansionStart } from '../../record/expand-page.ts'
import { putOffTasks } from '../../record/postpone-tasks.ts'
import type { ResolveChannels } from '../../record/resolve-recipients.ts'
import type { Task } from '../../store/tasks.ts'
import { taskQueue } from '../../store/tasks.ts'
import type { Pipeline } from '../pipeline.ts'
import { runErasure } from './run-erasures.ts'
import { lookAtLateReceipts, pollReceipts } from './run-receipts.ts'
import { runRedrive, runRetraction } from './run-redrives.ts'
import { handReplyOn } from './run-replies.ts'

export interface TaskParts {
  readonly resolveChannels: ResolveChannels
  /** True when the service is stopping: what is begun goes on elsewhere. */
  isStopping(): boolean
}

/** Each keeps a connection of the pool busy. */
const worksAtOnce = 3
/** These wait for somebody outside, who may take his time: nobody else waits for them. */
const outward: ReadonlySet<Task['kind']> = new Set(['poll', 'reply'])
const callsAtOnce = 8
/** A third of a lease: a call that begins later, and takes its 20 s, might outlive it. */
const callBeginsWithinMs = 20_000
/** An expansion makes way for the others after so many pages: a second's work or so. */
const pagesPerTurn = 10
/** A task that failed by a fault of ours is tried again after this, times its claims. */
const postponedMs = 5_000

export async function runTasks(pipeline: Pipeline, parts: TaskParts, tasks: readonly Task[]): Promise<Ending> {
  const { db, world } = pipeline
  const environments = await pipeline.environments.of([...new Set(tasks.map((task) => task.environmentId))])
  const works: (() => Promise<void>)[] = []
  const calls: (() => Promise<void>)[] = []
  const startedMs = world.now().getTime()
  for (const [environmentId, all] of grouped(tasks, (task) => task.environmentId)) {
    const environment = environments.get(environmentId)
    if (environment === undefined) continue
    // Claimed again and again without an end: whoever runs it dies of it.
    const error = `The task was begun ${claimsMax} times and never came to an end`
    const deadly = all.filter((task) => task.claims > claimsMax)
    await putOffTasks(
      db,
      environment,
      deadly.map(({ id, lease }) => ({ id, lease, dueAt: null, error, buriedAt: world.now() })),
    )
    const group = all.filter((task) => task.claims <= claimsMax)
    const snoozes = group.filter((task) => task.kind === 'unsnooze')
    await guarded(pipeline, environment, snoozes, () => endDueSnoozes(db, world, environment, snoozes))
    for (const task of group.filter((one) => one.kind !== 'unsnooze')) {
      const work = (): Promise<void> => runners[task.kind](pipeline, parts, environment, task)
      const isTooLate = (): boolean => parts.isStopping() || world.now().getTime() - startedMs > callBeginsWithinMs
      if (!outward.has(task.kind)) works.push(() => guarded(pipeline, environment, [task], work))
      else calls.push(() => guarded(pipeline, environment, [task], () => (isTooLate() ? back(pipeline, task) : work())))
    }
  }
  const called = sideBySide(calls, callsAtOnce).catch((error: Error) => {
    world.log.error({ err: error }, 'Tasks could not be put off; their leases will end')
  })
  await sideBySide(works, worksAtOnce)
  return { settled: called }
}

/** Uncounted: it was not begun. */
async function back({ db, queue }: Pipeline, task: Task): Promise<void> {
  await releaseLeases(db, taskQueue, queue.clock, [task])
}

type Run = (pipeline: Pipeline, parts: TaskParts, environment: Environment, task: Task) => Promise<void>

/** Snoozes end together; each of the others is run for itself. */
const runners: Readonly<Record<Task['kind'], Run>> = {
  expand,
  cancel: callOff,
  unsnooze: ({ db, world }, _parts, environment, task) => endDueSnoozes(db, world, environment, [task]),
  receipt: (pipeline, _parts, environment, task) => lookAtLateReceipts(pipeline, environment, task),
  poll: (pipeline, _parts, environment, task) => pollReceipts(pipeline, environment, task),
  reply: (pipeline, _parts, environment, task) => handReplyOn(pipeline, environment, task),
  erase: runErasure,
  redrive: runRedrive,
  retract: runRetraction,
}

/** A large audience must not keep a small one waiting, whosever they are. */
async function sideBySide(works: (() => Promise<void>)[], atOnce: number): Promise<void> {
  const one = async (): Promise<void> => {
    for (let work = works.shift(); work !== undefined; work = works.shift()) await work()
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}

async function expand(pipeline: Pipeline, parts: TaskParts, environment: Environment, task: Task): Promise<void> {
  const { db, world, queue, versions } = pipeline
  const firstStepOf = async (versionId: string): Promise<number | undefined> => {
    const version = (await versions.of(db, environment, [versionId])).get(versionId)
    return version && activeStepFrom(version.definition.steps, 0)
  }
  let state: ExpansionState | undefined = { ...expansionStart, ...(task.state as Partial<ExpansionState>) }
  for (let page = 0; state !== undefined && page < pagesPerTurn; page += 1) {
    if (parts.isStopping() || !pipeline.isAlive()) break
    state = await expandPage(db, world, environment, queue, {
      task,
      state,
      firstStepOf,
      resolveChannels: parts.resolveChannels,
    })
  }
  if (state !== undefined) await leave(pipeline, environment, task)
}

async function callOff(pipeline: Pipeline, parts: TaskParts, environment: Environment, task: Task): Promise<void> {
  const { db, world, queue, versions } = pipeline
  const { eventId, versionId, ...rest } = task.state as unknown as CancelState & { eventId: string; versionId: string }
  const version = (await versions.of(db, environment, [versionId])).get(versionId)
  let state: CancelState | undefined = rest
  for (let page = 0; state !== undefined && page < pagesPerTurn; page += 1) {
    if (parts.isStopping() || !pipeline.isAlive()) break
    const call = { eventId, versionId, steps: version?.definition.steps ?? [], state }
    state = await cancelNextPage(db, world, environment, queue, { task, ...call })
  }
  if (state !== undefined) await leave(pipeline, environment, task)
}

async function guarded(
  { db, world }: Pipeline,
  environment: Environment,
  tasks: readonly Task[],
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    const now = world.now().getTime()
    const postponed = tasks.map((task) => {
      const dueAt = task.claims >= claimsMax ? null : new Date(now + postponedMs * Math.max(1, task.claims))
      world.log.error({ err: error, taskId: task.id, kind: task.kind, dueAt }, 'A task failed by a fault of ours')
      const buried = dueAt === null ? { buriedAt: new Date(now) } : {}
      return { id: task.id, lease: task.lease, dueAt, error: (error as Error).message, ...buried }
    })
    await putOffTasks(db, environment, postponed)
  }
}

/** Left in the middle: whoever waits comes first, and the next node need not wait for the lease to end. */
async function leave({ db, world }: Pipeline, environment: Environment, { id, lease }: Task): Promise<void> {
  await putOffTasks(db, environment, [{ id, lease, dueAt: world.now(), error: '' }])
}
