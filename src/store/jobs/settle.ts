// Settling jobs: fenced by the lease, so that a worker that lost it changes nothing.
import type { Clock } from '../../db/clock.ts'
import { dueAfter, dueAt } from '../../db/due.ts'
import type { Part } from '../../db/one-statement.ts'
import { placeIn } from '../../db/row-set.ts'
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import type { Due } from '../../domain/delivery/due.ts'
import { isSameDue } from '../../domain/delivery/due.ts'
import type { JobState, JobStatus } from '../../domain/delivery/job.ts'
import type { Environment } from '../../domain/environment.ts'
import type { StoredDetail } from '../../domain/insight/execution-detail.ts'

export interface JobSettlement {
  readonly id: string
  readonly lease: string
  readonly status: JobStatus
  readonly due: Due
  /** Null leaves it as it is. */
  readonly state: JobState | null
  readonly details: readonly StoredDetail[]
}

/** More kinds of ending than this in one batch are written by one statement that says each job's own. */
const kindsMax = 3

/** Settles them; `settledJobs` are then those that were still ours. */
export function jobSettlements(
  environment: Environment,
  settlements: readonly JobSettlement[],
  time: SettlingTime,
): Part[] {
  const kinds = kindsOf(settlements)
  const parts =
    kinds === undefined
      ? [settleEach(environment, settlements, time)]
      : kinds.map((group) => settleGroup(environment, group, time))
  const named = parts.map((part, index) => ({ ...part, as: settledNames[index] ?? sql`settled_1` }))
  const ids = named.map(({ as }) => sql`select id from ${as}`)
  return [
    ...named,
    {
      as: sql`settled`,
      name: String(parts.length),
      statement: ids.reduce((all, one) => sql`${all} union all ${one}`),
    },
  ]
}

const settledNames = [sql`settled_1`, sql`settled_2`, sql`settled_3`]

/** The ids of those that were settled, within the statement that settles them. */
export const settledJobs = sql`select id from settled`

export interface SettlingTime {
  readonly clock: Clock
  readonly leaseMs: number
  readonly now: Date
}

/**
 * Most jobs of a batch end in exactly the same way: passed once, that is half the work for the database. Undefined if
 * there are many kinds; then the rest is not examined.
 */
function kindsOf(settlements: readonly JobSettlement[]): JobSettlement[][] | undefined {
  const kinds: JobSettlement[][] = []
  for (const settlement of settlements) {
    const group = kinds.find(([first]) => first !== undefined && haveSameShape(first, settlement))
    if (group !== undefined) group.push(settlement)
    else if (kinds.length === kindsMax) return undefined
    else kinds.push([settlement])
  }
  return kinds
}

/** Equal ones may be treated as different, if their states are deep: that costs time, and nothing else. */
function haveSameShape(one: JobSettlement, other: JobSettlement): boolean {
  if (one.lease !== other.lease || one.status !== other.status || !isSameDue(one.due, other.due)) return false
  if (!isSame(one.state, other.state) || one.details.length !== other.details.length) return false
  return one.details.every((detail, place) => isSame(detail, other.details[place] ?? null))
}

function isSame(one: object | null, other: object | null): boolean {
  if (one === null || other === null) return one === other
  for (const name in one) if (Reflect.get(one, name) !== Reflect.get(other, name)) return false
  for (const name in other) if (!(name in one)) return false
  return true
}

/** Earlier faults of a job no longer count once it makes progress. */
export const uncounted = sql`claims = 0, interruptions = 0, faults = 0, faulted_since = null`
export const cleared = sql`${uncounted}, lane = lane & 1::smallint`

type Settling = Omit<Part, 'as'>

const timeOf = (due: Due): Date | null => (due.kind === 'until' ? due.at : null)

