// Claiming and giving back: the only statements that touch a lease, on jobs and tasks alike.
import type { Clock } from '../db/clock.ts'
import type { Sql, Statement } from '../db/sql.ts'
import { prepared, sql } from '../db/sql.ts'
import { openEnvironments } from './open-environments.ts'
import { leaseMs } from './queue.ts'
import { interruptionsBeforeSolo, soloWaitsMs } from './suspicion.ts'

/** A table that is a queue: open rows have a due_at, and (environment_id, lane, due_at) is indexed for them. */
export interface QueueTable {
  readonly name: 'jobs' | 'tasks'
  readonly table: Statement
  /** What a claim returns of a row `q`, under the names the runner knows. */
  readonly columns: Statement
  /** Called with the number of rows taken over from a node that died. */
  onFreed?(count: number): void
}

export interface Claim {
  readonly lane: number
  readonly limit: number
  readonly lease: string
  readonly leaseMs: number
  /** Environments after this one have their turn first. */
  readonly afterEnvironment: string
  /** Environments in which nothing may be claimed. */
  readonly held?: ReadonlySet<string>
}

export interface Claimed {
  /** Another worker had it, and the lease expired before the row was settled or released. */
  readonly wasLeased: boolean
}

/** One claim takes from this many environments; the next continues after them. */
const environmentsPerClaimMax = 64

/**
 * Takes up to `limit` due rows of one lane, the same share of each environment that has any: a loose scan visits the
 * environments that have open rows, without walking their backlogs, and checks for each whether something is due. An
 * order by due_at over all would let one backlog block everyone else.
 */
export async function claimDue<Row extends object>(
  db: Sql,
  queue: QueueTable,
  clock: Clock,
  claim: Claim,
): Promise<(Row & Claimed)[]> {
  return db.rows<Row & Claimed>(
    prepared(
      hasHeld(claim) ? `${queue.name}-claim-held` : `${queue.name}-claim`,
      sql`with recursive
          visited as (
            select ${claim.afterEnvironment}::uuid as environment_id, false as is_due, 0 as due_count
            union all
            select n.environment_id, n.is_due, v.due_count + n.is_due::int
            from visited v cross join lateral (
              select o.environment_id, ${mayClaim(claim)} exists (
                select 1 from ${queue.table} d
                where d.environment_id = o.environment_id and d.lane = ${claim.lane}::smallint and d.due_at <= ${clock()}
              ) as is_due
              from (select q.environment_id from ${queue.table} q
                    where q.due_at is not null and q.environment_id > v.environment_id
                    order by q.environment_id limit 1) o) n
            where v.due_count < ${environmentsPerClaimMax}::int),
          waiting as materialized (select environment_id from visited where is_due),
          share as (
            select greatest(1, ceil(${claim.limit}::numeric / greatest(1, count(*))))::int as size from waiting),
          due as materialized (
            select d.environment_id, d.id, d.was_leased
            from waiting w cross join lateral (
              select q.environment_id, q.id, q.lease is not null as was_leased from ${queue.table} q
              where q.environment_id = w.environment_id and q.lane = ${claim.lane}::smallint and q.due_at <= ${clock()}
              order by q.due_at limit (select size from share) for update skip locked) d
            limit ${claim.limit}::int)
          update ${queue.table} q
          set lease = ${claim.lease}::uuid,
              interruptions = case when due.was_leased then ${afterExpiry} else q.interruptions end,
              due_at = ${clock()} + ${claim.leaseMs}::double precision * interval '1 millisecond'
          from due where q.environment_id = due.environment_id and q.id = due.id
          returning ${queue.columns}, due.was_leased as "wasLeased"`,
    ),
  )
}

const hasHeld = ({ held }: Claim): boolean => held !== undefined && held.size > 0

/** Held environments are visited and passed by: to skip them here would walk their backlogs. */
const mayClaim = (claim: Claim): Statement =>
  hasHeld(claim) ? sql`o.environment_id <> all(${[...(claim.held ?? [])]}::uuid[]) and` : sql``

/**
 * An expired lease may be that of a slow node as well as of a dead one: it reduces the group in which the row runs, and
 * never makes it run alone.
 */
const afterExpiry = sql`greatest(q.interruptions, least(q.interruptions + 1, ${interruptionsBeforeSolo - 1}))::smallint`

