// Why an event that went to topics left out one of their members: by the preferences of the member's subscriptions.
import type { Sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { AbsenceCode, WhyReason } from '../../domain/insight/why.ts'
import type { JudgedChoice, SubscriptionChoice } from '../../domain/preferences/subscription-preferences.ts'
import { judgeChoice } from '../../domain/preferences/subscription-preferences.ts'
import { findEvents } from '../../store/events/events.ts'
import { scopesFor } from '../../store/people/wanted-members.ts'
import { findPreferenceWorkflows } from '../../store/workflows/preference-workflows.ts'

export interface JoinedRow {
  readonly topic_id: string
  readonly created_at: Date
  /** Of the subscriber's subscription, for the workflow. */
  readonly choice: SubscriptionChoice | null
}

export interface EventWords {
  readonly last: string
  readonly subscriberId: string
  reason(code: AbsenceCode, sentence: string, data?: object): WhyReason<AbsenceCode>
}

interface TopicsEvent {
  readonly id: string
  readonly created_at: Date
  readonly topic_ids: readonly string[] | null
  readonly topic_keys: readonly string[] | null
}

export interface UnwantedThrough extends JudgedChoice {
  readonly topicId: string
  readonly choice: SubscriptionChoice
}

/** The subscriptions through which it is not wanted. Conditions are evaluated again, with the subscriber as it is now. */
export async function unwantedThrough(
  db: Sql,
  environment: Environment,
  {
    event,
    workflowId,
    id,
    joined,
  }: { event: TopicsEvent; workflowId: string; id: string; joined: readonly JoinedRow[] },
): Promise<UnwantedThrough[]> {
  const chosen = joined.flatMap(({ topic_id: topicId, choice }) => (choice === null ? [] : [{ topicId, choice }]))
  if (chosen.length === 0) return []
  const workflow = (await findPreferenceWorkflows(db, environment, [workflowId])).get(workflowId)
  if (workflow?.critical === true) return []
  const members = [{ id, choices: chosen.map(({ choice }) => choice) }]
  const scopeOf = await scopesFor(db, environment, members, {
    event: async () => (await findEvents(db, environment, [event.id]))[0],
  })
  const judged = chosen.map((one) => ({ ...one, ...judgeChoice(one.choice, scopeOf(id), event.created_at) }))
  return judged.filter(({ isWanted }) => !isWanted)
}

/** Only if no subscription of the time lets it through: one would have been enough. */
export function unwantedReasons(
  event: TopicsEvent,
  joined: readonly JoinedRow[],
  unwanted: readonly UnwantedThrough[],
  { last, subscriberId, reason }: EventWords,
): WhyReason<AbsenceCode>[] {
  const asked = new Set(joined.filter((one) => one.created_at <= event.created_at).map((one) => one.topic_id))
  const deciding = unwanted.filter(({ topicId }) => asked.has(topicId))
  if (deciding.length === 0 || deciding.length < asked.size) return []
  const keyOf = (id: string): string => event.topic_keys?.[event.topic_ids?.indexOf(id) ?? -1] ?? id
  const subscriptions = deciding.map(({ topicId, choice, compared }) => ({
    topicKey: keyOf(topicId),
    ...choice,
    ...(compared === undefined ? {} : { compared }),
  }))
  const said = deciding.map(({ topicId, choice }) => `${wordsOf(choice)} for ${keyOf(topicId)}`).join(', and ')
  const isLater = deciding.some(({ choice }) => new Date(choice.updatedAt) > event.created_at)
  const when = isLater ? ' A preference was changed after the event: what it said before is not recorded.' : ''
  const sentence = `${last} was left out for ${subscriberId} by their subscription: ${said}.${when}`
  return [reason('subscriptionPreference', sentence, { subscriptions })]
}

const wordsOf = ({ condition }: SubscriptionChoice): string =>
  condition === undefined ? 'the workflow is switched off' : 'the condition of the workflow does not hold'
