// An event leaves its digests, open or closed, and each continues without it: its run is handed to the next event, if
// it was the owner of the digest.
import type { Tx } from '../../db/sql.ts'
import type { JobState } from '../../domain/delivery/job.ts'
import { jobIdOf, notificationIdOf } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { NotificationStep } from '../../domain/workflows/workflow.ts'
import type { Queue } from '../../queue/queue.ts'
import type { LockedWindow, NextOwner } from '../../store/events/digests.ts'
import { findNextOwners, handOnWindows, leaveWindows, lockWindows } from '../../store/events/digests.ts'
import type { CancelableJob, TakeOver } from '../../store/jobs/cancel.ts'
import { findWindowsOf, takeOver } from '../../store/jobs/cancel.ts'
import { findVersions } from '../../store/workflows/workflows.ts'
import type { MergedRow } from './leave-closed.ts'
import { laterSteps, leaveClosed, rowOf, stepIdsFrom } from './leave-closed.ts'

/**
 * How far a job has come. `undecided`: nothing was sent. `ready`: its messages wait for another attempt, and certainly
 * were not sent. `doubtful`: they wait as well, but some were sent or may have been. `asked`: a provider is being
 * called.
 */
export type SendState = 'undecided' | 'ready' | 'doubtful' | 'asked'

export interface Leaving {
  readonly eventId: string
  /** Of the event's version. */
  readonly steps: readonly NotificationStep[]
  /** All that was found of the event. */
  readonly jobs: readonly CancelableJob[]
  readonly sendStates: ReadonlyMap<string, SendState>
  readonly now: Date
}

export interface Left {
  /** Rows of runs that were merged into digests: what still has to be sent is sent without them. */
  readonly merged: readonly MergedRow[]
  /** Jobs that continue as they are: what was decided for several events is sent. */
  readonly going: ReadonlySet<string>
  /** Something moved in the meantime: another look is needed. */
  readonly isPartial: boolean
}

export async function leaveDigests(tx: Tx, environment: Environment, queue: Queue, leaving: Leaving): Promise<Left> {
  const { eventId, steps, jobs, now } = leaving
  const windows = await lockWindows(tx, environment, [...new Set(jobs.flatMap(windowIdsOf))])
  if (windows.size === 0) return { merged: [], going: new Set(), isPartial: false }
  const own = jobs.filter((job) => job.status !== 'merged')
  const runs = new Set(own.map((job) => job.notificationId))
  // A run that goes on bears the digest itself, wherever it was merged before.
  const joined = jobs.flatMap((job) => {
    const window = windows.get(job.state?.windowId ?? '')
    return job.status === 'merged' && window !== undefined && !runs.has(job.notificationId) ? [{ job, window }] : []
  })
  const open = joined.filter(({ window }) => window.isOpen)
  const windowIds = [...own.flatMap(windowIdsOf), ...open.map(({ window }) => window.id)]
  await leaveWindows(tx, environment, { eventId, windowIds })
  const going = await handOn(tx, environment, queue, leaving, windows)
  // What a run brought along from an earlier digest stays: the run that it was merged into sends it.
  const brought = joined.filter(({ job }) => job.digestId !== null)
  const successions = brought.map(({ job, window: { jobId, notificationId } }) => ({
    job,
    owner: { jobId, notificationId },
  }))
  await handOnWindows(tx, environment, await earlierWindows(tx, environment, steps, successions), now)
  const closed = joined.filter(({ window }) => !window.isOpen)
  const { rows, isPartial } = await leaveClosed(tx, environment, queue, { eventId, steps, joined: closed })
  const merged = open.flatMap(({ job }) => [
    rowOf(job, job.step),
    ...laterSteps(steps, job.step).map((step) => rowOf(job, step)),
  ])
  return { merged: [...merged, ...rows], going, isPartial }
}

const windowIdsOf = ({ state, digestId }: CancelableJob): string[] =>
  [state?.windowId, digestId].filter((id) => typeof id === 'string')

/** A job that sends what a digest has collected. */
interface Bearing {
  readonly job: CancelableJob
  readonly window: LockedWindow
}

