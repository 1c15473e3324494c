// What cancelling looks at and locks, on the real engine.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Clock } from '../../src/db/clock.ts'
import { sql } from '../../src/db/sql.ts'
import { jobIdOf } from '../../src/domain/derived-id.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { createIdSource } from '../../src/domain/uuid-v7.ts'
import {
  cancelJobs,
  findCanceled,
  findRunning,
  hasCancelable,
  lockCancelable,
  lockFronts,
} from '../../src/store/jobs/cancel.ts'
import { deleteJobs } from '../../src/store/jobs/erase.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'

let database: TestDatabase
const now = new Date('2026-01-02T03:04:05.678Z')
const clock: Clock = () => sql`${now}::timestamptz`
const newId = createIdSource()
const environment: Environment = { id: newId(now), organizationId: newId(now), name: 'Development' }
const elsewhere: Environment = { ...environment, id: newId(now), name: 'Production' }
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())
beforeEach(() => database.db.run(sql`truncate jobs`))

interface Given {
  readonly status: string
  readonly isLeased: boolean
  /** From now; null for a job that is over. */
  readonly dueInMs: number | null
}

/** A job of an event, and the event. */
async function add({ status, isLeased, dueInMs }: Given): Promise<{ id: string; eventId: string }> {
  const [eventId, notificationId] = [newId(now), newId(now)]
  const id = jobIdOf(eventId, notificationId, 0)
  const dueAt = dueInMs === null ? null : new Date(now.getTime() + dueInMs)
  await database.db.run(sql`
    insert into jobs (environment_id, id, notification_id, event_id, subscriber_id, version_id, step, status, lane, due_at,
                      lease, details, created_at, updated_at)
    values (${environment.id}, ${id}, ${notificationId}, ${eventId}, ${newId(now)}, ${newId(now)}, 0, ${status}, 0,
            ${dueAt}::timestamptz, ${isLeased ? newId(now) : null}::uuid, '[]', ${now}::timestamptz, ${now}::timestamptz)`)
  return { id, eventId }
}

const queued: Given = { status: 'queued', isLeased: false, dueInMs: 0 }

test('an event can be cancelled while something of it is open that no one is sending', async () => {
  for (const [given, expected] of [
    [queued, true],
    [{ status: 'queued', isLeased: true, dueInMs: 60_000 }, true],
    [{ status: 'running', isLeased: true, dueInMs: 60_000 }, false],
    // It waits for its next try, or its node has ended.
    [{ status: 'running', isLeased: false, dueInMs: 60_000 }, true],
    [{ status: 'running', isLeased: true, dueInMs: 0 }, true],
    [{ status: 'completed', isLeased: false, dueInMs: null }, false],
  ] as const) {
    const { eventId } = await add(given)
    const found = await database.db.transaction((tx) => hasCancelable(tx, environment, eventId, clock))
    assert.equal(found, expected, JSON.stringify(given))
  }
})

test('the jobs that are to be cancelled come in the order of their ids, and stay locked until the end', async () => {
  const ids: string[] = []
  for (let count = 0; count < 20; count += 1) ids.push((await add(queued)).id)
  const other = database.another({ poolSize: 1 })
  const free = sql`select id from jobs for update skip locked`
  await database.db.transaction(async (tx) => {
    const locked = await lockFronts(tx, environment, [...ids].reverse(), clock)
    assert.deepEqual(
      locked.map((job) => job.id),
      [...ids].sort(),
    )
    assert.deepEqual(await other.rows(free), [])
  })
  assert.equal((await other.rows(free)).length, 20)
})

const sending: Given = { status: 'running', isLeased: true, dueInMs: 60_000 }

test('a job is held while its lease lasts, and by no one without one', async () => {
  for (const [given, expected] of [
    [queued, false],
    [sending, true],
    [{ ...sending, dueInMs: 0 }, false],
    [{ ...sending, isLeased: false }, false],
  ] as const) {
    const { id, eventId } = await add(given)
    const page = { eventId, after: null, limit: 10 }
    const { fronts, ofEvent } = await database.db.transaction(async (tx) => ({
      fronts: await lockFronts(tx, environment, [id], clock),
      ofEvent: (await lockCancelable(tx, environment, page, clock)).jobs,
    }))
    const held = [...fronts, ...ofEvent].map((job) => job.isHeld)
    assert.deepEqual(held, [expected, expected], JSON.stringify(given))
  }
})

test('what is being sent of an event is found while it is open, in its environment', async () => {
  for (const [given, expected] of [
    [sending, 1],
    [{ ...sending, dueInMs: null }, 0],
    [queued, 0],
  ] as const) {
    const { eventId } = await add(given)
    const found = await database.db.transaction((tx) => findRunning(tx, environment, eventId))
    assert.equal(found.length, expected, JSON.stringify(given))
    assert.deepEqual(await database.db.transaction((tx) => findRunning(tx, elsewhere, eventId)), [])
  }
})

/** The same rows in the other environment. */
const copyElsewhere = () =>
  database.db.run(sql`
    insert into jobs select (jsonb_populate_record(j, jsonb_build_object('environment_id', ${elsewhere.id}::text))).* from jobs j`)

test('jobs are cancelled and deleted in their environment alone, should the ids be alike', async () => {
  const { id } = await add(queued)
  await copyElsewhere()
  const rows = () =>
    database.db.rows(sql`select environment_id = ${environment.id} as here, status from jobs order by 1 desc`)
  const { db } = database
  const canceled = await db.transaction((tx) => cancelJobs(tx, environment, [id], { details: [], now }))
  assert.equal(canceled, 1)
  assert.deepEqual(await rows(), [
    { here: true, status: 'canceled' },
    { here: false, status: 'queued' },
  ])
  assert.equal(await db.transaction((tx) => deleteJobs(tx, environment, [id])), 1)
  assert.deepEqual(await rows(), [{ here: false, status: 'queued' }])
  assert.equal(await db.transaction((tx) => cancelJobs(tx, environment, [], { details: [], now })), 0)
  assert.equal(await db.transaction((tx) => deleteJobs(tx, environment, [])), 0)
})

test('a job counts as cancelled by an event of its own environment alone, should the ids be alike', async () => {
  const { id, eventId } = await add(sending)
  const jobs = [{ id, eventId }]
  const cancelIn = (place: Environment) =>
    database.db.run(sql`
      insert into events (environment_id, id, transaction_id, workflow_id, version_id, payload, overrides, lane, notified,
                          created_at, canceled_at)
      values (${place.id}, ${eventId}, ${eventId}::text, ${newId(now)}, ${newId(now)}, '{}', '{}', 0, 1, ${now}, ${now})`)
  await cancelIn(elsewhere)
  assert.deepEqual(await findCanceled(database.db, environment, jobs), new Set())
  await cancelIn(environment)
  assert.deepEqual(await findCanceled(database.db, environment, jobs), new Set([id]))
})
