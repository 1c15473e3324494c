// Why a subscriber was notified, or was not: a notification's steps as sentences, and the same as data.
import type { Sql, Statement } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Channel } from '../../domain/delivery/integration.ts'
import { isChannel } from '../../domain/delivery/integration.ts'
import type { JobState, JobStatus } from '../../domain/delivery/job.ts'
import { endedStatuses } from '../../domain/delivery/job.ts'
import { firstIdAt, idsOfMessages, jobIdOf, timestampOfId } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { grouped } from '../../domain/grouped.ts'
import type { StoredDetail } from '../../domain/insight/execution-detail.ts'
import type { Why, WhyAbsent, WhyMessage, WhyStep } from '../../domain/insight/why.ts'
import type { MessageStatus } from '../../domain/messages/message.ts'
import { invalidField, notFound } from '../../domain/problem.ts'
import { optionalTimestamp } from '../../domain/time/timestamp-parameter.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { StoredDefinition } from '../../store/workflows/workflows.ts'
import { pinnedIdentifier } from '../../store/workflows/workflows.ts'
import { findAbsence } from './why-absent.ts'
import type { KnownIntegration } from './why-integrations.ts'
import { knownIntegrations, whyIntegrations } from './why-integrations.ts'
import type { Data } from './why-sentences.ts'
import { thingOf } from './why-sentences.ts'
import type { StepJob } from './why-step.ts'
import { calledStep, isOpen, whyStepOf } from './why-step.ts'

/** Four statements, however many steps and messages there are. */
export async function whyNotification(db: Sql, environment: Environment, id: string): Promise<Why> {
  if (!isUuid(id)) throw invalidField('notificationId', 'notificationId must be a UUID, as the activity lists it', id)
  const why = await findWhy(db, environment, id)
  if (why === undefined) throw notFound(`Notification ${id} was not found`)
  return why
}

export interface SubscriberQuestion {
  readonly subscriberId: string
  /** The workflow's identifier. */
  readonly workflow: string
  /** ISO 8601; absent for the last one of all. */
  readonly at?: string | undefined
}

/** The last notification of the workflow for the subscriber at or before the given time, or why there is none. */
export async function whySubscriber(
  db: Sql,
  environment: Environment,
  question: SubscriberQuestion,
): Promise<Why | WhyAbsent> {
  const at = optionalTimestamp('at', question.at)
  const before = at === undefined ? undefined : firstIdAt(new Date(at.getTime() + 1))
  const row = await findAsked(db, environment, question, before)
  if (row === undefined) throw notFound(`Workflow ${question.workflow} was not found`)
  const why = row.notification_id === null ? undefined : await findWhy(db, environment, row.notification_id)
  if (why !== undefined) return why
  return findAbsence(db, environment, {
    subscriberId: question.subscriberId,
    subscriber:
      row.subscriber_id === null ? undefined : { id: row.subscriber_id, createdAt: row.subscriber_created_at },
    workflow: { _id: row.workflow_id, identifier: question.workflow, name: row.workflow_name },
    isActive: row.active,
    at,
    before,
  })
}

interface AskedRow {
  readonly workflow_id: string
  readonly workflow_name: string
  readonly active: boolean
  readonly subscriber_id: string | null
  readonly subscriber_created_at: Date
  readonly notification_id: string | null
}

/** No more of a subscriber's notifications are looked through for one of the workflow: some milliseconds' worth. */
const notificationsLookedAtMax = 10_000

async function findAsked(
  db: Sql,
  environment: Environment,
  { workflow, subscriberId }: SubscriberQuestion,
  before: string | undefined,
): Promise<AskedRow | undefined> {
  const inTime: Statement = before === undefined ? sql`true` : sql`found.id < ${before}::uuid`
  return db.row<AskedRow>(sql`
    select w.id as workflow_id, w.name as workflow_name, w.active, s.id as subscriber_id,
      s.created_at as subscriber_created_at, n.id as notification_id
    from workflows w
    left join lateral (select found.id, found.created_at from subscribers found
      where found.environment_id = ${environment.id} and found.subscriber_id = ${subscriberId}
        and found.deleted_at is null limit 1) as s on true
    left join lateral (
      select newest.id from (
        select found.id, found.version_id from notifications found
        where found.environment_id = ${environment.id} and found.subscriber_id = s.id and ${inTime}
        order by found.id desc limit ${notificationsLookedAtMax}) as newest
      where newest.version_id = any(array(
        select v.id from workflow_versions v where v.environment_id = ${environment.id} and v.workflow_id = w.id))
      order by newest.id desc limit 1) as n on true
    where w.environment_id = ${environment.id} and w.identifier = ${workflow} and w.deleted_at is null`)
}