/** One that is handed on. */
interface Handing extends Bearing {
  /** What is still to run, by the ids of the steps. */
  readonly stepIds: readonly string[]
  readonly afterSeq: number | null
}

/** Hands on what the event's own jobs own; returns those of its jobs that continue anyway. */
async function handOn(
  tx: Tx,
  environment: Environment,
  queue: Queue,
  { steps, jobs, sendStates, now }: Leaving,
  windows: ReadonlyMap<string, LockedWindow>,
): Promise<ReadonlySet<string>> {
  const bearing = jobs.flatMap((job) => {
    const window = job.status === 'merged' ? undefined : windowOf(job, windows)
    return window === undefined ? [] : [{ job, window }]
  })
  // What may have been sent is not sent again by another run; and one that was handed on before only finishes its
  // current step.
  const isSpeaker = ({ job, window }: Bearing): boolean => window.notificationId === job.notificationId
  const mayGoOn = (one: Bearing): boolean => sendStates.get(one.job.id) === 'doubtful' || !isSpeaker(one)
  const shared = await findNextOwners(
    tx,
    environment,
    bearing.filter(mayGoOn).map(({ job, window }) => ({
      windowId: window.id,
      stepIds: stepIdsFrom(steps, job.step),
      afterSeq: null,
    })),
  )
  const sharedIds = new Set(shared.map(({ windowId }) => windowId))
  const isGoing = (one: Bearing): boolean => mayGoOn(one) && sharedIds.has(one.window.id)
  const handings = bearing.filter(isSpeaker).map((one) => {
    const { job } = one
    // The customer's service is called again, since its response is for the following steps.
    const isOver = (sendStates.get(job.id) === 'asked' || isGoing(one)) && steps[job.step]?.template.type !== 'custom'
    return { ...one, stepIds: stepIdsFrom(steps, isOver ? job.step + 1 : job.step), afterSeq: null }
  })
  const owners = await handToNext(tx, environment, queue, { steps, handings, now })
  const successions = handings.flatMap(({ job, window }) => {
    const owner = owners.get(window.id)
    return owner === undefined ? [] : [{ job, owner }]
  })
  const openOnes = handings.filter(({ window }) => window.isOpen && !owners.has(window.id))
  await handOnWindows(
    tx,
    environment,
    [
      ...[...owners].map(([id, owner]) => ({ id, ...owner })),
      ...(await earlierWindows(tx, environment, steps, successions)),
      ...openOnes.map(({ window }) => ({ id: window.id, jobId: null, notificationId: null })),
    ],
    now,
  )
  if (owners.size > 0) tx.afterCommit(() => queue.poke())
  return new Set(bearing.filter(isGoing).map(({ job }) => job.id))
}

/** A run that ends, and the one that speaks from now on for all the windows that it spoke for. */
interface Succession {
  readonly job: CancelableJob
  readonly owner: Owner
}

/** The windows of earlier digests in the same runs: their events go along. */
async function earlierWindows(
  tx: Tx,
  environment: Environment,
  steps: readonly NotificationStep[],
  successions: readonly Succession[],
): Promise<(Owner & { id: string })[]> {
  const ids = successions.flatMap(({ job: { eventId, notificationId, step } }) =>
    laterSteps(steps, -1)
      .filter((place) => place < step)
      .map((place) => jobIdOf(eventId, notificationId, place)),
  )
  const windows = await lockWindows(tx, environment, await findWindowsOf(tx, environment, ids))
  const ownerOf = new Map(successions.map(({ job, owner }) => [job.notificationId, owner]))
  return [...windows.values()].flatMap(({ id, notificationId }) => {
    const owner = ownerOf.get(notificationId)
    return owner === undefined ? [] : [{ id, ...owner }]
  })
}

/** The window that it opened and that still collects, or else the one whose events it owns. */
function windowOf(job: CancelableJob, windows: ReadonlyMap<string, LockedWindow>): LockedWindow | undefined {
  const opened = windows.get(job.state?.windowId ?? '')
  return job.status === 'delayed' && opened?.isOpen === true ? opened : windows.get(job.digestId ?? '')
}

