// The parts of conditions, as workflows hold them.
import type { Json } from './draft-step.ts'

export type { Json } from './draft-step.ts'

export interface Part {
  readonly on: string
  readonly field?: string
  readonly operator?: string
  readonly value?: string | number | boolean
  readonly webhookUrl?: string
  readonly timeOperator?: string
  readonly step?: string
  readonly stepType?: string
}

/** An earlier step that a condition can ask about. */
export interface EarlierStep {
  readonly id: string
  readonly name: string
}

/** Answers list what some clients cannot read apart; here it is one list. */
export function wholeFilters(filters: unknown): Json[] {
  return ((filters ?? []) as (Json & { children?: Json[]; moreChildren?: Json[] })[]).map(
    ({ moreChildren, children = [], ...filter }) => ({ ...filter, children: [...children, ...(moreChildren ?? [])] }),
  )
}
