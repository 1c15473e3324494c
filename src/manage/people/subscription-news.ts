// The events that changed choices of subscriptions to topics cause: one for each workflow whose choice is another now.
import type { Tx } from '../../db/sql.ts'
import { canonicalJson } from '../../domain/canonical-json.ts'
import type { Environment } from '../../domain/environment.ts'
import type { TopicSubscription } from '../../domain/people/topic.ts'
import type { SubscriptionChoice, SubscriptionChoices } from '../../domain/preferences/subscription-preferences.ts'
import type { News } from '../../domain/webhooks/webhook-event.ts'
import { reportNews } from '../../store/webhooks/webhook-news.ts'
import { findPreferenceWorkflows } from '../../store/workflows/preference-workflows.ts'
import type { World } from '../../world/world.ts'

export interface ChangedChoices {
  /** As it was before; of one that was just made, without choices. */
  readonly subscription: TopicSubscription
  readonly choices: SubscriptionChoices | null
}

/** In the transaction of the change. Choices for workflows that were deleted are not reported: no call shows them. */
export async function reportChoices(
  tx: Tx,
  world: World,
  environment: Environment,
  changes: readonly ChangedChoices[],
): Promise<void> {
  const changed = changes.flatMap((change) => changedIn(change).map((workflowId) => ({ ...change, workflowId })))
  if (changed.length === 0) return
  const now = world.now()
  const workflows = await findPreferenceWorkflows(tx, environment, [
    ...new Set(changed.map(({ workflowId }) => workflowId)),
  ])
  const news = changed.flatMap(({ subscription, choices, workflowId }): News[] => {
    const workflow = workflows.get(workflowId)
    if (workflow === undefined) return []
    const { _id, identifier, topic, subscriber } = subscription
    const facts = {
      level: 'subscription',
      workflow: { _id: workflow.id, identifier: workflow.identifier, name: workflow.name },
      preferences: said(choices?.[workflowId]),
      subscription: { _id, identifier, topic: { _id: topic._id, key: topic.key } },
    }
    const about = { subjectId: subscriber._id, subscriberId: subscriber._id, at: now }
    return [{ ...about, id: world.newId(now), type: 'preference.updated', facts }]
  })
  await reportNews(tx, environment, news, { newId: () => world.newId(now), now })
}

/**
 * The ids of workflows whose choice says something else; when it was made does not count, nor does the order of fields,
 * which the database changes.
 */
function changedIn({ subscription: { choices: before }, choices: after }: ChangedChoices): string[] {
  const ids = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].sort()
  return ids.filter((id) => {
    const [old, current] = [before?.[id], after?.[id]]
    return old === undefined || current === undefined || canonicalJson(said(old)) !== canonicalJson(said(current))
  })
}

function said(choice: SubscriptionChoice | undefined): Omit<SubscriptionChoice, 'updatedAt'> | null {
  if (choice === undefined) return null
  const { enabled, condition } = choice
  return condition === undefined ? { enabled } : { enabled, condition }
}
