// The plans of recovery, pinned: failed and buried jobs are found among many others without looking at those.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Sql } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { RedriveBounds } from '../../src/domain/delivery/redrive.ts'
import { firstIdAt } from '../../src/domain/derived-id.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { buriedPage } from '../../src/read/operate/buried.ts'
import { redrivesPage } from '../../src/read/operate/redrives.ts'
import { findCanceled } from '../../src/store/jobs/cancel.ts'
import { findFailed, hasRedrivable, lockRedrivable } from '../../src/store/jobs/redrive.ts'
import { lockMessagesOfJobs } from '../../src/store/messages/redrive.ts'
import { findRetractableOfEvent, lockRetractable, lockRetractableOfJobs } from '../../src/store/messages/retract.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { assertBounded, explain, recordStatements } from '../support/plan.ts'
import { environmentOf } from '../support/topic-scene.ts'

const jobCount = 30_000
/** One in so many failed, and was buried. */
const failedEvery = 20
const buriedEvery = 20
const limit = 100

let app: TestApp
let environment: Environment
let startAt: Date
before(async () => {
  app = await createTestApp()
  environment = await environmentOf(app)
  startAt = new Date(app.world.now().getTime() - jobCount * 1_000)
  const { db } = app.database
  const neighbour = await environmentOf(app, 'Production')
  for (const [id, count] of [
    [environment.id, jobCount],
    [neighbour.id, 5_000],
  ] as const) {
    // A job a second, each of an event of its own.
    await db.run(sql`
      insert into jobs (environment_id, id, notification_id, event_id, subscriber_id, version_id, step, status, lane, claims,
                        details, created_at, updated_at, buried_at)
      select ${id}, made.id, made.id, made.id, made.id, made.id, 0,
        case when n % ${failedEvery}::int = 0 then 'failed' else 'completed' end, 0, 0, '[]', made.at, made.at,
        case when n % ${buriedEvery}::int = 0 then made.at end
      from generate_series(1, ${count}::int) as n
      cross join lateral (select ${startAt}::timestamptz + n * interval '1 second' as at) as instant
      cross join lateral (select instant.at, (substr(id_from(instant.at)::text, 1, 13) || '-7' || lpad(to_hex(n % 4096), 3, '0') || '-8000-'
        || lpad(to_hex(n), 12, '0'))::uuid as id) as made`)
    await db.run(sql`
      insert into events (environment_id, id, transaction_id, workflow_id, version_id, payload, overrides, lane, notified, created_at)
      select environment_id, id, id::text, id, id, '{}', '{}', 0, 1, created_at from jobs where environment_id = ${id}`)
    await db.run(sql`
      insert into messages (environment_id, id, event_id, notification_id, job_id, subscriber_id, version_id, step, channel,
                            state, status, created_at, updated_at)
      select environment_id, id, id, id, id, id, id, 0, 'email', 'done', 'sent', created_at, created_at from jobs
      where environment_id = ${id}`)
    await db.run(sql`
      insert into tasks (environment_id, id, kind, lane, claims, state, error, created_at, buried_at, due_at)
      select ${id}, gen_random_uuid(), 'poll', 0, 0, '{}', '', ${startAt},
        case when n % 2 = 0 then ${startAt}::timestamptz + n * interval '1 second' end,
        case when n % 2 > 0 then ${startAt}::timestamptz end
      from generate_series(1, 5000) as n`)
    await db.run(sql`
      insert into redrives (environment_id, id, state, filter, bounds, requested_by, created_at, updated_at)
      select ${id}, gen_random_uuid(), 'completed', '{}', '{}', '', now(), now() from generate_series(1, 3000) as n`)
    await db.run(sql`
      insert into digest_events (environment_id, window_id, seq, event_id)
      select ${id}, gen_random_uuid(), n, gen_random_uuid() from generate_series(1, 5000) as n`)
  }
  await db.run(sql`analyze`)
})
after(() => app.close())

