// What was buried after internal errors: jobs and tasks in one list, newest first by default.
import type { Sql, Statement } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import { buriedFacts } from '../../domain/delivery/redrive.ts'
import type { Environment } from '../../domain/environment.ts'
import { badRequest } from '../../domain/problem.ts'
import { isIsoText } from '../../domain/time/iso-timestamp.ts'
import type { Cursor } from '../page/cursor.ts'
import { readCursor, writeCursor } from '../page/cursor.ts'
import type { CursorPage, CursorQuery } from '../page/keyset-page.ts'
import { cappedCount } from '../page/offset-page.ts'

export const buriedKinds = ['job', 'task'] as const
export type BuriedKind = (typeof buriedKinds)[number]

export interface Buried {
  readonly _id: string
  readonly kind: BuriedKind
  /** What went wrong. */
  readonly reason: string
  /** How often it was started. */
  readonly claims: number
  readonly buriedAt: string
  /** For a task: its kind. */
  readonly task?: string
  readonly notificationId?: string
  readonly transactionId?: string
}

interface BuriedRow {
  readonly id: string
  readonly kind: BuriedKind
  readonly buried_at: Date
  readonly claims: number
  readonly task: string | null
  readonly notification_id: string | null
  readonly event_id: string | null
  /** For a task its error, for a job what was stored about its burial. */
  readonly reason: string | null
}

export type BuriedQuery = Pick<CursorQuery, 'after' | 'before' | 'limit' | 'orderDirection'> & {
  readonly kind?: BuriedKind
}

const limitDefault = 10
const orderBy = 'buriedAt'

export async function buriedPage(db: Sql, environment: Environment, query: BuriedQuery): Promise<CursorPage<Buried>> {
  if (query.after !== undefined && query.before !== undefined) {
    throw badRequest('Cannot specify both "before" and "after" cursors at the same time.')
  }
  const cursorText = query.before ?? query.after
  const cursor = cursorText === undefined ? undefined : cursorOf(cursorText)
  const kinds = query.kind === undefined ? buriedKinds : [query.kind]
  const [page, count] = await Promise.all([
    findPage(db, environment, kinds, query, cursor),
    cappedCount(db, sql`from (${kinds.map((kind) => idsOf(environment, kind)).reduce(both)}) as b`),
  ])
  const transactions = await findTransactions(db, environment, page.data)
  return { ...page, data: page.data.map((row) => buriedOf(row, transactions)), ...count }
}

const both = (all: Statement, one: Statement): Statement => sql`${all} union all ${one}`

const idsOf = (environment: Environment, kind: BuriedKind): Statement =>
  kind === 'job'
    ? sql`select id from jobs where environment_id = ${environment.id} and buried_at is not null`
    : sql`select id from tasks where environment_id = ${environment.id} and buried_at is not null`

/** Throws 400 for anything that is no cursor of this list. */
function cursorOf(text: string): Cursor {
  const cursor = readCursor(text, orderBy)
  if (!isIsoText(cursor.value) || Date.parse(cursor.value) < 0) throw badRequest('The cursor is not valid')
  return cursor
}

async function findPage(
  db: Sql,
  environment: Environment,
  kinds: readonly BuriedKind[],
  query: BuriedQuery,
  cursor: Cursor | undefined,
): Promise<Pick<CursorPage<BuriedRow>, 'data' | 'next' | 'previous'>> {
  const limit = query.limit ?? limitDefault
  const backwards = query.before !== undefined
  const ascending = query.orderDirection === 'ASC'
  // Backwards, the nearest page is read from the cursor outwards and then turned round.
  const rows = await findRows(db, environment, kinds, { cursor, up: ascending !== backwards }, limit + 1)
  const more = rows.length > limit
  const data = rows.slice(0, limit)
  if (backwards) data.reverse()
  const [first, last] = [data[0], data.at(-1)]
  if (first === undefined || last === undefined) return { data, next: null, previous: null }
  // One side is known from the extra row; the other is queried, unless there was no cursor.
  const edge = backwards ? last : first
  const otherWay = {
    cursor: { orderBy, value: edge.buried_at.toISOString(), id: edge.id },
    up: ascending === backwards,
  }
  const otherSide = cursor !== undefined && (await findRows(db, environment, kinds, otherWay, 1)).length > 0
  const [follows, precedes] = backwards ? [otherSide, more] : [more, otherSide]
  const at = (row: BuriedRow): string => writeCursor({ orderBy, value: row.buried_at.toISOString(), id: row.id })
  return { data, next: follows ? at(last) : null, previous: precedes ? at(first) : null }
}

