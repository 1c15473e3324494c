// The plan of the queues' depth, pinned: it counts so far and no further, however long the backlogs are.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Clock } from '../../src/db/clock.ts'
import { sql } from '../../src/db/sql.ts'
import { depthMax, readDepths } from '../../src/queue/depth.ts'
import { jobQueue } from '../../src/store/jobs/queue-table.ts'
import { taskQueue } from '../../src/store/jobs/tasks.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import type { TestDatabase } from '../support/database.ts'
import { explain, recordStatements } from '../support/plan.ts'

const now = new Date('2026-01-02T03:04:05.678Z')
const clock: Clock = () => sql`${now}::timestamptz`
const environments = 40
const backlog = 30_000
const tasks = 3_000

let app: TestApp
let database: TestDatabase
/** One environment has a backlog of both lanes; each of the others has one job due and as many for next week. */
before(async () => {
  app = await createTestApp()
  database = app.database
  let calls = 0
  const add = (environment: string, count: number, lane: number, dueInMs: number) => {
    calls += 1
    return database.db.run(sql`
      insert into jobs (environment_id, id, notification_id, event_id, subscriber_id, version_id, step, status, lane,
                        due_at, claims, details, created_at, updated_at)
      select ${environment}::uuid, id, id, id, id, id, 0, 'queued', ${lane}::smallint,
             ${new Date(now.getTime() + dueInMs)}::timestamptz + n * interval '1 millisecond', 0, '[]', ${now}, ${now}
      from (select n, id_from(${now}::timestamptz - n * interval '1 minute' - ${calls}::int * interval '1 second') as id
            from generate_series(1, ${count}::int) as n) made`)
  }
  for (let number = 1; number <= environments; number += 1) {
    const id = `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`
    if (number === 7) await add(id, backlog, 0, -backlog - 1_000)
    if (number === 7) await add(id, backlog, 1, -backlog - 1_000)
    await add(id, 1, 0, -90_000 - number)
    await add(id, 50, 0, 604_800_000)
  }
  await database.db.run(sql`
    insert into tasks (environment_id, id, kind, lane, due_at, claims, state, created_at)
    select (select id from environments order by id limit 1), id_from(${now}::timestamptz - n * interval '1 minute'), 'expand', 1,
           ${now}::timestamptz - n * interval '1 millisecond', 0, '{}', ${now}
    from generate_series(1, ${tasks}::int) as n`)
  await database.db.run(sql`analyze jobs`)
  await database.db.run(sql`analyze tasks`)
})
after(() => app.close())

test('a backlog is counted up to the cap, and the oldest is found behind it', async () => {
  const depths = await readDepths(database.db, [jobQueue, taskQueue], clock)
  assert.deepEqual(
    depths.map(({ queue, lane, depth }) => [queue, lane, depth]),
    [
      ['jobs', 0, depthMax],
      ['jobs', 1, depthMax],
      ['tasks', 0, 0],
      ['tasks', 1, tasks],
    ],
  )
  assert.deepEqual(
    depths.map(({ oldestMs }) => Math.round(oldestMs)),
    [90_000 + environments - 1, backlog + 1_000 - 1, 0, tasks],
  )
})

test('it walks no table and no backlog', async () => {
  const recording = recordStatements(database.db)
  await readDepths(recording, [jobQueue, taskQueue], clock)
  assert.equal(recording.statements.length, 1)
  for (const statement of recording.statements) {
    const plan = await explain(database.db, statement)
    assert.equal(plan.hasSequentialScan, false, plan.text)
    assert.ok(plan.rowsExamined <= 2 * depthMax + tasks + 20 * environments, `${plan.rowsExamined} rows: ${plan.text}`)
  }
})
