// Counts over time, delivery times, and the most frequent failures: read from what the worker counted, never from what
// it wrote.
import type { Sql, Statement } from '../../db/sql.ts'
import { listed, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { grouped } from '../../domain/grouped.ts'
import type { BucketCount, CountGroup, CountMeasure } from '../../domain/insight/counts.ts'
import {
  deliveryBuckets,
  deliveryFacts,
  failureFacts,
  hourMs,
  measureFacts,
  percentileMs,
  percentileOfCounts,
  totalOf,
} from '../../domain/insight/counts.ts'
import type { DetailCode } from '../../domain/insight/execution-detail.ts'
import { wordings } from '../../domain/insight/execution-detail.ts'
import { mapInTurns, Turn } from '../../domain/turn.ts'
import type { CountedWorkflow, CountFilters } from './counts-cells.ts'
import {
  cellsOf,
  checkFilters,
  countCellsMax,
  groupColumns,
  hourRowsMax,
  namesOf,
  stepCellsOf,
  tooMany,
  workflowIds,
} from './counts-cells.ts'
import type { AskedSteps, AskedTime, CountTime } from './counts-range.ts'
import { steppedTime, wholeTime } from './counts-range.ts'

/** What a series, or a line, is of; only what it was grouped by. */
interface Group {
  readonly workflow?: CountedWorkflow
  readonly channel?: string
  readonly provider?: string
  readonly outcome?: string
}

interface GroupRow {
  readonly workflow?: string
  readonly channel?: string
  readonly provider?: string
  readonly outcome?: string
  readonly count: number
}

export interface CountsQuestion extends CountFilters, AskedSteps {
  readonly measure?: CountMeasure | undefined
  readonly groupBy?: readonly CountGroup[] | undefined
}

export interface CountSeries extends Group {
  readonly total: number
  /** One a start, in their order. */
  readonly counts: readonly number[]
}

export async function readCounts(db: Sql, environment: Environment, question: CountsQuestion, now: Date) {
  const { measure = 'messages', ...filters } = question
  const groupBy = [...new Set(question.groupBy ?? [])]
  checkFilters(measure, measureFacts[measure], question)
  const time = steppedTime(question, now)
  const ids = await workflowIds(db, environment, question.workflow)
  const asked = { measure, time, filters, workflowIds: ids }
  const cells = stepCellsOf(
    environment,
    asked,
    groupBy.map((group) => groupColumns[group]),
  )
  const rowsMax = rowsMaxOf(time)
  const rows = await db.rows<StepRow>(
    sql`select c.at, c.count, c.hours ${selected(groupBy)} ${cells} limit ${rowsMax + 1}`,
  )
  const all = [...grouped(rows, textOf).values()]
  if (rows.length > rowsMax || all.length * time.starts.length > countCellsMax) throw tooMany()
  const names = await namesOf(db, environment, idsIn(rows))
  const every: CountSeries[] = []
  const turn = new Turn()
  for (const own of all.length === 0 && groupBy.length === 0 ? [[]] : all) {
    const counts = await placed(own, time, turn)
    every.push({ ...groupOf(own[0], names), total: counts.reduce((sum, count) => sum + count, 0), counts })
  }
  const series = every.filter(({ total }) => total > 0 || groupBy.length === 0)
  return {
    measure,
    from: time.from.toISOString(),
    to: time.to.toISOString(),
    step: time.step,
    zone: time.zone,
    starts: time.starts.map((start) => start.toISOString()),
    total: series.reduce((sum, { total }) => sum + total, 0),
    series: series.sort((one, other) => other.total - one.total),
  }
}

const rowsMaxOf = ({ grain }: CountTime): number => (grain === 'hour' ? hourRowsMax : countCellsMax)

interface StepRow extends Omit<GroupRow, 'count'> {
  readonly at: Date
  readonly count: number | null
  /** As PostgreSQL writes an array. */
  readonly hours: string | null
}

/** How many there are in each step. */
async function placed(rows: readonly StepRow[], time: CountTime, turn: Turn): Promise<number[]> {
  const counts = time.starts.map(() => 0)
  await placeEach(rows, time, turn, (place, count) => {
    counts[place] = (counts[place] ?? 0) + count
  })
  return counts
}

/** A look at the clock costs more than a row does. */
const rowsPerLook = 50

/** Adds each count that is not zero to its step; hours of the first and the last day may lie outside of all of them. */
async function placeEach<Row extends StepRow>(
  rows: readonly Row[],
  { starts, to }: CountTime,
  turn: Turn,
  add: (place: number, count: number, row: Row) => void,
): Promise<void> {
  const startsMs = starts.map((start) => start.getTime())
  const toMs = to.getTime()
  const addAt = (atMs: number, count: number, row: Row): void => {
    if (count <= 0 || atMs >= toMs) return
    const place = lastUpTo(startsMs, atMs)
    if (place >= 0) add(place, count, row)
  }
  for (const [index, row] of rows.entries()) {
    if (index % rowsPerLook === 0 && turn.isOver()) await turn.next()
    const { at, count, hours } = row
    if (hours === null) addAt(at.getTime(), count ?? 0, row)
    else {
      const counted = hours.slice(1, -1).split(',')
      const dayAt = at.getTime()
      for (let hour = 0; hour < counted.length; hour += 1) addAt(dayAt + hour * hourMs, Number(counted[hour]), row)
    }
  }
}

/** The place of the last one that is not beyond; -1 when all are. */
function lastUpTo(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) <= value) low = middle + 1
    else high = middle
  }
  return low - 1
}

