// Why there is no notification of a workflow for a subscriber, as far as the data shows: by the workflow's last event.
import type { Sql, Statement } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { AbsenceCode, WhyAbsent, WhyReason, WhyWorkflow } from '../../domain/insight/why.ts'
import type { EventWords, JoinedRow, UnwantedThrough } from './why-unwanted.ts'
import { unwantedReasons, unwantedThrough } from './why-unwanted.ts'

export interface Absence {
  readonly subscriberId: string
  /** Undefined if no subscriber has this id now. */
  readonly subscriber: { readonly id: string; readonly createdAt: Date } | undefined
  readonly workflow: WhyWorkflow
  readonly isActive: boolean
  readonly at: Date | undefined
  /** Ids below this are of that time or before. */
  readonly before: string | undefined
}

type Reason = WhyReason<AbsenceCode>

/** Two statements nearly always; a few more where a subscription to a topic has a condition. */
export async function findAbsence(db: Sql, environment: Environment, absence: Absence): Promise<WhyAbsent> {
  const { subscriberId, workflow, at } = absence
  const reasons = await reasonsOf(db, environment, absence)
  const summary = `There is no notification of ${workflow.identifier} for ${subscriberId}${at === undefined ? '' : ` at or before ${at.toISOString()}`}. ${reasons[0]?.sentence ?? ''}`
  return { workflow, subscriberId, ...(at === undefined ? {} : { at: at.toISOString() }), summary, steps: [], reasons }
}

async function reasonsOf(db: Sql, environment: Environment, absence: Absence): Promise<Reason[]> {
  const { subscriberId, subscriber, workflow, isActive, at } = absence
  if (subscriber === undefined) {
    const sentence = `No subscriber has the id ${subscriberId}: it never existed, or it was deleted.`
    return [{ code: 'subscriberUnknown', sentence, data: { subscriberId } }]
  }
  const event = await findLastEvent(db, environment, absence)
  const off: Reason[] = isActive
    ? []
    : [
        {
          code: 'workflowInactive',
          sentence: 'The workflow is inactive: its events are rejected.',
          data: { active: false },
        },
      ]
  if (event === undefined) {
    const when = at === undefined ? '' : ` at or before ${at.toISOString()}`
    const sentence = `No event of ${workflow.identifier} was accepted${when}; rejected events leave no trace.`
    return [{ code: 'noEvent', sentence, data: {} }, ...off]
  }
  const joined = await findJoined(db, environment, event, { id: subscriber.id, workflowId: workflow._id })
  const unwanted = await unwantedThrough(db, environment, {
    event,
    workflowId: workflow._id,
    id: subscriber.id,
    joined,
  })
  return [...reasonsOfEvent(event, absence, subscriber, { joined, unwanted }), ...off]
}

export interface EventRow {
  readonly id: string
  readonly transaction_id: string
  readonly created_at: Date
  readonly actor_id: string | null
  readonly topic_ids: string[] | null
  readonly topic_keys: string[] | null
  readonly excluded: string[] | null
  readonly is_broadcast: boolean
  readonly notified: number
  readonly expanded_at: Date | null
  readonly canceled_at: Date | null
  readonly warnings: string[] | null
}

/**
 * Runs are pinned to versions; a workflow that was saved more often since its last run is searched only among the
 * newest.
 */
const versionsAskedMax = 20
/** An event without recipients is searched only among this many of the newest: it has no index. */
const eventsLookedAtMax = 2_000

/** By the notifications it became, or among the newest of all. */
async function findLastEvent(
  db: Sql,
  environment: Environment,
  { workflow, before }: Absence,
): Promise<EventRow | undefined> {
  const inTime: Statement = before === undefined ? sql`true` : sql`found.id < ${before}::uuid`
  return db.row<EventRow>(sql`
    select e.id, e.transaction_id, e.created_at, e.actor_id, e.topic_ids, e.topic_keys, e.excluded, e.is_broadcast,
      e.notified, e.expanded_at, e.canceled_at, e.warnings
    from (
      select greatest(
        (select n.event_id
         from (select v.id from workflow_versions v
               where v.environment_id = ${environment.id} and v.workflow_id = ${workflow._id}
               order by v.number desc limit ${versionsAskedMax}) as v
         cross join lateral (select found.id, found.event_id from notifications found
           where found.environment_id = ${environment.id} and found.version_id = v.id and ${inTime}
           order by found.id desc limit 1) as n
         order by n.id desc limit 1),
        (select newest.id
         from (select found.id, found.workflow_id from events found
               where found.environment_id = ${environment.id} and ${inTime}
               order by found.id desc limit ${eventsLookedAtMax}) as newest
         where newest.workflow_id = ${workflow._id} order by newest.id desc limit 1)) as id) as last
    cross join lateral (select * from events found
      where found.environment_id = ${environment.id} and found.id = last.id limit 1) as e`)
}

