// Claims, leases and settles on the real engine: fair, exclusive, fenced.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Clock } from '../../src/db/clock.ts'
import { oneStatement } from '../../src/db/one-statement.ts'
import { sql } from '../../src/db/sql.ts'
import type { Due } from '../../src/domain/delivery/due.ts'
import { leased, over, until } from '../../src/domain/delivery/due.ts'
import type { Job } from '../../src/domain/delivery/job.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { createIdSource } from '../../src/domain/uuid-v7.ts'
import { createClaims, createSoloClaims } from '../../src/queue/claims.ts'
import { createLeaseSource } from '../../src/queue/lease-source.ts'
import { forgetLeases, freeLeases, releaseLeases } from '../../src/queue/leases.ts'
import { leaseMs } from '../../src/queue/queue.ts'
import { jobQueue } from '../../src/store/jobs/queue-table.ts'
import type { JobSettlement } from '../../src/store/jobs/settle.ts'
import { holdJobs, jobSettlements, postponeFaulty, settledJobs } from '../../src/store/jobs/settle.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'

let database: TestDatabase
let now = new Date('2026-01-02T03:04:05.678Z')
const clock: Clock = () => sql`${now}::timestamptz`
const leases = createLeaseSource()
const newId = createIdSource()
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())
beforeEach(() => database.db.run(sql`truncate jobs`))

/** The environment of that number: in the order that claims take them. */
const environmentOf = (number: number): Environment => ({
  id: `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`,
  organizationId: '00000000-0000-7000-8000-000000000000',
  name: `Environment ${number}`,
})

async function addJobs(
  environment: Environment,
  count: number,
  more: { lane?: number; dueInMs?: number | null; step?: number } = {},
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId(now))
  const dueAt = more.dueInMs === null ? null : new Date(now.getTime() + (more.dueInMs ?? 0))
  await database.db.run(sql`
    insert into jobs (environment_id, id, notification_id, event_id, subscriber_id, version_id, step, status, lane, due_at,
                      details, created_at, updated_at)
    select ${environment.id}, id, id, id, id, id, ${more.step ?? 0}, 'queued', ${more.lane ?? 0}, ${dueAt}::timestamptz,
           '[]', ${now}::timestamptz, ${now}::timestamptz
    from unnest(${ids}::uuid[]) as new (id)`)
  return ids
}

interface Row {
  readonly status: string
  readonly due_at: Date | null
  readonly lease: string | null
  readonly lane: number
  readonly interruptions: number
  readonly faults: number
  readonly details: unknown[]
}

async function rowOf(environment: Environment, id: string): Promise<Row> {
  const row = await database.db.row<Row>(sql`
    select status, due_at, lease, lane, interruptions, faults, details from jobs where environment_id = ${environment.id} and id = ${id}`)
  return row ?? assert.fail(`there is no job ${id}`)
}

const newClaims = (db = database.db) => createClaims<Job>({ db, queue: jobQueue, clock })
const claim = (limit: number, claims = newClaims()) => claims(limit, leases.newLease())

function countByEnvironment(jobs: readonly Job[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { environmentId } of jobs) counts[environmentId] = (counts[environmentId] ?? 0) + 1
  return counts
}

const later = (ms: number): void => {
  now = new Date(now.getTime() + ms)
}

test('a claim takes what is due, oldest first, and leases it for a time', async () => {
  const environment = environmentOf(1)
  const [young = ''] = await addJobs(environment, 1, { dueInMs: -1 })
  const [old = ''] = await addJobs(environment, 1, { dueInMs: -1_000 })
  const [future = ''] = await addJobs(environment, 1, { dueInMs: 1 })
  await addJobs(environment, 1, { dueInMs: null })
  const claims = newClaims()
  const lease = leases.newLease()
  assert.deepEqual(
    (await claims(1, lease)).map((job) => job.id),
    [old],
  )
  const row = await rowOf(environment, old)
  assert.equal(row.lease, lease)
  assert.deepEqual(row.due_at, new Date(now.getTime() + leaseMs))
  const [second, ...others] = await claim(10, claims)
  assert.deepEqual([second?.id, second?.interruptions, others.length], [young, 0, 0])
  assert.equal((await rowOf(environment, future)).lease, null)
})

test('a claim hands over the job as its runner knows it', async () => {
  const environment = environmentOf(1)
  const [id = ''] = await addJobs(environment, 1, { step: 3, lane: 1 })
  const lease = leases.newLease()
  const [job] = await newClaims()(1, lease)
  assert.deepEqual(job, {
    environmentId: environment.id,
    id,
    notificationId: id,
    eventId: id,
    subscriberId: id,
    versionId: id,
    step: 3,
    status: 'queued',
    lane: 1,
    lease,
    interruptions: 0,
    faults: 0,
    faultedSince: null,
    digestId: null,
    state: null,
  })
})

