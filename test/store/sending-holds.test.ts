// Held environments: no node claims anything in them, every node learns of it with its heartbeat, and of the release.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { databaseClock } from '../../src/db/clock.ts'
import type { Sql, Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Job } from '../../src/domain/delivery/job.ts'
import { notificationIdOf } from '../../src/domain/derived-id.ts'
import { createClaims, createSoloClaims } from '../../src/queue/claims.ts'
import { createLeaseSource } from '../../src/queue/lease-source.ts'
import { jobQueue } from '../../src/store/jobs/queue-table.ts'
import {
  deleteHold,
  findDueEvents,
  findHold,
  hasMovedAway,
  heldByMoveAlone,
  holdEverywhere,
  holdMovedAway,
  holdsOfRestores,
  undoMovedAway,
} from '../../src/store/operate/sending-holds.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'
import { NodeScene } from '../support/node-scene.ts'

const environmentOf = (number: number) => ({
  id: `00000000-0000-7000-8000-00000000000${number}`,
  organizationId: '00000000-0000-7000-8000-0000000000aa',
  name: `Environment ${number}`,
})
const [held, free, idle] = [environmentOf(1), environmentOf(2), environmentOf(3)] as const
const heldAt = new Date('2026-01-02T03:04:05Z')
const backupAt = new Date('2026-01-01T00:00:00Z')
const leases = createLeaseSource()
let database: TestDatabase

before(async () => {
  database = await createTestDatabase()
  await database.db.run(sql`
    insert into organizations (id, name, created_at) values (${held.organizationId}, 'Test', now())`)
  for (const { id, organizationId, name } of [held, free, idle]) {
    await database.db.run(sql`
      insert into environments (id, organization_id, name, identifier, signing_secret, created_at)
      values (${id}, ${organizationId}, ${name}, ${name}, '', now())`)
  }
})
after(() => database.drop())

async function addJob(
  environmentId: string,
  more: { lane?: number; dueAt?: Date; leased?: true } = {},
): Promise<string> {
  const id = createLeaseSource().newLease()
  const lease = more.leased === true ? leases.newLease() : null
  await database.db.run(sql`
    insert into jobs (environment_id, id, notification_id, event_id, subscriber_id, version_id, step, status, lane, due_at,
                      lease, claims, details, created_at, updated_at)
    values (${environmentId}, ${id}, ${id}, ${id}, ${id}, ${id}, 0, 'queued', ${more.lane ?? 0},
            ${more.dueAt ?? new Date('2026-01-01T00:00:00Z')}, ${lease}, 1, '[]', '2025-12-31T00:00:00Z', now())`)
  return id
}

async function addEvent(environmentId: string, id: string, isCanceled = false): Promise<void> {
  await database.db.run(sql`
    insert into events (environment_id, id, transaction_id, workflow_id, version_id, payload, overrides, lane, notified, canceled_at, created_at)
    values (${environmentId}, ${id}, ${id}, ${id}, ${id}, '{}', '{}', 0, 0, ${isCanceled ? new Date() : null}, now())`)
}

const places = (jobs: readonly Job[]): string[] => jobs.map(({ environmentId }) => environmentId)

test('nothing is claimed in a held environment, in any lane, and everything in the others', async () => {
  await database.db.run(sql`truncate jobs`)
  for (const { id } of [held, free]) for (const lane of [0, 1, 2, 3]) await addJob(id, { lane })
  let isHeld = true
  const heldEnvironments = () => new Set(isHeld ? [held.id] : [])
  const parts = { db: database.db, queue: jobQueue, clock: databaseClock, heldEnvironments }
  const claim = createClaims<Job>(parts)
  const claimAlone = createSoloClaims<Job>(parts)
  const all = async (): Promise<string[]> => [
    ...places(await claim(10, leases.newLease())),
    ...places(await claimAlone(1, leases.newLease())),
    ...places(await claimAlone(1, leases.newLease())),
  ]
  assert.deepEqual(await all(), [free.id, free.id, free.id, free.id])
  assert.deepEqual(await all(), [])
  isHeld = false
  assert.deepEqual(await all(), [held.id, held.id, held.id, held.id])
})

test('a restore holds every environment, with or without anything to do; not one whose rows are deleted', async () => {
  await database.db.run(sql`truncate jobs`)
  await database.db.run(sql`
    insert into environment_deletions (environment_id, name, requested_by, requested_at, phase, removed, completed_at)
    values (${idle.id}, ${idle.name}, 'cli', now(), 'tasks', '{}', null)`)
  assert.equal(await database.db.transaction((tx) => holdEverywhere(tx, { heldAt, backupAt })), 3)
  assert.deepEqual(await findHold(database.db, held), { heldAt, backupAt, movedAt: null })
  await database.db.run(sql`delete from sending_holds`)
  await database.db.run(sql`update environment_deletions set completed_at = now()`)
  assert.equal(await database.db.transaction((tx) => holdEverywhere(tx, { heldAt, backupAt })), 2)
  assert.ok(await findHold(database.db, free))
  assert.equal(await findHold(database.db, idle), undefined)
})