const bounds = { rows: 4 * limit, pages: 12 * limit }
const failed =
  (filter: RedriveBounds, more: { after?: string; until?: Date } = {}) =>
  (db: Sql) =>
    findFailed(db, environment, {
      bounds: filter,
      after: more.after ?? null,
      limit,
      until: more.until ?? null,
      redriveId: '019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21',
    })
const pinned = (what: string, filter: RedriveBounds, more: { after?: string; until?: Date } = {}) =>
  assertBounded(app.database.db, what, bounds, failed(filter, more))

test('a page of failed jobs looks at a page of failed jobs, wherever it begins', async () => {
  const first = await pinned('first page', {})
  assert.equal(first.length, limit)
  const middle = firstIdAt(new Date(startAt.getTime() + (jobCount / 2) * 1_000))
  const later = await pinned('after the middle', {}, { after: middle, until: app.world.now() })
  assert.equal(later.length, limit)
  assert.ok(later.every((job) => job.jobId > middle))
  assert.equal((await pinned('from', { fromId: middle })).length, limit)
  const before = firstIdAt(new Date(startAt.getTime() + 61_000))
  assert.equal((await pinned('before', { beforeId: before })).length, 3)
})

test('the failed jobs of an event are found by where its ids lie', async () => {
  const [one = assert.fail('nothing failed')] = await failed({})(app.database.db)
  assert.equal((await pinned('of an event', { eventId: one.eventId })).length, 1)
})

test('what was buried is found among all jobs and tasks, in both directions', async () => {
  for (const orderDirection of ['ASC', 'DESC'] as const) {
    const read = (query: object) => (db: Sql) => buriedPage(db, environment, { limit: 10, orderDirection, ...query })
    const few = { rows: 150, pages: 600 }
    const first = await assertBounded(app.database.db, orderDirection, few, read({}))
    assert.equal(first.data.length, 10)
    const after = first.next ?? assert.fail('the list is too short')
    await assertBounded(app.database.db, `${orderDirection}, after`, few, read({ after }))
    await assertBounded(app.database.db, `${orderDirection}, jobs`, few, read({ kind: 'job' }))
  }
})

test('a page of redrives looks at a page of redrives', async () => {
  const few = { rows: 60, pages: 120 }
  const read = (query: object) => (db: Sql) => redrivesPage(db, environment, { limit: 10, ...query })
  const first = await assertBounded(app.database.db, 'first', few, read({}))
  await assertBounded(app.database.db, 'after', few, read({ after: first.next }))
})

test('jobs and messages are locked by their keys', async () => {
  const jobs = await failed({})(app.database.db)
  const db = recordStatements(app.database.db)
  await lockRedrivable(
    db,
    environment,
    jobs.map((job) => job.jobId),
  )
  await lockMessagesOfJobs(
    db,
    environment,
    jobs.map((job) => ({ id: job.jobId, eventId: job.eventId })),
  )
  await lockRetractableOfJobs(
    db,
    environment,
    jobs.map((job) => ({ id: job.jobId, eventId: job.eventId })),
  )
  await lockRetractable(
    db,
    environment,
    await findRetractableOfEvent(db, environment, { eventId: jobs[0]?.eventId ?? '', after: null, limit }),
  )
  await findCanceled(
    db,
    environment,
    jobs.map((job) => ({ id: job.jobId, eventId: job.eventId })),
  )
  await hasRedrivable(
    db,
    environment,
    jobs.map((job) => job.jobId),
  )
  for (const statement of db.statements) {
    const plan = await explain(app.database.db, statement)
    assert.equal(plan.hasSequentialScan, false, `${statement.text}\n${plan.text}`)
    assert.ok(plan.rowsExamined <= 2 * limit, `${plan.rowsExamined}: ${statement.text}\n${plan.text}`)
  }
})

test('a job that ends well is in no index of recovery', async () => {
  const rows = await app.database.db.rows<{ indexdef: string }>(sql`
    select indexdef from pg_indexes where tablename = 'jobs' and indexname in ('jobs_failed', 'jobs_buried') order by 1`)
  assert.equal(rows.length, 2)
  assert.ok(rows.every(({ indexdef }) => / WHERE /.test(indexdef)))
})
