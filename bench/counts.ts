// Questions for counts over 30 days in which 1,000,000 notifications were reported: processor time of the database for
// each.
import { readFile } from 'node:fs/promises'
import type { Database } from '../src/db/connect.ts'
import { connect } from '../src/db/connect.ts'
import { startEmbeddedPostgres } from '../src/db/embedded/embedded-postgres.ts'
import { migrate, readMigrations } from '../src/db/migrate.ts'
import type { Sql } from '../src/db/sql.ts'
import { sql } from '../src/db/sql.ts'
import type { StoredGrain } from '../src/domain/insight/counts.ts'
import { dayMs, hourMs, keptMs, storedGrains } from '../src/domain/insight/counts.ts'
import { readCounts, readDeliveryTimes, readFailures } from '../src/read/counts/counts.ts'
import { inHours } from '../src/store/operate/counts.ts'
import { silentLog } from '../src/world/log.ts'
import { environment } from './page-times.ts'
import { withDataDirectory } from './service.ts'
import { scaled } from './sizes.ts'
import { type Measured, median } from './statistics.ts'

const notifications = scaled(1_000_000)
const workflows = 20
const days = 30
const rounds = 25
const barMs = 50
const timeoutMs = 600_000

const now = new Date('2026-03-31T12:34:56Z')
const from = new Date(now.getTime() - days * dayMs).toISOString()
const lastDay = new Date(now.getTime() - 24.5 * hourMs).toISOString()
const groupBy = ['workflow', 'channel', 'provider', 'outcome'] as const
const zone = 'Europe/Berlin'

type Question = (db: Sql) => Promise<unknown>
const count = (question: Parameters<typeof readCounts>[2]): Question => {
  return (db) => readCounts(db, environment, { from, ...question }, now)
}

const questions: Record<string, Question> = {
  'by the day': count({ step: 'day' }),
  'by the day and all four groups': count({ step: 'day', groupBy }),
  'by the day of a zone and outcome': count({ step: 'day', zone, groupBy: ['outcome'] }),
  'by the day of a zone and all four groups': count({ step: 'day', zone, groupBy }),
  'by the hour': count({ step: 'hour' }),
  'by the hour and outcome': count({ step: 'hour', groupBy: ['outcome'] }),
  'by the hour and all four groups': count({ step: 'hour', groupBy }),
  'a day by the minute and outcome': count({ step: 'minute', from: lastDay, groupBy: ['outcome'] }),
  'times to deliver by workflow, channel and provider': (db) =>
    readDeliveryTimes(db, environment, { from, groupBy: ['workflow', 'channel', 'provider'] }, now),
  failures: (db) => readFailures(db, environment, { from }, now),
}

export async function benchCounts(): Promise<Measured[]> {
  return withDataDirectory(async (directory) => {
    const embedded = await startEmbeddedPostgres({ dataDirectory: directory, log: silentLog })
    // One connection: its process is looked at.
    const options = { poolSize: 1, statementTimeoutMs: timeoutMs, lockTimeoutMs: timeoutMs, log: silentLog }
    const db = connect(embedded.connection, options)
    try {
      await migrate(db, await readMigrations())
      await fillCounts(db)
      // What other processes help with would not be seen.
      await db.run(sql`set max_parallel_workers_per_gather = 0`)
      const measured: Measured[] = []
      for (const [what, ask] of Object.entries(questions)) measured.push(await measure(db, what, ask))
      return measured
    } finally {
      await db.close()
      await embedded.stop()
    }
  })
}

async function measure(db: Database, what: string, ask: Question): Promise<Measured> {
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const before = await processorMs(db)
    await ask(db)
    times.push((await processorMs(db)) - before)
  }
  const ms = median(times)
  return { what, value: `${ms.toFixed(1)} ms`, bar: `≤ ${barMs} ms`, met: ms <= barMs }
}

/** What the connection's own process has used so far; where the system does not report, the time that passes. */
async function processorMs(db: Database): Promise<number> {
  const row = await db.row<{ pid: number }>(sql`select pg_backend_pid() as pid`)
  const text = await readFile(`/proc/${row?.pid}/schedstat`, 'utf8').catch(() => undefined)
  return text === undefined ? performance.now() : Number(text.split(' ', 1)[0]) / 1e6
}

/** Each an in-app message and an e-mail, most of them of a few workflows, as the worker would have counted them. */
async function fillCounts(db: Database): Promise<void> {
  await db.run(sql`
    create temporary table reported as
    select ${now}::timestamptz - random() * ${days}::int * interval '1 day' as at,
           ('00000000-0000-7000-8000-' || lpad(floor(power(random(), 2) * ${workflows}::int)::text, 12, '0'))::uuid as workflow_id,
           case when random() < 0.9 then 'sendgrid' else 'mailgun' end as provider_id, random() as luck,
           round(40 + 8 * (random() + random() + random() - 1.5))::int as bucket
    from generate_series(1, ${notifications}::int)`)
  await db.run(sql`set work_mem = '512MB'`)
  for (const grain of storedGrains) await fillGrain(db, grain)
  await db.run(sql`reset work_mem`)
  await db.run(sql`vacuum analyze counts`)
}

async function fillGrain(db: Database, grain: StoredGrain): Promise<void> {
  await db.run(sql`
    insert into counts (environment_id, measure, grain, start_at, workflow_id, channel, provider_id, outcome, code, reason,
                        bucket, count, hours)
    select ${environment.id}::uuid, c.measure, ${grain}::text, date_trunc(${grain}::text, at, 'UTC'), workflow_id, c.channel,
           c.provider_id, c.outcome, c.code, c.reason, c.bucket, count(*),
           array[${inHours((hour) => sql`count(*) filter (where reported.hour = ${hour})`)}]
    from (select *, extract(hour from at at time zone 'UTC')::int + 1 as hour from reported) as reported
    cross join lateral (
      select case when luck < 0.95 then 'sent' when luck < 0.99 or provider_id = 'mailgun' then 'failed' else 'unsure' end) as e (outcome)
    cross join lateral (values
      ('messages', 'in_app', 'platform', 'sent', '', '', -1),
      ('messages', 'email', provider_id, e.outcome, '', '', -1),
      ('deliveries', 'in_app', 'platform', '', '', '', bucket / 4),
      (case when luck < 0.95 then 'deliveries' end, 'email', provider_id, '', '', '', bucket),
      (case when luck >= 0.95 then 'failures' end, 'email', provider_id, e.outcome, 'providerError', 'other', -1),
      ('events', '', '', '', '', '', -1)) as c (measure, channel, provider_id, outcome, code, reason, bucket)
    where c.measure is not null and at >= ${new Date(now.getTime() - keptMs[grain])}
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11`)
}
