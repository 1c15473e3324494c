// Jobs that make whoever runs them fail: put off, then buried, while the others of their batch go on.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, reported, statuses } from '../support/flow-scene.ts'
import { createTestPipeline } from '../support/pipeline.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

/** A workflow whose stored version makes deciding throw; nothing the API lets through does. */
async function poisoned(): Promise<string> {
  const { _id, triggers } = await scene.created([inApp('Never'), inApp('After')])
  await scene.rows(sql`
    update workflow_versions set definition = jsonb_set(definition, '{steps,0,template,type}', '"teleport"')
    where workflow_id = ${_id}`)
  return triggers[0].identifier
}

const buried = 'There was one or more errors when trying to execute the notification'

/** How often the open jobs threw, and how long they wait. */
const openJobs = async (): Promise<[number, number][]> =>
  (await scene.rows(sql`select faults, due_at from jobs where due_at is not null`)).map((row) => [
    row.faults,
    row.due_at.getTime() - app.world.now().getTime(),
  ])

/** Over an hour in all. */
const waitsMs = [10_000, 120_000, 900_000, 2_700_000]

test('a job that fails by a fault of ours is put off longer each time, and buried after five faults over an hour', async () => {
  const { transactionId } = await scene.run(await poisoned(), fresh('person'))
  for (const [index, waitMs] of waitsMs.entries()) {
    assert.deepEqual(await openJobs(), [[index + 1, waitMs]])
    await scene.advance(waitMs)
  }
  const notification = await scene.notification(transactionId)
  assert.deepEqual(statuses(notification), ['failed', 'canceled'])
  assert.deepEqual(reported(notification.jobs[0]), [
    ['Step queued', 'Pending'],
    [buried, 'Failed'],
  ])
  assert.match(notification.jobs[0].executionDetails[1].raw, /teleport/)
  assert.deepEqual(await openJobs(), [])
  assert.equal((await scene.progress(transactionId)).state, 'completed')
  const errors = app.world.logged.filter((line) => line.level === 'error')
  assert.equal(errors.length, 5)
})

test('a job that throws many times within seconds is not buried; what was wrong may be undone', async () => {
  const identifier = await poisoned()
  const { transactionId } = await scene.run(identifier, fresh('person'))
  for (let faults = 1; faults <= 8; faults += 1) {
    assert.equal((await openJobs())[0]?.[0], faults)
    await scene.rows(sql`update jobs set due_at = ${app.world.now()}::timestamptz where due_at is not null`)
    await scene.advance(1_000)
  }
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['queued', 'pending'])
  await scene.rows(sql`
    update workflow_versions set definition = jsonb_set(definition, '{steps,0,template,type}', '"in_app"')
    where definition #>> '{steps,0,template,type}' = 'teleport'`)
  const fixed = createTestPipeline(app.database.db, app.world)
  await fixed.advance(2_700_000)
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed'])
})

test('the others of its batch complete at once', async () => {
  const bad = await poisoned()
  const good = await scene.workflow([inApp('One'), inApp('Two')])
  const people = Array.from({ length: 20 }, () => fresh('person'))
  const events = people.map((to, index) => ({ name: index % 7 === 3 ? bad : good, to }))
  await scene.results(events)
  await scene.work()
  for (const [index, person] of people.entries()) {
    const expected = index % 7 === 3 ? [] : ['One', 'Two']
    assert.deepEqual((await scene.texts(person)).sort(), expected)
  }
})

test('an event that cannot be expanded is put off and buried, and others are expanded meanwhile', async () => {
  const good = await scene.workflow([inApp('Hello')])
  const [one, other] = [fresh('person'), fresh('person')]
  await scene.subscribers(one, other)
  const [first, second] = [fresh('topic'), fresh('topic')]
  await scene.topic(first, [one])
  await scene.topic(second, [other])
  const bad = await scene.trigger(good, { type: 'Topic', topicKey: first })
  await scene.rows(sql`update tasks set state = '{"named": 0, "after": "no-uuid"}'`)
  await scene.trigger(good, { type: 'Topic', topicKey: second })
  await scene.work()
  assert.equal((await scene.feed(other)).length, 1)
  assert.equal((await scene.progress(bad)).state, 'expanding')
  await scene.advance(1_030_000, 10_000)
  assert.equal((await scene.progress(bad)).state, 'expanding', 'four faults within the hour')
  await scene.advance(2_700_000)
  const [task] = await scene.rows(sql`select due_at, error, faults, buried_at from tasks`)
  assert.equal(task.due_at, null)
  assert.notEqual(task.buried_at, null)
  assert.match(task.error, /uuid/)
  assert.equal(task.faults, 4)
})
