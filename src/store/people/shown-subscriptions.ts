// Subscriptions to topics with their preferences as calls see them: each with its workflow.
import type { Sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { TopicSubscription } from '../../domain/people/topic.ts'
import type { PreferenceWorkflow } from '../../domain/preferences/preference-views.ts'
import { subscriptionPreferenceOf } from '../../domain/preferences/subscription-preferences.ts'
import { findPreferenceWorkflows } from '../workflows/preference-workflows.ts'

/** Choices for workflows that were deleted are not shown. Nothing is read where there are no choices. */
export async function shownSubscriptions(
  db: Sql,
  environment: Environment,
  subscriptions: readonly TopicSubscription[],
): Promise<TopicSubscription[]> {
  const ids = subscriptions.flatMap(({ choices }) => Object.keys(choices ?? {}))
  if (ids.length === 0) return [...subscriptions]
  const workflows = await findPreferenceWorkflows(db, environment, ids)
  return subscriptions.map((subscription) => withPreferences(subscription, workflows))
}

function withPreferences(
  subscription: TopicSubscription,
  workflows: ReadonlyMap<string, PreferenceWorkflow>,
): TopicSubscription {
  // By their ids: the workflows that were made first come first.
  const chosen = Object.entries(subscription.choices ?? {}).sort(([one], [other]) => (one < other ? -1 : 1))
  const preferences = chosen.flatMap(([workflowId, choice]) => {
    const workflow = workflows.get(workflowId)
    return workflow === undefined ? [] : [subscriptionPreferenceOf(subscription._id, choice, workflow)]
  })
  return preferences.length === 0 ? subscription : { ...subscription, preferences }
}
