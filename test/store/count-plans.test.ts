// The plans of reading counts, pinned: what was asked for is looked at, and nothing of other times, measures or environments.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { dayMs, hourMs } from '../../src/domain/insight/counts.ts'
import { readCounts, readDeliveryTimes, readFailures } from '../../src/read/counts/counts.ts'
import { readQueue } from '../../src/read/counts/counts-queue.ts'
import { sweepCounts } from '../../src/store/operate/counts.ts'
import { listEnvironments } from '../../src/store/operate/installation.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import type { TestDatabase } from '../support/database.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { worldClock } from '../support/pipeline.ts'
import { assertBounded, explain, recordStatements } from '../support/plan.ts'
import { inApp } from '../support/workflow-scene.ts'

const days = 60
const keys = 5
const freshRows = 400

let app: TestApp
let database: TestDatabase
let environment: Environment
let now: Date
/** Two months of days and a day of minutes, of two measures and two environments; what is fresh lies among others. */
before(async () => {
  app = await createTestApp()
  database = app.database
  now = app.world.now()
  const environments = await listEnvironments(database.db)
  environment = environments[0] ?? assert.fail('there is no environment')
  const fill = (id: string, grain: string, count: number, every: string) =>
    database.db.run(sql`
      insert into counts (environment_id, measure, grain, start_at, workflow_id, channel, provider_id, outcome, code, reason,
                          bucket, count, hours)
      select ${id}::uuid, measure, ${grain}::text, date_trunc(${grain}::text, ${now}::timestamptz, 'UTC') - n * ${every}::interval,
             ('00000000-0000-7000-8000-00000000000' || k)::uuid, 'email', 'sendgrid', 'sent', '', '', 0, 24, array_fill(1, array[24])
      from generate_series(0, ${count - 1}::int) as n, generate_series(1, ${keys}::int) as k,
           unnest(array['messages', 'deliveries', 'failures', 'steps']) as measure`)
  for (const { id } of environments) {
    await fill(id, 'minute', 1_440, '1 minute')
    await fill(id, 'day', days, '1 day')
    await database.db.run(sql`
      insert into count_deltas (environment_id, minute_at, measure, version_id, step, provider_id, outcome, code, reason,
                                bucket, count)
      select ${id}::uuid, date_trunc('minute', ${now}::timestamptz, 'UTC') - (n / 100) * interval '1 minute', 'messages', ${id}::uuid,
             0, 'sendgrid', 'sent', '', '', -1, 1
      from generate_series(0, ${id === environment.id ? freshRows - 1 : 20_000}::int) as n`)
  }
  await new FlowScene(app).workflow([inApp('Hello')])
  await database.db.run(sql`
    insert into workflow_versions (environment_id, id, workflow_id, number, definition, channels, created_at)
    select environment_id, id_from(${now}::timestamptz - n * interval '1 hour'), workflow_id, number + n, '{}', channels, ${now}
    from workflow_versions, generate_series(1, 500) as n`)
  for (const table of ['counts', 'count_deltas', 'jobs', 'tasks', 'workflows', 'workflow_versions']) {
    await database.db.run({ text: `vacuum analyze ${table}`, values: [] })
  }
})
after(() => app.close())

const ago = (ms: number): string => new Date(now.getTime() - ms).toISOString()
/** The rows of so many starts, those that are fresh, and their versions. */
const bounds = (starts: number) => ({ rows: starts * keys + 3 * freshRows, pages: 1_500 })

test('thirty days by the day look at thirty days of days', async () => {
  const { total } = await assertBounded(database.db, 'days', bounds(32), (db) =>
    readCounts(db, environment, { from: ago(30 * dayMs), groupBy: ['outcome'] }, now),
  )
  assert.equal(total, 31 * 24 * keys + freshRows)
})

test('hours, and the days of a zone that are made of them, look at the days they lie in', async () => {
  for (const question of [{ zone: 'Europe/Berlin', step: 'day' }, { step: 'hour' }] as const) {
    await assertBounded(database.db, 'hours', bounds(33), (db) =>
      readCounts(db, environment, { from: ago(30 * dayMs), ...question }, now),
    )
  }
})

test('an hour by the minute looks at an hour of minutes', async () => {
  await assertBounded(database.db, 'minutes', bounds(62), (db) =>
    readCounts(db, environment, { from: ago(hourMs), step: 'minute' }, now),
  )
})

test('times to deliver and failures of a month are added up from days, and from some hours of the first and the last', async () => {
  const question = { from: ago(30 * dayMs) }
  await assertBounded(database.db, 'deliveries', bounds(34), (db) => readDeliveryTimes(db, environment, question, now))
  await assertBounded(database.db, 'failures', bounds(34), (db) => readFailures(db, environment, question, now))
})

test('counts are read in one statement, and names in one more where they are asked for', async () => {
  for (const [groupBy, statements] of [
    [['outcome'], 1],
    [['workflow'], 2],
  ] as const) {
    const recording = recordStatements(database.db)
    await readCounts(recording, environment, { groupBy }, now)
    assert.equal(recording.statements.length, statements)
  }
})

test('the queue of an environment is looked at by its index', async () => {
  const recording = recordStatements(database.db)
  await database.db.run(sql`
    insert into tasks (environment_id, id, kind, lane, due_at, claims, state, created_at)
    select ${environment.id}, id_from(${now}::timestamptz - n * interval '1 minute'), 'expand', 1,
           ${now}::timestamptz + n * interval '1 second', 0, '{}', ${now} from generate_series(1, 20000) as n`)
  await database.db.run(sql`vacuum analyze tasks`)
  const { lanes, max } = await readQueue(recording, environment, worldClock(app.world))
  assert.equal(lanes[3]?.waiting, max)
  assert.equal(recording.statements.length, 1)
  for (const statement of recording.statements) {
    const plan = await explain(database.db, statement)
    assert.equal(/"Seq Scan"[^}]*"tasks"/.test(plan.text), false, plan.text)
    assert.ok(plan.rowsExamined <= max + 100, `${plan.rowsExamined} rows: ${plan.text}`)
  }
})

test('the sweep of old counts looks at old counts', async () => {
  const recording = recordStatements(database.db)
  await sweepCounts(recording, new Date(now.getTime() + 6.9 * dayMs), 'minute', 10)
  const [statement] = recording.statements
  assert.ok(statement)
  const plan = await explain(database.db, statement)
  assert.equal(plan.hasSequentialScan, false, plan.text)
  assert.ok(plan.rowsExamined <= 40, `${plan.rowsExamined} rows: ${plan.text}`)
})
