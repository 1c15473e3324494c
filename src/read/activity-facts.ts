// Everything that a page of activities tells, read in a handful of statements however long the page is.
import type { Sql } from '../db/sql.ts'
import { prepared, sql } from '../db/sql.ts'
import { jobIdOf } from '../domain/derived-id.ts'
import type { Environment } from '../domain/environment.ts'
import type { StoredDetail } from '../domain/execution-detail.ts'
import type { Standing } from '../domain/integration.ts'
import type { JobState, JobStatus } from '../domain/job.ts'
import type { Severity, WorkflowOrigin, WorkflowVersion } from '../domain/workflow.ts'
import { listStandings } from '../store/integrations.ts'
import type { StoredDefinition } from '../store/workflows.ts'
import { findVersions } from '../store/workflows.ts'
import type { NotificationRow } from './activity-rows.ts'

export interface ActivityEvent {
  readonly id: string
  readonly transaction_id: string
  readonly payload: Record<string, unknown>
  readonly overrides: Record<string, unknown>
  readonly context_keys: string[] | null
  readonly severity: Severity | null
  readonly topic_ids: string[] | null
  readonly topic_keys: string[] | null
  readonly is_test: boolean
}

export interface ActivityPerson {
  readonly id: string
  readonly subscriber_id: string
  readonly first_name: string | null
  readonly last_name: string | null
  readonly email: string | null
  readonly phone: string | null
  readonly is_deleted: boolean
}

export interface JobRow {
  readonly id: string
  readonly status: JobStatus
  readonly state: JobState | null
  readonly details: StoredDetail[]
  readonly created_at: Date
  readonly updated_at: Date
}

export interface PinnedVersion extends WorkflowVersion {
  readonly definition: StoredDefinition
  /** Who made the workflow last. */
  readonly origin: WorkflowOrigin
}

/** Each by its id. */
export interface ActivityFacts {
  readonly events: ReadonlyMap<string, ActivityEvent>
  readonly versions: ReadonlyMap<string, PinnedVersion>
  readonly people: ReadonlyMap<string, ActivityPerson>
  readonly jobs: ReadonlyMap<string, JobRow>
  /** The payloads of digests, by window. */
  readonly digests: ReadonlyMap<string, readonly Record<string, unknown>[]>
  readonly standings: readonly Standing[]
}

export async function findActivityFacts(
  db: Sql,
  environment: Environment,
  notifications: readonly NotificationRow[],
): Promise<ActivityFacts> {
  const [events, versions, people, standings] = await Promise.all([
    findEvents(db, environment, distinct(notifications.map((row) => row.event_id))),
    findVersions(db, environment, distinct(notifications.map((row) => row.version_id))),
    findPeople(db, environment, distinct(notifications.map((row) => row.subscriber_id))),
    listStandings(db, environment),
  ])
  const pinned = byId(versions as PinnedVersion[])
  const jobs = await findJobs(db, environment, jobIdsOf(notifications, pinned))
  const digests = await findDigests(db, environment, distinct(jobs.flatMap((job) => job.state?.windowId ?? [])))
  return {
    events: byId(events),
    versions: pinned,
    people: byId(people),
    jobs: byId(jobs),
    digests: new Map(digests.map((digest) => [digest.window_id, digest.payloads])),
    standings,
  }
}

const distinct = (ids: readonly string[]): string[] => [...new Set(ids)]
const byId = <Row extends { readonly id: string }>(rows: readonly Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [row.id, row]))

function jobIdsOf(rows: readonly NotificationRow[], versions: ReadonlyMap<string, PinnedVersion>): string[] {
  return rows.flatMap((row) => {
    const steps = versions.get(row.version_id)?.definition.steps ?? []
    return steps.flatMap((step, index) => (step.active ? [jobIdOf(row.event_id, row.id, index)] : []))
  })
}

async function findEvents(db: Sql, environment: Environment, ids: readonly string[]): Promise<ActivityEvent[]> {
  return db.rows<ActivityEvent>(
    prepared(
      'activity-events',
      sql`select e.id, e.transaction_id, e.payload, e.overrides, e.context_keys, e.severity, e.topic_ids, e.topic_keys,
                 e.test is not null as is_test
          from unnest(${ids}::uuid[]) as asked (id)
          cross join lateral (select * from events found
            where found.environment_id = ${environment.id} and found.id = asked.id limit 1) as e`,
    ),
  )
}

/** Deleted ones too: whom a notification was for does not change. */
async function findPeople(db: Sql, environment: Environment, ids: readonly string[]): Promise<ActivityPerson[]> {
  return db.rows<ActivityPerson>(
    prepared(
      'activity-people',
      sql`select s.id, s.subscriber_id, s.first_name, s.last_name, s.email, s.phone, s.deleted_at is not null as is_deleted
          from unnest(${ids}::uuid[]) as asked (id)
          cross join lateral (select * from subscribers found
            where found.environment_id = ${environment.id} and found.id = asked.id limit 1) as s`,
    ),
  )
}

async function findJobs(db: Sql, environment: Environment, ids: readonly string[]): Promise<JobRow[]> {
  return db.rows<JobRow>(
    prepared(
      'activity-jobs',
      sql`select j.id, j.status, j.state, j.details, j.created_at, j.updated_at
          from unnest(${ids}::uuid[]) as asked (id)
          cross join lateral (select * from jobs found
            where found.environment_id = ${environment.id} and found.id = asked.id limit 1) as j`,
    ),
  )
}

/** More of a digest's events are not shown: by number, and by the characters of their payloads, as one may have 512 KB. */
const digestEventsMax = 100
const digestCharactersMax = 1024 * 1024

interface DigestRow {
  readonly window_id: string
  readonly payloads: Record<string, unknown>[]
}

/** The first events of each window, in the order they were accepted. */
async function findDigests(db: Sql, environment: Environment, windowIds: readonly string[]): Promise<DigestRow[]> {
  if (windowIds.length === 0) return []
  return db.rows<DigestRow>(sql`
    select asked.id as window_id, jsonb_agg(listed.payload order by listed.seq) as payloads
    from unnest(${windowIds}::uuid[]) as asked (id)
    cross join lateral (
      select e.payload, d.seq, sum(length(e.payload::text)) over (order by d.seq) as characters
      from (select * from digest_events
            where environment_id = ${environment.id} and window_id = asked.id order by seq limit ${digestEventsMax}) as d
      cross join lateral (select payload from events
        where environment_id = ${environment.id} and id = d.event_id limit 1) as e) as listed
    where listed.characters <= ${digestCharactersMax}
    group by asked.id`)
}
