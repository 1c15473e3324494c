// What waits in the queues of one environment: how much and for how long, by lane, and what was buried.
import type { Clock } from '../../db/clock.ts'
import type { Sql, Statement } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { depthMax } from '../../queue/depth.ts'
import { laneNames } from '../../world/meter.ts'

interface QueueRow {
  readonly queue: 'jobs' | 'tasks'
  readonly lane: number
  readonly due: number
  readonly oldest_ms: number
  readonly in_hand: number
  readonly waiting: number
  readonly buried: number
}

/** Each number stops at the same maximum: a backlog is a backlog, and counting all of it would cost most when it hurts. */
export async function readQueue(db: Sql, environment: Environment, clock: Clock) {
  const rows = await db.rows<QueueRow>(sql`
    ${lanesOf(environment, sql`jobs`, 'jobs', clock)} union all ${lanesOf(environment, sql`tasks`, 'tasks', clock)}`)
  const buried = { jobs: 0, tasks: 0 }
  for (const row of rows) buried[row.queue] = row.buried
  return {
    max: depthMax,
    lanes: rows.map((row) => ({
      queue: row.queue,
      lane: laneNames[row.lane] ?? String(row.lane),
      due: row.due,
      oldestMs: Math.max(0, Math.round(row.oldest_ms)),
      inHand: row.in_hand,
      waiting: row.waiting,
    })),
    buried,
  }
}

/** A row that is not due yet is leased until its lease expires, or waits for its time. */
function lanesOf(environment: Environment, table: Statement, queue: string, clock: Clock): Statement {
  const own = sql`q.environment_id = ${environment.id} and q.lane = lanes.lane`
  return sql`
    select ${queue}::text as queue, lanes.lane::int as lane, due.count as due,
           coalesce(extract(epoch from ${clock()} - due.oldest_at) * 1000, 0)::double precision as oldest_ms,
           later.in_hand, later.waiting, given_up.count as buried
    from (values (0::smallint), (1::smallint)) as lanes (lane)
    cross join lateral (
      select count(*)::int as count, min(found.due_at) as oldest_at from (
        select q.due_at from ${table} q where ${own} and q.due_at <= ${clock()} order by q.due_at limit ${depthMax}::int) found) due
    cross join lateral (
      select count(found.lease)::int as in_hand, (count(*) - count(found.lease))::int as waiting from (
        select q.lease from ${table} q where ${own} and q.due_at > ${clock()} order by q.due_at limit ${depthMax}::int) found) later
    cross join (
      select count(*)::int as count from (
        select 1 from ${table} q
        where q.environment_id = ${environment.id} and q.buried_at is not null limit ${depthMax}::int) found) given_up`
}
