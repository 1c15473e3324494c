// Finding notifications for the activity list, newest first: by the way that looks at the fewest of them.
import type { Sql, Statement } from '../../db/sql.ts'
import { allOf, shortRead, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { invalidField } from '../../domain/problem.ts'
import { pageOf } from '../page/offset-page.ts'
import type { EventIndex } from './activity-by-events.ts'
import { eventRowsOf, findByEvents, findByTransactions } from './activity-by-events.ts'
import { findByFailures, withFailures } from './activity-by-failures.ts'
import type { ActivityFilter, FailureFilter, PeopleFilter } from './activity-filters.ts'
import { inTime, lookups, newestOfKey, peopleParts, versionCondition } from './activity-filters.ts'
import type { ActivityRow, Slice } from './activity-rows.ts'
import { completed, depthOf, notificationColumns, ordered } from './activity-rows.ts'
import type { PinnedVersions } from './pinned-versions.ts'

/**
 * If no index gives the newest first, and no filter is known to be selective, this many of the newest notifications are
 * examined first: common matches are found among them, and rare ones by their index.
 */
const walkedFirst = 2_000
/** Fewer for people: each costs a lookup of its address, and what more than one in a hundred have is among these. */
const walkedForPeople = 1_000
/** A filter that fewer rows fit is narrow: all of them can be looked at. */
const narrowMax = 1_000
/** Fewer where each is read whole to be asked whether it failed. */
const askedMax = 200
/** More people than this are not looked up one by one. */
const peopleMax = 10_000

/** What the list can be found by. */
type Way = 'people' | EventIndex | 'versions'

export async function findNotifications(
  db: Sql,
  environment: Environment,
  filter: ActivityFilter,
  slice: Slice,
  versions: PinnedVersions,
): Promise<ActivityRow[]> {
  if (filter.workflowIds?.length === 0) return []
  if (filter.failures !== undefined) return findFailed(db, environment, filter, filter.failures, slice, versions)
  return findAny(db, environment, filter, slice)
}

/** Where another filter leaves few, those are asked whether they failed; otherwise what failed is asked for the rest. */
async function findFailed(
  db: Sql,
  environment: Environment,
  filter: ActivityFilter,
  failures: FailureFilter,
  slice: Slice,
  versions: PinnedVersions,
): Promise<ActivityRow[]> {
  const ways = filter.transactionIds === undefined ? waysOf(filter) : []
  const narrow = ways.length === 0 ? undefined : await narrowest(db, environment, filter, ways)
  const found = narrow && (await findBy(narrow, db, environment, filter, { offset: 0, limit: askedMax }))
  if (found === undefined || found.length === askedMax) {
    return findByFailures(db, environment, filter, failures, slice, versions)
  }
  const failed = await withFailures(db, environment, found, failures, versions)
  return failed.slice(slice.offset, depthOf(slice))
}

async function findAny(
  db: Sql,
  environment: Environment,
  filter: ActivityFilter,
  slice: Slice,
): Promise<ActivityRow[]> {
  if (filter.transactionIds !== undefined) return findByTransactions(db, environment, filter, slice)
  const ways = waysOf(filter)
  const [first] = ways
  if (first === undefined) return walk(db, environment, filter, slice)
  const narrow = ways.length === 1 ? undefined : await narrowest(db, environment, filter, ways)
  if (narrow === undefined && (ways.length > 1 || !isInOrder(first, filter))) {
    const isForPeople = ways.length === 1 && first === 'people'
    const near = await findNewest(db, environment, filter, slice, isForPeople ? walkedForPeople : walkedFirst)
    if (near.length === slice.limit) return near
  }
  return findBy(narrow ?? first, db, environment, filter, slice)
}

function waysOf(filter: ActivityFilter): Way[] {
  const { people, contextKeys, topicKey, severities, workflowIds, channels } = filter
  const hasSeverity = severities !== undefined && !severities.includes('none')
  return [
    ...(people === undefined ? [] : ['people' as const]),
    ...(contextKeys ? ['context' as const] : []),
    ...(topicKey === undefined ? [] : ['topic' as const]),
    // Events without a severity have no index: they are taken to be common.
    ...(hasSeverity ? ['severity' as const] : []),
    // A severity is found together with its workflows.
    ...((workflowIds === undefined || hasSeverity) && channels === undefined ? [] : ['versions' as const]),
  ]
}

/** Whether an index gives the newest at once: of topics it does not, and addresses and channels may be those of many. */
function isInOrder(way: Way, { people, workflowIds }: ActivityFilter): boolean {
  if (way === 'people') return people?.emails.length === 0 && people.search === undefined
  return way === 'versions' ? workflowIds !== undefined : way !== 'topic'
}

function findBy(way: Way, db: Sql, environment: Environment, filter: ActivityFilter, slice: Slice) {
  if (way === 'people') return findByPeople(db, environment, filter, slice)
  if (way === 'versions') return findByVersions(db, environment, filter, slice)
  return findByEvents(db, environment, filter, slice, way)
}

/** The way that fewest rows fit, if they are few; each counted no further than that. */
async function narrowest(
  db: Sql,
  environment: Environment,
  filter: ActivityFilter,
  ways: readonly Way[],
): Promise<Way | undefined> {
  // Addresses are looked up only if nothing else will do.
  const counted = ways.filter((way) => way !== 'people' || isInOrder(way, filter))
  if (counted.length === 0) return undefined
  const sizes = counted.map(
    (way) =>
      sql`(select count(*)::int from (select 1 from (${rowsOf(way, environment, filter)}) as fitting limit ${narrowMax}) as few)`,
  )
  const row = await db.row<{ sizes: number[] }>(
    sql`select array[${sizes.reduce((all, size) => sql`${all}, ${size}`)}] as sizes`,
  )
  const smallest = Math.min(...(row?.sizes ?? []))
  return smallest < narrowMax ? counted[row?.sizes.indexOf(smallest) ?? 0] : undefined
}

function rowsOf(way: Way, environment: Environment, filter: ActivityFilter): Statement {
  if (way === 'people') {
    return sql`select 1 from subscribers s
      cross join lateral (select 1 from notifications n where n.environment_id = ${environment.id}
        and ${newestOfSubscriber(filter, sql`s.id`, narrowMax)}) as n
      where s.environment_id = ${environment.id} and s.deleted_at is null
        and s.subscriber_id = any(${filter.people?.subscriberIds ?? []}::text[])`
  }
  if (way === 'versions') {
    return sql`select 1 from workflow_versions v
      cross join lateral (select 1 from notifications n where n.environment_id = ${environment.id}
        and ${newestOfVersion(filter, narrowMax)}) as n
      where v.environment_id = ${environment.id} and ${versionCondition(filter) ?? sql`true`}`
  }
  return eventRowsOf(environment, filter, way, narrowMax)
}

const newestOfSubscriber = (filter: ActivityFilter, value: Statement, limit: number): Statement =>
  newestOfKey(filter, { key: sql`n.subscriber_id`, value, id: sql`n.id`, limit })

const newestOfVersion = (filter: ActivityFilter, limit: number): Statement =>
  newestOfKey(filter, { key: sql`n.version_id`, value: sql`v.id`, id: sql`n.id`, limit })

async function walk(db: Sql, environment: Environment, filter: ActivityFilter, slice: Slice) {
  const found = sql`
    select ${notificationColumns}, n.xmin::text as row_version from notifications n ${lookups(environment, filter)}
    where n.environment_id = ${environment.id} and ${inTime(filter, sql`n.id`)} order by n.id desc`
  const { statement, name } = pageOf(found, slice)
  const page = completed(environment, statement, true)
  const isPlain = name !== undefined && Object.keys(filter).length === 0
  return db.rows<ActivityRow>(isPlain ? shortRead(`activity-newest ${name}`, page) : page)
}

async function findNewest(db: Sql, environment: Environment, filter: ActivityFilter, slice: Slice, walked: number) {
  const near = Math.max(walked, 4 * depthOf(slice))
  const found = sql`
    select ${notificationColumns} from (
      select * from notifications n where n.environment_id = ${environment.id} and ${inTime(filter, sql`n.id`)}
      order by n.id desc limit ${near}) as n ${lookups(environment, filter)} ${ordered(slice)}`
  return db.rows<ActivityRow>(completed(environment, found))
}

async function findByPeople(db: Sql, environment: Environment, filter: ActivityFilter, slice: Slice) {
  const ids = await findPeople(db, environment, filter.people ?? { subscriberIds: [], emails: [] })
  if (ids.length === 0) return []
  const found = sql`
    select ${notificationColumns} from unnest(${ids}::uuid[]) as k (id)
    cross join lateral (
      select n.* from notifications n ${lookups(environment, filter, { people: true })}
      where n.environment_id = ${environment.id} and ${newestOfSubscriber(filter, sql`k.id`, depthOf(slice))}) as n
    ${ordered(slice)}`
  return db.rows<ActivityRow>(completed(environment, found))
}

/** Each part through its own index, and then together. */
async function findPeople(db: Sql, environment: Environment, people: PeopleFilter): Promise<string[]> {
  const parts = peopleParts(people).map(
    ({ indexed, condition }) => sql`(with found as materialized (
      select s.id from subscribers s
      where s.environment_id = ${environment.id} and s.deleted_at is null and ${allOf([indexed, condition])}
      limit ${peopleMax + 1}) select id from found)`,
  )
  const rows = await db.rows<{ id: string }>(sql`${parts.reduce((all, part) => sql`${all} union ${part}`)}`)
  if (rows.length > peopleMax) {
    const field = people.search === undefined ? 'emails' : 'search'
    throw invalidField(
      field,
      `${field} matches more than ${peopleMax} subscribers: use a longer part of the e-mail address, or subscriberIds`,
    )
  }
  return rows.map((row) => row.id)
}

async function findByVersions(db: Sql, environment: Environment, filter: ActivityFilter, slice: Slice) {
  const found = sql`
    select ${notificationColumns} from workflow_versions v
    cross join lateral (
      select n.* from notifications n ${lookups(environment, filter, { version: true })}
      where n.environment_id = ${environment.id} and ${newestOfVersion(filter, depthOf(slice))}) as n
    where v.environment_id = ${environment.id} and ${versionCondition(filter) ?? sql`true`} ${ordered(slice)}`
  return db.rows<ActivityRow>(completed(environment, found))
}
