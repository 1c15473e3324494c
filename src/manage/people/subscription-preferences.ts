// A reader's choices for single subscriptions to topics: for some workflows, all of the changes or none.
import type { Db } from '../../db/sql.ts'
import type { Channel } from '../../domain/delivery/integration.ts'
import { channels } from '../../domain/delivery/integration.ts'
import type { Reader } from '../../domain/messages/inbox.ts'
import { answersTo, topicKeyIn } from '../../domain/messages/inbox-subscription.ts'
import type { TopicSubscription } from '../../domain/people/topic.ts'
import type { PreferenceOverride, PreferenceWorkflow } from '../../domain/preferences/preference-views.ts'
import type {
  GivenChoice,
  SubscriptionChoices,
  SubscriptionPreference,
} from '../../domain/preferences/subscription-preferences.ts'
import { choiceOf, subscriptionPreferenceOf } from '../../domain/preferences/subscription-preferences.ts'
import { conflict } from '../../domain/problem.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import { lockSubscriptionsNamed, updateChoices } from '../../store/people/topic-subscriptions.ts'
import { findPreferenceWorkflows } from '../../store/workflows/preference-workflows.ts'
import type { World } from '../../world/world.ts'
import { unknownOwnSubscription } from './inbox-subscriptions.ts'
import { checkedChoices, choicesThatCount, choosable, refuseMistakes } from './subscription-choices.ts'
import { reportChoices } from './subscription-news.ts'

export interface SubscriptionChange extends GivenChoice {
  /** The subscription, by its internal id or identifier. */
  readonly subscription: string
  /** By internal id or identifier. */
  readonly workflowId: string
}

/** As inbox pages read it. A subscription has no choice per channel: all are alike. */
export interface InboxSubscriptionPreference extends SubscriptionPreference {
  readonly level: 'template'
  readonly channels: Readonly<Partial<Record<Channel, boolean>>>
  readonly overrides: readonly PreferenceOverride[]
}

/** In the order of the changes; of several for the same the last counts, and one is answered. */
export async function changeSubscriptionPreferences(
  db: Db,
  world: World,
  reader: Reader,
  changes: readonly SubscriptionChange[],
): Promise<InboxSubscriptionPreference[]> {
  const { environment } = reader
  for (const change of changes) refuseMistakes(change, 'condition')
  const now = world.now()
  const workflows = await findPreferenceWorkflows(
    db,
    environment,
    changes.map(({ workflowId }) => workflowId),
  )
  return db.transaction(async (tx) => {
    const names = changes.map(({ subscription }) => subscription)
    const found = await lockSubscriptionsNamed(tx, environment, {
      subscriberInternalId: reader.id,
      ...namesOf(reader, names),
    })
    const stored = await choicesThatCount(tx, environment, found)
    const changed = new Map<string, { subscription: TopicSubscription; choices: SubscriptionChoices }>()
    const answered = new Map<string, InboxSubscriptionPreference>()
    for (const { subscription: name, workflowId, ...given } of changes) {
      const subscription = theOneNamed(reader, found, name)
      const choices = changed.get(subscription._id)?.choices ?? stored.get(subscription._id) ?? {}
      const known = workflows.get(workflowId)
      const choice = choiceOf(given, now, known && choices[known.id])
      const workflow = choosable(known, workflowId, choice)
      changed.set(subscription._id, { subscription, choices: { ...choices, [workflow.id]: choice } })
      const shown = subscriptionPreferenceOf(subscription._id, choice, workflow)
      answered.set(`${subscription._id}/${workflow.id}`, inboxPreferenceOf(shown, workflow))
    }
    const checked = [...changed.values()].map((one) => ({ ...one, choices: checkedChoices(one.choices) }))
    await updateChoices(tx, environment, checked)
    await reportChoices(tx, world, environment, checked)
    return [...answered.values()]
  })
}

function namesOf(reader: Reader, names: readonly string[]) {
  return {
    ids: names.filter(isUuid),
    identifiers: names,
    topicKeys: names.flatMap((name) => topicKeyIn(reader, name) ?? []),
  }
}

/** Identifiers are unique in a topic only: one that subscriptions to several have could change the wrong one. */
function theOneNamed(reader: Reader, found: readonly TopicSubscription[], name: string): TopicSubscription {
  const byId = found.find(({ _id }) => _id === name)
  if (byId !== undefined) return byId
  const [first, second] = found.filter((one) => answersTo(reader, one, name))
  if (first === undefined) throw unknownOwnSubscription(name)
  if (second === undefined) return first
  throw conflict(`Several subscriptions have the identifier ${name}: name the one that is meant by its id`)
}

function inboxPreferenceOf(
  preference: SubscriptionPreference,
  { stepTypes }: PreferenceWorkflow,
): InboxSubscriptionPreference {
  const used = channels.filter((name) => stepTypes.includes(name))
  return {
    level: 'template',
    ...preference,
    channels: Object.fromEntries(used.map((name) => [name, preference.enabled])),
    overrides: [],
  }
}
