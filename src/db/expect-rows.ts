// A statement that writes everything it was given, or nothing: for what was looked up before, and may have changed
// since.
import { codeOf } from './failure.ts'
import type { Statement } from './sql.ts'
import { listed, sql } from './sql.ts'

export interface ExpectedRows {
  /** What the statement calls the part. */
  readonly of: Statement
  readonly count: number
}

/**
 * The result of a statement whose parts return so many rows each; with any other number, nothing is written. They are checked in
 * this order, and the first that differs ends it: what comes after it is not waited for (PostgreSQL does not promise the order; a
 * test of calls with the same key would fail). `also` is a column that it returns as well.
 */
export function expectRows(expected: readonly ExpectedRows[], also?: Statement): Statement {
  const checks = expected.map(({ of, count }) => sql`expect_rows((select count(*) from ${of}), ${count}::bigint)`)
  const columns = also === undefined ? checks : [...checks, also]
  return columns.length === 0 ? sql`select` : sql`select ${listed(columns)}`
}

/** Another transaction was faster: the same work is done again, in a way that waits for others. */
export const wasOutrun = (error: unknown): boolean => codeOf(error) === 'PH001'
