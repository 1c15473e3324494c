// The list of topics.

import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Topic } from '../../domain/people/topic.ts'
import type { TopicRow } from '../../store/people/topics.ts'
import { topicColumns, topicOf } from '../../store/people/topics.ts'
import { contains } from '../page/contains.ts'
import type { CursorPage, CursorQuery, List } from '../page/keyset-page.ts'
import { keysetPage } from '../page/keyset-page.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { listedPage } from '../page/offset-page.ts'

export interface TopicFilters {
  readonly key?: string
  /** Contained, case-sensitive. */
  readonly name?: string
}

export const topicOrders = ['_id', 'createdAt', 'updatedAt', 'key'] as const

export async function topicsPage(
  db: Sql,
  environment: Environment,
  query: CursorQuery & TopicFilters,
): Promise<CursorPage<Topic>> {
  const page = await keysetPage(db, topicList(environment, query), query)
  return { ...page, data: page.data.map(topicOf) }
}

/** The same by page, newest first. */
export async function topicsByPage(
  db: Sql,
  environment: Environment,
  query: { key?: string; page: number; limit: number },
): Promise<OffsetPage<Topic>> {
  const ofKey = query.key ? sql` and key = ${query.key}` : sql``
  const from = sql`from topics where environment_id = ${environment.id}${ofKey}`
  const rows = ({ offset, limit }: { offset: number; limit: number }) =>
    db.rows<TopicRow>(sql`select ${topicColumns} ${from} order by id desc offset ${offset} limit ${limit}`)
  const found = await listedPage(db, query, rows, from)
  return { ...found, data: found.data.map(topicOf) }
}

/** An empty filter is none: forms send their empty fields too. */
function topicList(environment: Environment, filters: TopicFilters): List<TopicRow> {
  return {
    columns: topicColumns,
    from: sql`from topics`,
    where: [sql`environment_id = ${environment.id}`, ...(filters.key ? [sql`key = ${filters.key}`] : [])],
    search: filters.name ? [contains(sql`name`, filters.name, sql`search_grams(name)`)] : [],
    id: sql`id`,
    orders: {
      _id: { column: sql`id`, cast: 'uuid' },
      // An id contains its creation time, so both orders are the same.
      createdAt: { column: sql`id`, cast: 'uuid' },
      updatedAt: { column: sql`updated_at`, cast: 'timestamptz' },
      key: { column: sql`key`, cast: 'text' },
    },
    cursorOf: (row, orderBy) => {
      switch (orderBy) {
        case 'updatedAt':
          return { value: row.updated_at.toISOString(), id: row.id }
        case 'key':
          return { value: row.key, id: row.id }
        default:
          return { value: row.id, id: row.id }
      }
    },
  }
}
