// Leases beside rows that another transaction has locked: nothing waits for them, and nothing is counted twice.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Clock } from '../../src/db/clock.ts'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { createIdSource } from '../../src/domain/uuid-v7.ts'
import { createLeaseSource } from '../../src/queue/lease-source.ts'
import { forgetLeases, freeLeases } from '../../src/queue/leases.ts'
import { leaseMs } from '../../src/queue/queue.ts'
import { jobQueue } from '../../src/store/jobs/queue-table.ts'
import { holdJobs } from '../../src/store/jobs/settle.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'

let database: TestDatabase
const now = new Date('2026-01-02T03:04:05.678Z')
const clock: Clock = () => sql`${now}::timestamptz`
const newId = createIdSource()
const leases = createLeaseSource()
const environments = [1, 2, 3].map((): Environment => ({ id: newId(now), organizationId: newId(now), name: 'Any' }))
const last = environments.at(-1) as Environment
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())
beforeEach(() => database.db.run(sql`truncate jobs`))

/** Two jobs of each environment, under one lease. */
async function addLeased(lease: string): Promise<{ environmentId: string; id: string }[]> {
  const jobs = environments.flatMap(({ id }) => [1, 2].map(() => ({ environmentId: id, id: newId(now) })))
  const dueAt = new Date(now.getTime() + leaseMs)
  await database.db.run(sql`
    insert into jobs (environment_id, id, notification_id, event_id, subscriber_id, version_id, step, status, lane, due_at,
                      lease, details, created_at, updated_at)
    select environment_id, id, id, id, id, id, 0, 'queued', 0, ${dueAt}::timestamptz, ${lease}::uuid, '[]',
           ${now}::timestamptz, ${now}::timestamptz
    from unnest(${jobs.map((job) => job.environmentId)}::uuid[], ${jobs.map((job) => job.id)}::uuid[]) as new (environment_id, id)`)
  return jobs
}

/** While another transaction has the row; whoever waits for it fails. */
async function whileLocked<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
  return database.db.transaction(async (tx) => {
    await tx.run(sql`select 1 from jobs where environment_id = ${last.id} and id = ${id} for update`)
    return work()
  })
}

test('leases whose answers were lost are given up past a row that is locked', async () => {
  const node = database.another({ poolSize: 1, lockTimeoutMs: 500 })
  const lease = leases.newLease()
  const locked = (await addLeased(lease)).at(-1)?.id ?? ''
  const forget = () => forgetLeases(node, jobQueue, clock, [lease])
  assert.equal(await whileLocked(locked, forget), 5)
  assert.equal(await forget(), 1)
})

test('what is left of a dead node is counted once, however many environments have something open', async () => {
  const node = database.another({ poolSize: 1, lockTimeoutMs: 500 })
  const locked = (await addLeased(leases.newLease())).at(-1)?.id ?? ''
  const free = () => freeLeases(node, jobQueue, clock, { ...leases.all, leaseMs })
  assert.deepEqual(await whileLocked(locked, free), { freed: 5, left: 1 })
  assert.deepEqual(await free(), { freed: 1, left: 0 })
})

test('jobs that are held stay locked until the end of the transaction, and no others', async () => {
  const lease = leases.newLease()
  const own = (await addLeased(lease)).filter((job) => job.environmentId === last.id)
  const other = database.another({ poolSize: 1 })
  const countFree = async () => (await other.rows(sql`select 1 from jobs for update skip locked`)).length
  await database.db.transaction(async (tx) => {
    const held = await holdJobs(
      tx,
      last,
      own.map(({ id }) => ({ id, lease })),
    )
    assert.equal(held.size, 2)
    assert.equal(await countFree(), 4)
  })
  assert.equal(await countFree(), 6)
})
