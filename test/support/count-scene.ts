// Counts as the API reports them, and the same counted again from what the pipeline wrote.
import assert from 'node:assert/strict'
import type { Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from './app.ts'

/** By what they are of, as text: how many. */
export type Tally = Readonly<Record<string, number>>

export interface Asked {
  readonly measure: string
  readonly groupBy?: readonly string[]
  readonly step?: string
  readonly [filter: string]: unknown
}

export async function counts(app: TestApp, asked: Asked): Promise<Json> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(asked)) {
    for (const one of [value].flat()) query.append(name, String(one))
  }
  const reply = await app.call('GET', `/v1/counts?${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

/** Every number of an answer that is not zero, by its start and by what it is of. */
export function tallyOf(answer: Json): Tally {
  const tally: Record<string, number> = {}
  for (const { workflow, channel, provider, outcome, counts: numbers } of answer.series) {
    for (const [place, count] of numbers.entries()) {
      if (count === 0) continue
      const of = [answer.starts[place], workflow?.identifier, channel, provider, outcome]
      tally[of.filter((part) => part !== undefined).join(' ')] = count
    }
  }
  return sorted(tally)
}

const sorted = (tally: Record<string, number>): Tally =>
  Object.fromEntries(Object.entries(tally).sort(([one], [other]) => (one < other ? -1 : 1)))

const minute = (at: Statement): Statement =>
  sql`to_char(date_trunc('minute', ${at}, 'UTC') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS".000Z"')`

const versions = sql`
  join workflow_versions v on v.environment_id = t.environment_id and v.id = t.version_id
  join workflows w on w.environment_id = v.environment_id and w.id = v.workflow_id`
const stepType = sql`v.definition #>> array['steps', t.step::text, 'template', 'type']`
const lastStep = sql`(
  select max(place) - 1 from jsonb_array_elements(v.definition->'steps') with ordinality as s (step, place)
  where (step->>'active')::boolean)`
const ended = sql`t.status in ('completed', 'failed', 'skipped', 'canceled', 'merged')`
/** Someone without an address was never anyone's to send to: that failed, and is not unsure. */
const messageOutcome = sql`
  case when t.status = 'sent' then case when t.is_test then 'captured' else 'sent' end
       when t.status = 'warning' and t.provider_id is not null then 'unsure' else 'failed' end`

/** One that was cancelled while it waited for its next try came to no end: its step did. */
const over = sql`t.state = 'done' and t.status is not null and not coalesce(t.sending ? 'dueAt', false)`

/** By minute where the rows report when; each row of the result is text and a number. */
const recounts: Readonly<Record<string, Statement>> = {
  messages: sql`
    select concat_ws(' ', ${minute(sql`t.updated_at`)}, w.identifier, t.channel, coalesce(t.provider_id, 'none'),
                     ${messageOutcome}) as of, count(*) as count
    from messages t ${versions} where ${over} group by 1`,
  steps: sql`
    select concat_ws(' ', ${minute(sql`t.updated_at`)}, w.identifier, ${stepType}, t.status) as of, count(*) as count
    from jobs t ${versions} where ${ended} group by 1`,
  endings: sql`
    select concat_ws(' ', ${minute(sql`t.updated_at`)}, w.identifier,
      case when t.status = 'canceled' and t.details @> '[{"code": "previousFailed"}]' then 'failed' else t.status end) as of,
      count(*) as count
    from jobs t ${versions} where ${ended} and t.step = ${lastStep} group by 1`,
  events: sql`
    select concat_ws(' ', ${minute(sql`t.created_at`)}, w.identifier) as of, count(*) as count
    from events t ${versions} group by 1`,
}

const groups: Readonly<Record<string, readonly string[]>> = {
  messages: ['workflow', 'channel', 'provider', 'outcome'],
  steps: ['workflow', 'channel', 'outcome'],
  endings: ['workflow', 'outcome'],
  events: ['workflow'],
}

export async function recounted(app: TestApp, measure: string): Promise<Tally> {
  const rows = await app.database.db.rows<{ of: string; count: number }>(recounts[measure] ?? assert.fail(measure))
  return sorted(Object.fromEntries(rows.map(({ of, count }) => [of, count])))
}

/** What is counted by calls and by people, whenever it was. */
export async function recountedTotals(app: TestApp): Promise<Tally> {
  const row = await app.database.db.row<Tally>(sql`
    select (select count(*) from notifications) as notifications,
      (select count(*) from jobs t ${versions}, jsonb_array_elements(details) as d
       where ${stepType} <> 'in_app'
         and d->>'code' in ('messageSent', 'providerBusy', 'providerError', 'perhapsSent', 'misconfigured'))
      - (select count(*) from messages t where ${over} and coalesce(t.provider_id, 'platform') <> 'platform') as retries,
      (select count(distinct t.job_id) from messages t where ${over} and t.status = 'sent' and not t.is_test) as deliveries,
      (select count(*) from messages t where ${over} and t.status <> 'sent')
      + (select count(*) from jobs j where j.status = 'failed'
           and not exists (select 1 from messages m where m.job_id = j.id)) as failures`)
  return row ?? {}
}

export async function totals(app: TestApp, time: { from: string; to: string }): Promise<Tally> {
  const get = async (path: string): Promise<Json> => {
    const reply = await app.call('GET', `${path}?${new URLSearchParams(time)}`)
    assert.equal(reply.status, 200, reply.text)
    return reply.body
  }
  const deliveries = (await get('/v1/counts/delivery-times')).data
  return {
    notifications: (await counts(app, { measure: 'notifications', ...time })).total,
    retries: (await counts(app, { measure: 'retries', ...time })).total,
    deliveries: deliveries[0]?.count ?? 0,
    failures: (await get('/v1/counts/failures')).total,
  }
}

/** Every number that the API reports equals a recount, by minute; and the sums over hours and days are the same. */
export async function assertRecounted(app: TestApp, from: Date): Promise<void> {
  const time = { from: from.toISOString(), to: new Date(app.world.now().getTime() + 1).toISOString() }
  for (const [measure, groupBy] of Object.entries(groups)) {
    const expected = await recounted(app, measure)
    const answer = await counts(app, { measure, groupBy, step: 'minute', ...time })
    assert.deepEqual(tallyOf(answer), expected, measure)
    const total = Object.values(expected).reduce((sum, count) => sum + count, 0)
    assert.equal(answer.total, total)
    for (const step of ['hour', 'day']) assert.equal((await counts(app, { measure, step, ...time })).total, total)
  }
  assert.deepEqual(await totals(app, time), await recountedTotals(app))
}
