// What a subscriber wants to hear of through one subscription to a topic: a choice per workflow, perhaps with a condition.
import type { LogicOutcome } from '../conditions/json-logic.ts'
import { evaluateLogic, logicHolds } from '../conditions/json-logic.ts'
import { LogicTooLarge } from '../conditions/json-logic-operators.ts'
import type { PreferenceWorkflow, ShownWorkflow } from './preference-views.ts'
import { shownWorkflowOf } from './preference-views.ts'

export type Condition = Readonly<Record<string, unknown>>

export interface SubscriptionChoice {
  /** Counts where there is no condition. */
  readonly enabled: boolean
  /** JSON logic over `payload`, `subscriber`, `actor` and `context`. */
  readonly condition?: Condition
  /** ISO 8601. */
  readonly updatedAt: string
}

/** By the workflow's internal id. A workflow without a choice is wanted. */
export type SubscriptionChoices = Readonly<Record<string, SubscriptionChoice>>

/** What a call says of one choice. */
export interface GivenChoice {
  readonly enabled?: boolean
  readonly condition?: Condition | null
}

/** How calls name the workflows of a choice: one by its id or identifier, or all that match. */
export type GivenPreference =
  | string
  | (GivenChoice & { readonly workflowId: string })
  | (GivenChoice & { readonly filter: { readonly workflowIds?: readonly string[]; readonly tags?: readonly string[] } })

/** No one sets more manually, and each is a part of a document that fan-out reads. */
export const subscriptionChoicesMax = 200
/** Of the document as JSON: it is read for each member of a topic. */
export const subscriptionChoicesLengthMax = 64 * 1024
/** A page of members has five hundred of them. */
const conditionWorkMax = 10_000
/** Of all conditions of a page, which are evaluated in its transaction: ordinary ones take less than ten units each. */
export const pageWorkMax = 200_000

/**
 * An empty condition says nothing. `stored`: the choice there was, where a call changes it. Without `enabled` it stays
 * on or off, unless a condition decides from now on: then it is on.
 */
export function choiceOf(
  { enabled, condition }: GivenChoice,
  now: Date,
  stored?: SubscriptionChoice | undefined,
): SubscriptionChoice {
  const updatedAt = now.toISOString()
  if (condition != null && Object.keys(condition).length > 0) return { enabled: enabled ?? true, condition, updatedAt }
  return { enabled: enabled ?? stored?.enabled ?? true, updatedAt }
}

/** What a condition may read. */
export interface ConditionScope {
  readonly payload: Readonly<Record<string, unknown>>
  readonly subscriber: Readonly<Record<string, unknown>> | undefined
  /** Only what is shown of a person anyway: readers write conditions, and see by their effect what they read. */
  readonly actor: ShownActor | undefined
  readonly context: Readonly<Record<string, unknown>>
}

export interface ShownActor {
  readonly subscriberId: unknown
  readonly firstName: unknown
  readonly lastName: unknown
  readonly avatar: unknown
}

export function shownActorOf(person: Readonly<Record<string, unknown>>): ShownActor {
  const { subscriberId, firstName, lastName, avatar } = person
  return { subscriberId, firstName, lastName, avatar }
}

export interface JudgedChoice {
  readonly isWanted: boolean
  /** What the condition compared; absent without one, and where it would never end. */
  readonly compared?: LogicOutcome['conditions']
}

/** A condition that cannot be evaluated does not hold. */
export function judgeChoice(choice: SubscriptionChoice, scope: ConditionScope, now: Date): JudgedChoice {
  if (choice.condition === undefined) return { isWanted: choice.enabled }
  try {
    const { holds, conditions } = evaluateLogic(choice.condition, scope, now, conditionWorkMax)
    return { isWanted: holds, compared: conditions }
  } catch (error) {
    if (error instanceof LogicTooLarge) return { isWanted: false }
    throw error
  }
}

/** The same for many: without what was compared, and with the units of work that it took. */
export function weighChoice(
  choice: SubscriptionChoice,
  scope: ConditionScope,
  now: Date,
): { readonly isWanted: boolean; readonly spent: number } {
  if (choice.condition === undefined) return { isWanted: choice.enabled, spent: 0 }
  const budget = { left: conditionWorkMax }
  let isWanted = false
  try {
    isWanted = logicHolds(choice.condition, scope, now, budget)
  } catch (error) {
    if (!(error instanceof LogicTooLarge)) throw error
  }
  return { isWanted, spent: conditionWorkMax - budget.left }
}

/** As calls see it. */
export interface SubscriptionPreference {
  readonly subscriptionId: string
  readonly enabled: boolean
  readonly condition?: Condition
  /** Without its data: that is large, and would be repeated for each subscription of a page. */
  readonly workflow: Omit<ShownWorkflow, 'data'>
}

export function subscriptionPreferenceOf(
  subscriptionId: string,
  { enabled, condition }: Omit<SubscriptionChoice, 'updatedAt'>,
  workflow: PreferenceWorkflow,
): SubscriptionPreference {
  const { data: _, ...shown } = shownWorkflowOf(workflow)
  return {
    subscriptionId,
    enabled,
    ...(condition === undefined ? {} : { condition }),
    workflow: shown,
  }
}
