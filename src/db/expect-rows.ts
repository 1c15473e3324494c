// A statement that writes everything it was given, or nothing: for what was looked up before, and may have changed
// since.
import { codeOf } from './failure.ts'
import type { Statement } from './sql.ts'
import { sql } from './sql.ts'

/**
 * The result of a statement whose named parts together return this many rows; with any other number, nothing is
 * written. `also` is a column that it returns as well.
 */
export function expectRows(parts: readonly Statement[], expected: number, also?: Statement): Statement {
  const counts = parts.map((part) => sql`(select count(*) from ${part})`)
  const [first, ...others] = counts
  if (first === undefined) return also === undefined ? sql`select` : sql`select ${also}`
  const found = others.reduce((sum, count) => sql`${sum} + ${count}`, first)
  const answer = sql`select expect_rows(${found}, ${expected}::bigint)`
  return also === undefined ? answer : sql`${answer}, ${also}`
}

/** Another transaction was faster: the same work is done again, in a way that waits for others. */
export const wasOutrun = (error: unknown): boolean => codeOf(error) === 'PH001'