interface NotificationRow {
  readonly id: string
  readonly event_id: string
  readonly transaction_id: string
  readonly workflow_id: string
  readonly identifier: string
  readonly definition: StoredDefinition
  /** Null once the person was erased. */
  readonly subscriber_id: string | null
  /** The integration that the event asks for by name. */
  readonly requested_email: string | null
  readonly requested_sms: string | null
  readonly integrations: KnownIntegration[]
  /** Of the event; null for none. */
  readonly warnings: string[] | null
}

async function findWhy(db: Sql, environment: Environment, id: string): Promise<Why | undefined> {
  const row = await findNotification(db, environment, id)
  if (row === undefined) return undefined
  const jobIds = row.definition.steps.map((_, index) => jobIdOf(row.event_id, row.id, index))
  const jobs = new Map((await findJobs(db, environment, jobIds)).map((job) => [job.id, job]))
  const messages = await findMessages(db, environment, row.event_id, [...jobs.keys()])
  const windows = await findWindows(db, environment, [...jobs.values()])
  const merged = [...jobs.values()].find((job) => job.state?.digestedNotificationId !== undefined)
  const steps: WhyStep[] = []
  for (const [index, step] of row.definition.steps.entries()) {
    const job = jobs.get(jobIds[index] ?? '')
    // The steps behind one that was merged have no window of their own.
    const state = job?.status === 'merged' ? (merged?.state ?? job.state) : job?.state
    const before = steps.filter(({ status }) => status !== 'inactive')
    const said = messages.get(job?.id ?? '') ?? []
    const window = windowData(row.id, state ?? {}, windows.get(state?.windowId ?? ''))
    const whyStep = whyStepOf({ step, job: job && stepJobOf(job), messages: said.map(messageOf), window, before })
    const requested = whyStep.type === 'sms' ? row.requested_sms : row.requested_email
    const integrations = whyIntegrations(whyStep, row.integrations, requested ?? undefined)
    steps.push(integrations === undefined ? whyStep : { ...whyStep, integrations })
  }
  const subscriberId = row.subscriber_id ?? ''
  return {
    notificationId: row.id,
    transactionId: row.transaction_id,
    workflow: { _id: row.workflow_id, identifier: row.identifier, name: row.definition.name },
    subscriberId,
    at: timestampOfId(row.id).toISOString(),
    summary: summaryOf(steps),
    steps,
    ...(row.warnings === null ? {} : { warnings: row.warnings }),
  }
}

async function findNotification(db: Sql, environment: Environment, id: string): Promise<NotificationRow | undefined> {
  return db.row<NotificationRow>(sql`
    select n.id, n.event_id, e.transaction_id, e.warnings, w.id as workflow_id, ${pinnedIdentifier} as identifier, v.definition,
      s.subscriber_id, e.overrides->'email'->>'integrationIdentifier' as requested_email,
      e.overrides->'sms'->>'integrationIdentifier' as requested_sms, ${knownIntegrations(environment)} as integrations
    from notifications n
    cross join lateral (select found.transaction_id, found.overrides, found.warnings from events found
      where found.environment_id = ${environment.id} and found.id = n.event_id limit 1) as e
    cross join lateral (select * from workflow_versions found
      where found.environment_id = ${environment.id} and found.id = n.version_id limit 1) as v
    cross join lateral (select * from workflows found
      where found.environment_id = ${environment.id} and found.id = v.workflow_id limit 1) as w
    left join lateral (select found.subscriber_id from subscribers found
      where found.environment_id = ${environment.id} and found.id = n.subscriber_id limit 1) as s on true
    where n.environment_id = ${environment.id} and n.id = ${id}`)
}

interface JobRow {
  readonly id: string
  readonly status: JobStatus
  readonly state: JobState | null
  readonly details: StoredDetail[]
  readonly due_at: Date | null
  readonly is_leased: boolean
  readonly updated_at: Date
}

async function findJobs(db: Sql, environment: Environment, ids: readonly string[]): Promise<JobRow[]> {
  return db.rows<JobRow>(sql`
    select j.id, j.status, j.state, j.details, j.due_at, j.lease is not null as is_leased, j.updated_at
    from unnest(${ids}::uuid[]) as asked (id)
    cross join lateral (select * from jobs found
      where found.environment_id = ${environment.id} and found.id = asked.id limit 1) as j`)
}

function stepJobOf({ status, details, due_at: dueAt, is_leased: isLeased, updated_at: updatedAt }: JobRow): StepJob {
  // While a worker has it, its due_at is the end of the lease; if it is not later, it is simply due.
  const isPutOff = dueAt !== null && !isLeased && !endedStatuses.has(status) && dueAt > updatedAt
  return { status, details, nextAttemptAt: isPutOff ? dueAt.toISOString() : undefined }
}

interface MessageRow {
  readonly id: string
  readonly job_id: string
  readonly channel: Channel
  readonly status: MessageStatus | null
  readonly provider_id: string | null
  readonly error_text: string | null
  readonly retracted_at: Date | null
}

