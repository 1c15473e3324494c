// Finding notifications with a failed step: from the failed jobs, which have an index of their own.
import type { Sql, Statement } from '../../db/sql.ts'
import { allOf, json, sql } from '../../db/sql.ts'
import { idsOfEvent } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { nilId } from '../../domain/nil-id.ts'
import { findEventIds } from '../../store/events/events.ts'
import type { ActivityFilter, FailureFilter } from './activity-filters.ts'
import { anyOf, idMax, inTime, lookups } from './activity-filters.ts'
import type { ActivityRow, Slice } from './activity-rows.ts'
import { completed, depthOf, notificationColumns } from './activity-rows.ts'
import type { PinnedVersions } from './pinned-versions.ts'

interface FailedStep {
  readonly notification_id: string
  readonly version_id: string
  readonly step: number
}

/** Each round requests this many times more failed jobs than the previous one. */
const growth = 8

/**
 * From the newest failed job on, until a page is full. Jobs and notifications have the millisecond of their event in
 * common: those of one event come in the order of their failed jobs, which is as stable as that of their own ids.
 */
export async function findByFailures(
  db: Sql,
  environment: Environment,
  filter: ActivityFilter,
  failures: FailureFilter,
  slice: Slice,
  versions: PinnedVersions,
): Promise<ActivityRow[]> {
  const eventIds = filter.transactionIds && (await findEventIds(db, environment, filter.transactionIds))
  const ranges = rangesOf(eventIds && [...eventIds.values()])
  const ofEvent = eventIds === undefined ? [] : [sql`j.event_id = k.id`]
  const condition = allOf([inTime(filter, sql`j.id`), ...ofEvent, ...providerCondition(failures)])
  // A notification may have two failed steps.
  for (let count = 2 * depthOf(slice); ; count *= growth) {
    const found = await newestFailed(db, environment, ranges, condition, count)
    const steps = await ofTypes(db, environment, found, failures, versions)
    const rows = await findInOrder(db, environment, filter, slice, [
      ...new Set(steps.map((one) => one.notification_id)),
    ])
    if (found.length < count || rows.length === slice.limit) return rows
  }
}

async function newestFailed(
  db: Sql,
  environment: Environment,
  ranges: Statement,
  condition: Statement,
  limit: number,
): Promise<FailedStep[]> {
  return db.rows<FailedStep>(sql`
    select j.notification_id, j.version_id, j.step from ${ranges}
    cross join lateral (
      select j.* from jobs j
      where j.environment_id = ${environment.id} and j.status = 'failed' and j.id between k.from_id and k.to_id
        and ${condition}
      order by j.id desc limit ${limit}) as j
    order by j.id desc limit ${limit}`)
}

/** Where the jobs lie, as `k`: those of some events, or all. */
const rangesOf = (eventIds: readonly string[] | undefined): Statement => {
  const ranges = eventIds?.map(idsOfEvent) ?? [{ from: nilId, to: idMax }]
  return sql`unnest(${eventIds ?? [nilId]}::uuid[], ${ranges.map((range) => range.from)}::uuid[],
    ${ranges.map((range) => range.to)}::uuid[]) as k (id, from_id, to_id)`
}

const providerCondition = ({ providers }: FailureFilter) =>
  providers === undefined
    ? []
    : [sql`(${anyOf(providers.map((providerId) => sql`j.details @> ${json([{ providerId }])}::jsonb`))})`]

async function ofTypes(
  db: Sql,
  environment: Environment,
  found: readonly FailedStep[],
  { types }: FailureFilter,
  versions: PinnedVersions,
): Promise<readonly FailedStep[]> {
  if (types === undefined) return found
  const pinned = await versions.of(db, environment, new Set(found.map((one) => one.version_id)))
  const wanted: ReadonlySet<string> = new Set(types)
  return found.filter(({ version_id, step }) => {
    const type = pinned.get(version_id)?.definition.steps[step]?.template.type
    return type !== undefined && wanted.has(type)
  })
}

async function findInOrder(
  db: Sql,
  environment: Environment,
  filter: ActivityFilter,
  { offset, limit }: Slice,
  ids: readonly string[],
): Promise<ActivityRow[]> {
  if (ids.length === 0) return []
  const found = sql`
    select ${notificationColumns} from unnest(${ids}::uuid[]) with ordinality as k (id, place)
    cross join lateral (
      select n.* from notifications n ${lookups(environment, filter)}
      where n.environment_id = ${environment.id} and n.id = k.id limit 1) as n
    order by k.place offset ${offset} limit ${limit}`
  return db.rows<ActivityRow>(completed(environment, found))
}

/** Those of a few notifications that have a failed step. */
export async function withFailures(
  db: Sql,
  environment: Environment,
  rows: readonly ActivityRow[],
  failures: FailureFilter,
  versions: PinnedVersions,
): Promise<ActivityRow[]> {
  if (rows.length === 0) return []
  const eventIds = [...new Set(rows.map((row) => row.event_id))]
  const found = await db.rows<FailedStep>(sql`
    select j.notification_id, j.version_id, j.step
    from ${rangesOf(eventIds)}
    cross join lateral (
      select * from jobs j where j.environment_id = ${environment.id} and j.status = 'failed'
        and j.id between k.from_id and k.to_id and j.event_id = k.id) as j
    where ${allOf([sql`j.notification_id = any(${rows.map((row) => row.id)}::uuid[])`, ...providerCondition(failures)])}`)
  const failed = new Set((await ofTypes(db, environment, found, failures, versions)).map((one) => one.notification_id))
  return rows.filter((row) => failed.has(row.id))
}
