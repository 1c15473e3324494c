// Page-based lists: a page by offset, with a count that stops at 50,000.
import type { Sql, Statement } from '../db/sql.ts'
import { sql } from '../db/sql.ts'

export const countMax = 50_000

export interface OffsetPage<Item> {
  readonly data: Item[]
  readonly hasMore: boolean
  readonly pageSize: number
  readonly page: number
  readonly totalCount?: number
}

/** Counts the rows of `from`, a `from … where …` clause, but no further than one past the maximum. */
export async function cappedCount(
  db: Sql,
  from: Statement,
): Promise<{ totalCount: number; totalCountCapped: boolean }> {
  const row = await db.row<{ count: number }>(
    sql`select count(*) as count from (select 1 ${from} limit ${countMax + 1}) as counted`,
  )
  const count = row?.count ?? 0
  return { totalCount: Math.min(count, countMax), totalCountCapped: count > countMax }
}

/** `rows` holds up to one item more than a page, which tells whether there are more. */
export function offsetPage<Item>(
  rows: readonly Item[],
  page: { page: number; limit: number },
  count: { totalCount: number; totalCountCapped: boolean },
): OffsetPage<Item> {
  return {
    data: rows.slice(0, page.limit),
    hasMore: rows.length > page.limit,
    pageSize: page.limit,
    page: page.page,
    ...(count.totalCountCapped ? {} : { totalCount: count.totalCount }),
  }
}
