// New jobs: open ones for the queue, possibly created already leased; and those for which something was decided before
// they were created.
import type { Clock } from '../../db/clock.ts'
import { dueAfter, dueAt } from '../../db/due.ts'
import type { Part } from '../../db/one-statement.ts'
import type { Column } from '../../db/row-set.ts'
import { namesOf, rowSet } from '../../db/row-set.ts'
import type { Statement } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import type { NewDue } from '../../domain/delivery/due.ts'
import type { JobState, JobStatus } from '../../domain/delivery/job.ts'
import type { Environment } from '../../domain/environment.ts'
import type { StoredDetail } from '../../domain/insight/execution-detail.ts'

export interface NewJob {
  /** Derived from notification and step. */
  readonly id: string
  readonly notificationId: string
  readonly eventId: string
  readonly subscriberId: string
  readonly versionId: string
  readonly step: number
  readonly status: JobStatus
  readonly due: NewDue
  /** Its owner, if it is leased from the start. */
  readonly lease?: string | undefined
  readonly lane: number
  readonly digestId: string | null
  readonly state: JobState | null
  readonly details: readonly StoredDetail[]
  /** The job whose settling creates it. */
  readonly afterId?: string
}

export interface InsertLease {
  readonly clock: Clock
  /** The owner of those that are due at once; null leaves them to whoever claims them first. */
  readonly lease: string | null
  readonly leaseMs: number
  readonly now: Date
}

const uuid = sql`uuid`
const columns: readonly Column<NewJob>[] = [
  { name: sql`id`, type: uuid, read: (j) => j.id },
  { name: sql`notification_id`, type: uuid, read: (j) => j.notificationId },
  { name: sql`event_id`, type: uuid, read: (j) => j.eventId },
  { name: sql`subscriber_id`, type: uuid, read: (j) => j.subscriberId },
  { name: sql`version_id`, type: uuid, read: (j) => j.versionId },
  { name: sql`step`, type: sql`smallint`, isUsuallySame: true, read: (j) => j.step },
  { name: sql`status`, type: sql`text`, isUsuallySame: true, read: (j) => j.status },
  { name: sql`lane`, type: sql`smallint`, isUsuallySame: true, read: (j) => j.lane },
  { name: sql`digest_id`, type: uuid, isUsuallySame: true, read: (j) => j.digestId },
  { name: sql`state`, type: sql`jsonb`, isUsuallySame: true, read: (j) => json(j.state) },
  { name: sql`details`, type: sql`jsonb`, read: (j) => json(j.details) },
]
const names = namesOf(columns)

const afterJob: Column<NewJob> = { name: sql`after_id`, type: uuid, read: (j) => j.afterId ?? null }

/**
 * The ids of those that were created, within the statement that creates them after others; `parts` are its insertions.
 */
export function madeJobs(parts: readonly Part[]): Statement {
  const ids = parts.map(({ as }) => sql`select id from ${as}`)
  return ids.reduce((all, one) => sql`${all} union all ${one}`)
}

/** They differ in more than a value: each is an insertion by itself. */
interface Kind {
  readonly as: Statement
  readonly name: string
  /** Beside the columns of all. */
  readonly more: readonly Column<NewJob>[]
  /** The same for jobs that follow others. */
  readonly moreOfNext: readonly Column<NewJob>[]
  isOne(job: NewJob): boolean
  /** due_at and lease. */
  hold(insertLease: InsertLease, valueIn: (column: Column<NewJob>) => Statement): Statement
}

const leaseColumn: Column<NewJob> = {
  name: sql`held_by`,
  type: uuid,
  isUsuallySame: true,
  read: (j) => j.lease ?? null,
}
const dueColumn: Column<NewJob> = {
  name: sql`free_until`,
  type: sql`timestamptz`,
  isUsuallySame: true,
  read: (j) => (j.due.kind === 'until' ? j.due.at : null),
}

const kinds: readonly Kind[] = [
  {
    as: sql`due_jobs`,
    name: 'due',
    more: [],
    moreOfNext: [afterJob],
    isOne: ({ due }) => due.kind === 'atOnce',
    hold: ({ clock, lease, leaseMs }) => sql`${dueAfter(clock, lease === null ? 0 : leaseMs)}, ${lease}::uuid`,
  },
  {
    as: sql`held_jobs`,
    name: 'held',
    more: [leaseColumn],
    moreOfNext: [leaseColumn, afterJob],
    isOne: ({ due }) => due.kind === 'leased',
    hold: ({ clock, leaseMs }, valueIn) => sql`${dueAfter(clock, leaseMs)}, ${valueIn(leaseColumn)}`,
  },
  {
    as: sql`later_jobs`,
    name: 'later',
    more: [dueColumn],
    moreOfNext: [dueColumn, afterJob],
    isOne: ({ due }) => due.kind === 'until',
    hold: ({ clock, now }, valueIn) => sql`${dueAt(clock, valueIn(dueColumn), now)}, null::uuid`,
  },
  {
    as: sql`over_jobs`,
    name: 'over',
    more: [],
    moreOfNext: [afterJob],
    isOne: ({ due }) => due.kind === 'over',
    hold: () => sql`null::timestamptz, null::uuid`,
  },
]

/**
 * Each is created once: with its notification, or by settling the previous job, which only its lease holder can do.
 * `settled` names the jobs that were still the holder's: followers of others are not created.
 */
export function jobInsertions(
  environment: Environment,
  jobs: readonly NewJob[],
  insertLease: InsertLease,
  settled?: Statement,
): Part[] {
  return kinds.flatMap((kind) => {
    const group = jobs.filter(kind.isOne)
    return group.length === 0 ? [] : [insertionOf(environment, kind, group, insertLease, settled)]
  })
}

function insertionOf(
  environment: Environment,
  { as, name, more, moreOfNext, hold }: Kind,
  jobs: readonly NewJob[],
  insertLease: InsertLease,
  settled: Statement | undefined,
): Part {
  const { values, from, shape, valueIn } = rowSet(jobs, columns, settled === undefined ? more : moreOfNext)
  const { now } = insertLease
  // A step that was canceled meanwhile has its row already, and stays as it is.
  const fence =
    settled === undefined
      ? sql``
      : sql`where ${valueIn(afterJob)} in (${settled}) on conflict (environment_id, id) do nothing returning id`
  return {
    as,
    name: `${settled === undefined ? name : `${name}-next`}-${shape}`,
    statement: sql`
      insert into jobs (environment_id, ${names}, due_at, lease, created_at, updated_at)
      select ${environment.id}::uuid, ${values}, ${hold(insertLease, valueIn)}, ${now}::timestamptz, ${now}::timestamptz
      from ${from} ${fence}`,
  }
}