interface Owner {
  readonly jobId: string
  readonly notificationId: string
}

/** By window: whose run continues. The first event that is not cancelled, unless its run is gone: then the next. */
async function handToNext(
  tx: Tx,
  environment: Environment,
  { clock }: Queue,
  { steps, handings, now }: { steps: readonly NotificationStep[]; handings: readonly Handing[]; now: Date },
): Promise<ReadonlyMap<string, Owner>> {
  const owners = new Map<string, Owner>()
  for (let left = handings; left.length > 0; ) {
    const searches = left.map(({ window, stepIds, afterSeq }) => ({ windowId: window.id, stepIds, afterSeq }))
    const found = new Map((await findNextOwners(tx, environment, searches)).map((owner) => [owner.windowId, owner]))
    const versions = await findVersions(tx, environment, [...new Set([...found.values()].map((one) => one.versionId))])
    const stepsOf = new Map(versions.map((version) => [version.id, version.definition.steps]))
    const tried = left.flatMap((handing) => {
      const owner = found.get(handing.window.id)
      if (owner === undefined) return []
      const notificationId = notificationIdOf(owner.eventId, handing.window.subscriberId)
      const versionSteps = stepsOf.get(owner.versionId) ?? []
      return [
        {
          handing,
          owner,
          notificationId,
          taking: takingOf(handing, owner, notificationId, [steps, versionSteps], now),
        },
      ]
    })
    const taken = await takeOver(
      tx,
      environment,
      tried.map(({ taking }) => taking),
      { clock, now },
    )
    for (const { handing, notificationId, taking } of tried) {
      if (taken.has(taking.id)) owners.set(handing.window.id, { jobId: taking.id, notificationId })
    }
    left = tried.flatMap(({ handing, owner, taking }) =>
      taken.has(taking.id) ? [] : [{ ...handing, afterSeq: owner.seq }],
    )
  }
  return owners
}

/**
 * What the next owner's job becomes: what the other's was, if it is at the same step; otherwise it is decided from
 * there on.
 */
function takingOf(
  { job, window, stepIds }: Handing,
  { eventId, step }: NextOwner,
  notificationId: string,
  [steps, ownSteps]: readonly [readonly NotificationStep[], readonly NotificationStep[]],
  now: Date,
): TakeOver {
  const idOf = (place: number): string => jobIdOf(eventId, notificationId, place)
  const isSame = ownSteps[step]?._id === steps[job.step]?._id && stepIds[0] === ownSteps[step]?._id
  const waits = isSame && job.status === 'delayed'
  // Not the window's own end, which is by the clock of the node that opened it: the queue goes by the database's.
  const dueAt = job.isHeld ? null : job.dueAt
  const raw = { digestedNotificationId: job.notificationId }
  const earlier = ownSteps.flatMap(({ _id, template }, to) => {
    const from = template.type === 'custom' && to < step ? steps.findIndex((one) => one._id === _id) : -1
    return from < 0 ? [] : [{ from: jobIdOf(job.eventId, job.notificationId, from), to: idOf(to) }]
  })
  return {
    id: idOf(step),
    status: waits ? 'delayed' : 'queued',
    dueAt: waits ? dueAt : null,
    state: isSame ? inheritedState(job.state, waits) : null,
    digestId: window.isOpen ? null : window.id,
    details: [waits ? detail(now, window.isOpen ? 'digested' : 'delayed', { raw }) : detail(now, 'queued', { raw })],
    laterIds: laterSteps(ownSteps, step).map(idOf),
    earlier,
  }
}

/** What is decided again remembers nothing but why it was held back. */
function inheritedState(state: JobState | null, waits: boolean): JobState | null {
  if (state === null) return null
  if (waits) {
    const { redrives: _, redriveId: _by, ...kept } = state
    return kept
  }
  const { heldBy, windowId, until } = state
  if (heldBy === undefined) return null
  return { heldBy, ...(windowId === undefined ? {} : { windowId }), ...(until === undefined ? {} : { until }) }
}
