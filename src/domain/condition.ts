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
export const filterSources = ['subscriber', 'payload'] as const

export interface FieldFilterPart {
  readonly field: string
  readonly value: string
  readonly operator: (typeof filterOperators)[number]
  readonly on: (typeof filterSources)[number]
}

export interface StepFilter {
  readonly isNegated: boolean
  readonly type: (typeof filterTypes)[number]
  readonly value: (typeof filterJoins)[number]
  readonly children: readonly FieldFilterPart[]
}
