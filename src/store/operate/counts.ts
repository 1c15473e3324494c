// The count_deltas and counts tables: what each batch added, and the totals over time.

import type { Part } from '../../db/one-statement.ts'
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { listed, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { fastFlatMap } from '../../domain/fast-flat-map.ts'
import type { CountMeasure, StoredGrain } from '../../domain/insight/counts.ts'
import { dayMs, hoursPerDay, keptMs, minuteMs } from '../../domain/insight/counts.ts'
import { nilId } from '../../domain/nil-id.ts'

/** `deliveries`: times to deliver, by bucket. `failures`: what went wrong, by code. */
export type StoredMeasure = CountMeasure | 'deliveries' | 'failures'

/** What a count is of. Only values of bounded sets: never text from a caller or a provider. */
export interface CountKey {
  readonly measure: StoredMeasure
  readonly versionId: string
  /** Absent where it is of no step. */
  readonly step?: number
  readonly providerId?: string
  readonly outcome?: string
  readonly code?: string
  readonly reason?: string
  readonly bucket?: number
}

export interface CountedKey {
  readonly key: CountKey
  readonly count: number
}

/** Adds counts as a part of the statement that writes what they count. */
export function countInsertion(environment: Environment, counted: readonly CountedKey[], now: Date): Part {
  const keys = counted.map(({ key }) => key)
  const places = counted.map((_, place) => place + 1)
  return {
    as: sql`counted`,
    name: 'counts',
    statement: sql`
      ${into} select ${ofMinute(environment, now)}, ${columnsAt(keys, sql`c.place`)}, c.count
      from unnest(${places}::int[], ${counted.map(({ count }) => count)}::int[]) as c (place, count)`,
  }
}

/** The same separately, in the transaction that writes what they count. */
export async function insertCounts(
  tx: Sql,
  environment: Environment,
  counted: readonly CountedKey[],
  now: Date,
): Promise<void> {
  if (counted.length > 0) await tx.run(countInsertion(environment, counted, now).statement)
}

/** What has to be counted if a job was settled, or was created; a key that appears twice counts twice. */
export interface CountedJob {
  readonly id: string
  readonly keys: readonly CountKey[]
}

/** The ids of the jobs that count, within the statement; two with one name have one text. */
export interface WrittenJobs {
  readonly name: string
  readonly ids: Statement
}

/**
 * Adds the counts of the jobs that were written, of which `jobs` are all that there can be. Most jobs of a batch add the
 * same: only the others name their kind, and the remaining ones are of the commonest.
 */
export function jobCountInsertion(
  environment: Environment,
  jobs: readonly CountedJob[],
  written: WrittenJobs,
  now: Date,
): Part {
  const { keys, kinds, kindOfJob } = kindsOf(jobs)
  const common = commonest(kindOfJob)
  const others = fastFlatMap(jobs, ({ id }, place) =>
    kindOfJob[place] === common ? [] : [{ id, kind: kindOfJob[place] }],
  )
  const said = [...kinds.values()].flatMap(({ kind, places }) => places.map((place) => ({ kind, place })))
  return {
    as: sql`counted`,
    name: `counts-${written.name}`,
    statement: sql`
      ${into} select ${ofMinute(environment, now)}, ${columnsAt(keys, sql`s.place`)}, sum(k.jobs)::int
      from (select coalesce(j.kind, ${common}::int) as kind, count(*) as jobs
            from (${written.ids}) as written
            left join unnest(${others.map(({ id }) => id)}::uuid[], ${others.map(({ kind }) => kind)}::int[]) as j (id, kind)
              on j.id = written.id
            group by 1) as k
      join unnest(${said.map(({ kind }) => kind)}::int[], ${said.map(({ place }) => place)}::int[]) as s (kind, place)
        on s.kind = k.kind
      group by s.place`,
  }
}

interface Kinds {
  readonly keys: readonly CountKey[]
  readonly kinds: ReadonlyMap<string, { readonly kind: number; readonly places: readonly number[] }>
  readonly kindOfJob: readonly number[]
}

function kindsOf(jobs: readonly CountedJob[]): Kinds {
  const keys: CountKey[] = []
  const placeOfKey = new Map<string, number>()
  const kinds = new Map<string, { kind: number; places: number[] }>()
  const kindOfList = new Map<readonly CountKey[], number>()
  const kindOfJob = jobs.map((job) => {
    const same = kindOfList.get(job.keys)
    if (same !== undefined) return same
    const places = job.keys.map((key) => {
      const text = textOf(key)
      const known = placeOfKey.get(text)
      if (known !== undefined) return known
      keys.push(key)
      placeOfKey.set(text, keys.length)
      return keys.length
    })
    const all = places.join()
    const kind = kinds.get(all) ?? { kind: kinds.size, places }
    kinds.set(all, kind)
    kindOfList.set(job.keys, kind.kind)
    return kind.kind
  })
  return { keys, kinds, kindOfJob }
}

function commonest(kindOfJob: readonly number[]): number {
  const jobsOf: number[] = []
  for (const kind of kindOfJob) jobsOf[kind] = (jobsOf[kind] ?? 0) + 1
  return jobsOf.indexOf(Math.max(...jobsOf))
}

const textOf = ({ measure, versionId, step, providerId, outcome, code, reason, bucket }: CountKey): string =>
  `${measure} ${versionId} ${step} ${providerId} ${outcome} ${code} ${reason} ${bucket}`

const into = sql`insert into count_deltas (environment_id, minute_at, measure, version_id, step, provider_id, outcome, code,
  reason, bucket, count)`

const ofMinute = (environment: Environment, now: Date): Statement =>
  sql`${environment.id}::uuid, ${new Date(Math.floor(now.getTime() / minuteMs) * minuteMs)}::timestamptz`

/** The columns of the key at a place, from 1. */
function columnsAt(keys: readonly CountKey[], place: Statement): Statement {
  const column = <Value>(read: (key: CountKey) => Value): Value[] => keys.map(read)
  return sql`
    (${column((k) => k.measure)}::text[])[${place}], (${column((k) => k.versionId)}::uuid[])[${place}],
    (${column((k) => k.step ?? -1)}::smallint[])[${place}], (${column((k) => k.providerId ?? '')}::text[])[${place}],
    (${column((k) => k.outcome ?? '')}::text[])[${place}], (${column((k) => k.code ?? '')}::text[])[${place}],
    (${column((k) => k.reason ?? '')}::text[])[${place}], (${column((k) => k.bucket ?? -1)}::smallint[])[${place}]`
}

/** Something of each of the 24 hours of a day; the first one is 1. */
export function inHours(one: (hour: Statement) => Statement): Statement {
  return listed(Array.from({ length: hoursPerDay }, (_, hour) => one(sql`${hour + 1}::int`)))
}

/** If the version is no longer known. */
const noWorkflow = sql`${nilId}::uuid`

/** Of a version and a step, as `v`: the workflow, and the step's type as the channel. */
export const workflowOfStep = sql`coalesce(v.workflow_id, ${noWorkflow})`
export const channelOfStep = sql`coalesce(v.type, '')`
export function versionOfDelta(environmentId: Statement): Statement {
  return sql`
    left join lateral (
      select found.workflow_id,
             case when d.step >= 0 then found.definition #>> array['steps', d.step::text, 'template', 'type'] end as type
      from workflow_versions found where found.environment_id = ${environmentId} and found.id = d.version_id) as v on true`
}

/**
 * Folds at most `limit` deltas into the counts, in one statement: a reader sees each of them once at any time. Those
 * that another node folds are skipped; two nodes that add to the same count wait for each other in the order of its
 * key. Rows of deltas never change, so their positions identify them: no key is needed for that.
 */
export async function foldDeltas(tx: Tx, limit: number): Promise<number> {
  const row = await tx.row<{ folded: number }>(sql`
    with gone as (
      delete from count_deltas where ctid = any(array(
        select ctid from count_deltas limit ${limit} for update skip locked))
      returning *),
    counted as (
      select d.*, extract(hour from d.minute_at at time zone 'UTC')::int + 1 as hour, ${workflowOfStep} as workflow_id,
             ${channelOfStep} as channel
      from (select environment_id, minute_at, measure, version_id, step, provider_id, outcome, code, reason, bucket,
                   sum(count) as count
            from gone group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) as d
      ${versionOfDelta(sql`d.environment_id`)}),
    folded as (
      insert into counts (environment_id, measure, grain, start_at, workflow_id, channel, provider_id, outcome, code,
                          reason, bucket, count, hours)
      select t.environment_id, t.measure, g.grain, date_trunc(g.grain, t.minute_at, 'UTC'), t.workflow_id, t.channel,
             t.provider_id, t.outcome, t.code, t.reason, t.bucket, sum(t.count),
             case when g.grain = 'day' then array[${inHours((hour) => sql`coalesce(sum(t.count) filter (where t.hour = ${hour}), 0)`)}] end
      from counted t cross join (values ('minute'), ('day')) as g (grain)
      group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
      order by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
      on conflict (environment_id, measure, grain, start_at, workflow_id, channel, provider_id, outcome, code, reason, bucket)
        do update set count = counts.count + excluded.count,
          hours = case when counts.grain = 'day' then array[${inHours((hour) => sql`counts.hours[${hour}] + excluded.hours[${hour}]`)}] end)
    select count(*)::int as folded from gone`)
  return row?.folded ?? 0
}

/** Queries are widened to whole days, of any zone: what they need is kept for two days longer than documented. */
const slackMs = 2 * dayMs

/** Deletes at most `limit` expired counts of one grain, and returns how many it deleted. */
export async function sweepCounts(tx: Tx, now: Date, grain: StoredGrain, limit: number): Promise<number> {
  const before = new Date(now.getTime() - keptMs[grain] - slackMs)
  return tx.run(sql`
    delete from counts where ctid = any(array(
      select ctid from counts where grain = ${grain} and start_at < ${before} order by start_at limit ${limit}
      for update skip locked))`)
}
