// Redrives notifications: what failed of them is due again, in the transaction it is given.
import type { Tx } from '../../db/sql.ts'
import type { JobStatus } from '../../domain/delivery/job.ts'
import type {
  RedrivableEvent,
  RedrivableJob,
  RedrivableMessage,
  RedrivePlan,
  SkipReason,
  Way,
} from '../../domain/delivery/redrive.ts'
import { isLeftUnsure, redrivenState, redrivePlan } from '../../domain/delivery/redrive.ts'
import { jobIdOf } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { grouped } from '../../domain/grouped.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { SuppressionChannel } from '../../domain/people/suppression.ts'
import { comparedAddress, suppressionHolds } from '../../domain/people/suppression.ts'
import type { NotificationStep, WorkflowVersion } from '../../domain/workflows/workflow.ts'
import type { RecoverableNotification } from '../../store/jobs/redrive.ts'
import { lockEvents, lockRedrivable, redriveJobs, reopenSteps } from '../../store/jobs/redrive.ts'
import type { LockedMessage } from '../../store/messages/redrive.ts'
import { lockMessagesOfJobs, redriveMessages } from '../../store/messages/redrive.ts'
import { findListed } from '../../store/people/suppressions.ts'
import { findVersions } from '../../store/workflows/workflows.ts'
import type { World } from '../../world/world.ts'

export interface RedriveCall {
  /** Each once. */
  readonly notifications: readonly RecoverableNotification[]
  /** The key that asks. */
  readonly by: string
  /** Set where a filter found them. */
  readonly redriveId?: string
  /** The lane for many, so that no one else waits for them; null keeps the lane they had. */
  readonly lane: number | null
  readonly now: Date
  /** Which of their failures are meant; all unless given. */
  readonly isMeant?: (notification: RecoverableNotification, job: RedrivableJob) => boolean
  /** Whether messages that may have been sent are sent again as well. */
  readonly includesUnsure?: boolean
}

export interface RedrivenStep {
  readonly step: NotificationStep
  readonly way: Way
  /** How many of its messages are sent again. */
  readonly messages: number
}

/** By notification: its steps that are due again, or why there are none. */
export type RedriveResult = ReadonlyMap<
  string,
  { readonly steps: readonly RedrivenStep[] } | { readonly skipped: SkipReason }
>

const statusOf: Readonly<Record<Way, JobStatus>> = { send: 'running', decide: 'queued', wait: 'delayed' }

/**
 * Locks events, jobs and messages in this order. Of two at once, the second finds the jobs open. A node that still had
 * one of them in flight has lost its lease long ago, and whatever it settles is fenced by that.
 */
export async function redriveNotifications(
  tx: Tx,
  world: World,
  environment: Environment,
  call: RedriveCall,
): Promise<RedriveResult> {
  const { notifications, by, redriveId, lane, now, isMeant = () => true, includesUnsure = false } = call
  const eventIds = [...new Set(notifications.map((one) => one.eventId))]
  const events = new Map((await lockEvents(tx, environment, eventIds, 'share')).map((event) => [event.id, event]))
  const versionIds = [...new Set(notifications.map((one) => one.versionId))]
  const versions = new Map((await findVersions(tx, environment, versionIds)).map((version) => [version.id, version]))
  const ids = notifications.flatMap((one) => jobIdsOf(one, versions.get(one.versionId)))
  const jobs = await lockRedrivable(tx, environment, ids)
  const eventOf = new Map(notifications.map((one) => [one.id, one.eventId]))
  const failed = jobs.filter((job) => job.status === 'failed' || (includesUnsure && isLeftUnsure(job)))
  const locked = await lockMessagesOfJobs(
    tx,
    environment,
    failed.map((job) => ({ id: job.id, eventId: eventOf.get(job.notificationId) ?? '' })),
  )
  const critical = new Set(
    notifications.filter((one) => versions.get(one.versionId)?.definition.critical === true).map((one) => one.id),
  )
  const ownerOf = new Map(jobs.map((job) => [job.id, job.notificationId]))
  const messages = await withSuppressed(tx, world, environment, locked, ({ jobId }) =>
    critical.has(ownerOf.get(jobId) ?? ''),
  )
  const messagesOf = grouped(messages, (message) => ownerOf.get(message.jobId) ?? '')
  const jobsOf = grouped(jobs, (job) => job.notificationId)
  const plans = notifications.map((notification) => {
    const { files = 0, filesKept = 0, isCanceled = false } = events.get(notification.eventId) ?? {}
    const event: RedrivableEvent = { isCanceled, areFilesGone: filesKept < files }
    const plan = redrivePlan({
      event: events.has(notification.eventId) ? event : undefined,
      steps: versions.get(notification.versionId)?.definition.steps ?? [],
      jobs: jobsOf.get(notification.id) ?? [],
      messages: messagesOf.get(notification.id) ?? [],
      isMeant: (job) => isMeant(notification, job),
      includesUnsure,
    })
    return { notification, plan }
  })
  const made = plans.flatMap(({ plan }) => (typeof plan === 'string' ? [] : [plan]))
  await write(tx, environment, made, { by, redriveId, lane, now })
  return new Map(
    plans.map(({ notification, plan }) => [
      notification.id,
      typeof plan === 'string'
        ? { skipped: plan }
        : { steps: redrivenStepsOf(plan, versions.get(notification.versionId)) },
    ]),
  )
}

