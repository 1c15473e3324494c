// A reader's own subscription to a topic. There is one at the most.
import type { Sql } from '../../db/sql.ts'
import type { Reader } from '../../domain/messages/inbox.ts'
import type { InboxSubscription } from '../../domain/messages/inbox-subscription.ts'
import { answersTo, inboxSubscriptionOf } from '../../domain/messages/inbox-subscription.ts'
import type { PreferenceWorkflow } from '../../domain/preferences/preference-views.ts'
import type { SubscriptionPreference } from '../../domain/preferences/subscription-preferences.ts'
import { subscriptionChoicesMax, subscriptionPreferenceOf } from '../../domain/preferences/subscription-preferences.ts'
import { shownSubscriptions } from '../../store/people/shown-subscriptions.ts'
import { findSubscriptionsOf, findSummaries } from '../../store/people/topic-subscriptions.ts'
import { findTopic } from '../../store/people/topics.ts'
import { findPreferenceWorkflows, listPreferenceWorkflows } from '../../store/workflows/preference-workflows.ts'

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

/** Workflows that a page shows switches for, whether or not the reader has chosen. */
export interface AskedWorkflows {
  /** By internal id or identifier. */
  readonly workflowIds?: readonly string[] | undefined
  readonly tags?: readonly string[] | undefined
}

/** The subscription with a preference for each of those workflows: one without a choice is wanted. */
export async function withAskedPreferences(
  db: Sql,
  { environment }: Reader,
  subscription: InboxSubscription,
  { workflowIds = [], tags = [] }: AskedWorkflows,
): Promise<InboxSubscription> {
  if (workflowIds.length + tags.length === 0) return subscription
  const tagged = { criticality: 'all', tags, offset: 0, limit: subscriptionChoicesMax } as const
  const [named, others] = await Promise.all([
    findPreferenceWorkflows(db, environment, workflowIds),
    tags.length === 0 ? [] : listPreferenceWorkflows(db, environment, tagged),
  ])
  const workflows = new Map([...named.values(), ...others].map((workflow) => [workflow.id, workflow]))
  const preferences = [...(subscription.preferences ?? [])]
  for (const { workflow } of preferences) workflows.delete(workflow.id)
  const all = [...preferences, ...[...workflows.values()].map((one) => wanted(subscription.id, one))].sort(byAge)
  return all.length === 0 ? subscription : { ...subscription, preferences: all }
}

const wanted = (subscriptionId: string, workflow: PreferenceWorkflow): SubscriptionPreference =>
  subscriptionPreferenceOf(subscriptionId, { enabled: true }, workflow)

/** The workflows that were made first come first, as everywhere. */
const byAge = (one: SubscriptionPreference, other: SubscriptionPreference): number =>
  one.workflow.id < other.workflow.id ? -1 : 1
