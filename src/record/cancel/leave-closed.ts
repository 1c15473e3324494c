// An event leaves digests that are closed: what their runs still have to send is sent without it.
import type { Tx } from '../../db/sql.ts'
import { jobIdOf } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { grouped } from '../../domain/grouped.ts'
import type { NotificationStep } from '../../domain/workflows/workflow.ts'
import { stepsPerWorkflowMax } from '../../domain/workflows/workflow.ts'
import type { Queue } from '../../queue/queue.ts'
import type { LockedWindow } from '../../store/events/digests.ts'
import { leaveWindows, lockWindows } from '../../store/events/digests.ts'
import type { CancelableJob, Speaker } from '../../store/jobs/cancel.ts'
import { findCanceledSteps, findSpeakers, findStatuses, lockFronts, withdrawLeases } from '../../store/jobs/cancel.ts'
import { findVersions } from '../../store/workflows/workflows.ts'

/** A row that is canceled. */
export interface MergedRow {
  readonly id: string
  readonly versionId: string
  readonly step: number
}

export const rowOf = ({ eventId, notificationId, versionId }: CancelableJob, step: number): MergedRow => ({
  id: jobIdOf(eventId, notificationId, step),
  versionId,
  step,
})

export function laterSteps(steps: readonly NotificationStep[], from: number): number[] {
  return steps.flatMap((step, index) => (index > from && step.active ? [index] : []))
}

export const stepIdsFrom = (steps: readonly NotificationStep[], from: number): string[] =>
  laterSteps(steps, from - 1).map((step) => steps[step]?._id ?? '')

/** A job that was merged into a digest, and the window whose run has its events now. */
interface Joined {
  readonly job: CancelableJob
  readonly window: LockedWindow
}

/** The state of the run that sends for a window: what it still has to send, and from which windows. */
interface Front {
  readonly stepIds: ReadonlySet<string>
  readonly windowIds: readonly string[]
}

interface LeavingClosed {
  readonly eventId: string
  readonly steps: readonly NotificationStep[]
  readonly joined: readonly Joined[]
}

/** What was sent with the event stays as it is; the rows of everything else are returned, to be canceled. */
export async function leaveClosed(
  tx: Tx,
  environment: Environment,
  queue: Queue,
  { eventId, steps, joined }: LeavingClosed,
): Promise<{ rows: readonly MergedRow[]; isPartial: boolean }> {
  if (joined.length === 0) return { rows: [], isPartial: false }
  const { fronts, isPartial } = await frontsOf(tx, environment, queue, joined)
  const still = joined.flatMap(({ job }) => {
    const front = fronts.get(job.id)
    return front === undefined
      ? []
      : [{ job, front, later: laterSteps(steps, job.step).map((step) => rowOf(job, step)) }]
  })
  await leaveWindows(tx, environment, {
    eventId,
    windowIds: [...new Set(still.flatMap(({ front }) => front.windowIds))],
  })
  const statuses = await findStatuses(
    tx,
    environment,
    still.flatMap(({ later }) => later.map(({ id }) => id)),
  )
  const rows = still.flatMap(({ job, front, later }) => {
    const unsaid = later.filter(
      ({ id, step }) => statuses.get(id) === 'merged' && front.stepIds.has(steps[step]?._id ?? ''),
    )
    // Nothing of it was sent: then it is as if it had never joined.
    const isWhole = unsaid.length > 0 && unsaid.length === later.length
    return isWhole ? [rowOf(job, job.step), ...unsaid] : unsaid
  })
  return { rows, isPartial }
}

/**
 * By job: follows the run that sends for its window, and if that was merged into another digest, the run of that one.
 */
