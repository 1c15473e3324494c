// Calls off the open jobs of an event, a page at a time: what waits is canceled, what runs ends with the step it is at.
import { oneStatement } from '../db/one-statement.ts'
import type { Db, Tx } from '../db/sql.ts'
import { sql } from '../db/sql.ts'
import { jobIdOf, notificationIdOf } from '../domain/derived-id.ts'
import type { Environment } from '../domain/environment.ts'
import { detail } from '../domain/execution-detail.ts'
import type { NotificationStep } from '../domain/workflow.ts'
import { stepsPerWorkflowMax } from '../domain/workflow.ts'
import type { Queue } from '../queue/queue.ts'
import { insertCounts } from '../store/counts.ts'
import type { LeftWindow } from '../store/digests.ts'
import { handOnWindows, leaveWindows, leftEventsMax } from '../store/digests.ts'
import type { CancelableJob, DigestFollower } from '../store/jobs/cancel.ts'
import {
  cancelJobs,
  findFollowers,
  findRunning,
  findStatuses,
  hasCancelable,
  lockCancelable,
  promoteFollowers,
} from '../store/jobs/cancel.ts'
import type { NewJob } from '../store/jobs/insert.ts'
import { jobInsertions, madeJobs } from '../store/jobs/insert.ts'
import { dropReady, findUnsent } from '../store/messages/sending.ts'
import type { Task } from '../store/tasks.ts'
import { advanceTask, finishTasks } from '../store/tasks.ts'
import { findVersions } from '../store/workflows.ts'
import type { World } from '../world/world.ts'
import { countedCanceled } from './count-canceled.ts'

/** How far a call to cancel has come. Jobs made meanwhile may lie behind: it ends with a walk that found nothing. */
export interface CancelState {
  readonly after: string | null
  /** What this walk has called off so far. */
  readonly found: number
}

export const cancelStart: CancelState = { after: null, found: 0 }

export interface CanceledPage {
  readonly count: number
  /** Where to go on; undefined when nothing of the event is left to run. */
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
  const canceled = await cancelFound(tx, world, environment, queue, { eventId, steps, found, details })
  const total = state.found + canceled
  if (found.length === jobsPerPage) {
    return { count: canceled, next: { after: found.at(-1)?.id ?? null, found: total } }
  }
  // A walk that waited for a step to end did not see the one that this made.
  const isDone =
    total === 0 &&
    !(await hasCancelable(tx, environment, eventId, queue.clock)) &&
    !(await hasUnseen(tx, environment, eventId, steps))
  return { count: canceled, next: isDone ? undefined : cancelStart }
}

/**
 * Whether a step is being sent whose later steps are not written as canceled: one that follows another at once is made and
 * begun while that one is waited for.
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

/** Jobs of one event that are locked, and what is told of those that are canceled. */
export interface FoundJobs {
  readonly eventId: string
  readonly steps: readonly NotificationStep[]
  readonly found: readonly CancelableJob[]
  readonly details: NewJob['details']
}

/**
 * - A job that waits, or that a node has in hand without having asked anybody, is canceled: without its lease whoever has it
 *   in hand can write nothing of it.
 * - One that is `running` in somebody's hand ends as it ends. The steps after it are written as canceled now: a step that
 *   has a row is not made again.
 * - One that is `merged` counts while its window is open; then the event is taken out of it.
 *
 * Returns how many jobs it cancels.
 */
