// Finding notifications with a failed step: from the failed jobs, which have an index of their own.
import type { Sql, Statement } from '../../db/sql.ts'
import { allOf, sql } from '../../db/sql.ts'
import { idsOfEvent } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { nilId } from '../../domain/nil-id.ts'
import { findEventIds } from '../../store/events/events.ts'
import type { ActivityFilter, FailureFilter } from './activity-filters.ts'
import { idMax, inTime, lookups } from './activity-filters.ts'
import type { ActivityRow, Slice } from './activity-rows.ts'
import { completed, depthOf, notificationColumns } from './activity-rows.ts'
import type { PinnedVersions } from './pinned-versions.ts'

interface FailedStep {
  readonly notification_id: string
  readonly version_id: string
  readonly step: number
}

interface FailedJob extends FailedStep {
  readonly id: string
  /** It failed at one of the providers, and for one of the reasons, that were asked for. */
  readonly fits: boolean
}

/** Each round looks at this many times more failed jobs than the one before, up to a number that is quickly looked at. */
const growth = 8
const lookedAtMax = 5_000

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
  const condition = allOf([inTime(filter, sql`j.id`), ...ofEvent])
  const ids = new Set<string>()
  let before = idMax
  // A notification may have two failed steps.
  for (let count = 2 * depthOf(slice); ; count *= growth) {
    const limit = Math.min(count, lookedAtMax)
    const found = await newestFailed(db, environment, ranges, { condition, before, limit, failures })
    const steps = await ofTypes(
      db,
      environment,
      found.filter(({ fits }) => fits),
      failures,
      versions,
    )
    const fresh = new Set(steps.map((one) => one.notification_id).filter((id) => !ids.has(id)))
    for (const id of await fitting(db, environment, filter, [...fresh])) ids.add(id)
    before = found.at(-1)?.id ?? nilId
    if (found.length < limit || ids.size >= depthOf(slice)) {
      return rowsInOrder(db, environment, [...ids].slice(slice.offset, depthOf(slice)))
    }
  }
}

interface Round {
  readonly condition: Statement
  /** What earlier rounds looked at ends here. */
  readonly before: string
  readonly limit: number
  readonly failures: FailureFilter
}

/** Those that do not fit come as well: a round looks at no more than its limit, however rare a provider is. */
async function newestFailed(
  db: Sql,
  environment: Environment,
  ranges: Statement,
  { condition, before, limit, failures }: Round,
): Promise<FailedJob[]> {
  return db.rows<FailedJob>(sql`
    select j.id, j.notification_id, j.version_id, j.step, ${allOf(detailCondition(failures))} as fits from ${ranges}
    cross join lateral (
      select j.* from jobs j
      where j.environment_id = ${environment.id} and j.status = 'failed' and j.id between k.from_id and k.to_id
        and j.id < ${before}::uuid and ${condition}
      order by j.id desc limit ${limit}) as j
    order by j.id desc limit ${limit}`)
}

/** Where the jobs lie, as `k`: those of some events, or all. */
const rangesOf = (eventIds: readonly string[] | undefined): Statement => {
  const ranges = eventIds?.map(idsOfEvent) ?? [{ from: nilId, to: idMax }]
  return sql`unnest(${eventIds ?? [nilId]}::uuid[], ${ranges.map((range) => range.from)}::uuid[],
    ${ranges.map((range) => range.to)}::uuid[]) as k (id, from_id, to_id)`
}

/** Where both are asked for, of one and the same report. One condition, however many of each are asked for. */
function detailCondition({ providers, reasons }: FailureFilter): Statement[] {
  if (providers === undefined && reasons === undefined) return []
  const wanted = allOf([
    ...(reasons === undefined ? [] : [sql`one->>'code' = any(${reasons}::text[])`]),
    ...(providers === undefined ? [] : [sql`one->>'providerId' = any(${providers}::text[])`]),
  ])
  return [sql`exists (select 1 from jsonb_array_elements(j.details) as reported (one) where ${wanted})`]
}

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

/** Those of them that the other filters leave, in their order. */
async function fitting(
  db: Sql,
  environment: Environment,
  filter: ActivityFilter,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await db.rows<{ id: string }>(sql`
    select k.id from unnest(${ids}::uuid[]) with ordinality as k (id, place)
    cross join lateral (
      select n.id from notifications n ${lookups(environment, filter)}
      where n.environment_id = ${environment.id} and n.id = k.id limit 1) as n
    order by k.place`)
  return rows.map(({ id }) => id)
}

async function rowsInOrder(db: Sql, environment: Environment, ids: readonly string[]): Promise<ActivityRow[]> {
  if (ids.length === 0) return []
  const found = sql`
    select ${notificationColumns} from notifications n
    where n.environment_id = ${environment.id} and n.id = any(${ids}::uuid[])`
  const rows = await db.rows<ActivityRow>(completed(environment, found))
  const places = new Map(ids.map((id, place) => [id, place]))
  return rows.sort((one, other) => (places.get(one.id) ?? 0) - (places.get(other.id) ?? 0))
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
    where ${allOf([sql`j.notification_id = any(${rows.map((row) => row.id)}::uuid[])`, ...detailCondition(failures)])}`)
  const failed = new Set((await ofTypes(db, environment, found, failures, versions)).map((one) => one.notification_id))
  return rows.filter((row) => failed.has(row.id))
}
