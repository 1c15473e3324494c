// Cursor-based lists: a page found by key, not by counting, with next and previous.

import type { Sql, Statement } from '../../db/sql.ts'
import { allOf, sql } from '../../db/sql.ts'
import { badRequest } from '../../domain/problem.ts'
import { isIsoText } from '../../domain/time/iso-timestamp.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { Contains } from './contains.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { cappedCount } from './offset-page.ts'
import { readCharactersMax, throwIfHeavy, unweighedMax } from './page-weight.ts'

export interface CursorPage<Item> {
  readonly data: Item[]
  readonly next: string | null
  readonly previous: string | null
  readonly totalCount: number
  readonly totalCountCapped: boolean
}

/** The query parameters that lists by cursor share. */
export interface CursorQuery {
  readonly after?: string
  readonly before?: string
  readonly limit?: number
  readonly orderDirection?: 'ASC' | 'DESC'
  readonly orderBy?: string
  readonly includeCursor?: boolean
}

/** A column a list can be sorted by. `cast` reads a cursor's text back; never null in any row. */
export interface Order {
  readonly column: Statement
  readonly cast: 'uuid' | 'timestamptz' | 'text'
}

export interface List<Row> {
  readonly columns: Statement
  /** How many characters a row has of what callers may make large; absent where that is little. */
  readonly weight?: Statement
  /** `from … ` with its joins, without `where`. */
  readonly from: Statement
  /** What to count, if joins that cannot change the number can be left out; `from` if absent. */
  readonly countFrom?: Statement
  /** The environment first, then filters that the order's own index serves. */
  readonly where: readonly Statement[]
  /** Filters that walk from row to row or through an index of their own; `from` is then a single table. */
  readonly search?: readonly Contains[]
  readonly id: Statement
  /** Ids are UUIDs unless said otherwise. */
  readonly idCast?: 'uuid' | 'text' | 'bigint'
  /** The first is the default. */
  readonly orders: Readonly<Record<string, Order>>
  /** The text of a row's sort value, and its id, for its cursor. */
  cursorOf(row: Row, orderBy: string): { value: string; id: string }
}

const limitDefault = 10
/**
 * A search examines this many rows in the list's own order first. Text that many rows contain is found among them,
 * where an index would return them all to be sorted; text that few contain is then left to its index, where a walk
 * would read the table. So neither grows with the table, and no estimate of how common the text is can choose the wrong
 * way.
 */
const walkedFirst = 2_000

/** The page and its rows; the count runs beside it on a second connection, capped. */
export async function keysetPage<Row extends object>(
  db: Sql,
  list: List<Row>,
  query: CursorQuery,
): Promise<CursorPage<Row>> {
  if (query.after !== undefined && query.before !== undefined) {
    throw badRequest('Cannot specify both "before" and "after" cursors at the same time.')
  }
  // Parsed before the database is queried: an invalid cursor costs no count.
  const walk = walkOf(list, query)
  const [page, count] = await Promise.all([
    findPage(db, list, walk),
    cappedCount(db, sql`${list.countFrom ?? list.from} where ${allOf([...list.where, ...searched(list)])}`),
  ])
  return { ...page, ...count }
}

interface Walk {
  readonly orderBy: string
  readonly order: Order
  /** Whether the list runs from small to large. */
  readonly ascending: boolean
  readonly limit: number
  readonly cursor: { value: string; id: string } | undefined
  /** Whether the page lies before the cursor. */
  readonly backwards: boolean
  readonly inclusive: boolean
}

function walkOf<Row>(list: List<Row>, query: CursorQuery): Walk {
  const orderBy = query.orderBy ?? Object.keys(list.orders)[0] ?? ''
  const order = list.orders[orderBy]
  if (order === undefined) throw new Error(`The list has no order ${orderBy}`)
  const cursorText = query.before ?? query.after
  const cursor = cursorText === undefined ? undefined : readCursor(cursorText, orderBy, idChecks[list.idCast ?? 'uuid'])
  if (cursor !== undefined) refuseForeignValue(order, cursor.value)
  return {
    orderBy,
    order,
    ascending: query.orderDirection === 'ASC',
    limit: query.limit ?? limitDefault,
    cursor,
    backwards: query.before !== undefined,
    inclusive: query.includeCursor === true,
  }
}

async function findPage<Row extends object>(
  db: Sql,
  list: List<Row>,
  walk: Walk,
): Promise<Pick<CursorPage<Row>, 'data' | 'next' | 'previous'>> {
  const { orderBy, cursor, backwards, inclusive } = walk
  // Backwards, the nearest page is read from the cursor outwards and then turned round.
  const way = { cursor, up: walk.ascending !== backwards, inclusive }
  const rows = await findWeighedRows(db, list, walk, way)
  const more = rows.length > walk.limit
  const data = rows.slice(0, walk.limit)
  if (backwards) data.reverse()
  const [first, last] = [data[0], data.at(-1)]
  if (first === undefined || last === undefined) return { data, next: null, previous: null }
  // One side is known from the extra row; the other is queried, unless there was no cursor.
  const otherSide = cursor !== undefined && (await hasMore(db, list, walk, backwards ? last : first, backwards))
  const [follows, precedes] = backwards ? [otherSide, more] : [more, otherSide]
  const cursorAt = (row: Row): string => writeCursor({ orderBy, ...list.cursorOf(row, orderBy) })
  return { data, next: follows ? cursorAt(last) : null, previous: precedes ? cursorAt(first) : null }
}

