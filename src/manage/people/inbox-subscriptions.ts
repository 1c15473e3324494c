// A reader's own subscriptions to topics: subscribe, rename, unsubscribe. Those of others cannot be addressed.
import type { Db, Sql } from '../../db/sql.ts'
import type { Reader } from '../../domain/messages/inbox.ts'
import type { InboxSubscription } from '../../domain/messages/inbox-subscription.ts'
import { answersTo, inboxSubscriptionOf, isOwnIdentifier } from '../../domain/messages/inbox-subscription.ts'
import type { NewTopic, TopicSubscription } from '../../domain/people/topic.ts'
import { notFound } from '../../domain/problem.ts'
import { findSubscriptionsOf, findSummaries, renameSubscription } from '../../store/people/topic-subscriptions.ts'
import { findTopic } from '../../store/people/topics.ts'
import type { World } from '../../world/world.ts'
import { subscribeToTopic, unsubscribeFromTopic } from './topic-subscriptions.ts'

/** The one there is, if the reader is subscribed already. */
export async function subscribeReader(
  db: Db,
  world: World,
  reader: Reader,
  call: { topic: NewTopic; identifier: string; name: string | undefined },
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
    idempotency: undefined,
  })
  const [subscription] = answer.body.data
  if (subscription === undefined) throw new Error('A subscription that was made is missing from the answer')
  return inboxSubscriptionOf(reader, subscription)
}

export async function renameReaderSubscription(
  db: Db,
  reader: Reader,
  call: { topicKey: string; identifier: string; name: string | undefined },
): Promise<InboxSubscription> {
  return db.transaction(async (tx) => {
    const found = await ownSubscription(tx, reader, call)
    if (found === undefined) throw unknown(call.identifier)
    const { name } = call
    if (name === undefined) return inboxSubscriptionOf(reader, found)
    await renameSubscription(tx, reader.environment, found, name)
    return inboxSubscriptionOf(reader, { ...found, name })
  })
}

export async function unsubscribeReader(
  db: Db,
  world: World,
  reader: Reader,
  call: { topicKey: string; identifier: string },
): Promise<void> {
  const found = await ownSubscription(db, reader, call)
  if (found === undefined) throw unknown(call.identifier)
  const targets = [{ subscriberId: reader.subscriberId }]
  const { topicKey } = call
  await unsubscribeFromTopic(db, world, reader.environment, { topicKey, targets, idempotency: undefined })
}

async function ownSubscription(
  db: Sql,
  reader: Reader,
  { topicKey, identifier }: { topicKey: string; identifier: string },
): Promise<TopicSubscription | undefined> {
  const { environment, subscriberId } = reader
  const topic = await findTopic(db, environment, topicKey)
  if (topic === undefined) return undefined
  const [found] = await findSubscriptionsOf(
    db,
    environment,
    topic,
    await findSummaries(db, environment, [subscriberId]),
  )
  return found !== undefined && answersTo(reader, found, identifier) ? found : undefined
}

const unknown = (identifier: string) => notFound(`Subscription with identifier: ${identifier} is not found`)
