// What is done to a task is done to that task alone, and only while its lease is ours: tasks of one claim share a lease.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Clock } from '../../src/db/clock.ts'
import type { Tx } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { createClaims, createSoloClaims } from '../../src/queue/claims.ts'
import { createLeaseSource } from '../../src/queue/lease-source.ts'
import type { Task } from '../../src/store/jobs/tasks.ts'
import {
  advanceTask,
  buryTask,
  clearTask,
  finishTasks,
  insertTasks,
  leaveTask,
  postponeFaultyTask,
  redriveTask,
  repeatTask,
  sweepBuriedTasks,
  taskQueue,
} from '../../src/store/jobs/tasks.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { environmentOf } from '../support/topic-scene.ts'

let app: TestApp
let here: Environment
let elsewhere: Environment
before(async () => {
  app = await createTestApp()
  here = await environmentOf(app)
  elsewhere = await environmentOf(app, 'Production')
})
after(() => app.close())

const clock: Clock = () => sql`${app.world.now()}::timestamptz`
const id = (number: number): string => `00000000-0000-4000-8000-00000000000${number}`
const [task, beside] = [id(1), id(2)]
const [ours, lost] = [id(8), id(9)]

type Held = { id: string; lease: string }
const actions: Readonly<Record<string, (tx: Tx, held: Held) => Promise<unknown>>> = {
  advanced: (tx, held) => advanceTask(tx, here, { ...held, state: { page: 2 } }, { clock, leaseMs: 60_000 }),
  repeated: (tx, held) => repeatTask(tx, here, { ...held, waitMs: 5_000, state: { page: 2 } }, clock),
  left: (tx, held) => leaveTask(tx, here, held, clock),
  cleared: (tx, held) => clearTask(tx, here, held),
  postponed: (tx, held) => postponeFaultyTask(tx, here, held, { waitMs: 5_000, error: 'no', clock }),
  buried: (tx, held) => buryTask(tx, here, held, { error: 'no', now: app.world.now() }),
  finished: (tx, held) => finishTasks(tx, here, [held]),
}

/** Tasks that are due now; there are no others. */
async function insertOnly(environments: readonly Environment[], ids: readonly string[]): Promise<void> {
  const { db } = app.database
  const now = app.world.now()
  const made = ids.map((one) => ({ id: one, kind: 'expand' as const, lane: 0, dueAt: now, state: {} }))
  await db.run(sql`delete from tasks`)
  for (const environment of environments) await db.transaction((tx) => insertTasks(tx, environment, made, now))
}

/** Which tasks are no longer as they were, by environment and id, after an action on the first of them. */
async function changedBy(act: (tx: Tx, held: Held) => Promise<unknown>, lease: string): Promise<string[]> {
  const { db } = app.database
  await insertOnly([here, elsewhere], [task, beside])
  await db.run(sql`update tasks set lease = ${ours}, claims = 3, interruptions = 2, faults = 1`)
  const rows = () =>
    db.rows<{ name: string; row: string }>(sql`
      select environment_id || ' ' || id as name, to_jsonb(tasks)::text as row from tasks order by 1`)
  const earlier = await rows()
  await db.transaction((tx) => act(tx, { id: task, lease }))
  const later = new Map((await rows()).map(({ name, row }) => [name, row]))
  return earlier.flatMap(({ name, row }) => (later.get(name) === row ? [] : [name]))
}

for (const [name, act] of Object.entries(actions)) {
  test(`a task that is ${name} leaves those beside it, and the same id elsewhere, as they were`, async () => {
    assert.deepEqual(await changedBy(act, ours), [`${here.id} ${task}`])
  })

  test(`a task that is no longer ours is not ${name}`, async () => {
    assert.deepEqual(await changedBy(act, lost), [])
  })
}

test('of several tasks each is finished by its own lease alone', async () => {
  const { db } = app.database
  await insertOnly([here], [task, beside])
  await db.run(sql`update tasks set lease = ${ours}`)
  const held = [
    { id: task, lease: ours },
    { id: beside, lease: lost },
  ]
  assert.deepEqual(await db.transaction((tx) => finishTasks(tx, here, held)), new Set([task]))
  assert.deepEqual(await db.rows(sql`select id from tasks`), [{ id: beside }])
})