test('environments share a claim, however large the backlog of one is', async () => {
  await addJobs(environmentOf(1), 20_000, { dueInMs: -3_600_000 })
  for (const number of [2, 3, 4]) await addJobs(environmentOf(number), 5)
  const counts = countByEnvironment(await claim(100))
  for (const number of [2, 3, 4]) assert.equal(counts[environmentOf(number).id], 5)
  // A quarter of what is not kept for fan-out.
  assert.equal(counts[environmentOf(1).id], 19)
})

test('a backlog alone fills a claim', async () => {
  await addJobs(environmentOf(1), 300)
  assert.equal((await claim(100)).length, 100)
})

test('environments take turns when a claim is too small for all', async () => {
  for (let number = 1; number <= 10; number += 1) await addJobs(environmentOf(number), 10)
  const claims = newClaims()
  const seen: string[] = []
  for (let round = 0; round < 3; round += 1) for (const job of await claim(4, claims)) seen.push(job.environmentId)
  assert.equal(new Set(seen).size, 10)
})

test('environments whose jobs are not yet due keep no one waiting, however many they are', async () => {
  for (let number = 1; number <= 100; number += 1) await addJobs(environmentOf(number), 1, { dueInMs: 3_600_000 })
  await addJobs(environmentOf(101), 50)
  const claims = newClaims()
  let found = 0
  for (let round = 0; round < 3; round += 1) found += (await claim(50, claims)).length
  assert.equal(found, 50)
})

test('a claim is not cut up for environments that have nothing due', async () => {
  for (let number = 1; number <= 50; number += 1) await addJobs(environmentOf(number), 1, { dueInMs: 3_600_000 })
  await addJobs(environmentOf(51), 200)
  assert.equal((await claim(100)).length, 100)
})

test('more environments than one claim looks at all have their turn', async () => {
  for (let number = 1; number <= 150; number += 1) await addJobs(environmentOf(number), 1)
  const claims = newClaims()
  const seen = new Set<string>()
  for (let round = 0; round < 6; round += 1) for (const job of await claim(50, claims)) seen.add(job.environmentId)
  assert.equal(seen.size, 150)
})

test('fan-out has its share beside a backlog of direct work, and takes what is left without one', async () => {
  const environment = environmentOf(1)
  await addJobs(environment, 1_000, { dueInMs: -3_600_000 })
  await addJobs(environment, 1_000, { lane: 1 })
  const both = await claim(100)
  assert.ok(both.filter((job) => job.lane === 1).length >= 25)
  assert.ok(both.filter((job) => job.lane === 0).length >= 50)
  await database.db.run(sql`delete from jobs where lane = 0`)
  assert.equal((await claim(100)).length, 100)
})

test('direct work does not wait behind a fan-out of the same environment', async () => {
  const environment = environmentOf(1)
  await addJobs(environment, 5_000, { lane: 1, dueInMs: -3_600_000 })
  const [direct = ''] = await addJobs(environment, 1)
  assert.ok((await claim(10)).some((job) => job.id === direct))
})

test('a claim takes no more than it was asked for', async () => {
  await addJobs(environmentOf(1), 100)
  await addJobs(environmentOf(1), 100, { lane: 1 })
  assert.ok((await claim(40)).length <= 40)
})

test('two nodes that claim at once never get the same job', async () => {
  await addJobs(environmentOf(1), 500)
  await addJobs(environmentOf(2), 500)
  const nodes = [newClaims(), newClaims(database.another())]
  const claimed: Job[] = []
  for (let round = 0; round < 10; round += 1) {
    const rounds = await Promise.all(nodes.map((claims) => claims(100, leases.newLease())))
    claimed.push(...rounds.flat())
  }
  assert.equal(claimed.length, 1000)
  assert.equal(new Set(claimed.map((job) => job.id)).size, 1000)
})

test('a job that someone is looking at is passed over, not waited for', async () => {
  const environment = environmentOf(1)
  const [held = '', free = ''] = await addJobs(environment, 2)
  await database.db.transaction(async (tx) => {
    await tx.run(sql`select 1 from jobs where environment_id = ${environment.id} and id = ${held} for update`)
    assert.deepEqual(
      (await claim(10, newClaims(database.another({ lockTimeoutMs: 500 })))).map((job) => job.id),
      [free],
    )
  })
})

