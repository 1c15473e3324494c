// Steps that failed and were not sent again: counted by cause, and listed, from the same rows, so that both agree. The list can also
// have the failures of steps that were sent again, which counts of the past include.
import type { Sql, Statement } from '../../db/sql.ts'
import { allOf, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { DetailCode } from '../../domain/insight/execution-detail.ts'
import { wordings } from '../../domain/insight/execution-detail.ts'
import { findSubscribersById } from '../../store/people/subscribers.ts'
import { noProvider } from '../../world/meter.ts'
import type { PinnedVersions } from '../activity/pinned-versions.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { offsetPage } from '../page/offset-page.ts'
import type { AskedRange, TimeRange } from '../page/time-range.ts'
import { timeRangeOf } from '../page/time-range.ts'
import { findTransactions, namedOf } from './queue-pages.ts'

/** Only so many of the newest failures of a range are read: each with all of its details, to find its cause. */
export const failuresLookedAtMax = 10_000

/** Values of one filter are combined by “or”. */
export interface FailedStepsQuery extends AskedRange {
  /** Types of steps. */
  readonly channel?: readonly string[]
  readonly provider?: readonly string[]
  readonly code?: readonly string[]
  /** Also, or only, failures of steps that were sent again since. */
  readonly redriven?: 'with' | 'only'
  readonly page: number
  readonly limit: number
}

export interface FailedStep {
  readonly _id: string
  readonly notificationId: string
  readonly transactionId?: string
  readonly failedAt: string
  readonly channel: string
  readonly provider: string
  readonly code: string
  readonly detail: string
  /** Whether it was sent again since. */
  readonly redriven?: true
  readonly workflow?: { readonly _id: string; readonly name: string }
  readonly subscriber?: { readonly subscriberId: string; readonly firstName?: string; readonly lastName?: string }
}

/** What failed for the same reason. */
export interface FailedGroup {
  readonly channel: string
  readonly provider: string
  readonly code: string
  readonly detail: string
  readonly count: number
}

const unknownCode = 'unknown'
/** They follow from others, or came after the step was over. */
const noCauses: ReadonlySet<string> = new Set<DetailCode>([
  'allChatFailed',
  'allPushFailed',
  'previousFailed',
  'receiptFailed',
  'replyFailed',
])
const causes = Object.entries(wordings).flatMap(([code, { status }]) =>
  status === 'Failed' && !noCauses.has(code) ? [code] : [],
)
const detailOf = (code: string): string => wordings[code as DetailCode]?.detail ?? 'The step failed'

const since = (at: Statement, { afterMs }: TimeRange): Statement[] =>
  afterMs === undefined ? [] : [sql`${at} >= ${new Date(afterMs)}::timestamptz`]
const until = (at: Statement, { beforeMs }: TimeRange): Statement[] =>
  beforeMs === undefined ? [] : [sql`${at} <= ${new Date(beforeMs)}::timestamptz`]
const within = (at: Statement, range: TimeRange): Statement => allOf([...since(at, range), ...until(at, range)])

/** The newest steps of a range that are failed now. */
const failedNow = (environment: Environment, range: TimeRange): Statement => sql`
  select j.*, j.updated_at as failed_at, false as is_redriven from jobs j
  where j.environment_id = ${environment.id} and j.status = 'failed' and ${within(sql`j.updated_at`, range)}
  order by j.updated_at desc, j.id desc limit ${failuresLookedAtMax}::int`

/**
 * The failures of a range before steps were sent again, each with its own time. Nearly all steps have one, which the range bounds from
 * both sides; the few with several have an index of their own, since their latest may lie after the range.
 */
const failedBefore = (environment: Environment, range: TimeRange): Statement => {
  const latest = sql`j.failed_before[1]`
  const newest = sql`order by ${latest} desc, j.id desc limit ${failuresLookedAtMax}::int`
  const ofEnvironment = sql`select * from jobs j where j.environment_id = ${environment.id}`
  return sql`
    select j.*, one.failed_at, true as is_redriven from (
      select * from (
        (${ofEnvironment} and cardinality(j.failed_before) = 1 and ${within(latest, range)} ${newest})
        union all
        (${ofEnvironment} and cardinality(j.failed_before) > 1 and ${allOf(since(latest, range))}
          and exists (select from unnest(j.failed_before) as one (failed_at) where ${within(sql`one.failed_at`, range)})
          ${newest})) as j
      ${newest}) as j
    cross join lateral unnest(j.failed_before) as one (failed_at)
    where ${within(sql`one.failed_at`, range)}`
}

/** `found`: the newest failures of a range, each with the last thing that went wrong by then, and the type of its step. */
function foundIn(environment: Environment, range: TimeRange, redriven?: 'with' | 'only'): Statement {
  const parts = [
    ...(redriven === 'only' ? [] : [failedNow(environment, range)]),
    ...(redriven === undefined ? [] : [failedBefore(environment, range)]),
  ]
  // Types are read once for each step: definitions are long.
  return sql`
    failed as materialized (
      select j.id, j.notification_id, j.event_id, j.subscriber_id, j.version_id, j.step, j.failed_at, j.is_redriven,
             coalesce(cause.code, ${unknownCode}) as code, coalesce(cause.provider_id, ${noProvider}) as provider
      from (${parts.reduce((all, one) => sql`(${all}) union all (${one})`)}) as j
      left join lateral (
        select one->>'code' as code, one->>'providerId' as provider_id
        from jsonb_array_elements(j.details) with ordinality as reported (one, place)
        where one->>'code' = any(${causes}::text[]) and (not j.is_redriven or (one->>'at')::timestamptz <= j.failed_at)
        order by place desc limit 1) as cause on true),
    types as materialized (
      select s.version_id, s.step, v.definition->'steps'->(s.step::int)->'template'->>'type' as channel
      from (select distinct version_id, step from failed) as s
      join workflow_versions v on v.environment_id = ${environment.id} and v.id = s.version_id),
    found as materialized (
      select f.*, coalesce(t.channel, '') as channel
      from failed f left join types t on t.version_id = f.version_id and t.step = f.step)`
}

/** How many failed, by what went wrong; the most frequent first. */
export async function failedGroups(
  db: Sql,
  environment: Environment,
  asked: AskedRange,
): Promise<{ total: number; isCapped: boolean; data: FailedGroup[] }> {
  const rows = await db.rows<Omit<FailedGroup, 'detail'>>(sql`
    with ${foundIn(environment, timeRangeOf(asked))}
    select channel, provider, code, count(*)::int as count from found group by 1, 2, 3 order by 4 desc, 1, 2, 3`)
  const total = rows.reduce((sum, { count }) => sum + count, 0)
  const data = rows.map((row) => ({ ...row, detail: detailOf(row.code) }))
  return { total, isCapped: total >= failuresLookedAtMax, data }
}

/** Either kind is as many as are read of it; one step of those that were sent again may be several failures. */
const isCapped = sql`
  greatest(count(*) filter (where not is_redriven), count(distinct id) filter (where is_redriven)) >= ${failuresLookedAtMax}::int`

interface StepRow {
  readonly id: string
  readonly notification_id: string
  readonly event_id: string
  readonly subscriber_id: string
  readonly version_id: string
  readonly step: number
  readonly failed_at: Date
  readonly is_redriven: boolean
  readonly code: string
  readonly provider: string
  readonly channel: string
}

/** The newest failure first, with the count of those that fit. */
export async function failedStepsPage(
  db: Sql,
  environment: Environment,
  query: FailedStepsQuery,
  versions: PinnedVersions,
): Promise<OffsetPage<FailedStep>> {
  const { page, limit } = query
  const rows = await db.rows<{ total: number; is_capped: boolean } & (StepRow | { id: null })>(sql`
    with ${foundIn(environment, timeRangeOf(query), query.redriven)},
    fitting as (select * from found where ${isAsked(query)}),
    page as (select * from fitting order by failed_at desc, id desc offset ${page * limit} limit ${limit + 1}),
    counted as (
      select (select count(*)::int from fitting) as total, ${isCapped} as is_capped from found)
    select counted.total, counted.is_capped, page.* from counted left join page on true
    order by page.failed_at desc, page.id desc`)
  const shown = rows.flatMap((row) => (row.id === null ? [] : [row as StepRow]))
  const totals = { totalCount: rows[0]?.total ?? 0, totalCountCapped: rows[0]?.is_capped ?? false }
  const whole = offsetPage(shown, query, totals)
  return { ...whole, data: await stepsOf(db, environment, whole.data, versions) }
}

function isAsked({ channel, provider, code }: FailedStepsQuery): Statement {
  const isOneOf = (column: Statement, values: readonly string[] | undefined): Statement[] => {
    const filled = values?.filter((value) => value !== '') ?? []
    return filled.length === 0 ? [] : [sql`${column} = any(${filled}::text[])`]
  }
  return allOf([...isOneOf(sql`channel`, channel), ...isOneOf(sql`provider`, provider), ...isOneOf(sql`code`, code)])
}

async function stepsOf(
  db: Sql,
  environment: Environment,
  rows: readonly StepRow[],
  versions: PinnedVersions,
): Promise<FailedStep[]> {
  const [pinned, people, transactions] = await Promise.all([
    versions.of(db, environment, new Set(rows.map((row) => row.version_id))),
    findSubscribersById(db, environment, [...new Set(rows.map((row) => row.subscriber_id))]),
    findTransactions(db, environment, [...new Set(rows.map((row) => row.event_id))]),
  ])
  const subscribers = new Map(people.map((row) => [row.id, row]))
  return rows.map((row) => {
    const version = pinned.get(row.version_id)
    const subscriber = subscribers.get(row.subscriber_id)
    const transactionId = transactions.get(row.event_id)
    return {
      _id: row.id,
      notificationId: row.notification_id,
      ...(transactionId === undefined ? {} : { transactionId }),
      failedAt: row.failed_at.toISOString(),
      channel: row.channel,
      provider: row.provider,
      code: row.code,
      detail: detailOf(row.code),
      ...(row.is_redriven ? { redriven: true as const } : {}),
      ...(version === undefined ? {} : { workflow: { _id: version.workflowId, name: version.definition.name } }),
      ...(subscriber === undefined ? {} : { subscriber: namedOf(subscriber) }),
    }
  })
}
