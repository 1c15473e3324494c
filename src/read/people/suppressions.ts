// The suppression list, newest first unless asked otherwise. Its key is channel and address, so its cursors hold those.
import type { Sql, Statement } from '../../db/sql.ts'
import { allOf, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Suppression, SuppressionChannel, SuppressionReason } from '../../domain/people/suppression.ts'
import { comparedAddress, suppressionChannels } from '../../domain/people/suppression.ts'
import { badRequest } from '../../domain/problem.ts'
import { isIsoText } from '../../domain/time/iso-timestamp.ts'
import type { SuppressionRow } from '../../store/people/suppressions.ts'
import { suppressionColumns, suppressionOf } from '../../store/people/suppressions.ts'
import type { CursorPage } from '../page/keyset-page.ts'
import { cappedCount } from '../page/offset-page.ts'

export interface SuppressionQuery {
  readonly after?: string
  readonly before?: string
  readonly limit?: number
  readonly orderDirection?: 'ASC' | 'DESC'
  readonly channel?: SuppressionChannel
  readonly reason?: SuppressionReason
  /** The full address, in any format. */
  readonly address?: string
  readonly addressPrefix?: string
}

const limitDefault = 10

export async function suppressionsPage(
  db: Sql,
  environment: Environment,
  query: SuppressionQuery,
): Promise<CursorPage<Suppression>> {
  if (query.after !== undefined && query.before !== undefined) {
    throw badRequest('Cannot specify both "before" and "after" cursors at the same time.')
  }
  const cursorText = query.before ?? query.after
  const cursor = cursorText === undefined ? undefined : readCursor(cursorText)
  const list = { environment, filters: filtersOf(query) }
  const [page, count] = await Promise.all([
    findPage(db, list, query, cursor),
    cappedCount(db, sql`from suppressions where environment_id = ${environment.id} and ${allOf(list.filters)}`),
  ])
  return { ...page, data: page.data.map(suppressionOf), ...count }
}

interface List {
  readonly environment: Environment
  readonly filters: readonly Statement[]
}

/** An empty filter is none: forms send their empty fields too. */
function filtersOf({ channel, reason, address, addressPrefix }: SuppressionQuery): Statement[] {
  // Each channel normalises in its own way, so each is queried with its own form of the address.
  const channels = channel === undefined ? suppressionChannels : [channel]
  return [
    ...(channel === undefined ? [] : [sql`channel = ${channel}`]),
    ...(reason === undefined ? [] : [sql`reason = ${reason}`]),
    ...(address ? [eitherOf(channels, (one) => sql`address = ${comparedAddress(one, address)}`)] : []),
    ...(addressPrefix ? [eitherOf(channels, (one) => beginsWith(comparedAddress(one, addressPrefix)))] : []),
  ]
}

/** Nothing begins with separators alone, which normalise to nothing. */
const beginsWith = (prefix: string): Statement => (prefix === '' ? sql`false` : sql`starts_with(address, ${prefix})`)

function eitherOf(
  channels: readonly SuppressionChannel[],
  condition: (channel: SuppressionChannel) => Statement,
): Statement {
  const each = channels.map((channel) => sql`(channel = ${channel} and ${condition(channel)})`)
  return sql`(${each.reduce((all, one) => sql`${all} or ${one}`)})`
}

async function findPage(
  db: Sql,
  list: List,
  query: SuppressionQuery,
  cursor: Cursor | undefined,
): Promise<Pick<CursorPage<SuppressionRow>, 'data' | 'next' | 'previous'>> {
  const limit = query.limit ?? limitDefault
  const backwards = query.before !== undefined
  const ascending = query.orderDirection === 'ASC'
  // Backwards, the nearest page is read from the cursor outwards and then turned round.
  const rows = await findRows(db, list, { cursor, up: ascending !== backwards }, limit + 1)
  const more = rows.length > limit
  const data = rows.slice(0, limit)
  if (backwards) data.reverse()
  const [first, last] = [data[0], data.at(-1)]
  if (first === undefined || last === undefined) return { data, next: null, previous: null }
  // One side is known from the extra row; the other is queried, unless there was no cursor.
  const edge = cursorOf(backwards ? last : first)
  const otherWay = { cursor: edge, up: ascending === backwards }
  const otherSide = cursor !== undefined && (await findRows(db, list, otherWay, 1)).length > 0
  const [follows, precedes] = backwards ? [otherSide, more] : [more, otherSide]
  return {
    data,
    next: follows ? writeCursor(cursorOf(last)) : null,
    previous: precedes ? writeCursor(cursorOf(first)) : null,
  }
}

function findRows(
  db: Sql,
  list: List,
  { cursor, up }: { cursor: Cursor | undefined; up: boolean },
  limit: number,
): Promise<SuppressionRow[]> {
  const key = sql`(created_at, channel, address)`
  const at = cursor && sql`(${cursor.createdAt}::timestamptz, ${cursor.channel}::text, ${cursor.address}::text)`
  const beyond = at === undefined ? [] : [up ? sql`${key} > ${at}` : sql`${key} < ${at}`]
  const sorted = up ? sql`created_at asc, channel asc, address asc` : sql`created_at desc, channel desc, address desc`
  return db.rows<SuppressionRow>(sql`
    select ${suppressionColumns} from suppressions
    where environment_id = ${list.environment.id} and ${allOf([...list.filters, ...beyond])}
    order by ${sorted} limit ${limit}`)
}

interface Cursor {
  readonly createdAt: string
  readonly channel: string
  readonly address: string
}

const cursorOf = ({ created_at, channel, address }: SuppressionRow): Cursor => ({
  createdAt: created_at.toISOString(),
  channel,
  address,
})

function writeCursor({ createdAt, channel, address }: Cursor): string {
  return Buffer.from(JSON.stringify([createdAt, channel, address]), 'utf8').toString('base64url')
}

/** Throws 400 for anything `writeCursor` did not write. */
function readCursor(text: string): Cursor {
  const [createdAt, channel, address] = partsOf(text)
  if (typeof createdAt !== 'string' || !isIsoText(createdAt)) throw badRequest('The cursor is not valid')
  if (typeof channel !== 'string' || typeof address !== 'string' || !isStorable(channel) || !isStorable(address)) {
    throw badRequest('The cursor is not valid')
  }
  return { createdAt, channel, address }
}

const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed()

function partsOf(text: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}
