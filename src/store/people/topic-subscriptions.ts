// The topic_subscriptions table, who belongs to which topic, and the deleted_topics whose subscriptions have to be
// swept.

import type { Sql, Tx } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { nilId } from '../../domain/nil-id.ts'
import type { SubscriberSummary, Topic, TopicMembership, TopicSubscription } from '../../domain/people/topic.ts'
import { defaultIdentifier } from '../../domain/people/topic.ts'
import type { SubscriptionChoice, SubscriptionChoices } from '../../domain/preferences/subscription-preferences.ts'
import type { TopicColumns } from './topics.ts'
import { topicColumnsOf, topicOfColumns } from './topics.ts'

export interface SubscriptionRow {
  readonly id: string
  readonly identifier: string | null
  readonly subscription_name: string | null
  readonly subscribed_at: Date
  readonly choices: SubscriptionChoices | null
}

export interface SummaryRow {
  readonly subscriber_internal_id: string
  readonly subscriber_id: string
  readonly avatar: string | null
  readonly first_name: string | null
  readonly last_name: string | null
  readonly email: string | null
}

/** Of `topic_subscriptions as s`. */
export const subscriptionColumns = sql`s.id, s.identifier, s.name as subscription_name, s.created_at as subscribed_at,
  s.preferences as choices`
/** Of `subscribers as u`. */
export const summaryColumns = sql`
  u.id as subscriber_internal_id, u.subscriber_id, u.avatar, u.first_name, u.last_name, u.email`

export interface NewSubscription {
  readonly id: string
  readonly subscriberInternalId: string
  readonly identifier: string | null
  readonly name: string | null
  readonly choices: SubscriptionChoices | null
}

/** Leaves out those whom the topic already has, and those whose identifier another subscription of the topic has. */
export async function insertSubscriptions(
  tx: Tx,
  environment: Environment,
  topic: Topic,
  subscriptions: readonly NewSubscription[],
  now: Date,
): Promise<void> {
  await tx.run(sql`
    insert into topic_subscriptions (environment_id, topic_id, subscriber_id, id, identifier, name, preferences, created_at)
    select ${environment.id}, ${topic._id}, subscriber_id, id, identifier, name, preferences, ${now}
    from unnest(${subscriptions.map((subscription) => subscription.subscriberInternalId)}::uuid[],
                ${subscriptions.map((subscription) => subscription.id)}::uuid[],
                ${subscriptions.map((subscription) => subscription.identifier)}::text[],
                ${subscriptions.map((subscription) => subscription.name)}::text[],
                ${subscriptions.map(({ choices }) => json(choices))}::jsonb[])
      as new (subscriber_id, id, identifier, name, preferences)
    order by subscriber_id
    on conflict do nothing`)
}

/** The subscriptions of these subscribers to a topic, by the subscribers' internal ids. */
export async function findSubscriptionsOf(
  db: Sql,
  environment: Environment,
  topic: Topic,
  subscribers: readonly SubscriberSummary[],
): Promise<TopicSubscription[]> {
  const rows = await db.rows<SubscriptionRow & SummaryRow>(sql`
    select ${subscriptionColumns}, ${summaryColumns}
    from topic_subscriptions as s join subscribers as u on u.environment_id = s.environment_id and u.id = s.subscriber_id
    where s.environment_id = ${environment.id} and s.topic_id = ${topic._id}
      and s.subscriber_id = any(${subscribers.map((subscriber) => subscriber._id)}::uuid[])`)
  return rows.map((row) => subscriptionOf(topic, summaryOf(row), row))
}

/**
 * Locks, in order, the subscriptions of a topic that belong to these subscribers or bear these identifiers.
 * With a plain `or` the planner walks all of a large topic.
 */
