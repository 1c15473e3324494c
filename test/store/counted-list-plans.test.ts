// The plans of the lists behind the numbers, pinned: a page looks at about a page of rows, however many there are.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Sql } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { depthMax } from '../../src/queue/depth.ts'
import { eventsPage } from '../../src/read/activity/event-pages.ts'
import { createPinnedVersions } from '../../src/read/activity/pinned-versions.ts'
import { failedStepsPage, failuresLookedAtMax } from '../../src/read/counts/failed-steps.ts'
import { queuePage } from '../../src/read/counts/queue-pages.ts'
import { countMessages, findMessagePage } from '../../src/read/messages/message-pages.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { MessageScene } from '../support/message-scene.ts'
import { explain, recordStatements } from '../support/plan.ts'

const many = 30_000
const removedCount = 4_000
const capturedCount = 30
const failedCount = 200
const versions = createPinnedVersions()
let app: TestApp
let environment: Environment
before(async () => {
  app = await createTestApp()
  const scene = await MessageScene.of(app, ['ada'])
  environment = scene.scene.environment
  const { id, eventId } = await scene.say('ada')
  const now = app.world.now()
  const { db } = app.database
  // A second apart, back in time; every so many were removed, and all jobs are due.
  const at = sql`${now}::timestamptz - n * interval '1 second'`
  const copies = sql`generate_series(1, ${many}::int) as n`
  await db.run(sql`
    insert into events (environment_id, id, transaction_id, workflow_id, version_id, payload, overrides, lane, notified, created_at)
    select environment_id, id_from(${at}), 'copy-' || n, workflow_id, version_id, payload, overrides, lane, 1, ${at}
    from events, ${copies} where id = ${eventId}`)
  await db.run(sql`
    insert into messages (environment_id, id, event_id, notification_id, job_id, subscriber_id, version_id, step, channel, state,
                          status, content, created_at, updated_at, deleted_at, is_test, is_captured)
    select environment_id, made.id, event_id, notification_id, job_id, subscriber_id, version_id, step, channel, state,
           status, content, ${at}, ${at}, case when n > ${many - removedCount}::int then ${now}::timestamptz end,
           made.is_captured, made.is_captured
    from messages m, ${copies}
    cross join lateral (
      select id_from(${at}) as id, n between ${many / 2}::int and ${many / 2 + capturedCount - 1}::int as is_captured) as made
    where m.id = ${id}`)
  await db.run(sql`
    insert into jobs (environment_id, id, notification_id, event_id, subscriber_id, version_id, step, status, lane, due_at, claims,
                      details, created_at, updated_at)
    select environment_id, id_from(${at}), notification_id, event_id, subscriber_id, version_id, step, 'queued', 0, ${now}, 0, '[]',
           ${at}, ${at}
    from messages, ${copies} where id = ${id}`)
  await db.run(sql`
    update jobs set status = 'failed', due_at = null
    where id in (select id from jobs where environment_id = ${environment.id} order by id limit ${failedCount}::int)`)
  await db.run(sql`vacuum analyze`)
})
after(() => app.close())

/** Every statement goes by an index, and none looks at more rows. */
async function bounded(rows: number, read: (db: Sql) => Promise<unknown>): Promise<void> {
  const recording = recordStatements(app.database.db)
  await read(recording)
  for (const statement of recording.statements) {
    const plan = await explain(app.database.db, statement)
    const text = `${statement.text}\n${plan.text}`
    const most = /^select count\(\*\)/.test(statement.text) ? Number.POSITIVE_INFINITY : rows
    assert.ok(plan.rowsExamined <= most, `${plan.rowsExamined} rows: ${text}`)
    const grown = [...plan.relations].some((name) => /^(?:events|messages|jobs)/.test(name))
    if (grown) assert.ok(plan.indexes.length > 0, text)
  }
}

test('a page of events looks at a page of rows, at its start and far into it', async () => {
  const page = (query: object) => (db: Sql) => eventsPage(db, environment, query, versions)
  await bounded(120, page({ limit: 50 }))
  await bounded(120, page({ limit: 50, from: new Date(app.world.now().getTime() - 9_000_000).toISOString() }))
  const deep = await eventsPage(app.database.db, environment, { limit: 100 }, versions)
  assert.ok(deep.next)
  await bounded(160, page({ limit: 50, after: deep.next }))
})