test('a lease that has expired is due again, and counts as an interruption up to a point', async () => {
  const environment = environmentOf(1)
  const [id = ''] = await addJobs(environment, 1)
  await claim(1)
  later(leaseMs - 1)
  assert.equal((await claim(1)).length, 0)
  later(1)
  const [again] = await claim(1)
  assert.deepEqual([again?.id, again?.interruptions], [id, 1])
  for (let expiries = 0; expiries < 5; expiries += 1) {
    later(leaseMs)
    assert.equal((await claim(1))[0]?.interruptions, 2, 'never so often that it runs alone')
  }
})

test('what is given back is due at once and was not interrupted; what was lost stays with its holder', async () => {
  const environment = environmentOf(1)
  await addJobs(environment, 2)
  const [one, other] = await claim(2)
  assert.ok(one !== undefined && other !== undefined)
  assert.equal(await releaseLeases(database.db, jobQueue, clock, [one, { ...other, lease: leases.newLease() }]), 1)
  const released = await rowOf(environment, one.id)
  assert.deepEqual([released.lease, released.interruptions, released.due_at], [null, 0, now])
  assert.equal((await rowOf(environment, other.id)).lease, other.lease)
  assert.equal(await releaseLeases(database.db, jobQueue, clock, [one]), 0)
})

test('only what a dead node held is freed, in every environment and lane', async () => {
  const dead = createLeaseSource()
  await addJobs(environmentOf(1), 3)
  await addJobs(environmentOf(70), 3, { lane: 1 })
  await newClaims()(100, dead.newLease())
  await addJobs(environmentOf(1), 2)
  const mine = await claim(100)
  assert.equal(mine.length, 2)
  await addJobs(environmentOf(1), 2, { dueInMs: 30_000 })
  assert.deepEqual(await freeLeases(database.db, jobQueue, clock, { ...dead.all, leaseMs }), { freed: 6, left: 0 })
  assert.equal((await claim(100)).length, 6)
  for (const job of mine) assert.equal((await rowOf(environmentOf(1), job.id)).lease, job.lease)
})

test('what was claimed under leases whose answers were lost is due again, and was not interrupted', async () => {
  await addJobs(environmentOf(1), 2)
  await addJobs(environmentOf(70), 2, { lane: 1 })
  const lost = await newClaims()(100, leases.newLease())
  await addJobs(environmentOf(1), 1)
  const more = await claim(100)
  await addJobs(environmentOf(1), 1)
  const [kept] = await claim(100)
  const forgotten = [...lost, ...more].map(({ lease }) => lease)
  assert.equal(await forgetLeases(database.db, jobQueue, clock, [...new Set(forgotten), leases.newLease()]), 5)
  assert.equal((await rowOf(environmentOf(1), kept?.id ?? '')).lease, kept?.lease)
  const again = await claim(100)
  assert.deepEqual(again.map(({ id }) => id).sort(), [...lost, ...more].map(({ id }) => id).sort())
  assert.deepEqual(new Set(again.map(({ interruptions }) => interruptions)), new Set([0]))
})

test('what was in flight at three deaths waits in a lane of its own, is claimed alone, and longer each time', async () => {
  const environment = environmentOf(1)
  const [direct = ''] = await addJobs(environment, 1)
  const [fanOut = ''] = await addJobs(environment, 1, { lane: 1 })
  const newSoloClaims = () => createSoloClaims<Job>({ db: database.db, queue: jobQueue, clock })
  const die = async (claims: () => ReturnType<typeof newClaims>): Promise<string[]> => {
    const dead = createLeaseSource()
    const claimed = await claims()(10, dead.newLease())
    await freeLeases(database.db, jobQueue, clock, { ...dead.all, leaseMs })
    return claimed.map((job) => job.id)
  }
  for (let deaths = 1; deaths <= 3; deaths += 1) {
    assert.equal((await newSoloClaims()(10, leases.newLease())).length, 0)
    assert.deepEqual((await die(newClaims)).sort(), [direct, fanOut].sort())
  }
  assert.deepEqual([(await rowOf(environment, direct)).lane, (await rowOf(environment, fanOut)).lane], [2, 3])
  assert.deepEqual(await die(newClaims), [], 'they hold nothing else up')
  const waits: number[] = []
  for (let deaths = 0; deaths < 8; deaths += 1) {
    const claimed = await die(newSoloClaims)
    assert.equal(claimed.length, 1)
    const row = await rowOf(environment, claimed[0] ?? '')
    waits.push((row.due_at?.getTime() ?? 0) - now.getTime())
    later(waits.at(-1) ?? 0)
  }
  assert.ok(Math.min(...waits) >= 5_000 && Math.max(...waits) === 60_000, `${waits}`)
  const [job] = await newSoloClaims()(10, leases.newLease())
  assert.equal(job?.lane, job?.id === direct ? 0 : 1, 'its runner knows the lane it came from')
})

