// The feeds table: named parts of the in-app feed.
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { Feed } from '../../domain/workflows/feed.ts'

interface FeedRow {
  readonly id: string
  readonly identifier: string
  readonly name: string
  readonly created_at: Date
  readonly updated_at: Date
}

const columns = sql`id, identifier, name, created_at, updated_at`

/** Undefined when the identifier is taken. */
export async function insertFeed(
  tx: Tx,
  environment: Environment,
  feed: { id: string; identifier: string; name: string; now: Date },
): Promise<Feed | undefined> {
  const row = await tx.row<FeedRow>(sql`
    insert into feeds (environment_id, id, identifier, name, created_at, updated_at)
    values (${environment.id}, ${feed.id}, ${feed.identifier}, ${feed.name}, ${feed.now}, ${feed.now})
    on conflict (environment_id, identifier) do nothing returning ${columns}`)
  return row && feedOf(environment, row)
}

/** Waits for whoever is saving a workflow that names it. */
export async function lockFeed(tx: Tx, environment: Environment, id: string): Promise<void> {
  await tx.run(sql`select 1 from feeds where environment_id = ${environment.id} and id = ${id} for update`)
}

export async function deleteFeed(tx: Tx, environment: Environment, id: string): Promise<boolean> {
  return (await tx.run(sql`delete from feeds where environment_id = ${environment.id} and id = ${id}`)) > 0
}

export async function countFeeds(db: Sql, environment: Environment, max: number): Promise<number> {
  const row = await db.row<{ count: number }>(sql`
    select count(*) as count from (
      select 1 from feeds where environment_id = ${environment.id} limit ${max}) as counted`)
  return row?.count ?? 0
}

/** By id or by identifier; the id wins where a text could be either. */
export async function findFeed(db: Sql, environment: Environment, idOrIdentifier: string): Promise<Feed | undefined> {
  const find = (condition: Statement): Promise<FeedRow | undefined> =>
    db.row<FeedRow>(sql`select ${columns} from feeds where environment_id = ${environment.id} and ${condition}`)
  const byId = isUuid(idOrIdentifier) ? await find(sql`id = ${idOrIdentifier}`) : undefined
  const row = byId ?? (await find(sql`identifier = ${idOrIdentifier}`))
  return row && feedOf(environment, row)
}

interface FeedNames {
  readonly id: string
  readonly identifier: string
}

const named = (names: readonly string[]): Statement =>
  sql`(identifier = any(${names}::text[]) or id = any(${names.filter(isUuid)}::uuid[]))`

/** Those of the names that are an id or an identifier here. They cannot be deleted before the transaction ends. */
export async function holdFeeds(tx: Tx, environment: Environment, names: readonly string[]): Promise<Set<string>> {
  const rows = await tx.rows<FeedNames>(sql`
    select id, identifier from feeds where environment_id = ${environment.id} and ${named(names)} order by id for share`)
  return new Set(rows.flatMap((row) => [row.id, row.identifier]))
}

/** All names that steps may use for these feeds: the requested one, and the id and the identifier of each. */
export async function feedNames(db: Sql, environment: Environment, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return []
  const rows = await db.rows<FeedNames>(
    sql`select id, identifier from feeds where environment_id = ${environment.id} and ${named(names)}`,
  )
  return [...new Set([...names, ...rows.flatMap((row) => [row.id, row.identifier])])]
}

/** Oldest first. */
export async function listFeeds(
  db: Sql,
  environment: Environment,
  page: { offset: number; limit: number },
): Promise<Feed[]> {
  const rows = await db.rows<FeedRow>(sql`
    select ${columns} from feeds where environment_id = ${environment.id}
    order by id offset ${page.offset} limit ${page.limit}`)
  return rows.map((row) => feedOf(environment, row))
}

function feedOf(environment: Environment, row: FeedRow): Feed {
  return {
    _id: row.id,
    identifier: row.identifier,
    name: row.name,
    _environmentId: environment.id,
    _organizationId: environment.organizationId,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

/** As `findLayoutNames`. */
export async function findFeedNames(
  db: Sql,
  environment: Environment,
  names: readonly string[],
): Promise<{ readonly id: string; readonly identifier: string }[]> {
  return db.rows(sql`
    select id, identifier from feeds
    where environment_id = ${environment.id}
      and (identifier = any(${names}::text[]) or id = any(${names.filter(isUuid)}::uuid[]))`)
}