test('a list of the queue looks at no more than its counts do, also where all is due at once', async () => {
  const clock = () => sql`${app.world.now()}::timestamptz`
  const page = (db: Sql) => queuePage(db, environment, { state: 'due', page: 0, limit: 50 }, { clock, versions })
  // What was found is read once to be counted and once to be sorted.
  await bounded(3 * depthMax + 500, page)
  const { totalCount, data, hasMore } = await page(app.database.db)
  assert.deepEqual([totalCount, data.length, hasMore], [undefined, 50, true], 'there may be more than were looked at')
})

test('removed messages are found by their own index, alone and among the others', async () => {
  for (const removed of ['only', 'with'] as const) {
    const filter = { removed, statuses: ['sent'] } as const
    await bounded(400, (db) => findMessagePage(db, environment, filter, { offset: 0, limit: 11 }))
    const { totalCount } = await countMessages(app.database.db, environment, filter)
    assert.equal(totalCount, removed === 'only' ? removedCount : many + 1)
  }
})

test('captured messages are found by their own index among very many others, and the others beside them', async () => {
  for (const [captured, count] of [
    [true, capturedCount],
    [false, many + 1 - removedCount - capturedCount],
  ] as const) {
    await bounded(120, (db) => findMessagePage(db, environment, { captured }, { offset: 0, limit: 11 }))
    const { totalCount } = await countMessages(app.database.db, environment, { captured })
    assert.equal(totalCount, count)
  }
})

test('steps that failed are found by their own index, and no more are looked at than are counted', async () => {
  const page = (more: object) => (db: Sql) =>
    failedStepsPage(db, environment, { page: 0, limit: 11, ...more }, versions)
  assert.ok(failedCount < failuresLookedAtMax)
  await bounded(failedCount + 100, page({}))
  const { totalCount, data } = await page({})(app.database.db)
  assert.deepEqual([totalCount, data.length], [failedCount, 11])
  const since = (at: string) => ({ after: new Date(Date.parse(at)).toISOString() })
  const newest = await page(since(data[4]?.failedAt ?? ''))(app.database.db)
  assert.equal(newest.totalCount, 5)
  await bounded(60, page(since(data[4]?.failedAt ?? '')))
})

test('failures of steps that were sent again are found by their own index, each with its own time', async () => {
  const { db } = app.database
  const [startAt, endAt] = [app.world.now(), new Date(app.world.now().getTime() + 1_000)]
  await db.run(sql`
    update jobs set failed_before = array[${endAt}::timestamptz, ${startAt}::timestamptz]
    where id in (select id from jobs where environment_id = ${environment.id} and status = 'queued' order by id limit 30)`)
  await db.run(sql`analyze jobs`)
  const page =
    (redriven: 'with' | 'only', more: object = {}) =>
    (at: Sql) =>
      failedStepsPage(at, environment, { page: 0, limit: 11, redriven, ...more }, versions)
  await bounded(failedCount + 300, page('with'))
  await bounded(250, page('only'))
  const total = async (...asked: Parameters<typeof page>) => (await page(...asked)(db)).totalCount
  assert.deepEqual([await total('only'), await total('with')], [60, failedCount + 60])
  assert.equal(await total('only', { after: endAt.toISOString() }), 30)
  assert.equal(await total('only', { before: startAt.toISOString() }), 30)
  const after = new Date(endAt.getTime() + 1).toISOString()
  assert.equal(await total('only', { after }), 0)
  await bounded(60, page('only', { after }))
  // However many were sent again since, what failed before them is found without going through them.
  const laterAt = new Date(endAt.getTime() + 60_000)
  await db.run(sql`
    update jobs set failed_before = array[${laterAt}::timestamptz] where id in (
      select id from jobs where environment_id = ${environment.id} and status = 'queued' and failed_before is null limit 3000)`)
  await db.run(sql`analyze jobs`)
  const before = endAt.toISOString()
  assert.deepEqual([await total('only', { before }), await total('only')], [60, 3_060])
  await bounded(250, page('only', { before }))
})