export async function lockSubscriptions(
  tx: Tx,
  environment: Environment,
  topic: Topic,
  wanted: { subscribers: readonly SubscriberSummary[]; identifiers: readonly string[] },
): Promise<TopicSubscription[]> {
  const rows = await tx.rows<SubscriptionRow & SummaryRow>(sql`
    select ${subscriptionColumns}, ${summaryColumns}
    from topic_subscriptions as s join subscribers as u on u.environment_id = s.environment_id and u.id = s.subscriber_id
    where s.environment_id = ${environment.id} and s.topic_id = ${topic._id}
      and s.subscriber_id = any(array(
        select unnest(${wanted.subscribers.map((subscriber) => subscriber._id)}::uuid[])
        union all
        select subscriber_id from topic_subscriptions
        where environment_id = ${environment.id} and topic_id = ${topic._id} and identifier = any(${wanted.identifiers}::text[])))
    order by s.subscriber_id for update of s`)
  return rows.map((row) => subscriptionOf(topic, summaryOf(row), row))
}

/** To what it says now. */
export async function updateSubscription(
  tx: Tx,
  environment: Environment,
  { topic, subscriber, name, choices }: TopicSubscription,
): Promise<void> {
  await tx.run(sql`
    update topic_subscriptions set name = ${name ?? null}, preferences = ${json(choices)}::jsonb
    where environment_id = ${environment.id} and topic_id = ${topic._id} and subscriber_id = ${subscriber._id}`)
}

/** Of subscriptions that are locked. */
export async function updateChoices(
  tx: Tx,
  environment: Environment,
  changed: readonly { readonly subscription: TopicSubscription; readonly choices: SubscriptionChoices | null }[],
): Promise<void> {
  await tx.run(sql`
    update topic_subscriptions t set preferences = new.preferences
    from unnest(${changed.map(({ subscription }) => subscription.topic._id)}::uuid[],
                ${changed.map(({ subscription }) => subscription.subscriber._id)}::uuid[],
                ${changed.map(({ choices }) => json(choices))}::jsonb[]) as new (topic_id, subscriber_id, preferences)
    where t.environment_id = ${environment.id} and t.topic_id = new.topic_id and t.subscriber_id = new.subscriber_id`)
}

/** By their internal ids, their identifiers, or the topics whose default one is meant; locked, in one order. */
export async function lockSubscriptionsNamed(
  tx: Tx,
  environment: Environment,
  { subscriberInternalId, ids, identifiers, topicKeys }: NamedSubscriptions,
): Promise<TopicSubscription[]> {
  const rows = await tx.rows<SubscriptionRow & SummaryRow & TopicColumns>(sql`
    select ${subscriptionColumns}, ${summaryColumns}, ${topicColumnsOf}
    from topic_subscriptions as s
      join topics as t on t.environment_id = s.environment_id and t.id = s.topic_id
      join subscribers as u on u.environment_id = s.environment_id and u.id = s.subscriber_id
    where s.environment_id = ${environment.id} and s.subscriber_id = ${subscriberInternalId}
      and (s.id = any(${ids}::uuid[]) or s.identifier = any(${identifiers}::text[])
        or (s.identifier is null and t.key = any(${topicKeys}::text[])))
    order by s.topic_id for update of s`)
  return rows.map((row) => subscriptionOf(topicOfColumns(row), summaryOf(row), row))
}

export interface NamedSubscriptions {
  readonly subscriberInternalId: string
  readonly ids: readonly string[]
  readonly identifiers: readonly string[]
  readonly topicKeys: readonly string[]
}

export async function deleteSubscriptions(
  tx: Tx,
  environment: Environment,
  topic: Topic,
  subscriptions: readonly TopicSubscription[],
): Promise<void> {
  await tx.run(sql`
    delete from topic_subscriptions
    where environment_id = ${environment.id} and topic_id = ${topic._id}
      and subscriber_id = any(${subscriptions.map((subscription) => subscription.subscriber._id)}::uuid[])`)
}

/**
 * For the transaction that deletes a subscriber, after the subscriber's row is marked: from then on no call can add
 * a subscription, and those of calls that were under way are seen here.
 */
export async function deleteSubscriptionsOfSubscriber(
  tx: Tx,
  environment: Environment,
  subscriberInternalId: string,
): Promise<number> {
  return tx.run(sql`
    delete from topic_subscriptions
    where environment_id = ${environment.id} and subscriber_id = ${subscriberInternalId}`)
}

/** For the transaction that deletes a topic: its subscriptions may be millions, so they are swept afterwards. */
export async function leaveSubscriptionsToSweep(tx: Tx, environment: Environment, topicId: string): Promise<void> {
  await tx.run(sql`insert into deleted_topics (environment_id, topic_id) values (${environment.id}, ${topicId})`)
}