export function jobIdsOf({ id, eventId }: RecoverableNotification, version: WorkflowVersion | undefined): string[] {
  const steps = version?.definition.steps ?? []
  return steps.flatMap(({ active }, step) => (active ? [jobIdOf(eventId, id, step)] : []))
}

/** Whoever is on the suppression list by now gets nothing: not even what was created for them before. */
async function withSuppressed(
  tx: Tx,
  world: World,
  environment: Environment,
  messages: readonly LockedMessage[],
  isCritical: (message: LockedMessage) => boolean,
): Promise<RedrivableMessage[]> {
  const asked = new Map(messages.flatMap((message) => listable(message)).map((one) => [keyOf(one), one]))
  const found = await findListed(tx, world.sealer, environment, [...asked.values()])
  const listed = new Map(found.map((suppression) => [keyOf(suppression), suppression]))
  return messages.map((message) => {
    const { addresses: _, ...rest } = message
    const isSuppressed = listable(message).some((one) => {
      const suppression = listed.get(keyOf(one))
      return suppression !== undefined && suppressionHolds(suppression.reason, isCritical(message))
    })
    return { ...rest, isSuppressed }
  })
}

const keyOf = ({ channel, address }: { channel: string; address: string }): string => `${channel}/${address}`

function listable({ channel, addresses }: LockedMessage): { channel: SuppressionChannel; address: string }[] {
  if (channel !== 'email' && channel !== 'sms') return []
  return addresses.map((address) => ({ channel, address: comparedAddress(channel, address) }))
}

async function write(
  tx: Tx,
  environment: Environment,
  plans: readonly RedrivePlan[],
  { by, redriveId, lane, now }: Pick<RedriveCall, 'by' | 'lane' | 'now'> & { redriveId: string | undefined },
): Promise<void> {
  const jobs = plans.flatMap((plan) => plan.jobs)
  const raw = { by, ...(redriveId === undefined ? {} : { redriveId }) }
  await redriveJobs(
    tx,
    environment,
    jobs.map((plan) => ({ id: plan.job.id, status: statusOf[plan.way], state: redrivenState(plan, redriveId) })),
    { details: [detail(now, 'redriven', { raw })], lane, now },
  )
  await reopenSteps(
    tx,
    environment,
    plans.flatMap((plan) => plan.reopenedIds),
  )
  await redriveMessages(
    tx,
    environment,
    jobs.flatMap(({ messageIds }) => messageIds),
    now,
  )
}

function redrivenStepsOf(plan: RedrivePlan, version: WorkflowVersion | undefined): RedrivenStep[] {
  return plan.jobs.flatMap(({ job, way, messageIds }) => {
    const step = version?.definition.steps[job.step]
    return step === undefined ? [] : [{ step, way, messages: messageIds.length }]
  })
}