function settleGroup(
  environment: Environment,
  group: readonly JobSettlement[],
  { clock, leaseMs, now }: SettlingTime,
): Settling {
  const first = group[0] as JobSettlement
  const isKept = first.due.kind === 'leased'
  const due = isKept
    ? sql`lease = lease, due_at = ${dueAfter(clock, leaseMs)}`
    : sql`lease = null, due_at = ${dueAt(clock, sql`${timeOf(first.due)}::timestamptz`, now)}`
  const state = first.state === null ? sql`state` : sql`${json(first.state)}::jsonb`
  return {
    name: `${isKept ? 'kept' : 'free'}-${first.state === null ? 'same' : 'new'}`,
    statement: sql`
      update jobs set status = ${first.status}, ${cleared}, updated_at = ${now}, ${due}, state = ${state},
        details = details || ${json(first.details)}::jsonb
      where environment_id = ${environment.id} and id = any(${group.map((one) => one.id)}::uuid[])
        and lease = ${first.lease}::uuid
      returning id`,
  }
}

function settleEach(environment: Environment, settlements: readonly JobSettlement[], time: SettlingTime): Settling {
  const column = (type: Statement, read: (settlement: JobSettlement) => unknown): Statement =>
    sql`(${settlements.map(read)}::${type}[])[at]`
  const ids = settlements.map((s) => s.id)
  const isKept = column(sql`boolean`, (s) => s.due.kind === 'leased')
  const lease = sql`(${settlements.map((s) => s.lease)}::uuid[])[array_position(${ids}::uuid[], j.id)]`
  const ownDue = column(sql`timestamptz`, (s) => timeOf(s.due))
  const statement = sql`
    update jobs j
    set ${cleared}, updated_at = ${time.now}, (status, lease, due_at, state, details) = (
      select ${column(sql`text`, (s) => s.status)}, case when ${isKept} then j.lease end,
        case when ${isKept} then ${dueAfter(time.clock, time.leaseMs)} else ${dueAt(time.clock, ownDue, time.now)} end,
        coalesce(${column(sql`text`, (s) => json(s.state))}::jsonb, j.state),
        j.details || ${column(sql`text`, (s) => json(s.details))}::jsonb
      from ${placeIn(ids, sql`j.id`)})
    where j.environment_id = ${environment.id} and j.id = any(${ids}::uuid[]) and j.lease = ${lease}
    returning j.id`
  return { name: 'each', statement }
}

/** These jobs see the events of these digests from now on. The transaction has settled them. */
export async function showDigests(
  tx: Tx,
  environment: Environment,
  jobs: readonly { id: string; digestId: string }[],
): Promise<void> {
  if (jobs.length === 0) return
  const ids = jobs.map((job) => job.id)
  await tx.run(sql`
    update jobs j set digest_id = s.digest_id
    from unnest(${ids}::uuid[], ${jobs.map((job) => job.digestId)}::uuid[]) as s (id, digest_id)
    where j.environment_id = ${environment.id} and j.id = any(${ids}::uuid[]) and j.id = s.id`)
}

/** Locks those that are still ours until the transaction ends, for decisions that are made within it. */
export async function holdJobs(
  tx: Tx,
  environment: Environment,
  jobs: readonly { id: string; lease: string }[],
): Promise<Set<string>> {
  if (jobs.length === 0) return new Set()
  const ids = jobs.map((job) => job.id)
  const rows = await tx.rows<{ id: string; lease: string | null }>(sql`
    select id, lease from jobs where environment_id = ${environment.id} and id = any(${ids}::uuid[])
    order by id for update`)
  const leases = new Map(rows.map((row) => [row.id, row.lease]))
  return new Set(jobs.filter((job) => leases.get(job.id) === job.lease).map((job) => job.id))
}

/** After a fault of ours, which is counted: free again later. */
export async function postponeFaulty(
  db: Sql,
  environment: Environment,
  { id, lease }: { id: string; lease: string },
  { waitMs, clock }: { waitMs: number; clock: Clock },
): Promise<number> {
  return db.run(sql`
    update jobs set lease = null, interruptions = 0, lane = lane & 1::smallint, faults = faults + 1,
      faulted_since = coalesce(faulted_since, ${clock()}),
      due_at = ${dueAfter(clock, waitMs)}
    where environment_id = ${environment.id} and id = ${id} and lease = ${lease}`)
}
