// The stamp of the newest page of activities: the versions of all rows that it shows. While they are the same, so is the page.
import type { Sql } from '../../db/sql.ts'
import { shortRead, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { KeptPage, KeptPages } from '../page/kept-pages.ts'
import { createKeptPages } from '../page/kept-pages.ts'
import { pageOf } from '../page/offset-page.ts'
import type { ActivityFacts } from './activity-facts.ts'
import type { ActivityQuery } from './activity-filters.ts'
import { filterOf } from './activity-filters.ts'
import type { ActivityRow } from './activity-rows.ts'
import { rowVersions } from './activity-rows.ts'

export interface StampedJobs {
  readonly stamp: string
  /** The jobs that are shown, also those that have not begun. */
  readonly jobIds: readonly string[]
}

export type KeptActivityPage = KeptPage & StampedJobs

/** There is one newest page in an environment, in some sizes. */
export const createKeptActivities = (): KeptPages<KeptActivityPage> =>
  createKeptPages({ pagesMax: 100, lengthMax: 2 * 1024 * 1024, textLengthMax: 256 * 1024 })

/** Undefined for what is not kept: later pages, long ones, and whatever is filtered. */
export function activityPageKey(
  environment: Environment,
  query: ActivityQuery,
  seesAddresses: boolean,
): string | undefined {
  const { page, limit } = query
  if (page !== 0 || limit > 100 || Object.keys(filterOf(query)).length > 0) return undefined
  return JSON.stringify([environment.id, limit, seesAddresses])
}

/** `rows`: with the one behind the page, which shows whether there are more. */
export function stampOf(rows: readonly ActivityRow[], { jobs, jobIds }: ActivityFacts): StampedJobs {
  const versions = new Map([...jobs.values()].flat().map((job) => [job.id, job.row_version]))
  const shown = rows.map((row) => `${row.id} ${row.row_versions}`)
  return { stamp: [...shown, ...jobIds.map((id) => versions.get(id) ?? '-')].join(' '), jobIds }
}

/** Whether nothing is shown but these rows and versions of workflows that never change. */
export function areCovered(rows: readonly ActivityRow[], { isWhole, versions }: ActivityFacts): boolean {
  if (!isWhole || !rows.every((row) => row.fits && row.row_versions !== undefined)) return false
  return [...versions.values()].every((version) => version.isFinal)
}

/** What `stampOf` would return for a read of the newest page now, if it shows the same jobs: in one short row. */
export async function activityStamp(
  db: Sql,
  environment: Environment,
  limit: number,
  jobIds: readonly string[],
): Promise<string | undefined> {
  const newest = sql`
    select n.id, n.event_id, n.subscriber_id, n.xmin::text as row_version from notifications n
    where n.environment_id = ${environment.id} order by n.id desc`
  const { statement, name } = pageOf(newest, { offset: 0, limit: limit + 1 })
  const row = await db.row<{ stamp: string }>(
    shortRead(
      `activity-stamp ${name}`,
      sql`select concat_ws(' ', (
          select string_agg(concat_ws(' ', n.id, ${rowVersions}), ' ' order by n.id desc)
          from (${statement}) as n
          left join lateral (select found.workflow_id, found.xmin::text as row_version from events found
            where found.environment_id = ${environment.id} and found.id = n.event_id limit 1) as e on true
          left join lateral (select found.xmin::text as row_version from workflows found
            where found.environment_id = ${environment.id} and found.id = e.workflow_id limit 1) as w on true
          left join lateral (select found.xmin::text as row_version from subscribers found
            where found.environment_id = ${environment.id} and found.id = n.subscriber_id limit 1) as s on true), (
          select string_agg(coalesce(j.row_version, '-'), ' ' order by asked.place)
          from unnest(${jobIds}::uuid[]) with ordinality as asked (id, place)
          left join lateral (select found.xmin::text as row_version from jobs found
            where found.environment_id = ${environment.id} and found.id = asked.id limit 1) as j on true)) as stamp`,
    ),
  )
  return row?.stamp
}
