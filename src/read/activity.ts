// The activity: what was triggered and what became of it, for each subscriber (interface 4.14 and 4.15).
import type { Sql } from '../db/sql.ts'
import { prepared, sql } from '../db/sql.ts'
import type { Activity, ActivityJob, ActivitySubscriber } from '../domain/activity.ts'
import { idsOfMessages, jobIdOf, momentOfId } from '../domain/derived-id.ts'
import type { Environment } from '../domain/environment.ts'
import { grouped } from '../domain/grouped.ts'
import type { Message } from '../domain/message-views.ts'
import { isUuid } from '../domain/uuid-v7.ts'
import { channelsOf } from '../domain/workflow.ts'
import { originWord } from '../domain/workflow-v2.ts'
import { findOrigins } from '../store/messages/origins.ts'
import type { MessageRow } from '../store/messages/rows.ts'
import { isListed, messageColumns } from '../store/messages/rows.ts'
import { messageOf } from '../store/messages/views.ts'
import type { ActivityEvent, ActivityFacts, ActivityPerson, PinnedVersion } from './activity-facts.ts'
import { findActivityFacts } from './activity-facts.ts'
import type { ActivityQuery } from './activity-filters.ts'
import { filterOf } from './activity-filters.ts'
import { activityJobOf } from './activity-job.ts'
import type { NotificationRow } from './activity-rows.ts'
import { notificationColumns } from './activity-rows.ts'
import { findNotifications } from './activity-search.ts'
import type { OffsetPage } from './offset-page.ts'

/** A job with what it said. */
export interface DetailedJob extends ActivityJob {
  readonly messages: readonly Message[]
}

/** Newest first. The interface has no count of this list. */
export async function activityPage(
  db: Sql,
  environment: Environment,
  query: ActivityQuery,
): Promise<OffsetPage<Activity>> {
  const { page, limit } = query
  const slice = { offset: page * limit, limit: limit + 1 }
  const rows = await findNotifications(db, environment, filterOf(query), slice)
  const shown = rows.slice(0, limit)
  const data = shown.length === 0 ? [] : await activitiesOf(db, environment, shown)
  return { data, hasMore: rows.length > limit, pageSize: limit, page }
}

/** One notification, with the messages of each step; undefined when there is none. */
export async function findActivity(
  db: Sql,
  environment: Environment,
  id: string,
): Promise<Activity<DetailedJob> | undefined> {
  if (!isUuid(id)) return undefined
  const row = await db.row<NotificationRow>(sql`
    select ${notificationColumns} from notifications n where n.environment_id = ${environment.id} and n.id = ${id}`)
  const [activity] = row === undefined ? [] : await activitiesOf(db, environment, [row])
  if (row === undefined || activity === undefined) return undefined
  const messages = await findMessages(db, environment, row.event_id, activity)
  const jobs = activity.jobs.map((job) => ({ ...job, messages: messages.get(job._id) ?? [] }))
  return { ...activity, jobs }
}

async function activitiesOf(db: Sql, environment: Environment, rows: readonly NotificationRow[]): Promise<Activity[]> {
  const facts = await findActivityFacts(db, environment, rows)
  return rows.flatMap((row) => activityOf(environment, row, facts) ?? [])
}

/** By job, oldest first. */
async function findMessages(
  db: Sql,
  environment: Environment,
  eventId: string,
  activity: Activity,
): Promise<Map<string, Message[]>> {
  const jobIds = activity.jobs.map((job) => job._id)
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
            order by m.id limit ${messagesPerJobMax}) as m
          order by m.created_at, m.id`,
    ),
  )
  const origins = await findOrigins(db, environment, rows)
  return grouped(
    rows.map((row) => messageOf(environment, row, origins)),
    (message) => message._jobId,
  )
}

/** One a device token, of which a subscriber has at most so many at a provider. */
const messagesPerJobMax = 1_000

/** Undefined in the moment in which an old event's partition has gone and its notifications' has not. */
function activityOf(environment: Environment, row: NotificationRow, facts: ActivityFacts): Activity | undefined {
  const event = facts.events.get(row.event_id)
  const version = facts.versions.get(row.version_id)
  if (event === undefined || version === undefined) return undefined
  const { definition } = version
  const createdAt = momentOfId(row.id).toISOString()
  const jobs = jobsOf(row, event, version, facts, createdAt)
  const person = facts.people.get(row.subscriber_id)
  const digestedId = jobs.flatMap((job) => facts.jobs.get(job._id)?.state?.digestedNotificationId ?? [])[0]
  return {
    _id: row.id,
    _environmentId: environment.id,
    _organizationId: environment.organizationId,
    _subscriberId: row.subscriber_id,
    _templateId: version.workflowId,
    ...(digestedId === undefined ? {} : { _digestedNotificationId: digestedId }),
    transactionId: event.transaction_id,
    createdAt,
    updatedAt: jobs.reduce((latest, job) => (job.updatedAt > latest ? job.updatedAt : latest), createdAt),
    channels: channelsOf(definition.steps),
    ...(person === undefined || person.is_deleted ? {} : { subscriber: subscriberOf(person) }),
    template: templateOf(version),
    jobs,
    payload: event.payload,
    controls: {},
    to: row.recipient ?? (person === undefined ? {} : { subscriberId: person.subscriber_id }),
    tags: definition.tags,
    topics: topicsOf(row, event),
    severity: event.severity ?? 'none',
    critical: definition.critical,
    contextKeys: event.context_keys ?? [],
    isTest: event.is_test,
  }
}

/** One a step that is active, in the steps' order. */
function jobsOf(
  row: NotificationRow,
  event: ActivityEvent,
  version: PinnedVersion,
  { jobs, standings, digests }: ActivityFacts,
  createdAt: string,
): ActivityJob[] {
  return version.definition.steps.flatMap((step, index) => {
    if (!step.active) return []
    const id = jobIdOf(row.event_id, row.id, index)
    return [activityJobOf({ id, step, row: jobs.get(id), event, createdAt, standings, digests })]
  })
}

function subscriberOf(person: ActivityPerson): ActivitySubscriber {
  return {
    _id: person.id,
    subscriberId: person.subscriber_id,
    ...(person.first_name === null ? {} : { firstName: person.first_name }),
    ...(person.last_name === null ? {} : { lastName: person.last_name }),
    ...(person.email === null ? {} : { email: person.email }),
    ...(person.phone === null ? {} : { phone: person.phone }),
  }
}

/** As it was when the event came; its identifier as it is now. */
function templateOf({ workflowId, identifier, definition, origin }: PinnedVersion): Activity['template'] {
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
function topicsOf(row: NotificationRow, event: ActivityEvent): Activity['topics'] {
  return (row.topic_ids ?? []).flatMap((topicId) => {
    const topicKey = event.topic_keys?.[event.topic_ids?.indexOf(topicId) ?? -1]
    return topicKey === undefined ? [] : [{ _topicId: topicId, topicKey }]
  })
}
