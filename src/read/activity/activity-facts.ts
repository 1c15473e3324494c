// What a page of activities shows in addition to its rows: read in one more statement, however long the page is, unless
// something is rare.
import type { Sql } from '../../db/sql.ts'
import { shortRead, sql } from '../../db/sql.ts'
import type { IntegrationStatus } from '../../domain/delivery/integration.ts'
import type { JobState, JobStatus } from '../../domain/delivery/job.ts'
import { jobIdOf } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { grouped } from '../../domain/grouped.ts'
import type { StoredDetail } from '../../domain/insight/execution-detail.ts'
import { listIntegrationStatuses } from '../../store/integrations/integrations.ts'
import { readCharactersMax } from '../page/page-weight.ts'
import type { NotificationRow } from './activity-rows.ts'
import type { PinnedVersion, PinnedVersions } from './pinned-versions.ts'

export interface JobRow {
  readonly id: string
  readonly notification_id: string
  readonly step: number
  readonly status: JobStatus
  readonly state: JobState | null
  readonly details: StoredDetail[]
  readonly created_at: Date
  readonly updated_at: Date
  readonly row_version: string
}

export interface ActivityFacts {
  /** By id. */
  readonly versions: ReadonlyMap<string, PinnedVersion>
  /** By notification. */
  readonly jobs: ReadonlyMap<string, readonly JobRow[]>
  /** The payloads of digests, by window. */
  readonly digests: ReadonlyMap<string, readonly Record<string, unknown>[]>
  readonly integrationStatuses: readonly IntegrationStatus[]
  /** Of all steps, whether they have begun or not. */
  readonly jobIds: readonly string[]
  /** Whether all that is shown is in the notifications, what is found by their keys, and their jobs. */
  readonly isWhole: boolean
}

export async function findActivityFacts(
  db: Sql,
  environment: Environment,
  notifications: readonly NotificationRow[],
  versions: PinnedVersions,
): Promise<ActivityFacts> {
  const ids = notifications.map((row) => row.version_id)
  const pinned = await versions.of(db, environment, ids)
  const jobIds = jobIdsOf(notifications, pinned)
  const jobs = await findJobs(db, environment, jobIds)
  const windowIds = distinct(jobs.flatMap((job) => job.state?.windowId ?? []))
  const haveSent = jobs.length === jobIds.length && jobs.every((job) => job.state?.providerId !== undefined)
  const [digests, integrationStatuses] = await Promise.all([
    findDigests(db, environment, windowIds),
    // Who would send is looked up only if no one has sent.
    haveSent ? [] : listIntegrationStatuses(db, environment),
  ])
  return {
    versions: pinned,
    jobs: grouped(jobs, (job) => job.notification_id),
    digests: new Map(digests.map((digest) => [digest.window_id, digest.payloads])),
    integrationStatuses,
    jobIds,
    isWhole: windowIds.length === 0 && haveSent,
  }
}

const distinct = (ids: readonly string[]): string[] => [...new Set(ids)]

function jobIdsOf(rows: readonly NotificationRow[], versions: ReadonlyMap<string, PinnedVersion>): string[] {
  return rows.flatMap((row) => {
    const steps = versions.get(row.version_id)?.definition.steps ?? []
    return steps.flatMap((step, index) => (step.active ? [jobIdOf(row.event_id, row.id, index)] : []))
  })
}

async function findJobs(db: Sql, environment: Environment, ids: readonly string[]): Promise<JobRow[]> {
  return db.rows<JobRow>(
    shortRead(
      'activity-jobs',
      sql`select j.id, j.notification_id, j.step, j.status, j.state, j.details, j.created_at, j.updated_at, j.row_version
          from unnest(${ids}::uuid[]) as asked (id)
          cross join lateral (select found.*, found.xmin::text as row_version from jobs found
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
    where listed.characters <= ${Math.min(digestCharactersMax, Math.floor(readCharactersMax / windowIds.length))}
    group by asked.id`)
}
