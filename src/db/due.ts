// When a row is due, by the database's clock: a node's own may be wrong, so waits travel as intervals that SQL adds.
import type { Clock } from './clock.ts'
import type { Statement } from './sql.ts'
import { sql } from './sql.ts'

/** So long after now. */
export const dueAfter = (clock: Clock, waitMs: number): Statement =>
  sql`${clock()} + ${waitMs}::double precision * interval '1 millisecond'`

/** At a time of the node's clock, whose own time is `now`. Null stays null. */
export const dueAt = (clock: Clock, at: Statement, now: Date): Statement =>
  sql`${clock()} + (${at} - ${now}::timestamptz)`

/** A time of the database's clock, as the node's shows it, whose own time is `now`. Null stays null. */
export const shownAt = (clock: Clock, at: Statement, now: Date): Statement =>
  sql`${now}::timestamptz + (${at} - ${clock()})`

/** For something that is due at once: never later than now, even where the node's clock is ahead. */
export const dueNow = (now: Date): Statement => sql`least(${now}::timestamptz, statement_timestamp())`
