// Runs tasks: expands events to their recipients and cancels them, ends snoozes, asks for receipts, passes replies on, sends
// webhooks.
import { isInfrastructureError } from '../../db/failure.ts'
import type { Environment } from '../../domain/environment.ts'
import { grouped } from '../../domain/grouped.ts'
import { activeStepFrom } from '../../domain/workflows/workflow.ts'
import { afterFault } from '../../queue/fault-policy.ts'
import { releaseLeases } from '../../queue/leases.ts'
import { isPoisonous, soloDeathsMax } from '../../queue/suspicion.ts'
import type { Handling } from '../../queue/worker.ts'
import type { CancelState } from '../../record/cancel/cancel-page.ts'
import { cancelNextPage } from '../../record/cancel/cancel-page.ts'
import { endDueSnoozes } from '../../record/end-snooze.ts'
import type { ExpandedWorkflow, ExpansionState } from '../../record/expand-page.ts'
import { expandPage, expansionStart } from '../../record/expand-page.ts'
import type { Task } from '../../store/jobs/tasks.ts'
import { buryTask, clearTask, postponeFaultyTask, taskQueue } from '../../store/jobs/tasks.ts'
import type { Environments } from '../cache/environments.ts'
import type { Versions } from '../cache/versions.ts'
import type { Writing } from '../writing.ts'
import type { PagedParts } from './in-pages.ts'
import { inPages } from './in-pages.ts'
import { runErasure } from './run-erasures.ts'
import { becomeDeliveries } from './run-news.ts'
import { lookAtLateReceipts, pollReceipts } from './run-receipts.ts'
import { runRedrive, runRetraction } from './run-redrives.ts'
import type { ReplyTaskParts } from './run-replies.ts'
import { handReplyOn } from './run-replies.ts'
import type { SendingParts } from './run-webhooks.ts'
import { sendWebhooks } from './run-webhooks.ts'

export interface TaskParts extends PagedParts, ReplyTaskParts, SendingParts {
  readonly environments: Environments
}

type ExpansionParts = PagedParts & Pick<TaskParts, 'versions'>

/** Each keeps a connection of the pool busy. */
const worksAtOnce = 3
/** These wait for a service outside, which may take its time: no other task waits for them. */
const outward: ReadonlySet<Task['kind']> = new Set(['poll', 'reply'])
const callsAtOnce = 8
/** A third of a lease: a call that starts later, and takes its 20 s, might outlive it. */
const callBeginsWithinMs = 20_000

type Work = () => Promise<void>

export async function runTasks(parts: TaskParts, tasks: readonly Task[], handling: Handling<Task>): Promise<void> {
  const { world } = parts
  const environments = await environmentsOf(parts.environments, tasks)
  if (environments === undefined) return handling.again(tasks)
  const works: Work[] = []
  const calls: Work[] = []
  const startedMs = world.now().getTime()
  const isTooLate = (): boolean => parts.isStopping() || world.now().getTime() - startedMs > callBeginsWithinMs
  for (const [environmentId, group] of grouped(tasks, (task) => task.environmentId)) {
    const environment = environments.get(environmentId)
    if (environment === undefined) {
      group.forEach(handling.done)
      continue
    }
    const guard = { writing: parts, environment, handling }
    const snoozes = group.filter((task) => task.kind === 'unsnooze' && !isPoisonous(task))
    const news = group.filter((task) => task.kind === 'news' && !isPoisonous(task))
    if (snoozes.length > 0) works.push(() => allAtOnce(guard, snoozes, (all) => endSnoozes(guard, all)))
    if (news.length > 0) works.push(() => allAtOnce(guard, news, (all) => becomeDeliveries(parts, environment, all)))
    for (const task of group.filter((one) => !snoozes.includes(one) && !news.includes(one))) {
      const work = (): Promise<void> => runners[task.kind](parts, environment, task)
      const call = (): Promise<void> => guarded(guard, task, () => callOutside(guard, task, { work, isTooLate }))
      // A slow endpoint holds none of the slots that the others share.
      if (task.kind === 'webhook') void call()
      else if (outward.has(task.kind)) calls.push(call)
      else works.push(() => guarded(guard, task, work))
    }
  }
  void inParallel(calls, callsAtOnce)
  await inParallel(works, worksAtOnce)
}

/** Undefined if the database does not respond. */
async function environmentsOf(environments: Environments, tasks: readonly Task[]) {
  try {
    return await environments.of([...new Set(tasks.map((task) => task.environmentId))])
  } catch (error) {
    if (isInfrastructureError(error)) return undefined
    throw error
  }
}

interface Guard {
  readonly writing: Writing
  readonly environment: Environment
  readonly handling: Handling<Task>
}

