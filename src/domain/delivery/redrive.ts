// Redriving: which of a notification's steps failed, and how each of them continues. Pure; what it examines was locked
// before.
import type { StoredDetail } from '../insight/execution-detail.ts'
import type { MessageState, MessageStatus } from '../messages/message.ts'
import type { NotificationStep } from '../workflows/workflow.ts'
import type { Channel } from './integration.ts'
import type { JobState, JobStatus } from './job.ts'

/** What makes a step fail, most frequent first. `unknown`: none of these. */
export const failureReasons = [
  'providerError',
  'misconfigured',
  'noIntegration',
  'contentFailed',
  'conditionsBroken',
  'webhookFailed',
  'callFailed',
  'buried',
  'delayInvalid',
  'digestInvalid',
  'throttleInvalid',
  'throttlePast',
  'unknown',
] as const
export type FailureReason = (typeof failureReasons)[number]

/** Why a notification is left as it is. */
export const skipReasons = [
  'running',
  'nothingFailed',
  'canceled',
  'retracted',
  'gone',
  'perhapsSent',
  'suppressed',
  'contentGone',
  'filesGone',
  'tooOften',
] as const
export type SkipReason = (typeof skipReasons)[number]

export const skipSentences: Readonly<Record<SkipReason, string>> = {
  running: 'it is still running: wait until it has finished, or cancel it',
  nothingFailed: 'none of its steps failed',
  canceled: 'its event was canceled',
  retracted: 'it was retracted',
  gone: 'its event is no longer kept',
  perhapsSent: 'the failed message may have been sent and is not sent twice',
  suppressed: 'the address is on the suppression list',
  contentGone: 'the content of its messages is no longer kept',
  filesGone: 'the files that came with its event are no longer kept',
  tooOften: 'it was redriven the maximum number of times',
}

/** A job stores one line for each: a step that fails so often must be fixed elsewhere. */
export const redrivesPerJobMax = 20

export interface Failure {
  readonly reason: FailureReason
  /** Its error, as stored. */
  readonly text: string
  readonly providerId: string | undefined
}

const reasons: ReadonlySet<string> = new Set(failureReasons)

export function failureOf(details: readonly StoredDetail[]): Failure {
  const last = details.findLast(({ code }) => reasons.has(code))
  if (last === undefined) return { reason: 'unknown', text: '', providerId: undefined }
  const { code, raw = '', words = '', providerId } = last
  return { reason: code as FailureReason, text: `${words} ${raw}`.trim(), providerId }
}

export interface RedrivableEvent {
  readonly isCanceled: boolean
  /** It brought files, and they were swept. */
  readonly areFilesGone: boolean
}

export interface RedrivableJob {
  readonly id: string
  readonly step: number
  readonly status: JobStatus
  readonly isOpen: boolean
  readonly isRetracted: boolean
  /** Canceled because a step before it failed. */
  readonly isForFailure: boolean
  readonly state: JobState | null
  /** Of a job that failed; empty for others. */
  readonly details: readonly StoredDetail[]
}

export interface RedrivableMessage {
  readonly id: string
  readonly jobId: string
  readonly channel: Channel
  readonly state: MessageState
  readonly status: MessageStatus | null
  readonly isDeleted: boolean
  /** There was once no response, and it was repeated: it may have been sent then. */
  readonly isPerhapsSent: boolean
  /** Whether the content for the provider is still stored. */
  readonly isWhole: boolean
  readonly isSuppressed: boolean
}

/** `send`: its failed messages. `decide`: from the beginning. `wait`: what a wait collected continues. */
export type Way = 'send' | 'decide' | 'wait'

export interface JobPlan {
  readonly job: RedrivableJob
  readonly way: Way
  readonly messageIds: readonly string[]
  /** Whether another of its messages was sent before it was given up. */
  readonly isReached: boolean
}

export interface RedrivePlan {
  readonly jobs: readonly JobPlan[]
  /** Steps that were canceled because of these failures: they run after all. */
  readonly reopenedIds: readonly string[]
}

