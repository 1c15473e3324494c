// The activity: what was triggered and what happened, for each subscriber.
import type { Sql } from '../../db/sql.ts'
import { prepared, shortRead, sql, unseen } from '../../db/sql.ts'
import { idsOfMessages, jobIdOf, timestampOfId } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { grouped } from '../../domain/grouped.ts'
import type { Activity, ActivityJob, ActivitySubscriber } from '../../domain/insight/activity.ts'
import type { Message } from '../../domain/messages/message-views.ts'
import {
  jobWithoutAddresses,
  messageWithoutAddresses,
  payloadWithoutAddress,
} from '../../domain/messages/shown-addresses.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import { mapInTurns, Turn } from '../../domain/turn.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { WorkflowOrigin } from '../../domain/workflows/workflow.ts'
import { channelsOf } from '../../domain/workflows/workflow.ts'
import { originWord } from '../../domain/workflows/workflow-v2.ts'
import { findOrigins } from '../../store/messages/origins.ts'
import type { MessageRow } from '../../store/messages/rows.ts'
import { isListed, messageColumns } from '../../store/messages/rows.ts'
import { messageOf } from '../../store/messages/views.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { readCharactersMax, throwIfHeavy, writtenCharactersMax } from '../page/page-weight.ts'
import type { ActivityFacts, JobRow } from './activity-facts.ts'
import { findActivityFacts } from './activity-facts.ts'
import type { ActivityQuery } from './activity-filters.ts'
import { filterOf } from './activity-filters.ts'
import { activityJobOf } from './activity-job.ts'
import type { ActivityRow } from './activity-rows.ts'
import { completed, notificationColumns } from './activity-rows.ts'
import { findNotifications } from './activity-search.ts'
import type { StampedJobs } from './activity-stamp.ts'
import { areCovered, stampOf } from './activity-stamp.ts'
import { activityStepOf } from './activity-step.ts'
import type { PinnedVersion, PinnedVersions } from './pinned-versions.ts'

/** A job with its messages. */
export interface DetailedJob extends ActivityJob {
  readonly messages: readonly Message[]
}

/** For callers who may not see by what people are reached. */
export async function activityWithoutAddresses<Job extends ActivityJob>(
  activity: Activity<Job>,
  turn = new Turn(),
): Promise<Activity<Job>> {
  const jobs: Job[] = []
  for (const job of await mapInTurns(activity.jobs, jobWithoutAddresses, turn)) {
    const { messages } = job as Partial<Pick<DetailedJob, 'messages'>>
    const shown = messages && { messages: await mapInTurns(messages, messageWithoutAddresses, turn) }
    jobs.push({ ...job, ...shown })
  }
  return { ...activity, payload: payloadWithoutAddress(activity.payload), jobs }
}

export interface StampedActivityPage {
  readonly page: OffsetPage<Activity>
  /** Undefined where it shows something that the stamp does not cover. */
  readonly stamped: StampedJobs | undefined
}

/** Newest first, with the versions of the rows it was read from. The interface has no count of this list. */
export async function stampedActivityPage(
  db: Sql,
  environment: Environment,
  query: ActivityQuery,
  versions: PinnedVersions,
): Promise<StampedActivityPage> {
  const { page, limit } = query
  const slice = { offset: page * limit, limit: limit + 1 }
  const rows = await findNotifications(db, environment, filterOf(query), slice, versions)
  const shown = await wholeRows(db, environment, rows.slice(0, limit))
  const { data, facts } =
    shown.length === 0 ? { data: [], facts: undefined } : await activitiesOf(db, environment, shown, versions)
  const isStamped = facts !== undefined && data.length === shown.length && areCovered(rows, facts)
  return {
    page: { data, hasMore: rows.length > limit, pageSize: limit, page },
    stamped: isStamped ? stampOf(rows, facts) : undefined,
  }
}

