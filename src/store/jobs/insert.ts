// New jobs: open ones for the queue, perhaps born leased, and ended ones for steps that will never run.
import type { Clock } from '../../db/clock.ts'
import type { Part } from '../../db/one-statement.ts'
import type { Column } from '../../db/row-set.ts'
import { listed, rowSet } from '../../db/row-set.ts'
import type { Statement } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { StoredDetail } from '../../domain/execution-detail.ts'
import type { JobState, JobStatus } from '../../domain/job.ts'

export interface NewJob {
  /** Derived from notification and step. */
  readonly id: string
  readonly notificationId: string
  readonly eventId: string
  readonly subscriberId: string
  readonly versionId: string
  readonly step: number
  /** `queued` is due at once; anything else is over. */
  readonly status: JobStatus
  readonly lane: number
  readonly digestId: string | null
  readonly state: JobState | null
  readonly details: readonly StoredDetail[]
  /** The job whose settling makes it. */
  readonly afterId?: string
}

export interface BirthOfJobs {
  readonly clock: Clock
  /** Whose they are from birth; null leaves them to whoever claims them first. */
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
  { name: sql`step`, type: sql`smallint`, read: (j) => j.step },
  { name: sql`status`, type: sql`text`, read: (j) => j.status },
  { name: sql`lane`, type: sql`smallint`, read: (j) => j.lane },
  { name: sql`digest_id`, type: uuid, read: (j) => j.digestId },
  { name: sql`state`, type: sql`jsonb`, read: (j) => json(j.state) },
  { name: sql`details`, type: sql`jsonb`, read: (j) => json(j.details) },
]
const names = listed(columns.map((column) => column.name))

const afterJob: Column<NewJob> = { name: sql`after_id`, type: uuid, read: (j) => j.afterId ?? null }

/** The ids of the open ones that were made, within the statement that makes them. */
export const madeJobs = sql`select id from due_jobs`

/** The ids of those that were made as over, within the statement that makes them after others. */
export const endedJobs = sql`select id from over_jobs`

/**
 * Each is made once: with its notification, or by the settling of the job before it, which only its lease's holder can do.
 * `settled` names the jobs that were still the holder's: what comes after another is not made.
 */
export function jobInsertions(
  environment: Environment,
  jobs: readonly NewJob[],
  birth: BirthOfJobs,
  settled?: Statement,
): Part[] {
  // Those that are due and those that are over differ in more than a value.
  const due = jobs.filter((job) => job.status === 'queued')
  const over = jobs.filter((job) => job.status !== 'queued')
  return [
    ...(due.length === 0 ? [] : [insertionOf(environment, due, birth, settled, true)]),
    ...(over.length === 0 ? [] : [insertionOf(environment, over, birth, settled, false)]),
  ]
}

function insertionOf(
  environment: Environment,
  jobs: readonly NewJob[],
  { clock, lease, leaseMs, now }: BirthOfJobs,
  settled: Statement | undefined,
  isDue: boolean,
): Part {
  const { values, from, shape, valueIn } = rowSet(jobs, columns, settled === undefined ? [] : [afterJob])
  const aheadMs = lease === null ? 0 : leaseMs
  const dueAt = isDue ? sql`${clock()} + ${aheadMs}::double precision * interval '1 millisecond'` : sql`null`
  const claims = isDue && lease !== null ? 1 : 0
  // A step that was canceled meanwhile has its row already, and stays as it is.
  const fence =
    settled === undefined
      ? sql``
      : sql`where ${valueIn(afterJob)} in (${settled}) on conflict (environment_id, id) do nothing returning id`
  const kind = isDue ? 'due' : 'over'
  return {
    as: isDue ? sql`due_jobs` : sql`over_jobs`,
    name: `${settled === undefined ? kind : `${kind}-next`}-${shape}`,
    statement: sql`
      insert into jobs (environment_id, ${names}, due_at, lease, claims, created_at, updated_at)
      select ${environment.id}::uuid, ${values}, ${dueAt}, ${isDue ? lease : null}::uuid, ${claims}::smallint,
             ${now}::timestamptz, ${now}::timestamptz
      from ${from} ${fence}`,
  }
}