/** Deletes at most `limit` subscriptions of deleted topics, then the marks of those that have none left. */
export async function sweepDeletedTopics(tx: Tx, _now: Date, limit: number): Promise<number> {
  const subscriptions = await tx.run(sql`
    with marked as materialized (
      select environment_id, topic_id from deleted_topics
      order by environment_id, topic_id limit ${limit} for update skip locked),
    doomed as materialized (
      select s.environment_id, s.topic_id, s.subscriber_id
      from marked join topic_subscriptions as s using (environment_id, topic_id) limit ${limit})
    delete from topic_subscriptions as s using doomed
    where (s.environment_id, s.topic_id, s.subscriber_id) = (doomed.environment_id, doomed.topic_id, doomed.subscriber_id)`)
  const topics = await tx.run(sql`
    with marked as materialized (
      select environment_id, topic_id from deleted_topics
      order by environment_id, topic_id limit ${limit} for update skip locked)
    delete from deleted_topics as d using marked
    where (d.environment_id, d.topic_id) = (marked.environment_id, marked.topic_id) and not exists (
      select from topic_subscriptions as s where s.environment_id = d.environment_id and s.topic_id = d.topic_id)`)
  return subscriptions + topics
}

export async function findSummary(
  db: Sql,
  environment: Environment,
  subscriberId: string,
): Promise<SubscriberSummary | undefined> {
  const [summary] = await findSummaries(db, environment, [subscriberId])
  return summary
}

/** The subscribers there are among these subscriberIds. */
export async function findSummaries(
  db: Sql,
  environment: Environment,
  subscriberIds: readonly string[],
): Promise<SubscriberSummary[]> {
  const rows = await db.rows<SummaryRow>(sql`
    select ${summaryColumns} from subscribers as u
    where u.environment_id = ${environment.id} and u.subscriber_id = any(${subscriberIds}::text[]) and u.deleted_at is null`)
  return rows.map(summaryOf)
}

/** The same, and they stay until the transaction ends: a subscriber deleted meanwhile would keep the new subscription. */
export async function holdSummaries(
  tx: Tx,
  environment: Environment,
  subscriberIds: readonly string[],
): Promise<SubscriberSummary[]> {
  const rows = await tx.rows<SummaryRow>(sql`
    select ${summaryColumns} from subscribers as u
    where u.environment_id = ${environment.id} and u.subscriber_id = any(${subscriberIds}::text[]) and u.deleted_at is null
    order by u.subscriber_id for share`)
  return rows.map(summaryOf)
}

export async function findMembership(
  db: Sql,
  environment: Environment,
  topicKey: string,
  subscriberId: string,
): Promise<TopicMembership | undefined> {
  const row = await db.row<{ topic_id: string; subscriber_internal_id: string }>(sql`
    select t.id as topic_id, u.id as subscriber_internal_id
    from topics as t
      join subscribers as u on u.environment_id = t.environment_id
      join topic_subscriptions as s on s.environment_id = t.environment_id and s.topic_id = t.id and s.subscriber_id = u.id
    where t.environment_id = ${environment.id} and t.key = ${topicKey}
      and u.subscriber_id = ${subscriberId} and u.deleted_at is null`)
  return (
    row && {
      _environmentId: environment.id,
      _organizationId: environment.organizationId,
      _subscriberId: row.subscriber_internal_id,
      _topicId: row.topic_id,
      topicKey,
      externalSubscriberId: subscriberId,
    }
  )
}

export function summaryOf(row: SummaryRow): SubscriberSummary {
  return {
    _id: row.subscriber_internal_id,
    subscriberId: row.subscriber_id,
    avatar: row.avatar,
    firstName: row.first_name,
    lastName: row.last_name,
    email: row.email,
  }
}

/** When it was last changed is not recorded: the time that it was made is shown. */
export function subscriptionOf(topic: Topic, subscriber: SubscriberSummary, row: SubscriptionRow): TopicSubscription {
  const createdAt = row.subscribed_at.toISOString()
  return {
    _id: row.id,
    identifier: row.identifier ?? defaultIdentifier(topic.key, subscriber.subscriberId),
    ...(row.subscription_name === null ? {} : { name: row.subscription_name }),
    topic,
    subscriber,
    choices: row.choices,
    createdAt,
    updatedAt: createdAt,
  }
}