/** With what was left out of some because there were more of them at first. */
async function wholeRows(db: Sql, environment: Environment, rows: readonly ActivityRow[]): Promise<ActivityRow[]> {
  const characters = rows.reduce((sum, row) => sum + (row.characters ?? 0), 0)
  throwIfHeavy(rows.length, characters, readCharactersMax)
  if (rows.every(({ fits }) => fits)) return [...rows]
  const found = sql`
    select ${notificationColumns} from notifications n
    where n.environment_id = ${environment.id} and n.id = any(${rows.map(({ id }) => id)}::uuid[])`
  const whole = new Map((await db.rows<ActivityRow>(completed(environment, found))).map((row) => [row.id, row]))
  return rows.flatMap(({ id }) => whole.get(id) ?? [])
}

/** One notification, with the messages of each step; undefined when there is none. */
export async function findActivity(
  db: Sql,
  environment: Environment,
  id: string,
  versions: PinnedVersions,
  /** For callers who see where messages went. */
  sealer?: Sealer,
): Promise<Activity<DetailedJob> | undefined> {
  if (!isUuid(id)) return undefined
  const found = sql`
    select ${notificationColumns} from notifications n where n.environment_id = ${environment.id} and n.id = ${id}`
  const row = await db.row<ActivityRow>(shortRead('activity-one', completed(environment, found)))
  const [activity] = row === undefined ? [] : (await activitiesOf(db, environment, [row], versions)).data
  if (row === undefined || activity === undefined) return undefined
  const messages = await findMessages(db, environment, row, activity, sealer)
  const jobs = activity.jobs.map((job) => ({ ...job, messages: messages.get(job._id) ?? [] }))
  return { ...activity, jobs }
}

async function activitiesOf(
  db: Sql,
  environment: Environment,
  rows: readonly ActivityRow[],
  versions: PinnedVersions,
): Promise<{ data: Activity[]; facts: ActivityFacts }> {
  const facts = await findActivityFacts(db, environment, rows, versions)
  const written = rows.map(({ characters, version_id }) => {
    const steps = facts.versions.get(version_id)?.definition.steps.length ?? 0
    return (characters ?? 0) * (1 + steps)
  })
  throwIfHeavy(
    rows.length,
    written.reduce((sum, one) => sum + one, 0),
    writtenCharactersMax,
  )
  return { data: rows.flatMap((row) => activityOf(environment, row, facts) ?? []), facts }
}

/** By job, oldest first. */
async function findMessages(
  db: Sql,
  environment: Environment,
  { event_id: eventId, characters }: ActivityRow,
  activity: Activity,
  sealer: Sealer | undefined,
): Promise<Map<string, Message[]>> {
  const jobIds = activity.jobs.map((job) => job._id)
  // Each of them is shown with the payload.
  const fitting = Math.floor(writtenCharactersMax / 2 / ((characters ?? 1) || 1) / (jobIds.length || 1))
  const ranges = jobIds.map((jobId) => idsOfMessages(eventId, jobId))
  const rows = await db.rows<MessageRow>(
    prepared(
      'activity-messages',
      sql`select ${messageColumns}
          from unnest(${jobIds}::uuid[], ${ranges.map((range) => range.from)}::uuid[], ${ranges.map((range) => range.to)}::uuid[])
            as k (job_id, from_id, to_id)
          cross join lateral (
            select * from messages m
            where m.environment_id = ${environment.id} and m.id between k.from_id and k.to_id and m.job_id = k.job_id
              and ${isListed}
            order by m.id limit ${unseen(sql`${Math.max(1, Math.min(fitting, messagesPerJobMax))}::bigint`)}) as m
          order by m.created_at, m.id`,
    ),
  )
  const origins = await findOrigins(db, environment, rows)
  return grouped(
    rows.map((row) => messageOf(environment, row, origins, sealer)),
    (message) => message._jobId,
  )
}

/** One per device token, of which a subscriber has a limited number at a provider. */
const messagesPerJobMax = 1_000

