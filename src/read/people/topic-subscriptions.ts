// The subscriptions of a topic, and those of a subscriber.

import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { SubscriberSummary, Topic, TopicSubscription } from '../../domain/people/topic.ts'
import { subscriberOfIdentifier } from '../../domain/people/topic.ts'
import { shownSubscriptions } from '../../store/people/shown-subscriptions.ts'
import type { SubscriptionRow, SummaryRow } from '../../store/people/topic-subscriptions.ts'
import {
  subscriptionColumns,
  subscriptionOf,
  summaryColumns,
  summaryOf,
} from '../../store/people/topic-subscriptions.ts'
import type { TopicColumns } from '../../store/people/topics.ts'
import { topicColumnsOf, topicOfColumns } from '../../store/people/topics.ts'
import type { CursorPage, CursorQuery, List } from '../page/keyset-page.ts'
import { keysetPage } from '../page/keyset-page.ts'

export const subscriptionOrders = ['_id', 'createdAt', 'updatedAt'] as const

/** A subscription's id contains its creation time and never changes, so all three orders are the same. */
const ordered: Pick<List<SubscriptionRow>, 'id' | 'orders' | 'cursorOf'> = {
  id: sql`s.id`,
  orders: Object.fromEntries(subscriptionOrders.map((name) => [name, { column: sql`s.id`, cast: 'uuid' }])),
  cursorOf: (row) => ({ value: row.id, id: row.id }),
}

export async function topicSubscriptionsPage(
  db: Sql,
  environment: Environment,
  topic: Topic,
  query: CursorQuery & { subscriberId?: string },
): Promise<CursorPage<TopicSubscription>> {
  const joined = sql`from topic_subscriptions as s
    join subscribers as u on u.environment_id = s.environment_id and u.id = s.subscriber_id`
  const list: List<SubscriptionRow & SummaryRow> = {
    ...ordered,
    columns: sql`${subscriptionColumns}, ${summaryColumns}`,
    from: joined,
    // A deleted subscriber's subscriptions went with it, so the join changes no number.
    countFrom: query.subscriberId ? joined : sql`from topic_subscriptions as s`,
    where: [
      sql`s.environment_id = ${environment.id}`,
      sql`s.topic_id = ${topic._id}`,
      ...(query.subscriberId ? [sql`u.subscriber_id = ${query.subscriberId} and u.deleted_at is null`] : []),
    ],
  }
  const page = await keysetPage(db, list, query)
  const found = page.data.map((row) => subscriptionOf(topic, summaryOf(row), row))
  return { ...page, data: await shownSubscriptions(db, environment, found) }
}

/** By its own identifier or the default one. */
export async function findSubscription(
  db: Sql,
  environment: Environment,
  topic: Topic,
  identifier: string,
): Promise<TopicSubscription | undefined> {
  const owner = subscriberOfIdentifier(topic.key, identifier)
  const isMeant =
    owner === undefined
      ? sql`s.identifier = ${identifier}`
      : sql`u.subscriber_id = ${owner} and u.deleted_at is null and s.identifier is null`
  const row = await db.row<SubscriptionRow & SummaryRow>(sql`
    select ${subscriptionColumns}, ${summaryColumns}
    from topic_subscriptions as s join subscribers as u on u.environment_id = s.environment_id and u.id = s.subscriber_id
    where s.environment_id = ${environment.id} and s.topic_id = ${topic._id} and ${isMeant}`)
  const found = row && subscriptionOf(topic, summaryOf(row), row)
  return found && (await shownSubscriptions(db, environment, [found]))[0]
}

export async function subscriberSubscriptionsPage(
  db: Sql,
  environment: Environment,
  subscriber: SubscriberSummary,
  query: CursorQuery & { key?: string },
): Promise<CursorPage<TopicSubscription>> {
  const list: List<SubscriptionRow & TopicColumns> = {
    ...ordered,
    columns: sql`${subscriptionColumns}, ${topicColumnsOf}`,
    // The join leaves out subscriptions of deleted topics that are not swept yet, in the count too.
    from: sql`from topic_subscriptions as s join topics as t on t.environment_id = s.environment_id and t.id = s.topic_id`,
    where: [
      sql`s.environment_id = ${environment.id}`,
      sql`s.subscriber_id = ${subscriber._id}`,
      ...(query.key ? [sql`t.key = ${query.key}`] : []),
    ],
  }
  const page = await keysetPage(db, list, query)
  const found = page.data.map((row) => subscriptionOf(topicOfColumns(row), subscriber, row))
  return { ...page, data: await shownSubscriptions(db, environment, found) }
}