async function frontsOf(
  tx: Tx,
  environment: Environment,
  queue: Queue,
  joined: readonly Joined[],
): Promise<{ fronts: ReadonlyMap<string, Front>; isPartial: boolean }> {
  const fronts = new Map<string, Front>()
  const passed = new Map<string, string[]>()
  let isPartial = false
  let left = joined
  for (let level = 0; left.length > 0 && level < stepsPerWorkflowMax; level += 1) {
    const runs = await runsOf(tx, environment, queue, left)
    const onward: { job: CancelableJob; windowId: string; stepIds: ReadonlySet<string> }[] = []
    const decidedAgain: string[] = []
    for (const { job, window } of left) {
      const { open, merged, canceled, steps } = runs.get(window.id) ?? noRun
      const windowIds = [...(passed.get(job.id) ?? []), window.id]
      passed.set(job.id, windowIds)
      if (open?.notificationId === job.notificationId) {
        // It was handed to this very event in the meantime, which the next look will find.
        isPartial = true
      } else if (open !== undefined) {
        const isDecided = open.status === 'running'
        const stepIds = new Set(stepIdsFrom(steps, isDecided ? open.step + 1 : open.step))
        const bears = [open.state?.windowId, open.digestId].filter((id) => typeof id === 'string')
        if (stepIds.size > 0) fronts.set(job.id, { stepIds, windowIds: [...windowIds, ...bears] })
        if (open.isHeld && !isDecided) decidedAgain.push(open.id)
      } else if (merged === undefined) {
        // All others that it spoke for are cancelled as well, and so it was not handed on.
        const stepIds = new Set(canceled.flatMap((step) => steps[step]?._id ?? []))
        if (stepIds.size > 0) fronts.set(job.id, { stepIds, windowIds })
      } else {
        onward.push({ job, windowId: merged.state?.windowId ?? '', stepIds: new Set(stepIdsFrom(steps, merged.step)) })
      }
    }
    await withdrawLeases(tx, environment, decidedAgain, queue.clock)
    const windows = await lockWindows(tx, environment, [...new Set(onward.map(({ windowId }) => windowId))])
    left = onward.flatMap(({ job, windowId, stepIds }) => {
      const window = windows.get(windowId)
      if (window?.isOpen !== true) return window === undefined ? [] : [{ job, window }]
      fronts.set(job.id, { stepIds, windowIds: [...(passed.get(job.id) ?? []), windowId] })
      return []
    })
  }
  return { fronts, isPartial }
}

/** A run that speaks for a window: the job it is at, or the one by which it was merged into another digest. */
interface Run {
  readonly open: CancelableJob | undefined
  readonly merged: CancelableJob | undefined
  /** The steps that a caller has cancelled, if it has finished. */
  readonly canceled: readonly number[]
  readonly steps: readonly NotificationStep[]
}

const noRun: Run = { open: undefined, merged: undefined, canceled: [], steps: [] }

async function runsOf(
  tx: Tx,
  environment: Environment,
  { clock }: Queue,
  joined: readonly Joined[],
): Promise<ReadonlyMap<string, Run>> {
  const windows = [...new Map(joined.map(({ window }) => [window.id, window])).values()]
  const speakers = await findSpeakers(tx, environment, windows)
  const versionIds = [...new Set([...speakers.values()].map(({ versionId }) => versionId))]
  const versions = await findVersions(tx, environment, versionIds)
  const stepsOf = new Map(versions.map((version) => [version.id, version.definition.steps]))
  const idsOf = ({ eventId, notificationId, versionId }: Speaker): string[] =>
    laterSteps(stepsOf.get(versionId) ?? [], -1).map((step) => jobIdOf(eventId, notificationId, step))
  const ids = [...new Set([...speakers.values()].flatMap(idsOf))]
  const found = grouped(await lockFronts(tx, environment, ids, clock), (job) => job.notificationId)
  const places = new Map(
    [...speakers].map(([windowId, { notificationId }]) => {
      const jobs = found.get(notificationId) ?? []
      // Not by which it came to this one, before it spoke for it.
      const merged = jobs.filter((job) => job.status === 'merged' && job.state?.windowId !== windowId)
      const last = merged.sort((one, other) => one.step - other.step).at(-1)
      return [windowId, { open: jobs.find((job) => job.dueAt !== null), merged: last }]
    }),
  )
  const over = [...speakers].filter(
    ([id]) => places.get(id)?.open === undefined && places.get(id)?.merged === undefined,
  )
  const overIds = over.flatMap(([, speaker]) => idsOf(speaker))
  const canceled = grouped(await findCanceledSteps(tx, environment, overIds), (job) => job.notificationId)
  return new Map(
    [...speakers].map(([windowId, { notificationId, versionId }]) => [
      windowId,
      {
        ...(places.get(windowId) ?? noRun),
        canceled: (canceled.get(notificationId) ?? []).map(({ step }) => step),
        steps: stepsOf.get(versionId) ?? [],
      },
    ]),
  )
}