/** Gives rows back that this lease still holds: they are due again at once. */
export async function releaseLeases(
  db: Sql,
  queue: QueueTable,
  clock: Clock,
  held: readonly { environmentId: string; id: string; lease: string }[],
): Promise<number> {
  if (held.length === 0) return 0
  return db.run(sql`
    update ${queue.table} q set lease = null, due_at = ${clock()}
    from unnest(${held.map((row) => row.environmentId)}::uuid[], ${held.map((row) => row.id)}::uuid[],
                ${held.map((row) => row.lease)}::uuid[]) as h (environment_id, id, lease)
    where q.environment_id = h.environment_id and q.id = h.id and q.lease = h.lease`)
}

/**
 * Rows of claims or inserts whose responses were lost: they are due again at once, without any penalty. One statement,
 * however many there are: after an outage each claim attempted in it has left one.
 */
export async function forgetLeases(
  db: Sql,
  queue: QueueTable,
  clock: Clock,
  leases: readonly string[],
): Promise<number> {
  return db.run(sql`
    with recursive ${openEnvironments(queue.table, { as: opened })},
    held as materialized (
      select h.environment_id, h.id from ${placesOpen} cross join lateral (
        select q.environment_id, q.id from ${leasedFrom(queue, clock(), clock, leaseMs)}
          and q.lease = any(${leases}::uuid[]) for update skip locked) h)
    update ${queue.table} q set lease = null, due_at = ${clock()}
    from held where q.environment_id = held.environment_id and q.id = held.id`)
}

export interface LeaseRange {
  readonly from: string
  readonly to: string
}

export interface DeadNode extends LeaseRange {
  readonly leaseMs: number
  /** When it was last seen, by the database's clock: leases that have expired since then are freed as well. */
  readonly aliveAt?: Date
  /** It stopped in order: what it could not give back was not interrupted. */
  readonly wasStopped?: true
}

/**
 * Frees what a dead node held, counts the interruption, and returns how much is left. A row that ran alone waits a
 * minute before it may do so again. Its leases are found by their expiry: those of a node that was last alive at some
 * time lie between that time and one lease from now, however many other rows wait for next week. A row that a
 * transaction of the dead node still locks is skipped: it must not hold up the others.
 */
export async function freeLeases(
  db: Sql,
  queue: QueueTable,
  clock: Clock,
  dead: DeadNode,
): Promise<{ freed: number; left: number }> {
  const freed = await db.run(sql`
    with recursive ${openEnvironments(queue.table, { as: opened })},
    held as materialized (
      select h.environment_id, h.id from ${placesOpen} cross join lateral (
        select q.environment_id, q.id from ${heldBy(queue, clock, dead)} for update skip locked) h)
    update ${queue.table} q
    set lease = null, ${dead.wasStopped === true ? sql`due_at = ${clock()}` : interrupted(clock)}
    from held where q.environment_id = held.environment_id and q.id = held.id`)
  if (freed > 0) queue.onFreed?.(freed)
  const row = await db.row<{ count: number }>(sql`
    with recursive ${openEnvironments(queue.table, { as: opened })}
    select count(*) as count from ${placesOpen} cross join lateral (select 1 from ${heldBy(queue, clock, dead)}) h`)
  return { freed, left: row?.count ?? 0 }
}

/** From three interruptions on a row waits to run alone; one that did waits longer each time before it may do so again. */
const interrupted = (clock: Clock): Statement => sql`
  interruptions = least(q.interruptions + 1, 1000),
  lane = case when q.interruptions + 1 >= ${interruptionsBeforeSolo}::int then q.lane | 2::smallint else q.lane end,
  due_at = ${clock()} + interval '1 millisecond' * case when q.lane < 2 then 0 else coalesce(
    (${soloWaitsMs}::int[])[q.interruptions - ${interruptionsBeforeSolo - 1}::int], ${soloWaitsMs.at(-1)}::int) end`

const opened = sql`opened`
const placesOpen = sql`${opened} o cross join (values (0::smallint), (1::smallint), (2::smallint), (3::smallint)) as lanes (lane)`

function heldBy(queue: QueueTable, clock: Clock, dead: DeadNode): Statement {
  const since = dead.aliveAt === undefined ? clock() : sql`least(${dead.aliveAt}::timestamptz, ${clock()})`
  return sql`${leasedFrom(queue, since, clock, dead.leaseMs)} and q.lease between ${dead.from}::uuid and ${dead.to}::uuid`
}

/** Of the current environment and lane: rows whose lease may not have expired at that time. */
function leasedFrom(queue: QueueTable, since: Statement, clock: Clock, forMs: number): Statement {
  return sql`${queue.table} q
    where q.environment_id = o.environment_id and q.lane = lanes.lane and q.due_at > ${since}
      and q.due_at <= ${clock()} + ${forMs}::double precision * interval '1 millisecond'`
}
