// What can be done to many rows, as a page describes it.
import type { Client } from '../api.ts'
import type { IconName } from './icons.tsx'
import type { Act } from './run-many.ts'

export interface BulkAction<Row> {
  readonly text: string
  readonly icon: IconName
  /** What it will do, said before it is done. */
  readonly does: string
  /** Which of the chosen ones it applies to; all unless said. */
  readonly fits?: (row: Row) => boolean
  /** A verb that is typed with the number of rows: for what cannot be undone. */
  readonly typed?: string
  /** Asked for before it starts. */
  readonly asks?: { readonly label: string; readonly hint?: string; readonly placeholder?: string }
  /** Rows that one call takes; one unless said. */
  readonly perCall?: number
  /** What is asked for again once it is done. */
  readonly touches: readonly string[]
  /** Calls by `api` alone: they go to the environment where the run began, whichever is on the page by then. */
  readonly act: (rows: readonly Row[], answer: string, api: Client) => ReturnType<Act<Row>>
}

export interface Bulk<Row> {
  /** What the rows are: subscribers, messages. */
  readonly of: string
  /** One of them. */
  readonly one: string
  readonly nameOf: (row: Row) => string
  readonly actions: readonly BulkAction<Row>[]
}

/** Where a call is for one row. */
export const each =
  <Row>(call: (row: Row, api: Client) => Promise<unknown>) =>
  ([row]: readonly Row[], _answer: string, api: Client): Promise<unknown> =>
    row === undefined ? Promise.resolve() : call(row, api)

export const counted = (count: number): string => count.toLocaleString('en')

export const countedOf = ({ one, of }: { readonly one: string; readonly of: string }, count: number): string =>
  `${counted(count)} ${count === 1 ? one : of}`

/** Leads from a row to what can be done with the selection … */
export const barKey = '.'
/** For those who hear it: a full stop alone is not spoken. */
export const barKeyWords = 'the full stop key'
/** … which are these, in their order; the way out of it is the last. */
export const barStops = '[data-selection-bar] button:not(:disabled)'
