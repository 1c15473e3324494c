// What exports and erases cost the database: pages by key, however many others there are.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { removeMentions } from '../../src/store/events/events.ts'
import { findNotificationsOf } from '../../src/store/events/notifications.ts'
import { isGathered, keptByQueue } from '../../src/store/operate/retention.ts'
import { findErasure, findRunningErasure } from '../../src/store/people/erasures.ts'
import { findEveryoneNamed } from '../../src/store/people/former-subscribers.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { assertBounded, explain, recordStatements } from '../support/plan.ts'
import { environmentOf } from '../support/topic-scene.ts'

const people = 2_000
const notificationsEach = 20

let app: TestApp
let environment: Environment
let person: string
before(async () => {
  app = await createTestApp()
  environment = await environmentOf(app)
  const { db } = app.database
  const now = app.world.now()
  await db.run(sql`
    insert into subscribers (environment_id, id, subscriber_id, created_at, updated_at, deleted_at)
    select ${environment.id}, gen_random_uuid(), 'person-' || n, ${now}, ${now}, case when n % 10 = 0 then ${now}::timestamptz end
    from generate_series(1, ${people}) as n`)
  await db.run(sql`
    insert into events (environment_id, id, transaction_id, workflow_id, version_id, payload, overrides, lane, notified, created_at)
    select ${environment.id}, gen_random_uuid(), 'event-' || n, gen_random_uuid(), gen_random_uuid(), '{}', '{}', 0, 0, ${now}
    from generate_series(1, ${people}) as n`)
  await db.run(sql`
    insert into notifications (environment_id, id, event_id, subscriber_id, version_id)
    select ${environment.id}, gen_random_uuid(), gen_random_uuid(), s.id, gen_random_uuid()
    from subscribers s cross join generate_series(1, ${notificationsEach})`)
  await db.run(sql`
    insert into jobs (environment_id, id, notification_id, event_id, subscriber_id, version_id, step, status, lane, claims,
                      details, created_at, updated_at)
    select ${environment.id}, gen_random_uuid(), n.id, n.event_id, n.subscriber_id, n.version_id, 0, 'completed', 0, 0, '[]', ${now}, ${now}
    from notifications n`)
  await db.run(sql`
    insert into erasures (environment_id, id, subscriber_hash, requested_by, requested_at, phase, removed, completed_at)
    select ${environment.id}, gen_random_uuid(), sha256(n::text::bytea), 'key', ${now}, 'completed', '{}', ${now}
    from generate_series(1, ${people}) as n`)
  await db.run(sql`
    insert into tasks (environment_id, id, kind, lane, due_at, claims, state, created_at)
    select ${environment.id}, gen_random_uuid(), 'expand', 0, ${now}, 0, '{}', ${now} from generate_series(1, ${people})`)
  for (const table of ['subscribers', 'events', 'notifications', 'jobs', 'erasures', 'tasks']) {
    await db.run({ text: `analyze ${table}`, values: [] })
  }
  const row = await db.row<{ id: string }>(sql`select id from subscribers where subscriber_id = 'person-7'`)
  person = row?.id ?? assert.fail('there is no person 7')
})
after(() => app.close())

const bounded = <Result>(
  what: string,
  rows: number,
  read: Parameters<typeof assertBounded<Result>>[3],
): Promise<Result> => assertBounded(app.database.db, what, { rows, pages: 60 }, read)

test('everyone who has or had an id is found by it, the living and the deleted', async () => {
  assert.equal((await bounded('living', 4, (db) => findEveryoneNamed(db, environment, 'person-7'))).length, 1)
  assert.equal((await bounded('deleted', 4, (db) => findEveryoneNamed(db, environment, 'person-10'))).length, 1)
})

test('a page of someone’s notifications reads no others', async () => {
  const page = { subscriberIds: [person], after: null, limit: 10 }
  assert.equal(
    (await bounded('page', notificationsEach, (db) => findNotificationsOf(db, environment, page))).length,
    10,
  )
})

test('receipts are found by their id and by whom they are for', async () => {
  const any = await app.database.db.row<{ id: string }>(sql`select id from erasures limit 1`)
  assert.notEqual(await bounded('by id', 2, (db) => findErasure(db, environment, any?.id ?? '')), undefined)
  assert.equal(await bounded('running', 2, (db) => findRunningErasure(db, environment, Buffer.alloc(32))), undefined)
})

test('whether a month has open steps or tasks is known from the queue’s own indexes', async () => {
  // A second only: the ids are random.
  const span = { from: new Date('2099-01-01T00:00:00Z'), to: new Date('2099-01-01T00:00:01Z') }
  assert.equal(await bounded('open work', 4, (db) => keptByQueue(db, [environment], span)), undefined)
  const whole = { from: new Date(0), to: new Date('2300-01-01') }
  assert.equal(await bounded('an open task', 4, (db) => keptByQueue(db, [environment], whole)), 'open_tasks')
  assert.equal(await bounded('no digest', 4, (db) => isGathered(db, [environment], whole)), false)
})

test('the search for mentions looks at one page of events a time', async () => {
  const db = recordStatements(app.database.db)
  const search = {
    ids: [person],
    subscriberId: 'person-7',
    after: null,
    before: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  }
  assert.equal((await removeMentions(db, environment, { ...search, limit: 100 })).changed, 0)
  const plan = await explain(app.database.db, db.statements[0] ?? assert.fail('nothing was asked'))
  assert.equal(plan.hasSequentialScan, false, plan.text)
  assert.ok(plan.rowsExamined <= 500, plan.text)
})