/** Undefined in the short time in which an old event's partition has been dropped and its notifications' has not. */
function activityOf(environment: Environment, row: ActivityRow, facts: ActivityFacts): Activity | undefined {
  const version = facts.versions.get(row.version_id)
  if (row.transaction_id === null || version === undefined) return undefined
  const { definition } = version
  const createdAt = timestampOfId(row.id).toISOString()
  const jobs = jobsOf(row, version, facts, createdAt)
  // No spreads in so large a literal: its object would be slow to make and slow to serialise.
  return {
    _id: row.id,
    _environmentId: environment.id,
    _organizationId: environment.organizationId,
    _subscriberId: row.subscriber_id,
    _templateId: version.workflowId,
    _digestedNotificationId: digestedIn(facts.jobs.get(row.id) ?? []),
    transactionId: row.transaction_id,
    createdAt,
    updatedAt: jobs.reduce((latest, job) => (job.updatedAt > latest ? job.updatedAt : latest), createdAt),
    channels: channelsOf(definition.steps),
    subscriber: subscriberOf(row),
    template: templateOf(version, row.origin),
    jobs,
    payload: row.payload,
    controls: {},
    to: row.recipient ?? (row.recipient_id === null ? {} : { subscriberId: row.recipient_id }),
    tags: definition.tags,
    topics: topicsOf(row),
    severity: row.severity ?? 'none',
    critical: definition.critical,
    contextKeys: row.context_keys ?? [],
    isTest: row.is_test,
    warnings: row.warnings ?? undefined,
  }
}

/** One a step that is active, in the steps' order. */
function jobsOf(
  row: ActivityRow,
  version: PinnedVersion,
  { jobs, integrationStatuses, digests }: ActivityFacts,
  createdAt: string,
): ActivityJob[] {
  const rows = jobs.get(row.id) ?? []
  return version.definition.steps.flatMap((step, index) => {
    if (!step.active) return []
    const job = rows.find((candidate) => candidate.step === index)
    const id = job?.id ?? jobIdOf(row.event_id, row.id, index)
    const shown = version.ofActivities[index] ?? activityStepOf(step)
    return [activityJobOf({ id, step, shown, row: job, event: row, createdAt, integrationStatuses, digests })]
  })
}

/** The notification that continues for this one, if a digest merged them. */
function digestedIn(jobs: readonly JobRow[]): string | undefined {
  return jobs.find(({ state }) => state?.digestedNotificationId !== undefined)?.state?.digestedNotificationId
}

function subscriberOf(row: ActivityRow): ActivitySubscriber | undefined {
  if (row.recipient_id === null || row.is_deleted) return undefined
  return {
    _id: row.subscriber_id,
    subscriberId: row.recipient_id,
    firstName: row.first_name ?? undefined,
    lastName: row.last_name ?? undefined,
    email: row.email ?? undefined,
    phone: row.phone ?? undefined,
  }
}

/** As it was when the event came; its identifier as it is now. */
function templateOf(
  { workflowId, identifier, definition }: PinnedVersion,
  origin: WorkflowOrigin,
): Activity['template'] {
  const named = (names: readonly string[]) => names.map((name) => ({ name }))
  return {
    _id: workflowId,
    name: definition.name,
    origin: originWord(origin),
    triggers: [
      {
        type: 'event',
        identifier,
        variables: named(definition.variables),
        subscriberVariables: named(definition.subscriberVariables),
      },
    ],
  }
}

/** The topics that reached this subscriber, by the keys they had. */
function topicsOf({ topic_ids, event_topic_ids, event_topic_keys }: ActivityRow): Activity['topics'] {
  return (topic_ids ?? []).flatMap((topicId) => {
    const topicKey = event_topic_keys?.[event_topic_ids?.indexOf(topicId) ?? -1]
    return topicKey === undefined ? [] : [{ _topicId: topicId, topicKey }]
  })
}