/** One that comes too late goes back; a possibly poisonous one is cleared first, as the wait is not its own. */
async function callOutside(
  { writing: { db, queue }, environment }: Guard,
  task: Task,
  { work, isTooLate }: { work: Work; isTooLate(): boolean },
): Promise<void> {
  if (isTooLate()) return void (await releaseLeases(db, taskQueue, queue.clock, [task]))
  if (task.interruptions > 0) await clearTask(db, environment, task)
  await work()
}

type Run = (parts: TaskParts, environment: Environment, task: Task) => Promise<void>

/** Snoozes end together, and so do events become deliveries; each of the others is run by itself. */
const runners: Readonly<Record<Task['kind'], Run>> = {
  expand,
  cancel: cancelPages,
  unsnooze: ({ db, world }, environment, task) => endDueSnoozes(db, world, environment, [task]),
  receipt: lookAtLateReceipts,
  poll: pollReceipts,
  reply: handReplyOn,
  erase: runErasure,
  redrive: runRedrive,
  retract: runRetraction,
  news: (parts, environment, task) => becomeDeliveries(parts, environment, [task]),
  webhook: sendWebhooks,
}

/** Together; if that fails, each separately, so that only the failing one is postponed. */
async function allAtOnce(
  guard: Guard,
  tasks: readonly Task[],
  work: (tasks: readonly Task[]) => Promise<void>,
): Promise<void> {
  try {
    await work(tasks)
    tasks.forEach(guard.handling.done)
  } catch {
    for (const task of tasks) await guarded(guard, task, () => work([task]))
  }
}

const endSnoozes = ({ writing: { db, world }, environment }: Guard, tasks: readonly Task[]): Promise<void> =>
  endDueSnoozes(db, world, environment, tasks)

/** A large audience must not keep a small one waiting, whichever environment they belong to. */
async function inParallel(works: Work[], atOnce: number): Promise<void> {
  const one = async (): Promise<void> => {
    for (let work = works.shift(); work !== undefined; work = works.shift()) await work()
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}

async function expand(parts: ExpansionParts, environment: Environment, task: Task): Promise<void> {
  const { db, world, queue, versions } = parts
  const workflowOf = async (versionId: string): Promise<ExpandedWorkflow | undefined> => {
    const version = (await versions.of(db, environment, [versionId])).get(versionId)
    const firstStep = version && activeStepFrom(version.definition.steps, 0)
    if (version === undefined || firstStep === undefined) return undefined
    return { id: version.workflowId, isCritical: version.definition.critical, firstStep }
  }
  const start: ExpansionState = { ...expansionStart, ...(task.state as Partial<ExpansionState>) }
  await inPages(parts, environment, task, start, (state) =>
    expandPage(db, world, environment, queue, { task, state, workflowOf }),
  )
}

async function cancelPages(
  parts: PagedParts & { readonly versions: Versions },
  environment: Environment,
  task: Task,
): Promise<void> {
  const { db, world, queue, versions } = parts
  const { eventId, versionId, ...rest } = task.state as unknown as CancelState & { eventId: string; versionId: string }
  const version = (await versions.of(db, environment, [versionId])).get(versionId)
  const steps = version?.definition.steps ?? []
  const start: CancelState = rest
  await inPages(parts, environment, task, start, (state) =>
    cancelNextPage(db, world, environment, queue, { task, eventId, versionId, steps, state }),
  )
}

/** Never throws: the task is done, runs again, waits, or is buried. */
async function guarded({ writing, environment, handling }: Guard, task: Task, work: Work): Promise<void> {
  const { db, world } = writing
  try {
    if (isPoisonous(task)) {
      const error = `The process crashed ${soloDeathsMax} times while it ran only this task`
      if ((await buryTask(db, environment, task, { error, now: world.now() })) > 0) world.meter.countBuried(1)
      world.log.error({ taskId: task.id, kind: task.kind }, 'A task was buried: it repeatedly crashed its process')
    } else await work()
    handling.done(task)
  } catch (error) {
    if (isInfrastructureError(error)) handling.again([task])
    else await putAside({ writing, environment, handling }, task, error)
  }
}

async function putAside({ writing, environment, handling }: Guard, task: Task, error: unknown): Promise<void> {
  const { db, world, queue } = writing
  const now = world.now()
  const fate = afterFault(task, now)
  const words = error instanceof Error ? error.message : String(error)
  world.log.error({ err: error, taskId: task.id, kind: task.kind, fate }, 'A task failed because of an internal error')
  try {
    if (fate.kind === 'retry') {
      await postponeFaultyTask(db, environment, task, { waitMs: fate.waitMs, error: words, clock: queue.clock })
    } else if ((await buryTask(db, environment, task, { error: words, now })) > 0) world.meter.countBuried(1)
    handling.done(task)
  } catch {
    handling.again([task])
  }
}
