// The list of contexts, by type and id.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Context } from '../../domain/people/context.ts'
import type { StoredContext } from '../../store/people/contexts.ts'
import { contextColumns, contextOf } from '../../store/people/contexts.ts'
import { contains } from '../page/contains.ts'
import type { CursorPage, CursorQuery, List } from '../page/keyset-page.ts'
import { keysetPage } from '../page/keyset-page.ts'

export interface ContextFilters {
  /** Exactly. */
  readonly id?: string
  readonly type?: string
  /** Contained in `type:id`, case-sensitive. */
  readonly search?: string
}

export const contextOrders = ['_id'] as const

export async function contextsPage(
  db: Sql,
  environment: Environment,
  query: CursorQuery & ContextFilters,
): Promise<CursorPage<Context>> {
  const page = await keysetPage(db, contextList(environment, query), query)
  return { ...page, data: page.data.map(contextOf) }
}

/** An empty filter is none: forms send their empty fields too. */
function contextList(environment: Environment, filters: ContextFilters): List<StoredContext> {
  const key = sql`type || ':' || id`
  return {
    columns: contextColumns,
    from: sql`from contexts`,
    where: [
      sql`environment_id = ${environment.id}`,
      ...(filters.type ? [sql`type = ${filters.type}`] : []),
      ...(filters.id ? [sql`id = ${filters.id}`] : []),
    ],
    search: filters.search ? [contains(sql`(${key})`, filters.search, sql`search_grams(${key})`)] : [],
    id: sql`id`,
    idCast: 'text',
    orders: { _id: { column: sql`type`, cast: 'text' } },
    cursorOf: (row) => ({ value: row.type, id: row.id }),
  }
}
