// The layouts table: the frames around e-mails.
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { Layout, LayoutFields } from '../../domain/workflows/layout.ts'

interface LayoutRow {
  readonly id: string
  readonly identifier: string
  readonly name: string
  readonly description: string
  readonly content: string
  readonly is_default: boolean
  readonly created_by: string
  readonly created_at: Date
  readonly updated_at: Date
}

const columns = sql`id, identifier, name, description, content, is_default, created_by, created_at, updated_at`

/** Undefined when the identifier is taken. No other may be the default. */
export async function insertLayout(
  tx: Tx,
  environment: Environment,
  layout: LayoutFields & { id: string; createdBy: string; now: Date },
): Promise<Layout | undefined> {
  const row = await tx.row<LayoutRow>(sql`
    insert into layouts (environment_id, id, identifier, name, description, content, is_default, created_by, created_at,
                         updated_at)
    values (${environment.id}, ${layout.id}, ${layout.identifier}, ${layout.name}, ${layout.description},
            ${layout.content}, ${layout.isDefault}, ${layout.createdBy}, ${layout.now}, ${layout.now})
    on conflict (environment_id, identifier) where deleted_at is null do nothing returning ${columns}`)
  return row && layoutOf(environment, row)
}

/**
 * Changes what is given; undefined if it is missing. The time of change always advances, by at least a millisecond:
 * compiled templates are cached under it.
 */
export async function updateLayout(
  tx: Tx,
  environment: Environment,
  id: string,
  change: Partial<LayoutFields> & { now: Date },
): Promise<Layout | undefined> {
  const row = await tx.row<LayoutRow>(sql`
    update layouts set
      identifier = coalesce(${change.identifier ?? null}, identifier),
      name = coalesce(${change.name ?? null}, name),
      description = coalesce(${change.description ?? null}, description),
      content = coalesce(${change.content ?? null}, content),
      is_default = coalesce(${change.isDefault ?? null}, is_default),
      updated_at = greatest(${change.now}::timestamptz, updated_at + interval '1 millisecond')
    where environment_id = ${environment.id} and id = ${id} and deleted_at is null
    returning ${columns}`)
  return row && layoutOf(environment, row)
}

/** Before another becomes the default: there is one at the most. */
export async function clearDefaultLayout(tx: Tx, environment: Environment): Promise<void> {
  await tx.run(sql`
    update layouts set is_default = false
    where environment_id = ${environment.id} and is_default and deleted_at is null`)
}

export async function deleteLayout(tx: Tx, environment: Environment, id: string, now: Date): Promise<boolean> {
  const count = await tx.run(sql`
    update layouts set deleted_at = ${now}, updated_at = ${now}
    where environment_id = ${environment.id} and id = ${id} and deleted_at is null`)
  return count > 0
}

/** Waits for whoever is saving a workflow that names it. */
export async function lockLayout(tx: Tx, environment: Environment, id: string): Promise<void> {
  await tx.run(sql`select 1 from layouts where environment_id = ${environment.id} and id = ${id} for update`)
}

/** Two calls that make layouts, or move the default, wait for each other. */
export async function lockLayouts(tx: Tx, environment: Environment): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended('layouts:' || ${environment.id}::text, 0))`)
}

export async function countLayouts(db: Sql, environment: Environment): Promise<number> {
  const row = await db.row<{ count: number }>(
    sql`select count(*) as count from layouts where environment_id = ${environment.id} and deleted_at is null`,
  )
  return row?.count ?? 0
}

/** By id or by identifier; the id wins where a text could be either. */
export async function findLayout(
  db: Sql,
  environment: Environment,
  idOrIdentifier: string,
): Promise<Layout | undefined> {
  const find = (condition: Statement): Promise<LayoutRow | undefined> =>
    db.row<LayoutRow>(sql`
      select ${columns} from layouts
      where environment_id = ${environment.id} and deleted_at is null and ${condition}`)
  const byId = isUuid(idOrIdentifier) ? await find(sql`id = ${idOrIdentifier}`) : undefined
  const row = byId ?? (await find(sql`identifier = ${idOrIdentifier}`))
  return row && layoutOf(environment, row)
}

export async function findDefaultLayout(db: Sql, environment: Environment): Promise<Layout | undefined> {
  const row = await db.row<LayoutRow>(sql`
    select ${columns} from layouts
    where environment_id = ${environment.id} and is_default and deleted_at is null limit 1`)
  return row && layoutOf(environment, row)
}

/** Those of the names that are an id or an identifier here. They cannot be deleted before the transaction ends. */
export async function holdLayouts(tx: Tx, environment: Environment, names: readonly string[]): Promise<Set<string>> {
  const rows = await tx.rows<{ id: string; identifier: string }>(sql`
    select id, identifier from layouts
    where environment_id = ${environment.id} and deleted_at is null
      and (identifier = any(${names}::text[]) or id = any(${names.filter(isUuid)}::uuid[]))
    order by id for share`)
  return new Set(rows.flatMap((row) => [row.id, row.identifier]))
}

export interface LayoutQuery {
  readonly offset: number
  readonly limit: number
  /** Contained in the name or the identifier, whatever its capitals. */
  readonly text?: string
  readonly oldestFirst?: boolean
}

/** An environment has at most a hundred: they are looked through. */
function matching(environment: Environment, text: string | undefined): Statement {
  const own = sql`environment_id = ${environment.id} and deleted_at is null`
  if (text === undefined || text === '') return own
  return sql`${own} and strpos(lower(name || ' ' || identifier), lower(${text})) > 0`
}

export async function listLayouts(db: Sql, environment: Environment, query: LayoutQuery): Promise<Layout[]> {
  const direction = query.oldestFirst === true ? sql`asc` : sql`desc`
  const rows = await db.rows<LayoutRow>(sql`
    select ${columns} from layouts where ${matching(environment, query.text)} and environment_id = ${environment.id}
    order by id ${direction} offset ${query.offset} limit ${query.limit}`)
  return rows.map((row) => layoutOf(environment, row))
}

export async function countMatchingLayouts(
  db: Sql,
  environment: Environment,
  text: string | undefined,
): Promise<number> {
  const row = await db.row<{ count: number }>(sql`
    select count(*) as count from layouts
    where ${matching(environment, text)} and environment_id = ${environment.id}`)
  return row?.count ?? 0
}

function layoutOf(environment: Environment, row: LayoutRow): Layout {
  return {
    _id: row.id,
    _organizationId: environment.organizationId,
    _environmentId: environment.id,
    _creatorId: row.created_by,
    identifier: row.identifier,
    name: row.name,
    description: row.description,
    channel: 'email',
    content: row.content,
    contentType: 'customHtml',
    isDefault: row.is_default,
    isDeleted: false,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

export interface Named {
  readonly id: string
  readonly identifier: string
}

/** Those of the names that there are, by id or identifier. Without the lock that saving takes: nothing is saved. */
export async function findLayoutNames(db: Sql, environment: Environment, names: readonly string[]): Promise<Named[]> {
  return db.rows<Named>(sql`
    select id, identifier from layouts
    where environment_id = ${environment.id} and deleted_at is null
      and (identifier = any(${names}::text[]) or id = any(${names.filter(isUuid)}::uuid[]))`)
}