export interface DeliveryQuestion extends CountFilters, AskedSteps {
  readonly groupBy?: readonly CountGroup[] | undefined
}

/** How long it took from events to the first message of a step that was sent. */
export async function readDeliveryTimes(db: Sql, environment: Environment, question: DeliveryQuestion, now: Date) {
  const groupBy = [...new Set(question.groupBy ?? [])]
  checkFilters('delivery times', deliveryFacts, question)
  if (question.step !== undefined) return readSteppedTimes(db, environment, question, groupBy, now)
  const time = wholeTime(question, now)
  const ids = await workflowIds(db, environment, question.workflow)
  const asked = { measure: 'deliveries', time, filters: question, workflowIds: ids } as const
  const cells = cellsOf(environment, asked, [sql`bucket`, ...groupBy.map((group) => groupColumns[group])])
  const rows = await db.rows<GroupRow & BucketCount>(sql`
    select c.bucket, sum(c.count)::bigint as count ${selected(groupBy)}
    ${cells} group by 1 ${added(groupBy)} limit ${countCellsMax + 1}`)
  if (rows.length > countCellsMax) throw tooMany()
  const names = await namesOf(db, environment, idsIn(rows))
  const lines = [...grouped(rows, textOf).values()].map((own) => ({
    ...groupOf(own[0], names),
    count: sumOf(own),
    p50Ms: Math.round(percentileMs(own, 0.5)),
    p95Ms: Math.round(percentileMs(own, 0.95)),
    p99Ms: Math.round(percentileMs(own, 0.99)),
  }))
  return {
    from: time.from.toISOString(),
    to: time.to.toISOString(),
    data: lines.sort((one, other) => other.count - one.count),
  }
}

/** The same, and for each step of the range by itself. */
async function readSteppedTimes(
  db: Sql,
  environment: Environment,
  question: DeliveryQuestion,
  groupBy: readonly CountGroup[],
  now: Date,
) {
  const time = steppedTime(question, now)
  const ids = await workflowIds(db, environment, question.workflow)
  const asked = { measure: 'deliveries', time, filters: question, workflowIds: ids } as const
  const cells = stepCellsOf(environment, asked, [sql`bucket`, ...groupBy.map((group) => groupColumns[group])])
  const rowsMax = rowsMaxOf(time)
  const rows = await db.rows<BucketRow>(
    sql`select c.at, c.count, c.hours, c.bucket ${selected(groupBy)} ${cells} limit ${rowsMax + 1}`,
  )
  const all = [...grouped(rows, textOf).values()]
  if (rows.length > rowsMax || all.length * time.starts.length * numbersPerStep > countCellsMax) throw tooMany()
  const names = await namesOf(db, environment, idsIn(rows))
  const turn = new Turn()
  const lines = []
  for (const own of all) lines.push({ ...groupOf(own[0], names), ...(await timesOf(own, time, turn)) })
  return {
    from: time.from.toISOString(),
    to: time.to.toISOString(),
    step: time.step,
    starts: time.starts.map((start) => start.toISOString()),
    data: lines.filter(({ count }) => count > 0).sort((one, other) => other.count - one.count),
  }
}

interface BucketRow extends StepRow {
  readonly bucket: number
}

/** A count and two times. */
const numbersPerStep = 3

