// The queue's clock: the database's own, which all nodes share. Tests hand in theirs.
import type { Statement } from './sql.ts'
import { sql } from './sql.ts'

/** A SQL expression for the current time. */
export type Clock = () => Statement

/** Not clock_timestamp(): that may change within a statement, so no index could be searched by it. */
export const databaseClock: Clock = () => sql`statement_timestamp()`