/** When the subscriber joined the topics that the event was sent to, and what is wanted of the workflow through them. */
async function findJoined(
  db: Sql,
  environment: Environment,
  event: EventRow,
  { id, workflowId }: { id: string; workflowId: string },
): Promise<JoinedRow[]> {
  if (event.topic_ids === null || event.topic_ids.length === 0) return []
  return db.rows<JoinedRow>(sql`
    select t.topic_id, t.created_at, t.choice from unnest(${event.topic_ids}::uuid[]) as asked (id)
    cross join lateral (
      select found.topic_id, found.created_at, found.preferences -> ${workflowId}::text as choice
      from topic_subscriptions found
      where found.environment_id = ${environment.id} and found.topic_id = asked.id and found.subscriber_id = ${id}
      limit 1) as t`)
}

/** The first one is what decided; those after it would have decided the same. */
function reasonsOfEvent(
  event: EventRow,
  { subscriberId }: Absence,
  subscriber: { readonly id: string; readonly createdAt: Date },
  { joined, unwanted }: { joined: readonly JoinedRow[]; unwanted: readonly UnwantedThrough[] },
): Reason[] {
  const at = event.created_at.toISOString()
  const last = `The last event (transaction ${event.transaction_id}, ${at})`
  const facts = { transactionId: event.transaction_id, notified: event.notified }
  const reason = (code: AbsenceCode, sentence: string, data: object = {}): Reason => ({
    code,
    at,
    sentence,
    data: { ...facts, ...data },
  })
  const reasons: Reason[] = []
  const topics = event.topic_keys ?? []
  const isFannedOut = event.is_broadcast || topics.length > 0
  const recipients = event.is_broadcast ? 'all subscribers' : namedTopics(topics)
  if (isFannedOut && event.excluded?.includes(subscriberId)) {
    reasons.push(
      reason('excluded', `${last} went to ${recipients}, but \`exclude\` lists ${subscriberId}.`, { topics }),
    )
  }
  if (isFannedOut && event.actor_id === subscriber.id) {
    reasons.push(reason('actor', `${last} went to ${recipients}, but not to its actor ${subscriberId}.`, { topics }))
  }
  if (event.canceled_at !== null) {
    const canceledAt = event.canceled_at.toISOString()
    reasons.push(reason('eventCanceled', `${last} was canceled at ${canceledAt}.`, { canceledAt }))
  } else if (event.expanded_at === null) {
    reasons.push(reason('eventExpanding', `${last} is still being expanded: ${event.notified} notifications so far.`))
  }
  if (subscriber.createdAt > event.created_at) {
    const createdAt = subscriber.createdAt.toISOString()
    reasons.push(
      reason('subscriberCreatedLater', `${last} was accepted before ${subscriberId} was created (${createdAt}).`, {
        createdAt,
      }),
    )
  }
  if (topics.length > 0) {
    const words = { last, subscriberId, reason }
    reasons.push(...topicReasons(event, joined, words), ...unwantedReasons(event, joined, unwanted, words))
  }
  if (topics.length === 0 && !event.is_broadcast) reasons.push(directReason(event, { last, subscriberId, reason }))
  if (reasons.length === 0) {
    reasons.push(
      reason('unclear', `${last} should have reached ${subscriberId}; the reason why it did not is not recorded.`),
    )
  }
  return reasons
}

function topicReasons(
  event: EventRow,
  joined: readonly JoinedRow[],
  { last, subscriberId, reason }: EventWords,
): Reason[] {
  const topics = event.topic_keys ?? []
  if (joined.length === 0) {
    return [
      reason(
        'notInTopic',
        `${last} went to ${namedTopics(topics)}, and ${subscriberId} is not in ${topics.length === 1 ? 'it' : 'any of them'}.`,
        {
          topics,
        },
      ),
    ]
  }
  const keyOf = (id: string): string => topics[event.topic_ids?.indexOf(id) ?? -1] ?? id
  const since = joined.map((one) => ({ topicKey: keyOf(one.topic_id), joinedAt: one.created_at.toISOString() }))
  if (joined.some((one) => one.created_at <= event.created_at)) return []
  const shown = since.map(({ topicKey, joinedAt }) => `${topicKey} at ${joinedAt}`).join(', ')
  return [
    reason('joinedTopicLater', `${last} was accepted before ${subscriberId} joined ${shown}.`, {
      topics,
      joined: since,
    }),
  ]
}

/** It was sent to people by name, or to topics that did not exist. */
function directReason({ notified, warnings }: EventRow, { last, subscriberId, reason }: EventWords): Reason {
  const facts = warnings === null || warnings.length === 0 ? {} : { warnings }
  if (notified === 0 && 'warnings' in facts) {
    return reason('topicUnknown', `${last} had no recipients: ${facts.warnings.join('; ')}.`, facts)
  }
  return reason(
    'notNamed',
    `${last} was for ${notified} other recipients; it named neither ${subscriberId} nor a topic.`,
    facts,
  )
}

const namedTopics = (topics: readonly string[]): string =>
  `${topics.length === 1 ? 'the topic' : 'the topics'} ${topics.join(', ')}`