/** One pass over the rows, into a number for each bucket of each step: as quick for many buckets as for a few. */
async function timesOf(rows: readonly BucketRow[], time: CountTime, turn: Turn) {
  const whole = new Float64Array(deliveryBuckets)
  const cells = new Float64Array(deliveryBuckets * time.starts.length)
  await placeEach(rows, time, turn, (place, count, { bucket }) => {
    const cell = place * deliveryBuckets + bucket
    whole[bucket] = (whole[bucket] ?? 0) + count
    cells[cell] = (cells[cell] ?? 0) + count
  })
  const share = (counts: Float64Array, of: number) => Math.round(percentileOfCounts(counts, of))
  const stepAt = (_: Date, place: number) => {
    const step = cells.subarray(place * deliveryBuckets, (place + 1) * deliveryBuckets)
    const count = totalOf(step)
    return count === 0
      ? { count, p50Ms: null, p95Ms: null }
      : { count, p50Ms: share(step, 0.5), p95Ms: share(step, 0.95) }
  }
  return {
    count: totalOf(whole),
    p50Ms: share(whole, 0.5),
    p95Ms: share(whole, 0.95),
    p99Ms: share(whole, 0.99),
    steps: await mapInTurns(time.starts, stepAt, turn),
  }
}

export interface FailuresQuestion extends CountFilters, AskedTime {
  readonly limit?: number | undefined
}

export const failuresListedMax = 100

const failureColumns = [sql`code`, sql`reason`, sql`channel`, sql`provider_id`, sql`outcome`]

/** The most frequent failures, by cause and provider. */
export async function readFailures(db: Sql, environment: Environment, question: FailuresQuestion, now: Date) {
  checkFilters('failures', failureFacts, question)
  const time = wholeTime(question, now)
  const ids = await workflowIds(db, environment, question.workflow)
  const asked = { measure: 'failures', time, filters: question, workflowIds: ids } as const
  const cells = cellsOf(environment, asked, failureColumns)
  const rows = await db.rows<{
    code: string
    reason: string
    channel: string
    provider: string
    outcome: 'failed' | 'unsure'
    count: number
    total: number
  }>(sql`
    select c.code, c.reason, c.channel, c.provider_id as provider, c.outcome, sum(c.count)::bigint as count,
           (sum(sum(c.count)) over ())::bigint as total
    ${cells} group by 1, 2, 3, 4, 5 order by count desc, 1, 2, 3, 4, 5
    limit ${Math.min(question.limit ?? 10, failuresListedMax)}`)
  return {
    from: time.from.toISOString(),
    to: time.to.toISOString(),
    total: rows[0]?.total ?? 0,
    data: rows.map(({ total: _, code, reason, ...row }) => ({
      code,
      ...(reason === '' ? {} : { reason }),
      detail: wordings[code as DetailCode]?.detail ?? code,
      ...row,
    })),
  }
}

const names: Readonly<Record<CountGroup, Statement>> = {
  workflow: sql`workflow`,
  channel: sql`channel`,
  provider: sql`provider`,
  outcome: sql`outcome`,
}

const selected = (groupBy: readonly CountGroup[]): Statement =>
  groupBy.length === 0
    ? sql``
    : sql`, ${listed(groupBy.map((group) => sql`${groupColumns[group]} as ${names[group]}`))}`

const added = (groupBy: readonly CountGroup[]): Statement =>
  groupBy.length === 0 ? sql`` : sql`, ${listed(groupBy.map((group) => groupColumns[group]))}`

const textOf = ({ workflow, channel, provider, outcome }: Omit<GroupRow, 'count'>): string =>
  `${workflow} ${channel} ${provider} ${outcome}`

const idsIn = (rows: readonly Pick<GroupRow, 'workflow'>[]): string[] => [
  ...new Set(rows.flatMap(({ workflow }) => workflow ?? [])),
]

const sumOf = (rows: readonly { count: number }[]): number => rows.reduce((sum, { count }) => sum + count, 0)

function groupOf(row: Omit<GroupRow, 'count'> | undefined, known: ReadonlyMap<string, CountedWorkflow>): Group {
  if (row === undefined) return {}
  const { workflow, channel, provider, outcome } = row
  return {
    ...(workflow === undefined ? {} : { workflow: known.get(workflow) ?? { _id: workflow, identifier: '', name: '' } }),
    ...(channel === undefined ? {} : { channel }),
    ...(provider === undefined ? {} : { provider }),
    ...(outcome === undefined ? {} : { outcome }),
  }
}
