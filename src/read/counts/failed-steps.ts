// Steps that failed and were not sent again: counted by cause, and listed, from the same rows, so that both agree.
import type { Sql, Statement } from '../../db/sql.ts'
import { allOf, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { DetailCode } from '../../domain/insight/execution-detail.ts'
import { wordings } from '../../domain/insight/execution-detail.ts'
import { findSubscribersById } from '../../store/people/subscribers.ts'
import { noProvider } from '../../world/meter.ts'
import type { PinnedVersion, PinnedVersions } from '../activity/pinned-versions.ts'
import type { OffsetPage } from '../page/offset-page.ts'
import { offsetPage } from '../page/offset-page.ts'
import type { AskedRange, TimeRange } from '../page/time-range.ts'
import { timeRangeOf } from '../page/time-range.ts'
import { findTransactions, namedOf } from './queue-pages.ts'

/** Of a time, so many of the newest are looked at: each is read whole to find its cause. */
export const failuresLookedAtMax = 10_000

/** Values of one filter are combined by “or”. */
export interface FailedStepsQuery extends AskedRange {
  /** Types of steps. */
  readonly channel?: readonly string[]
  readonly provider?: readonly string[]
  readonly code?: readonly string[]
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

/** The newest failed steps of a time, as `j`. */
function lookedAt(environment: Environment, { afterMs, beforeMs }: TimeRange): Statement {
  const inTime = allOf([
    ...(afterMs === undefined ? [] : [sql`j.updated_at >= ${new Date(afterMs)}::timestamptz`]),
    ...(beforeMs === undefined ? [] : [sql`j.updated_at <= ${new Date(beforeMs)}::timestamptz`]),
  ])
  return sql`(
    select j.* from jobs j where j.environment_id = ${environment.id} and j.status = 'failed' and ${inTime}
    order by j.updated_at desc, j.id desc limit ${failuresLookedAtMax}::int) as j`
}

/** The last thing of `j` that went wrong, as `cause`. */
const withCause = sql`
  left join lateral (
    select one->>'code' as code, one->>'providerId' as provider_id
    from jsonb_array_elements(j.details) with ordinality as reported (one, place)
    where one->>'code' = any(${causes}::text[]) order by place desc limit 1) as cause on true`
const code = sql`coalesce(cause.code, ${unknownCode})`
const provider = sql`coalesce(cause.provider_id, ${noProvider})`

interface GroupRow {
  readonly version_id: string
  readonly step: number
  readonly code: string
  readonly provider: string
  readonly count: number
}

interface Group extends GroupRow {
  readonly channel: string
}

async function groupsOf(
  db: Sql,
  environment: Environment,
  time: TimeRange,
  versions: PinnedVersions,
): Promise<{ groups: Group[]; isCapped: boolean }> {
  const rows = await db.rows<GroupRow>(sql`
    select j.version_id, j.step, ${code} as code, ${provider} as provider, count(*)::int as count
    from ${lookedAt(environment, time)} ${withCause} group by 1, 2, 3, 4`)
  const pinned = await versions.of(db, environment, new Set(rows.map((row) => row.version_id)))
  const groups = rows.map((row) => ({ ...row, channel: typeOf(pinned.get(row.version_id), row.step) }))
  return { groups, isCapped: sumOf(rows) >= failuresLookedAtMax }
}

const typeOf = (version: PinnedVersion | undefined, step: number): string =>
  version?.definition.steps[step]?.template.type ?? ''
const sumOf = (rows: readonly { count: number }[]): number => rows.reduce((sum, { count }) => sum + count, 0)

/** How many failed, by what went wrong; the most frequent first. */
export async function failedGroups(
  db: Sql,
  environment: Environment,
  asked: AskedRange,
  versions: PinnedVersions,
): Promise<{ total: number; isCapped: boolean; data: FailedGroup[] }> {
  const { groups, isCapped } = await groupsOf(db, environment, timeRangeOf(asked), versions)
  const all = new Map<string, FailedGroup>()
  for (const { channel, provider, code, count } of groups) {
    const key = `${channel} ${provider} ${code}`
    all.set(key, { channel, provider, code, detail: detailOf(code), count: count + (all.get(key)?.count ?? 0) })
  }
  const data = [...all.values()].sort((one, other) => other.count - one.count)
  return { total: sumOf(groups), isCapped, data }
}

interface StepRow {
  readonly id: string
  readonly notification_id: string
  readonly event_id: string
  readonly subscriber_id: string
  readonly version_id: string
  readonly step: number
  readonly updated_at: Date
  readonly code: string
  readonly provider: string
}

/** The newest failure first. Its count is that of the groups that fit. */
export async function failedStepsPage(
  db: Sql,
  environment: Environment,
  query: FailedStepsQuery,
  versions: PinnedVersions,
): Promise<OffsetPage<FailedStep>> {
  const time = timeRangeOf(query)
  const { groups, isCapped } = await groupsOf(db, environment, time, versions)
  const fits = (values: readonly string[] | undefined, value: string) => !values?.length || values.includes(value)
  const fitting = groups.filter(
    (one) => fits(query.channel, one.channel) && fits(query.provider, one.provider) && fits(query.code, one.code),
  )
  const count = { totalCount: sumOf(fitting), totalCountCapped: isCapped }
  if (fitting.length === 0) return offsetPage([], query, count)
  const isAll = fitting.length === groups.length
  const rows = await db.rows<StepRow>(sql`
    select j.id, j.notification_id, j.event_id, j.subscriber_id, j.version_id, j.step, j.updated_at,
           ${code} as code, ${provider} as provider
    from ${lookedAt(environment, time)} ${withCause}
    where ${isAll ? sql`true` : isOneOf(fitting)}
    order by j.updated_at desc, j.id desc offset ${query.page * query.limit} limit ${query.limit + 1}`)
  const page = offsetPage(rows, query, count)
  return { ...page, data: await stepsOf(db, environment, page.data, versions) }
}

const isOneOf = (groups: readonly Group[]): Statement => sql`
  (j.version_id, j.step, ${code}, ${provider}) in (
    select * from unnest(${groups.map((one) => one.version_id)}::uuid[], ${groups.map((one) => one.step)}::smallint[],
      ${groups.map((one) => one.code)}::text[], ${groups.map((one) => one.provider)}::text[]))`

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
      failedAt: row.updated_at.toISOString(),
      channel: typeOf(version, row.step),
      provider: row.provider,
      code: row.code,
      detail: detailOf(row.code),
      ...(version === undefined ? {} : { workflow: { _id: version.workflowId, name: version.definition.name } }),
      ...(subscriber === undefined ? {} : { subscriber: namedOf(subscriber) }),
    }
  })
}