test('a move holds what is not held already, marks the rest, and takes back no more than that', async () => {
  const now = new Date('2026-01-05T00:00:00Z')
  const later = new Date('2026-01-06T00:00:00Z')
  await database.db.transaction((tx) => deleteHold(tx, free))
  assert.equal(await hasMovedAway(database.db), false)
  const moved = await database.db.transaction((tx) => holdMovedAway(tx, now))
  assert.deepEqual([...moved].sort(), [free.id, held.id].sort())
  assert.equal(await hasMovedAway(database.db), true)
  assert.deepEqual(await database.db.transaction((tx) => holdMovedAway(tx, later)), [])
  await database.db.transaction((tx) => undoMovedAway(tx, []))
  assert.deepEqual(await findHold(database.db, free), { heldAt: now, backupAt: null, movedAt: now })
  // Since the restore: what was accepted in between was never sent.
  assert.deepEqual(await findHold(database.db, held), { heldAt, backupAt, movedAt: now })
  await database.db.transaction((tx) => undoMovedAway(tx, moved))
  assert.equal(await findHold(database.db, free), undefined)
  assert.deepEqual(await findHold(database.db, held), { heldAt, backupAt, movedAt: null })
  await database.db.transaction((tx) => holdMovedAway(tx, now))
  await database.db.run(sql`delete from sending_holds where ${heldByMoveAlone}`)
  await database.db.run(holdsOfRestores)
  assert.deepEqual(await findHold(database.db, held), { heldAt, backupAt, movedAt: null }, 'where it moved to')
  assert.equal(await hasMovedAway(database.db), false)
})

test('a backup of a database that had moved says so when it is restored', async () => {
  await database.db.transaction((tx) => holdMovedAway(tx, heldAt))
  await database.db.transaction((tx) => holdEverywhere(tx, { heldAt, backupAt }))
  assert.deepEqual(await findHold(database.db, free), { heldAt, backupAt, movedAt: heldAt })
  await database.db.run(sql`update sending_holds set moved_at = null`)
})

test('every node learns with its heartbeat what is held, also one that starts later, and what was released', async () => {
  const scene = new NodeScene(database)
  const [first, second] = [scene.node(), scene.node()]
  await first.heartbeat.beat()
  assert.deepEqual([...first.heartbeat.held].sort(), [held.id, free.id])
  const before = first.heartbeat.held
  await first.heartbeat.beat()
  assert.equal(first.heartbeat.held, before, 'the same set while nothing changes')
  assert.ok(await database.db.transaction((tx) => deleteHold(tx, free)))
  assert.equal(await database.db.transaction((tx) => deleteHold(tx, free)), undefined)
  await second.heartbeat.beat()
  await first.heartbeat.beat()
  for (const { heartbeat } of [first, second]) assert.deepEqual([...heartbeat.held], [held.id])
  await database.db.transaction((tx) => deleteHold(tx, held))
  await first.heartbeat.beat()
  assert.equal(first.heartbeat.held.size, 0)
})

test('due are events with a step whose time has come, or that a lost process had; not those of later or cancelled ones', async () => {
  await database.db.run(sql`truncate jobs`)
  const inAnHour = new Date(Date.now() + 3_600_000)
  const due = await addJob(held.id)
  const leased = await addJob(held.id, { dueAt: inAnHour, leased: true })
  const later = await addJob(held.id, { dueAt: inAnHour })
  const canceled = await addJob(held.id)
  const elsewhere = await addJob(free.id)
  for (const [id, environment] of [
    ...[due, leased, later, canceled].map((id) => [id, held] as const),
    [elsewhere, free] as const,
  ]) {
    await addEvent(environment.id, id, id === canceled)
  }
  assert.deepEqual(await findDueEvents(database.db, held, heldAt), [due, leased].sort())
  assert.deepEqual(await findDueEvents(database.db, held, new Date('2025-01-01T00:00:00Z')), [], 'accepted since')
})

/** A digest of these events, for which a run speaks. */
async function addWindow(subscriberId: string, runId: string, eventIds: readonly string[]): Promise<void> {
  const id = createLeaseSource().newLease()
  await database.db.run(sql`
    insert into digest_windows (environment_id, id, workflow_id, step_id, subscriber_id, key_hash, job_id, notification_id,
                                event_count, opened_at, due_at, closed_at)
    values (${held.id}, ${id}, ${id}, ${id}, ${subscriberId}, '', ${runId}, ${runId}, ${eventIds.length}, now(), now(), now())`)
  for (const [seq, eventId] of eventIds.entries()) {
    await database.db.run(sql`
      insert into digest_events (environment_id, window_id, seq, event_id) values (${held.id}, ${id}, ${seq}, ${eventId})`)
  }
}

test('however much is due, a look is at so many runs, and finds the events of their digests, and of the digests of those', async () => {
  await database.db.run(sql`truncate jobs`)
  const due: string[] = []
  for (let n = 0; n < 5; n += 1) due.push(await addJob(held.id))
  const [second, third, unrelated] = [1, 2, 3].map(() => createLeaseSource().newLease()) as [string, string, string]
  for (const id of [...due, second, third, unrelated]) await addEvent(held.id, id)
  const subscriberId = createLeaseSource().newLease()
  const last = due[4] ?? ''
  await addWindow(subscriberId, last, [last, second])
  await addWindow(subscriberId, notificationIdOf(second, subscriberId), [second, third])
  await addWindow(subscriberId, unrelated, [unrelated])
  const lengths: number[] = []
  const counting: Sql = Object.assign(Object.create(database.db), {
    rows: (statement: Statement) => {
      lengths.push(...statement.values.map((value) => (Array.isArray(value) ? value.length : 0)))
      return database.db.rows(statement)
    },
  })
  assert.deepEqual(await findDueEvents(counting, held, heldAt, 2), [...due, second, third].sort())
  assert.equal(Math.max(...lengths), 2)
})
