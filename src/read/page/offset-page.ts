// Page-based lists: a page by offset, with a count that stops at 50,000.
import type { Sql, Statement } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import { weighPage } from './page-weight.ts'

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
  return cappedAt(row?.count ?? 0)
}

/** Of a count that went no further than one past the maximum. */
export const cappedAt = (count: number): { totalCount: number; totalCountCapped: boolean } => ({
  totalCount: Math.min(count, countMax),
  totalCountCapped: count > countMax,
})

/** `rows` has up to one item more than a page, which shows whether there are more. */
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

/**
 * A page of what `list` returns, with the count of `from`. `weight`: a select of the characters of each row, in the order of the
 * list, where rows may be large.
 */
export async function listedPage<Item>(
  db: Sql,
  page: { page: number; limit: number },
  list: (part: { offset: number; limit: number }) => Promise<readonly Item[]>,
  from: Statement,
  weight?: Statement,
): Promise<OffsetPage<Item>> {
  const part = { offset: page.page * page.limit, limit: page.limit + 1 }
  if (weight !== undefined) await weighPage(db, page.limit, sql`${weight} offset ${part.offset} limit ${page.limit}`)
  const [rows, count] = await Promise.all([list(part), cappedCount(db, from)])
  return offsetPage(rows, page, count)
}

/**
 * The rows of a page from `rows`, a select that ends in its order. `name` is for a prepared statement, which first pages
 * are: there the limit is written out over the one that is a parameter, in two sizes. Of a parameter the planner expects a
 * tenth of all rows, and would rather plan for the value every time.
 */
export function pageOf(
  rows: Statement,
  { offset, limit }: { offset: number; limit: number },
): { readonly statement: Statement; readonly name: string | undefined } {
  if (offset > 0 || limit > 101) return { statement: sql`${rows} offset ${offset} limit ${limit}`, name: undefined }
  const inner = sql`select * from (${rows} limit ${limit}) as page`
  return limit <= 11
    ? { statement: sql`${inner} limit 11`, name: 'short' }
    : { statement: sql`${inner} limit 101`, name: 'long' }
}
