// Conditions: the StepFilter of the interface.

export const filterTypes = ['BOOLEAN', 'TEXT', 'DATE', 'NUMBER', 'STATEMENT', 'LIST', 'MULTI_LIST', 'GROUP'] as const
export const filterOperators = [
  'LARGER',
  'SMALLER',
  'LARGER_EQUAL',
  'SMALLER_EQUAL',
  'EQUAL',
  'NOT_EQUAL',
  'ALL_IN',
  'ANY_IN',
  'NOT_IN',
  'BETWEEN',
  'NOT_BETWEEN',
  'LIKE',
  'NOT_LIKE',
  'IN',
] as const

/** How the children of a filter are joined. */
export const filterJoins = ['AND', 'OR'] as const
/** What a child's field is looked up in. */
export const filterSources = ['subscriber', 'payload', 'tenant'] as const

export interface FieldFilterPart {
  readonly field: string
  readonly value: string
  readonly operator: (typeof filterOperators)[number]
  readonly on: (typeof filterSources)[number]
}

/** Compares a field of the response of the customer's own service. */
export interface WebhookFilterPart {
  readonly on: 'webhook'
  readonly webhookUrl: string
  readonly field: string
  readonly value: string
  readonly operator: (typeof filterOperators)[number]
}

export interface OnlineFilterPart {
  readonly on: 'isOnline'
  readonly value: boolean
}

export const timeOperators = ['minutes', 'hours', 'days'] as const

/** Online now, or at some time in the period before now. */
export interface OnlineInLastFilterPart {
  readonly on: 'isOnlineInLast'
  readonly timeOperator: (typeof timeOperators)[number]
  readonly value: number
}

export const previousStepTypes = ['read', 'unread', 'seen', 'unseen', 'sent', 'unsent'] as const

/** The state of the messages of an earlier step, named by its uuid; true if that step has none. */
export interface PreviousStepFilterPart {
  readonly on: 'previousStep'
  readonly step: string
  readonly stepType: (typeof previousStepTypes)[number]
}

export type FilterPart =
  | FieldFilterPart
  | WebhookFilterPart
  | OnlineFilterPart
  | OnlineInLastFilterPart
  | PreviousStepFilterPart

/** Every kind of a filter's children. */
export const filterKinds = [...filterSources, 'webhook', 'isOnline', 'isOnlineInLast', 'previousStep'] as const

export interface StepFilter {
  readonly isNegated: boolean
  readonly type: (typeof filterTypes)[number]
  readonly value: (typeof filterJoins)[number]
  /** Those on the payload and the subscriber: the only ones that clients of the interface can read. */
  readonly children: readonly FilterPart[]
  /** All others. They are joined with the children as if they were among them. */
  readonly moreChildren?: readonly FilterPart[]
}

/** All children of a filter, wherever they stand. */
export function partsOf({ children, moreChildren }: Pick<StepFilter, 'children' | 'moreChildren'>): FilterPart[] {
  return moreChildren === undefined ? [...children] : [...children, ...moreChildren]
}

/** The filter with each child where it belongs, wherever the caller put it. */
export function arrangedFilter(given: StepFilter): StepFilter {
  const { isNegated, type, value } = given
  const parts = partsOf(given)
  const others = parts.filter((part) => !isOfInterface(part))
  return {
    isNegated,
    type,
    value,
    children: parts.filter(isOfInterface),
    ...(others.length === 0 ? {} : { moreChildren: others }),
  }
}

const isOfInterface = ({ on }: FilterPart): boolean => on === 'payload' || on === 'subscriber'
