// How much is due and for how long, by lane: one statement that looks at no more than a bounded part of the queues.
import type { Clock } from '../db/clock.ts'
import type { Sql, Statement } from '../db/sql.ts'
import { sql } from '../db/sql.ts'
import type { QueueTable } from './leases.ts'
import { openEnvironments } from './open-environments.ts'

export interface LaneDepth {
  readonly queue: QueueTable['name']
  readonly lane: number
  /** What is due and not leased; at most `depthMax`. */
  readonly depth: number
  /** How long the oldest has been due; 0 if nothing is. */
  readonly oldestMs: number
}

/** Beyond this a backlog is a backlog: a count of the whole would cost most when the database has least to spare. */
export const depthMax = 10_000
/** Environments with something open that are looked at, each by a few steps into an index. */
const environmentsMax = 500

/** Rows in hand are due when their leases end, and so do not count. */
export async function readDepths(db: Sql, queues: readonly QueueTable[], clock: Clock): Promise<LaneDepth[]> {
  const ctes = queues.map((queue) => openEnvironments(queue.table, { as: names[queue.name], max: environmentsMax }))
  const selects = queues.map((queue) => depthsOf(queue, clock))
  if (ctes.length === 0) return []
  return db.rows<LaneDepth>(sql`
    with recursive ${ctes.reduce((all, one) => sql`${all}, ${one}`)}
    ${selects.reduce((all, one) => sql`${all} union all ${one}`)}`)
}

const names: Readonly<Record<QueueTable['name'], Statement>> = { jobs: sql`open_jobs`, tasks: sql`open_tasks` }

function depthsOf({ name, table }: QueueTable, clock: Clock): Statement {
  const due = sql`q.environment_id = o.environment_id and q.lane = lanes.lane and q.due_at <= ${clock()}`
  return sql`
    select ${name}::text as queue, lanes.lane::int as lane, counted.depth,
           coalesce(extract(epoch from ${clock()} - oldest.due_at) * 1000, 0)::double precision as "oldestMs"
    from (values (0::smallint), (1::smallint)) as lanes (lane)
    cross join lateral (
      select count(*)::int as depth from (
        select 1 from ${names[name]} o cross join lateral (
          select 1 from ${table} q where ${due} order by q.due_at limit ${depthMax}::int) d
        limit ${depthMax}::int) found) counted
    cross join lateral (
      select min(head.due_at) as due_at from ${names[name]} o cross join lateral (
        select q.due_at from ${table} q where ${due} order by q.due_at limit 1) head) oldest`
}