export interface Redrivable {
  /** Undefined once it is no longer kept. */
  readonly event: RedrivableEvent | undefined
  readonly steps: readonly NotificationStep[]
  readonly jobs: readonly RedrivableJob[]
  readonly messages: readonly RedrivableMessage[]
  /** Which failures are meant; all unless given. */
  readonly isMeant?: (job: RedrivableJob) => boolean
  /** Whether messages that may have been sent are sent again as well. */
  readonly includesUnsure?: boolean
}

/** Its message was perhaps sent, and was left at that. */
export const isLeftUnsure = ({ status, state }: Pick<RedrivableJob, 'status' | 'state'>): boolean =>
  status === 'skipped' && state?.leftUnsure === true

export function redrivePlan(redrivable: Redrivable): RedrivePlan | SkipReason {
  const { event, steps, jobs, messages, isMeant = () => true, includesUnsure = false } = redrivable
  if (event === undefined) return 'gone'
  if (event.isCanceled) return 'canceled'
  if (jobs.some((job) => job.isRetracted)) return 'retracted'
  if (jobs.some((job) => job.isOpen)) return 'running'
  const failed = jobs.filter((job) => job.status === 'failed' || (includesUnsure && isLeftUnsure(job)))
  const judged = failed.filter(isMeant).map((job) => {
    const own = messages.filter((message) => message.jobId === job.id)
    return jobPlan(job, steps[job.step], own, event, includesUnsure)
  })
  const plans = judged.filter((one) => typeof one !== 'string')
  if (plans.length === 0) return judged.find((one) => typeof one === 'string') ?? 'nothingFailed'
  return { jobs: plans, reopenedIds: reopened(jobs, plans) }
}

function jobPlan(
  job: RedrivableJob,
  step: NotificationStep | undefined,
  messages: readonly RedrivableMessage[],
  event: RedrivableEvent,
  includesUnsure: boolean,
): JobPlan | SkipReason {
  if ((job.state?.redrives ?? 0) >= redrivesPerJobMax) return 'tooOften'
  const type = step?.template.type
  if (type === 'email' && event.areFilesGone) return 'filesGone'
  const isReached = messages.some(({ status }) => status === 'sent')
  if (messages.length === 0) return { job, way: wasWaiting(job) ? 'wait' : 'decide', messageIds: [], isReached }
  const isFailed = ({ status, isPerhapsSent }: RedrivableMessage): boolean =>
    includesUnsure ? status === 'error' || status === 'warning' : status === 'error' && !isPerhapsSent
  const failed = messages.filter((message) => message.state === 'done' && isFailed(message))
  const sendable = failed.filter(({ isWhole, isDeleted, isSuppressed }) => isWhole && !isDeleted && !isSuppressed)
  if (sendable.length > 0) return { job, way: 'send', messageIds: sendable.map(({ id }) => id), isReached }
  if (failed.some(({ isSuppressed }) => isSuppressed)) return 'suppressed'
  if (failed.length > 0) return 'contentGone'
  // Everything was sent, or may have been: nothing is sent, and the steps after it run.
  return failureOf(job.details).reason === 'buried' ? { job, way: 'send', messageIds: [], isReached } : 'perhapsSent'
}

/** A wait that was buried at its end: it collected events that nothing else will send. */
function wasWaiting({ details }: RedrivableJob): boolean {
  const raw = details.findLast(({ code }) => code === 'buried')?.raw
  return raw !== undefined && buriedFacts(raw).status === 'delayed'
}

export interface BuriedFacts {
  readonly message: string
  readonly status?: string
  readonly claims?: number
}

/** What was stored about a burial. */
export function buriedFacts(raw: string): BuriedFacts {
  try {
    const value: unknown = JSON.parse(raw)
    if (typeof value === 'object' && value !== null && 'message' in value) return value as BuriedFacts
  } catch {
    // Cut off, as it was long.
  }
  return { message: raw }
}

/** Only those whose failure is redriven: others stay canceled. */
function reopened(jobs: readonly RedrivableJob[], plans: readonly JobPlan[]): string[] {
  const planned = new Set(plans.map(({ job }) => job.id))
  const failed = jobs.filter((job) => job.status === 'failed').sort((a, b) => a.step - b.step)
  return jobs
    .filter((job) => job.status === 'canceled' && job.isForFailure)
    .filter((job) => planned.has(failed.findLast((one) => one.step < job.step)?.id ?? ''))
    .map((job) => job.id)
}