interface Way {
  readonly cursor: Cursor | undefined
  /** Whether to read from small to large. */
  readonly up: boolean
}

/** A page of each table, by its own index, and the first of both: one statement over both would sort all of them. */
async function findRows(
  db: Sql,
  environment: Environment,
  kinds: readonly BuriedKind[],
  way: Way,
  limit: number,
): Promise<BuriedRow[]> {
  const found = await Promise.all(kinds.map((kind) => db.rows<BuriedRow>(rowsOf(environment, kind, way, limit))))
  const sign = way.up ? 1 : -1
  const order = (a: BuriedRow, b: BuriedRow): number =>
    sign * (a.buried_at.getTime() - b.buried_at.getTime() || (a.id < b.id ? -1 : 1))
  return found.flat().sort(order).slice(0, limit)
}

function rowsOf(environment: Environment, kind: BuriedKind, { cursor, up }: Way, limit: number): Statement {
  const at = cursor && sql`(${cursor.value}::timestamptz, ${cursor.id}::uuid)`
  const beyond = at === undefined ? sql`true` : up ? sql`(buried_at, id) > ${at}` : sql`(buried_at, id) < ${at}`
  const sorted = up ? sql`buried_at asc, id asc` : sql`buried_at desc, id desc`
  return kind === 'job'
    ? sql`
      select 'job' as kind, id, buried_at, claims, null as task, notification_id, event_id,
        jsonb_path_query_array(details, '$[*] ? (@.code == "buried").raw')->>-1 as reason
      from jobs where environment_id = ${environment.id} and buried_at is not null and ${beyond}
      order by ${sorted} limit ${limit}`
    : sql`
      select 'task' as kind, id, buried_at, greatest(claims, interruptions, faults + 1) as claims, kind as task, null as notification_id,
        coalesce(state->>'eventId', id::text) as event_id, error as reason
      from tasks where environment_id = ${environment.id} and buried_at is not null and ${beyond}
      order by ${sorted} limit ${limit}`
}

/** By event. A task is an event's own, or names it, or has none. */
async function findTransactions(
  db: Sql,
  environment: Environment,
  rows: readonly BuriedRow[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(rows.flatMap((row) => row.event_id ?? []))]
  if (ids.length === 0) return new Map()
  const found = await db.rows<{ id: string; transaction_id: string }>(sql`
    select e.id, e.transaction_id from unnest(${ids}::uuid[]) as asked (id)
    cross join lateral (select id, transaction_id from events found
      where found.environment_id = ${environment.id} and found.id = asked.id limit 1) as e`)
  return new Map(found.map((row) => [row.id, row.transaction_id]))
}

function buriedOf(row: BuriedRow, transactions: ReadonlyMap<string, string>): Buried {
  const facts = row.kind === 'job' ? buriedFacts(row.reason ?? '') : { message: row.reason ?? '', claims: row.claims }
  const transactionId = transactions.get(row.event_id ?? '')
  return {
    _id: row.id,
    kind: row.kind,
    reason: facts.message,
    claims: facts.claims ?? 0,
    buriedAt: row.buried_at.toISOString(),
    ...(row.task === null ? {} : { task: row.task }),
    ...(row.notification_id === null ? {} : { notificationId: row.notification_id }),
    ...(transactionId === undefined ? {} : { transactionId }),
  }
}
