// The environments that have something open in a queue, by a loose scan: from one to the next, past its backlog.
import type { Statement } from '../db/sql.ts'
import { sql } from '../db/sql.ts'

/** A part of a `with recursive`, called `as`; its rows have an `environment_id`. All of them, or so many of the first. */
export function openEnvironments(
  table: Statement,
  { as, max }: { readonly as: Statement; readonly max?: number },
): Statement {
  const mayGoOn = max === undefined ? sql`` : sql`where o.place < ${max}::int`
  return sql`${as} as (
    (select environment_id, 1 as place from ${table} where due_at is not null order by environment_id limit 1)
    union all
    select n.environment_id, o.place + 1
    from ${as} o cross join lateral (
      select q.environment_id from ${table} q
      where q.due_at is not null and q.environment_id > o.environment_id order by q.environment_id limit 1) n
    ${mayGoOn})`
}
