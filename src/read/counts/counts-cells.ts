// Counts added up: folded and unfolded ones in one statement, so that each is seen once.
import type { Sql, Statement } from '../../db/sql.ts'
import { allOf, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { CountGroup, MeasureFacts, StoredGrain } from '../../domain/insight/counts.ts'
import { dayMs, hourMs } from '../../domain/insight/counts.ts'
import type { FieldErrors } from '../../domain/problem.ts'
import { invalid, invalidField, notFound } from '../../domain/problem.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { StoredMeasure } from '../../store/operate/counts.ts'
import { channelOfStep, inHours, versionOfDelta, workflowOfStep } from '../../store/operate/counts.ts'
import type { CountPiece, CountTime } from './counts-range.ts'

/** Joined by “and”, values of one filter by “or”. */
export interface CountFilters {
  /** Identifiers, or `_id`s. */
  readonly workflow?: readonly string[] | undefined
  readonly channel?: readonly string[] | undefined
  readonly provider?: readonly string[] | undefined
  readonly outcome?: readonly string[] | undefined
}

export const groupColumns: Readonly<Record<CountGroup, Statement>> = {
  workflow: sql`workflow_id`,
  channel: sql`channel`,
  provider: sql`provider_id`,
  outcome: sql`outcome`,
}

/** Rejects what can never be counted: a group or a value that the measure does not have. */
export function checkFilters(
  what: string,
  facts: MeasureFacts,
  { groupBy = [], ...filters }: CountFilters & { groupBy?: readonly CountGroup[] | undefined },
): void {
  const errors: FieldErrors = {}
  const knows = (group: CountGroup): boolean => facts.groups.includes(group)
  const refuse = (field: string, message: string, value: unknown): void => {
    errors[field] = { messages: [`${field} ${message}`], value }
  }
  const unknown = groupBy.filter((group) => !knows(group))
  if (unknown.length > 0) refuse('groupBy', `must be among ${facts.groups.join(', ')} for ${what}`, unknown)
  const values = { channel: facts.channels, outcome: facts.outcomes }
  for (const group of ['channel', 'provider', 'outcome'] as const) {
    const asked = filters[group] ?? []
    if (asked.length === 0) continue
    if (!knows(group)) refuse(group, `cannot be used with ${what}`, asked)
    else if (group !== 'provider' && asked.some((value) => !values[group].includes(value))) {
      refuse(group, `must be one of ${values[group].join(', ')} for ${what}`, asked)
    }
  }
  if (Object.keys(errors).length > 0) throw invalid(errors)
}

/** The ids of the workflows that were named; undefined when none was. */
export async function workflowIds(
  db: Sql,
  environment: Environment,
  named: readonly string[] = [],
): Promise<readonly string[] | undefined> {
  if (named.length === 0) return undefined
  const rows = await db.rows<{ id: string; identifier: string; is_deleted: boolean }>(sql`
    select id, identifier, deleted_at is not null as is_deleted from workflows
    where environment_id = ${environment.id}
      and (id = any(${named.filter(isUuid)}::uuid[]) or (identifier = any(${named}::text[]) and deleted_at is null))`)
  const ids = new Map(
    rows.flatMap((row) => [[row.id, row.id] as const, ...(row.is_deleted ? [] : [[row.identifier, row.id] as const])]),
  )
  const found = named.map((name) => ids.get(name) ?? ids.get(name.toLowerCase()))
  const missing = named.filter((_, place) => found[place] === undefined)
  if (missing.length > 0) throw notFound(`Workflow ${missing.join(', ')} was not found`)
  return found as string[]
}

export interface Cells {
  readonly measure: StoredMeasure
  readonly time: CountTime
  readonly filters: Omit<CountFilters, 'workflow'>
  readonly workflowIds: readonly string[] | undefined
}

const byOf = (columns: readonly Statement[]): Statement =>
  columns.reduce((all, column) => sql`${all}, ${column}`, sql``)

const withinOf = ({ filters, workflowIds: ids }: Cells): Statement =>
  allOf([
    ...oneOf(sql`workflow_id`, ids, sql`uuid[]`),
    ...oneOf(sql`channel`, filters.channel, sql`text[]`),
    ...oneOf(sql`provider_id`, filters.provider, sql`text[]`),
    ...oneOf(sql`outcome`, filters.outcome, sql`text[]`),
  ])

const together = (parts: readonly Statement[]): Statement =>
  sql`from (${parts.reduce((before, one) => sql`${before} union all ${one}`)}) as c`

/** What was folded from one time up to another. */
function folded(environment: Environment, cells: Cells, grain: StoredGrain, from: Date, to: Date): Statement {
  return sql`
    from counts where environment_id = ${environment.id} and measure = ${cells.measure} and grain = ${grain}
      and start_at >= ${from} and start_at < ${to} and ${withinOf(cells)}`
}

/** What was not yet. A delta counts for the start of its grain, as it will once it is folded. */
function fresh(environment: Environment, cells: Cells): Statement {
  const { time, measure } = cells
  return sql`
    from (
      select d.start_at, ${workflowOfStep} as workflow_id, ${channelOfStep} as channel, d.provider_id, d.outcome, d.code,
             d.reason, d.bucket, d.count
      from (select date_trunc(${time.grain}, minute_at, 'UTC') as start_at, version_id, step, provider_id, outcome, code,
                   reason, bucket, sum(count) as count
            from count_deltas
            where environment_id = ${environment.id} and minute_at >= ${time.from} and measure = ${measure}
            group by 1, 2, 3, 4, 5, 6, 7, 8) as d
      ${versionOfDelta(sql`${environment.id}::uuid`)}
      where d.start_at >= ${time.from} and d.start_at < ${time.to}) as counted
    where ${withinOf(cells)}`
}

/**
 * A `from` clause of cells `c` by the columns given, of the whole time, with their `count`. Each part is added up
 * separately: what runs through a union is paid for once more.
 */
export function cellsOf(environment: Environment, cells: Cells, columns: readonly Statement[]): Statement {
  const by = byOf(columns)
  const parts = cells.time.pieces.flatMap((piece) => {
    const { grain, from, to } = piece
    if (grain !== 'hour') {
      return [
        sql`select 1 ${by}, sum(count)::bigint as count ${folded(environment, cells, grain, from, to)} group by 1 ${by}`,
      ]
    }
    return daysIn(piece).map(({ day, hours }) => {
      const counted = hours.reduce((sum, hour) => sql`${sum} + hours[${hour}::int]`, sql`0`)
      return sql`
        select 1 ${by}, sum(${counted})::bigint as count ${folded(environment, cells, 'day', day, new Date(day.getTime() + 1))}
        group by 1 ${by}`
    })
  })
  return together([
    ...parts,
    sql`select 1 ${by}, sum(count)::bigint as count ${fresh(environment, cells)} group by 1 ${by}`,
  ])
}

/** The days that hours lie in, with those of their hours; the first of a day is 1. */
function daysIn({ from, to }: CountPiece): { readonly day: Date; readonly hours: number[] }[] {
  const days = new Map<number, number[]>()
  for (let ms = from.getTime(); ms < to.getTime(); ms += hourMs) {
    const dayAt = ms - (ms % dayMs)
    days.set(dayAt, [...(days.get(dayAt) ?? []), (ms % dayMs) / hourMs + 1])
  }
  return [...days].map(([dayAt, hours]) => ({ day: new Date(dayAt), hours }))
}

/**
 * A `from` clause of cells `c` by the columns given and by `at`: the count of what starts there or, if `hours` is
 * given, of each hour of the day that does. The same may be in two of them.
 */
export function stepCellsOf(environment: Environment, cells: Cells, columns: readonly Statement[]): Statement {
  const by = byOf(columns)
  const parts = cells.time.pieces.map(({ grain, from, to }) => {
    if (grain !== 'hour') {
      return sql`
        select start_at as at ${by}, sum(count)::bigint as count, null::text as hours ${folded(environment, cells, grain, from, to)}
        group by 1 ${by}`
    }
    const firstDay = new Date(from.getTime() - (from.getTime() % dayMs))
    return sql`
      select start_at as at ${by}, null::bigint as count, array[${inHours((hour) => sql`sum(hours[${hour}])`)}]::text as hours
      ${folded(environment, cells, 'day', firstDay, to)} group by 1 ${by}`
  })
  const since = sql`select start_at as at ${by}, sum(count)::bigint as count, null::text as hours`
  return together([...parts, sql`${since} ${fresh(environment, cells)} group by 1 ${by}`])
}

function oneOf(column: Statement, values: readonly string[] | undefined, type: Statement): Statement[] {
  return values === undefined || values.length === 0 ? [] : [sql`${column} = any(${values}::${type})`]
}

export interface CountedWorkflow {
  readonly _id: string
  readonly identifier: string
  readonly name: string
}

/** Deleted ones too: what they did stays counted. */
export async function namesOf(
  db: Sql,
  environment: Environment,
  ids: readonly string[],
): Promise<ReadonlyMap<string, CountedWorkflow>> {
  if (ids.length === 0) return new Map()
  const rows = await db.rows<CountedWorkflow>(sql`
    select id as _id, identifier, name from workflows
    where environment_id = ${environment.id} and id = any(${ids}::uuid[])`)
  return new Map(rows.map((row) => [row._id, row]))
}

/** Numbers in one answer, the empty ones too. */
export const countCellsMax = 100_000
/** Rows with the hours of a day have 24 numbers each. */
export const hourRowsMax = 25_000

export const tooMany = (): Error =>
  invalidField(
    'groupBy',
    `the response would contain more than ${countCellsMax} numbers: group by less, filter, or use a longer step`,
  )
