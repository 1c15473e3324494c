// A page of a redrive by filter, in one transaction: failed jobs examined, matching ones made due again, and the
// progress.
import type { Db, Sql } from '../../db/sql.ts'
import { fanOutLane } from '../../domain/delivery/event.ts'
import type { FailedStep, Failure, RedrivableJob, RedriveBounds, SkipReason } from '../../domain/delivery/redrive.ts'
import { failureOf, isLookedFor } from '../../domain/delivery/redrive.ts'
import type { Environment } from '../../domain/environment.ts'
import type { WorkflowVersion } from '../../domain/workflows/workflow.ts'
import type { Queue } from '../../queue/queue.ts'
import { advanceRedrive, lockRedrive } from '../../store/events/redrives.ts'
import type { FailedJob, FailedWalk, RecoverableNotification } from '../../store/jobs/redrive.ts'
import { findFailed } from '../../store/jobs/redrive.ts'
import type { Task } from '../../store/jobs/tasks.ts'
import { advanceTask, finishTasks } from '../../store/jobs/tasks.ts'
import { findVersions } from '../../store/workflows/workflows.ts'
import type { World } from '../../world/world.ts'
import { jobIdsOf, redriveNotifications } from './redrive.ts'

/** Each is a notification with its jobs and messages, locked until the page is written. */
export const failedPerPage = 200

/** True if more follows. Nothing is written by a worker that has lost the task, nor after the redrive was stopped. */
export async function redriveNextPage(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  task: Task,
): Promise<boolean> {
  const { isMore, made } = await db.transaction(async (tx) => {
    const now = world.now()
    const isOurs = await advanceTask(tx, environment, { id: task.id, lease: task.lease, state: task.state }, queue)
    const redrive = isOurs ? await lockRedrive(tx, environment, task.id) : undefined
    if (!isOurs) return { isMore: false, made: 0 }
    if (redrive?.state !== 'running') {
      await finishTasks(tx, environment, [task])
      return { isMore: false, made: 0 }
    }
    const { bounds } = redrive
    const { id: redriveId, after_id: after, created_at: until } = redrive
    const walk: FailedWalk = { bounds, after, limit: failedPerPage, until, redriveId }
    const { looked, matched, versions } = await findMatching(tx, environment, walk)
    const met = [...new Map(matched.map(({ job }) => [job.id, job])).values()]
    const before = await metBefore(tx, environment, walk, met, versions)
    const notifications = met.filter(({ id }) => !before.has(id))
    const isMeant = (notification: RecoverableNotification, job: RedrivableJob): boolean =>
      isLookedFor(bounds, stepOf({ ...notification, ...job }, versions))
    const call = { notifications, by: redrive.requested_by, redriveId, lane: fanOutLane, now, isMeant }
    const results = [...(await redriveNotifications(tx, world, environment, call)).values()]
    const skipped: Partial<Record<SkipReason, number>> = { ...redrive.skipped }
    const reasons = results.flatMap((result) => ('skipped' in result ? [result.skipped] : []))
    for (const reason of reasons) skipped[reason] = (skipped[reason] ?? 0) + 1
    const redriven = results.length - reasons.length
    const isDone = looked.length < failedPerPage
    const progress = {
      afterId: looked.at(-1)?.jobId ?? redrive.after_id,
      lookedAt: redrive.looked_at + looked.length,
      matched: redrive.matched + notifications.length,
      redriven: redrive.redriven + redriven,
      skipped,
      isDone,
    }
    await advanceRedrive(tx, environment, redrive.id, progress, now)
    if (isDone) await finishTasks(tx, environment, [task])
    return { isMore: !isDone, made: redriven }
  })
  if (made > 0) queue.poke()
  return isMore
}

export interface MatchingJob {
  readonly job: FailedJob
  readonly failure: Failure
}

type Versions = ReadonlyMap<string, WorkflowVersion>

/** The next failed jobs, and those of them that fit. */
export async function findMatching(
  db: Sql,
  environment: Environment,
  walk: FailedWalk,
): Promise<{ looked: readonly FailedJob[]; matched: readonly MatchingJob[]; versions: Versions }> {
  const looked = await findFailed(db, environment, walk)
  const found = await findVersions(db, environment, [...new Set(looked.map((job) => job.versionId))])
  const versions = new Map(found.map((version) => [version.id, version]))
  const matched = looked.flatMap((job) => {
    const step = stepOf(job, versions)
    return isLookedFor(walk.bounds, step) ? [{ job, failure: step.failure }] : []
  })
  return { looked, matched, versions }
}

function stepOf(job: Omit<FailedJob, 'jobId'>, versions: Versions): FailedStep {
  const version = versions.get(job.versionId)
  return {
    subscriberId: job.subscriberId,
    eventId: job.eventId,
    workflowId: version?.workflowId,
    type: version?.definition.steps[job.step]?.template.type,
    providerId: job.state?.providerId,
    failure: failureOf(job.details),
  }
}

/** Those with a matching step on an earlier page: each notification is judged, and counted, once. */
async function metBefore(
  db: Sql,
  environment: Environment,
  walk: FailedWalk,
  notifications: readonly RecoverableNotification[],
  versions: Versions,
): Promise<ReadonlySet<string>> {
  const { after } = walk
  const all = notifications.flatMap((one) => jobIdsOf(one, versions.get(one.versionId)))
  const among = all.filter((id) => after !== null && id <= after)
  if (among.length === 0) return new Set()
  const { matched } = await findMatching(db, environment, { ...walk, after: null, among, limit: among.length })
  return new Set(matched.map(({ job }) => job.id))
}

/** Whether anything of an event failed. */
export async function hasFailed(db: Sql, environment: Environment, eventId: string): Promise<boolean> {
  const bounds: RedriveBounds = { eventId }
  const walk = { bounds, after: null, limit: failedPerPage, until: null, redriveId: null }
  return (await findMatching(db, environment, walk)).matched.length > 0
}
