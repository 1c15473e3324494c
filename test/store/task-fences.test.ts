// What is done to a task is done to that task alone, and only while its lease is ours: tasks of one claim share a lease.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Clock } from '../../src/db/clock.ts'
import type { Tx } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import {
  advanceTask,
  buryTask,
  clearTask,
  finishTasks,
  insertTasks,
  leaveTask,
  postponeFaultyTask,
  repeatTask,
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

/** Which tasks are no longer as they were, by environment and id, after an action on the first of them. */
async function changedBy(act: (tx: Tx, held: Held) => Promise<unknown>, lease: string): Promise<string[]> {
  const { db } = app.database
  await db.run(sql`delete from tasks`)
  for (const environment of [here, elsewhere]) {
    const made = [task, beside].map((one) => ({
      id: one,
      kind: 'expand' as const,
      lane: 0,
      dueAt: app.world.now(),
      state: {},
    }))
    await db.transaction((tx) => insertTasks(tx, environment, made, app.world.now()))
  }
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