/** What a redriven job remembers: if it is decided again, nothing but why it was held back. */
export function redrivenState({ job, way, isReached }: JobPlan, redriveId: string | undefined): JobState {
  const { state } = job
  const redrives = (state?.redrives ?? 0) + 1
  const own = { redrives, ...(redriveId === undefined ? {} : { redriveId }) }
  if (way !== 'decide') {
    const { reached: _, redriveId: _before, leftUnsure: _unsure, ...kept } = state ?? {}
    return { ...kept, ...(isReached ? { reached: true as const } : {}), ...own }
  }
  if (state?.heldBy === undefined) return own
  const { heldBy, windowId, until } = state
  return { heldBy, ...(windowId === undefined ? {} : { windowId }), ...(until === undefined ? {} : { until }), ...own }
}

/** What a redrive looks for, as callers say it. */
export interface RedriveFilter {
  readonly workflow?: string
  readonly channel?: Channel
  readonly providerId?: string
  readonly reason?: FailureReason
  readonly errorContains?: string
  readonly from?: string
  readonly to?: string
  readonly subscriberId?: string
  readonly transactionId?: string
}

/** The same in our own ids. */
export interface RedriveBounds extends Pick<RedriveFilter, 'channel' | 'providerId' | 'reason' | 'errorContains'> {
  readonly workflowId?: string
  /** The subscriber's internal id. */
  readonly subscriberId?: string
  readonly eventId?: string
  /** Of ids: the first, and the first beyond. */
  readonly fromId?: string
  readonly beforeId?: string
}

export interface FailedStep {
  readonly subscriberId: string
  readonly eventId: string
  readonly workflowId: string | undefined
  readonly type: string | undefined
  readonly providerId: string | undefined
  readonly failure: Failure
}

/** Whether a failed step is one of those looked for; its id was bounded before. */
export function isLookedFor(bounds: RedriveBounds, step: FailedStep): boolean {
  const { failure } = step
  const fits = <Value>(wanted: Value | undefined, actual: Value | undefined): boolean =>
    wanted === undefined || wanted === actual
  return (
    fits(bounds.workflowId, step.workflowId) &&
    fits(bounds.subscriberId, step.subscriberId) &&
    fits(bounds.eventId, step.eventId) &&
    fits<string>(bounds.channel, step.type) &&
    fits(bounds.providerId, failure.providerId ?? step.providerId) &&
    fits(bounds.reason, failure.reason) &&
    (bounds.errorContains === undefined || contains(failure.text, bounds.errorContains))
  )
}

/** Part of the text is JSON, where quotes and new lines are written otherwise. */
function contains(text: string, wanted: string): boolean {
  const [within, plain] = [text.toLowerCase(), wanted.toLowerCase()]
  return within.includes(plain) || within.includes(JSON.stringify(plain).slice(1, -1))
}

/** Redrives and retractions are kept for this long. */
export const recoveriesKeptMs = 90 * 24 * 60 * 60_000

/** `buried`: it met a fault of ours again and again, and is listed among what was buried. */
export const redriveStates = ['running', 'completed', 'stopped', 'buried'] as const
export type RedriveState = (typeof redriveStates)[number]

export interface Redrive {
  readonly _id: string
  readonly state: RedriveState
  readonly filter: RedriveFilter
  /** Failed steps looked at so far. */
  readonly lookedAt: number
  /** Notifications that fit, and what became of them. */
  readonly matched: number
  readonly redriven: number
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>
  readonly requestedBy: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly endedAt?: string
}

export interface Retraction {
  readonly _id: string
  readonly state: RedriveState
  readonly transactionId: string
  readonly canceled: number
  readonly removed: number
  /** By channel: messages that a provider has accepted, which cannot be retracted. */
  readonly sent: Readonly<Partial<Record<Channel, number>>>
  readonly requestedBy: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly endedAt?: string
}