export interface TopicMember {
  /** The subscriber's internal id. */
  readonly id: string
  readonly subscriberId: string
  /** False for one that was deleted in the meantime. */
  readonly isThere: boolean
  /** Those of the asked topics the subscriber belongs to. */
  readonly topicIds: string[]
  /** What is wanted of the workflow through each of them; null for no choice. Null as a whole for nearly all. */
  readonly choices: (SubscriptionChoice | null)[] | null
}

/**
 * The subscribers of any of these topics by internal id, each once, after the given one. Each topic returns its first
 * ones after the cursor by its key, so that a page costs the same wherever it is.
 */
export async function findTopicMembers(
  db: Sql,
  environment: Environment,
  page: { topicIds: readonly string[]; workflowId: string; after: string | null; limit: number },
): Promise<TopicMember[]> {
  return db.rows<TopicMember>(sql`
    select p.subscriber_id as id, s.subscriber_id as "subscriberId", s.deleted_at is null as "isThere",
           p.topic_ids as "topicIds", p.choices
    from (select m.subscriber_id, array_agg(m.topic_id order by m.topic_id) as topic_ids,
            case when count(m.choice) > 0 then jsonb_agg(m.choice order by m.topic_id) end as choices
          from unnest(${page.topicIds}::uuid[]) as asked (topic_id)
          cross join lateral (
            select t.topic_id, t.subscriber_id, t.preferences -> ${page.workflowId}::text as choice
            from topic_subscriptions t
            where t.environment_id = ${environment.id} and t.topic_id = asked.topic_id
              and t.subscriber_id > ${page.after ?? nilId}::uuid
            order by t.subscriber_id limit ${page.limit}) m
          group by m.subscriber_id order by m.subscriber_id limit ${page.limit}) p
    cross join lateral (
      select u.subscriber_id, u.deleted_at from subscribers u
      where u.environment_id = ${environment.id} and u.id = p.subscriber_id limit 1) s
    order by p.subscriber_id`)
}

/** Which of these subscribers are in one of the topics. */
export async function findMembersAmong(
  db: Sql,
  environment: Environment,
  topicIds: readonly string[],
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await db.rows<{ id: string }>(sql`
    select asked.id from unnest(${ids}::uuid[]) as asked (id)
    where exists (
      select 1 from topic_subscriptions t
      where t.environment_id = ${environment.id} and t.subscriber_id = asked.id and t.topic_id = any(${topicIds}::uuid[]))`)
  return new Set(rows.map(({ id }) => id))
}

/**
 * How many people are in the topics, each once, without those who have switched the workflow off there; `met`:
 * memberships that were looked at, at most so many. Conditions are not evaluated.
 */
export async function countMembers(
  db: Sql,
  environment: Environment,
  asked: {
    topicIds: readonly string[]
    workflowId: string
    without: readonly string[]
    perTopicMax: number
    metMax: number
  },
): Promise<{ count: number; met: number }> {
  const row = await db.row<{ count: number; met: number }>(sql`
    select count(distinct met.subscriber_id)::int as count, count(*)::int as met from (
      select m.subscriber_id
      from unnest(${asked.topicIds}::uuid[]) as asked (topic_id)
      cross join lateral (
        select t.subscriber_id from topic_subscriptions t
        where t.environment_id = ${environment.id} and t.topic_id = asked.topic_id
          and t.subscriber_id <> all(${asked.without}::uuid[])
          and (t.preferences is null or t.preferences -> ${asked.workflowId}::text -> 'condition' is not null
            or coalesce((t.preferences -> ${asked.workflowId}::text ->> 'enabled')::boolean, true))
        order by t.subscriber_id limit ${asked.perTopicMax}) m
      cross join lateral (
        select 1 from subscribers u
        where u.environment_id = ${environment.id} and u.id = m.subscriber_id and u.deleted_at is null limit 1) s
      limit ${asked.metMax}) met`)
  return { count: row?.count ?? 0, met: row?.met ?? 0 }
}