test('a task that was buried is redriven, here alone; one that is open is left as it is', async () => {
  const { db } = app.database
  await insertOnly([here, elsewhere], [task, beside])
  await db.run(sql`update tasks set due_at = null, buried_at = ${app.world.now()} where id = ${task}`)
  await db.run(sql`update tasks set lease = ${ours} where id = ${beside}`)
  const redrive = (one: string) => db.transaction((tx) => redriveTask(tx, here, one, app.world.now()))
  assert.deepEqual([await redrive(task), await redrive(beside), await redrive(task)], [true, false, false])
  const rows = await db.rows(sql`
    select environment_id = ${here.id} as here, id, due_at is not null as open, lease from tasks order by 1 desc, 2`)
  assert.deepEqual(rows, [
    { here: true, id: task, open: true, lease: null },
    { here: true, id: beside, open: true, lease: ours },
    { here: false, id: task, open: false, lease: null },
    { here: false, id: beside, open: true, lease: ours },
  ])
})

test('buried tasks are swept so many at a time, and one that is locked is passed over', async () => {
  const { db } = app.database
  const ids = [1, 2, 3, 4, 5].map(id)
  await insertOnly([here, elsewhere], ids)
  await db.run(sql`update tasks set due_at = null, buried_at = ${app.world.now()} where id <> ${id(5)}`)
  const before = new Date(app.world.now().getTime() + 1)
  const node = app.database.another({ poolSize: 1, lockTimeoutMs: 500 })
  const sweep = (limit: number) => node.transaction((tx) => sweepBuriedTasks(tx, here, { before, limit }))
  await db.transaction(async (tx) => {
    await tx.run(sql`select 1 from tasks where environment_id = ${here.id} and id = ${id(1)} for update`)
    assert.deepEqual([await sweep(2), await sweep(2)], [2, 1])
  })
  const left = await db.rows<{ id: string }>(sql`select id from tasks where environment_id = ${here.id} order by id`)
  assert.deepEqual(
    left.map((row) => row.id),
    [id(1), id(5)],
  )
  assert.equal((await db.rows(sql`select 1 from tasks where environment_id = ${elsewhere.id}`)).length, ids.length)
})

test('tasks are written in the order of their ids: two transactions with the same ones do not block each other', async () => {
  await insertOnly([here], [3, 1, 2].map(id))
  const rows = await app.database.db.rows<{ id: string }>(sql`select id from tasks order by ctid`)
  assert.deepEqual(
    rows.map((row) => row.id),
    [1, 2, 3].map(id),
  )
})

test('tasks of a kind that a newer node made are never claimed, in any lane, and do not keep others waiting', async () => {
  const { db } = app.database
  const now = app.world.now()
  const leases = createLeaseSource()
  await db.run(sql`delete from tasks`)
  await db.run(sql`
    insert into tasks (environment_id, id, kind, lane, due_at, state, created_at)
    select ${here.id}, gen_random_uuid(), kind, lane, ${now}, '{}', ${now}
    from unnest(array['of-later', 'of-later', 'of-later', 'cancel']) as kind, generate_series(0, 3) as lane`)
  const parts = { db, queue: taskQueue, clock }
  const [anyone, alone] = [createClaims<Task>(parts), createSoloClaims<Task>(parts)]
  const claimed = [
    ...(await anyone(2, leases.newLease())),
    ...(await alone(1, leases.newLease())),
    ...(await alone(1, leases.newLease())),
  ]
  assert.deepEqual(
    claimed.map(({ kind }) => kind),
    ['cancel', 'cancel', 'cancel', 'cancel'],
  )
  assert.deepEqual(await anyone(10, leases.newLease()), [])
  const left = await db.rows(sql`
    select claims, faults, lease, buried_at, count(*)::int as count from tasks where kind = 'of-later' group by 1, 2, 3, 4`)
  assert.deepEqual(left, [{ claims: 0, faults: 0, lease: null, buried_at: null, count: 12 }], 'untouched')
})