/** One per device token, of which a subscriber has a limited number at a provider. */
const messagesPerJobMax = 1_000

/** By job, oldest first; those on their way too, which no list shows yet. */
async function findMessages(
  db: Sql,
  environment: Environment,
  eventId: string,
  jobIds: readonly string[],
): Promise<Map<string, MessageRow[]>> {
  if (jobIds.length === 0) return new Map()
  const ranges = jobIds.map((jobId) => idsOfMessages(eventId, jobId))
  const rows = await db.rows<MessageRow>(sql`
    select m.id, m.job_id, m.channel, m.status, m.provider_id, m.error_text, m.retracted_at
    from unnest(${jobIds}::uuid[], ${ranges.map((range) => range.from)}::uuid[], ${ranges.map((range) => range.to)}::uuid[])
      as k (job_id, from_id, to_id)
    cross join lateral (
      select * from messages m
      where m.environment_id = ${environment.id} and m.id between k.from_id and k.to_id and m.job_id = k.job_id
        and (m.deleted_at is null or m.retracted_at is not null)
      order by m.id limit ${messagesPerJobMax}) as m
    order by m.created_at, m.id`)
  return grouped(rows, (row) => row.job_id)
}

const messageOf = (row: MessageRow): WhyMessage => ({
  _id: row.id,
  channel: row.channel,
  ...(row.status === null ? {} : { status: row.status }),
  ...(row.provider_id === null ? {} : { providerId: row.provider_id }),
  ...(row.error_text === null ? {} : { errorText: row.error_text }),
  ...(row.retracted_at === null ? {} : { retractedAt: row.retracted_at.toISOString() }),
})

interface WindowRow {
  readonly id: string
  readonly notification_id: string | null
  readonly transaction_id: string | null
  readonly event_count: number
  readonly due_at: Date
  readonly closed_at: Date | null
}

async function findWindows(
  db: Sql,
  environment: Environment,
  jobs: readonly JobRow[],
): Promise<Map<string, WindowRow>> {
  const ids = [...new Set(jobs.flatMap((job) => job.state?.windowId ?? []))]
  if (ids.length === 0) return new Map()
  const rows = await db.rows<WindowRow>(sql`
    select d.id, d.notification_id, e.transaction_id, d.event_count, d.due_at, d.closed_at
    from unnest(${ids}::uuid[]) as asked (id)
    cross join lateral (select * from digest_windows found
      where found.environment_id = ${environment.id} and found.id = asked.id limit 1) as d
    left join lateral (select found.event_id from notifications found
      where found.environment_id = ${environment.id} and found.id = d.notification_id limit 1) as n on true
    left join lateral (select found.transaction_id from events found
      where found.environment_id = ${environment.id} and found.id = n.event_id limit 1) as e on true`)
  return new Map(rows.map((row) => [row.id, row]))
}

/** The data of a digest or a bundle; windows are swept some time after they closed. */
function windowData(notificationId: string, state: JobState, window: WindowRow | undefined): Data {
  // One that took the digest over, as its opener was cancelled, was merged into that.
  const isOwner = window?.notification_id === notificationId
  const opener = state.digestedNotificationId
  const mergedInto = isOwner ? opener : opener && (window?.notification_id ?? opener)
  return {
    ...(state.digestValue === undefined ? {} : { digestValue: state.digestValue }),
    ...(mergedInto === undefined ? {} : { mergedIntoNotificationId: mergedInto }),
    ...(mergedInto === undefined || isOwner || !window?.transaction_id
      ? {}
      : { mergedIntoTransactionId: window.transaction_id }),
    ...(window === undefined ? {} : { windowEvents: window.event_count, windowEndsAt: window.due_at.toISOString() }),
    ...(window?.closed_at ? { windowClosedAt: window.closed_at.toISOString() } : {}),
  }
}

/** What the subscriber received, and the first step that did not do what it should: one that failed before one that was skipped. */
function summaryOf(steps: readonly WhyStep[]): string {
  const active = steps.filter(({ status }) => status !== 'inactive')
  const notified = active.filter(
    ({ type, status, messages }) =>
      isChannel(type) &&
      ((status === 'completed' && messages.length === 0) ||
        messages.some((message) => message.status === 'sent' && message.retractedAt === undefined)),
  )
  const names = [...new Set(notified.map(({ type }) => thingOf(type)))].join(', ')
  const open = active.find(isOpen)
  const lead =
    names === ''
      ? `The subscriber was not notified${open === undefined ? '' : ' yet'}.`
      : `The subscriber was notified by ${names}.`
  const other =
    open ??
    active.find(({ status }) => status === 'failed') ??
    active.find((step) => step.status !== 'completed' || (isChannel(step.type) && !notified.includes(step)))
  return other === undefined ? lead : `${lead} ${capitalized(calledStep(other))}: ${other.sentence}`
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