const time = () => ({ clock, leaseMs, now })
const settlement = (job: Job, due: Due = over) => ({
  id: job.id,
  lease: job.lease,
  status: 'completed' as const,
  due,
  state: null,
  details: [{ code: 'messageSent' as const, at: now.toISOString() }],
})

async function settle(environment: Environment, settlements: readonly JobSettlement[]): Promise<Set<string>> {
  const parts = jobSettlements(environment, settlements, time())
  const rows = await database.db.rows<{ id: string }>(oneStatement(parts, settledJobs))
  return new Set(rows.map((row) => row.id))
}

test('a lost lease changes nothing, and costs the others of its batch nothing', async () => {
  const environment = environmentOf(1)
  await addJobs(environment, 2)
  const [lost, kept] = await claim(2)
  assert.ok(lost !== undefined && kept !== undefined)
  later(leaseMs)
  await database.db.run(sql`update jobs set due_at = null where id = ${kept.id}`)
  const [mine] = await claim(1)
  assert.equal(mine?.id, lost.id)
  const settled = await settle(environment, [settlement(lost), settlement(kept)])
  assert.deepEqual([...settled], [kept.id])
  const row = await rowOf(environment, lost.id)
  assert.deepEqual([row.status, row.lease, row.interruptions, row.details], ['queued', mine?.lease, 1, []])
  assert.equal((await rowOf(environment, kept.id)).status, 'completed')
})

test('a settled job is over, free until a time, or continues under its lease', async () => {
  const environment = environmentOf(1)
  await addJobs(environment, 3)
  const [ended, waits, goesOn] = await claim(3)
  assert.ok(ended !== undefined && waits !== undefined && goesOn !== undefined)
  later(10_000)
  const soonAt = new Date(now.getTime() + 5_000)
  await settle(environment, [settlement(ended), settlement(waits, until(soonAt)), settlement(goesOn, leased)])
  const short = async (id: string) => {
    const { lease, due_at, interruptions, details } = await rowOf(environment, id)
    return { lease, due_at, interruptions, details: details.length }
  }
  assert.deepEqual(await short(ended.id), { lease: null, due_at: null, interruptions: 0, details: 1 })
  assert.deepEqual(await short(waits.id), { lease: null, due_at: soonAt, interruptions: 0, details: 1 })
  const extended = new Date(now.getTime() + leaseMs)
  assert.deepEqual(await short(goesOn.id), { lease: goesOn.lease, due_at: extended, interruptions: 0, details: 1 })
})

test('a job that is put off after a fault is counted and comes back; one that was lost is left alone', async () => {
  const environment = environmentOf(1)
  await addJobs(environment, 1)
  const [job] = await claim(1)
  assert.ok(job !== undefined)
  const againAt = new Date(now.getTime() + 1_000)
  const postpone = (lease: string) =>
    postponeFaulty(database.db, environment, { id: job.id, lease }, { waitMs: 1_000, clock })
  assert.equal(await postpone(leases.newLease()), 0)
  assert.equal(await postpone(job.lease), 1)
  const row = await rowOf(environment, job.id)
  assert.deepEqual([row.lease, row.due_at, row.faults], [null, againAt, 1])
  later(1_000)
  const [again] = await claim(1)
  assert.deepEqual([again?.faults, again?.faultedSince], [1, new Date(now.getTime() - 1_000)])
})

test('only jobs that are still ours are held', async () => {
  const environment = environmentOf(1)
  await addJobs(environment, 2)
  const [ours, lost] = await claim(2)
  assert.ok(ours !== undefined && lost !== undefined)
  const asked = [ours, { ...lost, lease: leases.newLease() }]
  const held = await database.db.transaction((tx) => holdJobs(tx, environment, asked))
  assert.deepEqual([...held], [ours.id])
})

test('no other environment’s job is settled by a lease, should the ids be alike', async () => {
  const [id = ''] = await addJobs(environmentOf(1), 1)
  const [job] = await claim(1)
  assert.ok(job !== undefined)
  const settled = await settle(environmentOf(2), [settlement(job)])
  assert.equal(settled.size, 0)
  assert.equal((await rowOf(environmentOf(1), id)).status, 'queued')
})