export async function cancelFound(
  tx: Tx,
  world: World,
  environment: Environment,
  queue: Queue,
  { eventId, steps, found, details }: FoundJobs,
): Promise<number> {
  const now = world.now()
  const free = await withoutCalls(tx, environment, found)
  const windows = await leaveDigests(tx, environment, queue, { eventId, jobs: free, now })
  // Whoever is merged into a window that has closed has been told of already.
  const ending = free.filter((job) => job.status !== 'merged' || windows.has(job.state?.windowId ?? ''))
  const merged = ending.filter((job) => job.status === 'merged')
  const ended = [...ending, ...merged.flatMap((job) => canceledSteps(job, steps, details))]
  const endedIds = ended.map((job) => job.id)
  const count = await cancelJobs(tx, environment, endedIds, { details, now })
  const started = found.filter((job) => job.status !== 'merged')
  const later = started.flatMap((job) => canceledSteps(job, steps, details))
  const made = await insertCanceled(tx, environment, queue, later, now)
  const lastStep = steps.findLastIndex(isActive)
  const counted = countedCanceled([...ended, ...made], ({ step }) => step === lastStep)
  await insertCounts(tx, environment, counted, now)
  return count + made.length
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

/** Those whose messages no provider was asked to send: what is being asked is perhaps sent. */
async function withoutCalls(
  tx: Tx,
  environment: Environment,
  jobs: readonly CancelableJob[],
): Promise<readonly CancelableJob[]> {
  const free = jobs.filter((job) => !job.isHeld || job.status !== 'running')
  const running = free.filter((job) => job.status === 'running')
  if (running.length === 0) return free
  const unsent = await findUnsent(tx, environment, running)
  const asked = new Set(unsent.filter((message) => message.state === 'calling').map((message) => message.jobId))
  const ready = unsent.filter((message) => !asked.has(message.jobId))
  await dropReady(
    tx,
    environment,
    ready.map((message) => message.id),
  )
  return free.filter((job) => !asked.has(job.id))
}

/** The event leaves its digests; where it had opened one, the oldest of the others waits in its place. */
async function leaveDigests(
  tx: Tx,
  environment: Environment,
  queue: Queue,
  { eventId, jobs, now }: { eventId: string; jobs: readonly CancelableJob[]; now: Date },
): Promise<ReadonlySet<string>> {
  const windowIds = jobs.flatMap((job) => job.state?.windowId ?? [])
  const left = await leaveWindows(tx, environment, { eventId, windowIds })
  const opened = new Set(jobs.filter((job) => job.status === 'delayed').flatMap((job) => job.state?.windowId ?? []))
  const orphans = left.filter((window) => opened.has(window.id))
  const byWindow = await heirsOf(tx, environment, orphans)
  const followers = [...byWindow.values()]
  // They may have begun with another version, whose steps stand elsewhere.
  const versions = await findVersions(tx, environment, [...new Set(followers.map((follower) => follower.versionId))])
  const stepsOf = new Map(versions.map((version) => [version.id, version.definition.steps]))
  await handOnWindows(
    tx,
    environment,
    orphans.map(({ id }) => {
      const heir = byWindow.get(id)
      return { id, jobId: heir?.id ?? null, notificationId: heir?.notificationId ?? null }
    }),
    now,
  )
  const promoted = orphans.flatMap((window) => {
    const heir = byWindow.get(window.id)
    if (heir === undefined) return []
    const later = laterSteps(stepsOf.get(heir.versionId) ?? [], heir.step)
    const laterIds = later.map((step) => jobIdOf(heir.eventId, heir.notificationId, step))
    return [{ id: heir.id, dueAt: window.due_at, laterIds }]
  })
  const raw = { delay: 0 }
  await promoteFollowers(tx, environment, promoted, { details: [detail(now, 'digested', { raw })], now })
  if (promoted.length > 0) queue.poke()
  return new Set(left.map((window) => window.id))
}

/** How many of a window's events are looked at, in rounds: the first one is the heir, but where it was carried along. */
const heirRounds = [1, 20, leftEventsMax] as const

/** Of each window the oldest event whose own run was merged into it. */
async function heirsOf(
  tx: Tx,
  environment: Environment,
  windows: readonly LeftWindow[],
): Promise<ReadonlyMap<string, DigestFollower>> {
  const heirs = new Map<string, DigestFollower>()
  let from = 0
  for (const to of heirRounds) {
    const open = windows.filter((window) => !heirs.has(window.id) && window.event_ids.length > from)
    const ids = open.flatMap(({ subscriber_id, event_ids }) =>
      event_ids.slice(from, to).flatMap((event) => places.map((step) => candidateId(event, subscriber_id, step))),
    )
    const found = await findFollowers(tx, environment, ids)
    for (const window of open) {
      const own = found.filter((follower) => follower.windowId === window.id)
      const order = (follower: DigestFollower): number => window.event_ids.indexOf(follower.eventId)
      const [heir] = own.sort((a, b) => order(a) - order(b))
      if (heir !== undefined) heirs.set(window.id, heir)
    }
    from = to
  }
  return heirs
}

/** Wherever a step can stand in a workflow. */
const places = Array.from({ length: stepsPerWorkflowMax }, (_, place) => place)

const candidateId = (eventId: string, subscriberId: string, step: number): string =>
  jobIdOf(eventId, notificationIdOf(eventId, subscriberId), step)

const isActive = ({ active }: NotificationStep): boolean => active

function laterSteps(steps: readonly NotificationStep[], from: number): number[] {
  return steps.flatMap((step, index) => (index > from && step.active ? [index] : []))
}

const idOf = (job: CancelableJob, step: number): string => jobIdOf(job.eventId, job.notificationId, step)

/** The steps after the one it is at: written as over, so that whoever ends that one makes none of them. */
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
    due: null,
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
