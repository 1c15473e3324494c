// A reader's own subscriptions to topics: subscribe, change, unsubscribe. Those of others cannot be addressed.
import type { Db, Sql, Tx } from '../../db/sql.ts'
import type { Reader } from '../../domain/messages/inbox.ts'
import type { InboxSubscription } from '../../domain/messages/inbox-subscription.ts'
import { answersTo, inboxSubscriptionOf, isOwnIdentifier } from '../../domain/messages/inbox-subscription.ts'
import type { NewTopic, SubscriberSummary, Topic, TopicSubscription } from '../../domain/people/topic.ts'
import { notFound } from '../../domain/problem.ts'
import { findSubscriptionsOf, findSummaries, lockSubscriptions } from '../../store/people/topic-subscriptions.ts'
import { findTopic } from '../../store/people/topics.ts'
import type { World } from '../../world/world.ts'
import { refuseUnfit } from './subscription-choices.ts'
import type { SubscriptionChange } from './topic-subscriptions.ts'
import { changedSubscription, subscribeToTopic, unsubscribeFromTopic } from './topic-subscriptions.ts'

/** The one there is, if the reader is subscribed already. */
export async function subscribeReader(
  db: Db,
  world: World,
  reader: Reader,
  call: SubscriptionChange & { topic: NewTopic; identifier: string },
): Promise<InboxSubscription> {
  const { environment, subscriberId } = reader
  const isUnnamed = isOwnIdentifier(reader, call.topic.key, call.identifier)
  const request = {
    subscriberId,
    ...(isUnnamed ? {} : { identifier: call.identifier }),
    ...(call.name === undefined ? {} : { name: call.name }),
  }
  const answer = await subscribeToTopic(db, world, environment, {
    topic: call.topic,
    requests: [request],
    preferences: call.preferences,
    idempotency: undefined,
  })
  const [subscription] = answer.body.data
  if (subscription === undefined) throw new Error('A subscription that was made is missing from the answer')
  return inboxSubscriptionOf(reader, subscription)
}

export async function changeReaderSubscription(
  db: Db,
  world: World,
  reader: Reader,
  call: SubscriptionChange & { topicKey: string; identifier: string },
): Promise<InboxSubscription> {
  refuseUnfit([call.preferences])
  return db.transaction(async (tx) => {
    const found = await lockOwnSubscription(tx, reader, call)
    if (found === undefined) throw unknownOwnSubscription(call.identifier)
    return inboxSubscriptionOf(reader, await changedSubscription(tx, world, reader.environment, found, call))
  })
}

export async function unsubscribeReader(
  db: Db,
  world: World,
  reader: Reader,
  call: { topicKey: string; identifier: string },
): Promise<void> {
  const found = await ownSubscription(db, reader, call)
  if (found === undefined) throw unknownOwnSubscription(call.identifier)
  const targets = [{ subscriberId: reader.subscriberId }]
  const { topicKey } = call
  await unsubscribeFromTopic(db, world, reader.environment, { topicKey, targets, idempotency: undefined })
}

interface OwnSubscription {
  readonly topicKey: string
  readonly identifier: string
}

const ownSubscription = (db: Sql, reader: Reader, asked: OwnSubscription): Promise<TopicSubscription | undefined> =>
  meantBy(db, reader, asked, (topic, subscribers) => findSubscriptionsOf(db, reader.environment, topic, subscribers))

const lockOwnSubscription = (tx: Tx, reader: Reader, asked: OwnSubscription): Promise<TopicSubscription | undefined> =>
  meantBy(tx, reader, asked, (topic, subscribers) =>
    lockSubscriptions(tx, reader.environment, topic, { subscribers, identifiers: [] }),
  )

async function meantBy(
  db: Sql,
  reader: Reader,
  { topicKey, identifier }: OwnSubscription,
  find: (topic: Topic, subscribers: readonly SubscriberSummary[]) => Promise<TopicSubscription[]>,
): Promise<TopicSubscription | undefined> {
  const topic = await findTopic(db, reader.environment, topicKey)
  if (topic === undefined) return undefined
  const [found] = await find(topic, await findSummaries(db, reader.environment, [reader.subscriberId]))
  return found !== undefined && answersTo(reader, found, identifier) ? found : undefined
}

export const unknownOwnSubscription = (identifier: string) =>
  notFound(`Subscription with identifier: ${identifier} is not found`)
