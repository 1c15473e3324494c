// Cancels the open jobs of an event, one page at a time: waiting ones are canceled, running ones end with their current
// step.
import { oneStatement } from '../../db/one-statement.ts'
import type { Db, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import { over } from '../../domain/delivery/due.ts'
import { jobIdOf } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { grouped } from '../../domain/grouped.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { NotificationStep } from '../../domain/workflows/workflow.ts'
import type { Queue } from '../../queue/queue.ts'
import type { CancelableJob, LockedJobs } from '../../store/jobs/cancel.ts'
import { cancelJobs, findRunning, findStatuses, hasCancelable, lockCancelable } from '../../store/jobs/cancel.ts'
import type { NewJob } from '../../store/jobs/insert.ts'
import { jobInsertions, madeJobs } from '../../store/jobs/insert.ts'
import type { Task } from '../../store/jobs/tasks.ts'
import { advanceTask, finishTasks } from '../../store/jobs/tasks.ts'
import type { UnsentMessage } from '../../store/messages/sending.ts'
import { dropReady, findUnsent } from '../../store/messages/sending.ts'
import { insertCounts } from '../../store/operate/counts.ts'
import type { World } from '../../world/world.ts'
import { countedCanceled } from '../counts/count-canceled.ts'
import { laterSteps } from './leave-closed.ts'
import type { SendState } from './leave-digests.ts'
import { leaveDigests } from './leave-digests.ts'

/**
 * The progress of a cancellation. Jobs created in the meantime may be behind it: it ends with a walk that found
 * nothing.
 */
export interface CancelState {
  readonly after: string | null
  /** What this walk has cancelled so far. */
  readonly found: number
}

export const cancelStart: CancelState = { after: null, found: 0 }

export interface CanceledPage {
  readonly count: number
  /** Where to continue; undefined when nothing of the event is left to run. */
  readonly next: CancelState | undefined
}

/** One transaction's worth of jobs. */
const jobsPerPage = 500

export async function cancelPage(
  tx: Tx,
  world: World,
  environment: Environment,
  queue: Queue,
  call: { eventId: string; steps: readonly NotificationStep[]; state: CancelState },
): Promise<CanceledPage> {
  const { eventId, steps, state } = call
  const found = await lockCancelable(tx, environment, { eventId, after: state.after, limit: jobsPerPage }, queue.clock)
  const details = [detail(world.now(), 'canceled')]
  const { count, isPartial } = await cancelFound(tx, world, environment, queue, { eventId, steps, found, details })
  const total = state.found + count + (isPartial ? 1 : 0)
  if (found.looked === jobsPerPage) return { count, next: { after: found.lastId, found: total } }
  // A walk that waited for a step to end did not see the one that this made.
  const isDone =
    total === 0 &&
    !(await hasCancelable(tx, environment, eventId, queue.clock)) &&
    !(await hasUnseen(tx, environment, eventId, steps))
  return { count, next: isDone ? undefined : cancelStart }
}

/**
 * Whether a step is being sent whose later steps are not written as canceled: a step that follows another at once is
 * created and started while that one is waited for.
 */
async function hasUnseen(
  tx: Tx,
  environment: Environment,
  eventId: string,
  steps: readonly NotificationStep[],
): Promise<boolean> {
  const running = await findRunning(tx, environment, eventId)
  const nextIds = running.flatMap(({ notificationId, step }) =>
    laterSteps(steps, step)
      .slice(0, 1)
      .map((next) => jobIdOf(eventId, notificationId, next)),
  )
  return (await findStatuses(tx, environment, nextIds)).size < nextIds.length
}

/** What was found of one event, and what is recorded with the canceled jobs. */
export interface FoundJobs {
  readonly eventId: string
  readonly steps: readonly NotificationStep[]
  readonly found: LockedJobs
  readonly details: NewJob['details']
}

export interface CanceledJobs {
  readonly count: number
  /** Something moved in the meantime: another look is needed. */
  readonly isPartial: boolean
}

/**
 * - A job that is waiting, or that a node has claimed without having called a provider, is canceled: without its lease
 *   that node can write nothing of it. The steps after it are written as canceled: a step that has a row is not created
 *   again.
 * - One whose provider is being called finishes, and so does the digest that was decided for other events as well.
 * - One that is `merged` counts while its digest still has to be sent; then it is sent without it.
 */
export async function cancelFound(
  tx: Tx,
  world: World,
  environment: Environment,
  queue: Queue,
  { eventId, steps, found: { jobs, isPartial }, details }: FoundJobs,
): Promise<CanceledJobs> {
  const now = world.now()
  const { sendStates, unsent } = await standingOf(tx, environment, jobs)
  const left = await leaveDigests(tx, environment, queue, { eventId, steps, jobs, sendStates, now })
  const started = jobs.filter((job) => job.status !== 'merged')
  const ending = started.filter((job) => sendStates.get(job.id) !== 'asked' && !left.going.has(job.id))
  const endingIds = new Set(ending.map((job) => job.id))
  await dropReady(
    tx,
    environment,
    unsent.filter((message) => endingIds.has(message.jobId)).map((message) => message.id),
  )
  const ended = [...ending, ...left.merged]
  const endedIds = ended.map((row) => row.id)
  const count = await cancelJobs(tx, environment, endedIds, { details, now })
  const later = started.flatMap((job) => canceledSteps(job, steps, details))
  const made = await insertCanceled(tx, environment, queue, later, now)
  const lastStep = steps.findLastIndex(({ active }) => active)
  const counted = countedCanceled([...ended, ...made], ({ step }) => step === lastStep)
  await insertCounts(tx, environment, counted, now)
  return { count: count + made.length, isPartial: isPartial || left.isPartial }
}

/** The next page of a task, in one transaction; undefined when it is done, or no longer ours. */
export async function cancelNextPage(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  { task, ...call }: Parameters<typeof cancelPage>[4] & { task: Task; versionId: string },
): Promise<CancelState | undefined> {
  return db.transaction(async (tx) => {
    const { next } = await cancelPage(tx, world, environment, queue, call)
    if (next === undefined) {
      await finishTasks(tx, environment, [task])
      return undefined
    }
    const state = { ...next, eventId: call.eventId, versionId: call.versionId }
    const isOurs = await advanceTask(tx, environment, { id: task.id, lease: task.lease, state }, queue)
    return isOurs ? next : undefined
  })
}

const wasPerhapsSent = ({ sending }: UnsentMessage): boolean =>
  sending.unsureRepeats > 0 || (sending.interruptions ?? 0) > 0

/** How far each of them has come, and the messages of those that run that are not done. */
async function standingOf(
  tx: Tx,
  environment: Environment,
  jobs: readonly CancelableJob[],
): Promise<{ sendStates: ReadonlyMap<string, SendState>; unsent: readonly UnsentMessage[] }> {
  const waiting = jobs.filter((job) => job.status === 'running' && !job.isHeld)
  const unsent = await findUnsent(tx, environment, waiting)
  const messagesOf = grouped(unsent, (message) => message.jobId)
  const sendStates = new Map<string, SendState>()
  for (const job of jobs) {
    const messages = messagesOf.get(job.id) ?? []
    const isAsked = job.isHeld || messages.some((message) => message.state === 'calling')
    const isDoubtful = job.state?.reached === true || messages.some(wasPerhapsSent)
    sendStates.set(
      job.id,
      job.status !== 'running' ? 'undecided' : isAsked ? 'asked' : isDoubtful ? 'doubtful' : 'ready',
    )
  }
  return { sendStates, unsent }
}

const idOf = (job: CancelableJob, step: number): string => jobIdOf(job.eventId, job.notificationId, step)

/** The steps after its current one: written as finished, so that whoever ends the current one creates none of them. */
function canceledSteps(job: CancelableJob, steps: readonly NotificationStep[], details: NewJob['details']): NewJob[] {
  const { notificationId, eventId, subscriberId, versionId, lane, digestId } = job
  return laterSteps(steps, job.step).map((step) => ({
    id: idOf(job, step),
    notificationId,
    eventId,
    subscriberId,
    versionId,
    lane,
    digestId,
    step,
    status: 'canceled',
    due: over,
    state: null,
    details,
    afterId: job.id,
  }))
}

async function insertCanceled(
  tx: Tx,
  environment: Environment,
  { clock, leaseMs }: Queue,
  jobs: readonly NewJob[],
  now: Date,
): Promise<readonly NewJob[]> {
  if (jobs.length === 0) return []
  const these = sql`select unnest(${jobs.map((job) => job.afterId)}::uuid[])`
  const parts = jobInsertions(environment, jobs, { clock, leaseMs, lease: null, now }, these)
  const rows = await tx.rows<{ id: string }>(oneStatement(parts, madeJobs(parts)))
  const made = new Set(rows.map((row) => row.id))
  return jobs.filter((job) => made.has(job.id))
}
