// The events that a subscriber's choices cause: their preferences changed, they unsubscribed.
import type { Tx } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { SubscriberPreferences } from '../../domain/preferences/preference.ts'
import type { NamedWorkflow, News } from '../../domain/webhooks/webhook-event.ts'
import { reportNews } from '../../store/webhooks/webhook-news.ts'
import type { World } from '../../world/world.ts'

interface ChosenFor {
  readonly id: string
  readonly identifier: string
  readonly name: string
}

export interface ChangedPreferences {
  /** The subscriber's internal id. */
  readonly id: string
  readonly preferences: SubscriberPreferences
  /** Those the change is for; null is for all of them. */
  readonly workflows: readonly (ChosenFor | null)[]
  /** If the subscriber stopped the e-mails of these workflows. */
  readonly isUnsubscribed?: boolean
  /** Instead of a workflow: one that can no longer be named. */
  readonly deletedWorkflowId?: string | undefined
}

/** One for each workflow, in the transaction of the change. */
export async function reportPreferences(
  tx: Tx,
  world: World,
  environment: Environment,
  { id, preferences, workflows, isUnsubscribed = false, deletedWorkflowId }: ChangedPreferences,
): Promise<void> {
  const now = world.now()
  const about = { subjectId: id, subscriberId: id, at: now }
  const news = workflows.flatMap((chosen): News[] => {
    const workflow = chosen === null ? null : named(chosen)
    const { workflows: own, ...global } = preferences
    const workflowId = chosen?.id ?? deletedWorkflowId
    const chosenNow = workflowId === undefined ? global : (own?.[workflowId] ?? null)
    const level = workflowId === undefined ? 'global' : 'workflow'
    const filtered = deletedWorkflowId === undefined ? {} : { deletedWorkflowId }
    const facts = { level, workflow, preferences: chosenNow, ...filtered }
    const changed = (): News => ({ ...about, id: world.newId(now), type: 'preference.updated', facts })
    if (!isUnsubscribed) return [changed()]
    const left = { workflow, channel: 'email', source: 'link', ...filtered }
    return [{ ...about, id: world.newId(now), type: 'subscriber.unsubscribed', facts: left }, changed()]
  })
  await reportNews(tx, environment, news, { newId: () => world.newId(now), now })
}

const named = ({ id, identifier, name }: ChosenFor): NamedWorkflow => ({ _id: id, identifier, name })
