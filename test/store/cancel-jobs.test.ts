// What cancelling looks at and locks, on the real engine.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Clock } from '../../src/db/clock.ts'
import { sql } from '../../src/db/sql.ts'
import { jobIdOf } from '../../src/domain/derived-id.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { createIdSource } from '../../src/domain/uuid-v7.ts'
import { hasCancelable, lockFronts } from '../../src/store/jobs/cancel.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'

let database: TestDatabase
const now = new Date('2026-01-02T03:04:05.678Z')
const clock: Clock = () => sql`${now}::timestamptz`
const newId = createIdSource()
const environment: Environment = { id: newId(now), organizationId: newId(now), name: 'Development' }
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
