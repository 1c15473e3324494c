// A reader's own subscription to a topic. There is one at the most.
import type { Sql } from '../../db/sql.ts'
import type { Reader } from '../../domain/messages/inbox.ts'
import type { InboxSubscription } from '../../domain/messages/inbox-subscription.ts'
import { answersTo, inboxSubscriptionOf } from '../../domain/messages/inbox-subscription.ts'
import { shownSubscriptions } from '../../store/people/shown-subscriptions.ts'
import { findSubscriptionsOf, findSummaries } from '../../store/people/topic-subscriptions.ts'
import { findTopic } from '../../store/people/topics.ts'

/** With an identifier, only the one that it names. */
export async function inboxSubscriptions(
  db: Sql,
  reader: Reader,
  { topicKey, identifier }: { topicKey: string; identifier?: string },
): Promise<InboxSubscription[]> {
  const { environment, subscriberId } = reader
  const topic = await findTopic(db, environment, topicKey)
  if (topic === undefined) return []
  const found = await findSubscriptionsOf(db, environment, topic, await findSummaries(db, environment, [subscriberId]))
  const meant = found.filter((one) => identifier === undefined || answersTo(reader, one, identifier))
  return (await shownSubscriptions(db, environment, meant)).map((one) => inboxSubscriptionOf(reader, one))
}
