// Throttles: so many runs of a window go on, the others end; also when two nodes ask at once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { sweep } from '../../src/manage/operate/housekeeping.ts'
import { askThrottles } from '../../src/store/events/throttle-windows.ts'
import { listEnvironments } from '../../src/store/operate/installation.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, rawOf, reported, statuses } from '../support/flow-scene.ts'
import { worldClock } from '../support/pipeline.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

const hourMs = 3_600_000
const throttle = (metadata: object = {}) => ({
  template: { type: 'throttle' },
  metadata: { type: 'fixed', amount: 1, unit: 'hours', ...metadata },
})
const later = (ms: number): string => new Date(app.world.now().getTime() + ms).toISOString()

test('one run a window continues, and the others end with all that follows', async () => {
  const workflow = await scene.workflow([inApp('Before'), throttle(), inApp('After {{ n }}'), inApp('Last')])
  const person = fresh('person')
  const first = await scene.run(workflow, person, { payload: { n: 1 } })
  const until = later(hourMs)
  assert.deepEqual(statuses(first), ['completed', 'completed', 'completed', 'completed'])
  assert.deepEqual(reported(first.jobs[1]).at(-1), ['Throttle let the step through', 'Success'])
  const second = await scene.run(workflow, person, { payload: { n: 2 } })
  assert.deepEqual(statuses(second), ['completed', 'skipped', 'skipped', 'skipped'])
  for (const job of second.jobs.slice(1)) {
    assert.deepEqual(reported(job).at(-1), ['Throttle limit exceeded for the given window', 'Success'])
    const raw = rawOf(job, 'Throttle limit exceeded for the given window')
    assert.deepEqual(raw, { executionCount: 1, threshold: 1, throttledUntil: until })
  }
  assert.equal((await scene.progress(second.transactionId)).state, 'completed')
  assert.deepEqual((await scene.texts(person)).sort(), ['After 1', 'Before', 'Before', 'Last'])
})

test('the window opens with the first run that is let through, and the next one when it is over', async () => {
  const workflow = await scene.workflow([throttle({ threshold: 2 }), inApp('{{ n }}')])
  const person = fresh('person')
  const run = async (n: number) => statuses(await scene.run(workflow, person, { payload: { n } }))[0]
  assert.equal(await run(1), 'completed')
  await scene.advance(hourMs / 2)
  assert.deepEqual([await run(2), await run(3)], ['completed', 'skipped'])
  // Two seconds are left of the hour since the first.
  await scene.advance(hourMs / 2 - 5_000)
  assert.equal(await run(4), 'skipped')
  await scene.advance(2_000)
  assert.deepEqual([await run(5), await run(6), await run(7)], ['completed', 'completed', 'skipped'])
  assert.deepEqual(await scene.texts(person), ['6', '5', '2', '1'])
})

test('of events that come together the first are let through, in their order', async () => {
  const workflow = await scene.workflow([throttle({ threshold: 2 }), inApp('{{ n }}')])
  const person = fresh('person')
  await scene.results([1, 2, 3, 4, 5].map((n) => ({ name: workflow, to: person, payload: { n } })))
  await scene.work()
  assert.deepEqual((await scene.texts(person)).sort(), ['1', '2'])
})

test('windows are apart by person, by step and by value of the throttle key', async () => {
  const workflow = await scene.workflow([throttle({ throttleKey: 'order' }), throttle({ threshold: 2 }), inApp('Hi')])
  const [one, other] = [fresh('person'), fresh('person')]
  const run = async (person: string, order?: string) =>
    statuses(await scene.run(workflow, person, { payload: order === undefined ? {} : { order } })).slice(0, 2)
  assert.deepEqual(await run(one, 'a'), ['completed', 'completed'])
  assert.deepEqual(await run(other, 'a'), ['completed', 'completed'])
  assert.deepEqual(await run(one, 'a'), ['skipped', 'skipped'])
  assert.deepEqual(await run(one, 'b'), ['completed', 'completed'])
  assert.deepEqual(await run(one), ['completed', 'skipped'])
})

test('a dynamic window ends when the payload of the run that opened it says', async () => {
  const workflow = await scene.workflow([throttle({ type: 'dynamic', dynamicKey: 'payload.until' }), inApp('Hi')])
  const person = fresh('person')
  const run = async (until: unknown) => scene.run(workflow, person, { payload: { until } })
  assert.equal(statuses(await run(later(10_000)))[0], 'completed')
  assert.equal(statuses(await run({ amount: 5, unit: 'days' }))[0], 'skipped')
  await scene.advance(10_000)
  assert.equal(statuses(await run({ amount: 1, unit: 'minutes' }))[0], 'completed')
  const past = await run(later(-hourMs))
  assert.deepEqual(statuses(past), ['failed', 'canceled'])
  assert.deepEqual(reported(past.jobs[0]).at(-1), ['Throttle window date is in the past', 'Failed'])
})

test('a throttle that can never run is refused when it is saved', async () => {
  const reply = await app.call('POST', '/v1/workflows', {
    body: { name: fresh('workflow'), steps: [throttle({ amount: 0, threshold: 0 })] },
  })
  assert.equal(reply.status, 422, reply.text)
  assert.deepEqual(Object.keys(reply.body.errors), ['steps.0.metadata.amount', 'steps.0.metadata.threshold'])
})

test('two nodes that ask at once are counted one after the other', async () => {
  const { db } = app.database
  const [environment = assert.fail('there is no environment')] = await listEnvironments(db)
  const now = app.world.now()
  const ask = {
    stepId: app.world.newId(now),
    subscriberId: app.world.newId(now),
    keyHash: Buffer.alloc(32, 1),
    openMs: hourMs,
    until: new Date(now.getTime() + hourMs),
  }
  const clock = worldClock(app.world)
  let letFirstCommit = (): void => {}
  const committed = new Promise<void>((resolve) => {
    letFirstCommit = resolve
  })
  let reportAsked = (): void => {}
  const asked = new Promise<void>((resolve) => {
    reportAsked = resolve
  })
  const first = db.transaction(async (tx) => {
    const rows = await askThrottles(tx, environment, [{ ...ask, count: 2 }], clock)
    reportAsked()
    await committed
    return rows[0]?.asked
  })
  await asked
  // Waits for the row that the first has not committed.
  const second = db.transaction((tx) => askThrottles(tx, environment, [{ ...ask, count: 3 }], clock))
  letFirstCommit()
  assert.equal(await first, 2)
  assert.equal((await second)[0]?.asked, 5)
  const rolledBack = db.transaction(async (tx) => {
    await askThrottles(tx, environment, [{ ...ask, count: 7 }], clock)
    throw new Error('lost')
  })
  await assert.rejects(rolledBack, /lost/)
  const over = () => sql`${ask.until}::timestamptz`
  const after = await db.transaction((tx) => askThrottles(tx, environment, [{ ...ask, openMs: 0, count: 1 }], over))
  assert.equal(after[0]?.asked, 1, 'a window that is over counts from the start')
})

test('windows that are over are swept, open ones are not', async () => {
  const workflow = await scene.workflow([throttle(), inApp('Hi')])
  await scene.run(workflow, fresh('person'))
  await scene.advance(hourMs - 1)
  const count = async () => (await scene.rows(sql`select count(*) as count from throttle_windows`))[0].count
  await sweep(app.database.db, app.world)
  const open = await count()
  assert.ok(open >= 1)
  await scene.advance(1)
  await sweep(app.database.db, app.world)
  assert.equal(await count(), 0)
})