/** Up to one row more than the page, which is not weighed. */
async function findWeighedRows<Row extends object>(db: Sql, list: List<Row>, walk: Walk, way: Way): Promise<Row[]> {
  const limit = walk.limit + 1
  if (list.weight === undefined || walk.limit <= unweighedMax) return findRows<Row>(db, list, walk, way, limit)
  const columns = sql`${list.id} as id, ${list.weight} as characters`
  const found = await findRows<{ id: string; characters: number }>(db, { ...list, columns }, walk, way, limit)
  const page = found.slice(0, walk.limit)
  const characters = page.reduce((sum, row) => sum + row.characters, 0)
  throwIfHeavy(page.length, characters, readCharactersMax)
  if (list.search === undefined || list.search.length === 0) return findRows<Row>(db, list, walk, way, limit)
  // A search costs more than its rows, and is not repeated.
  const ids = found.map(({ id }) => id)
  const isFound = {
    uuid: sql`${list.id} = any(${ids}::uuid[])`,
    text: sql`${list.id} = any(${ids}::text[])`,
    bigint: sql`${list.id} = any(${ids}::bigint[])`,
  }[list.idCast ?? 'uuid']
  return findRows<Row>(db, { ...list, where: [...list.where, isFound], search: [] }, walk, way, limit)
}

interface Way {
  readonly cursor: { value: string; id: string } | undefined
  /** Whether to read from small to large. */
  readonly up: boolean
  readonly inclusive: boolean
}

async function findRows<Row extends object>(
  db: Sql,
  list: Selection,
  walk: Walk,
  way: Way,
  limit: number,
): Promise<Row[]> {
  const { column } = walk.order
  const where = way.cursor === undefined ? list.where : [...list.where, beyond(list, walk, way.cursor, way)]
  const sorted = way.up ? sql`${column} asc, ${list.id} asc` : sql`${column} desc, ${list.id} desc`
  if (list.search === undefined || list.search.length === 0) {
    return db.rows<Row>(
      sql`select ${list.columns} ${list.from} where ${allOf(where)} order by ${sorted} limit ${limit}`,
    )
  }
  const condition = allOf(list.search.map((filter) => filter.condition))
  const near = await db.rows<Row>(sql`
    select ${list.columns} from (
      select * ${list.from} where ${allOf(where)} order by ${sorted} limit ${walkedFirst}) as s
    where ${condition} order by ${sorted} limit ${limit}`)
  if (near.length === limit) return near
  return db.rows<Row>(sql`
    with found as materialized (select * ${list.from} where ${allOf([...where, ...searched(list)])})
    select ${list.columns} from found as s order by ${sorted} limit ${limit}`)
}

/** All of a list but what it says of its rows. */
type Selection = Omit<List<never>, 'cursorOf'>

function searched(list: Selection): Statement[] {
  return (list.search ?? []).flatMap((filter) => [filter.indexed, filter.condition])
}

/** Whether anything lies beyond `row`: forwards in the list's order, or backwards. */
async function hasMore<Row extends object>(
  db: Sql,
  list: List<Row>,
  walk: Walk,
  row: Row,
  forwards: boolean,
): Promise<boolean> {
  const way = { cursor: list.cursorOf(row, walk.orderBy), up: walk.ascending === forwards, inclusive: false }
  return (await findRows(db, list, walk, way, 1)).length > 0
}

function beyond(
  list: Selection,
  walk: Walk,
  cursor: { value: string; id: string },
  way: { up: boolean; inclusive: boolean },
): Statement {
  const left = sql`(${walk.order.column}, ${list.id})`
  const id = {
    uuid: sql`${cursor.id}::uuid`,
    text: sql`${cursor.id}::text`,
    bigint: sql`${cursor.id}::bigint`,
  }[list.idCast ?? 'uuid']
  const right = {
    uuid: sql`(${cursor.value}::uuid, ${id})`,
    timestamptz: sql`(${cursor.value}::timestamptz, ${id})`,
    text: sql`(${cursor.value}::text, ${id})`,
  }[walk.order.cast]
  if (way.up) return way.inclusive ? sql`${left} >= ${right}` : sql`${left} > ${right}`
  return way.inclusive ? sql`${left} <= ${right}` : sql`${left} < ${right}`
}

/** A cursor can be tampered with; what the database could not read is the caller's 400. */
function refuseForeignValue(order: Order, value: string): void {
  const fits = order.cast === 'uuid' ? isUuid(value) : order.cast === 'timestamptz' ? isIsoText(value) : isText(value)
  if (!fits) throw badRequest('The cursor is not valid')
}

/** What the database can hold. */
const isText = (value: string): boolean => !value.includes('\u0000') && value.isWellFormed()

const idChecks = { uuid: isUuid, text: isText, bigint: (id: string): boolean => /^\d{1,15}$/.test(id) }
