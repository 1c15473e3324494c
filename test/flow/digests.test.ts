// Digests: events of a window are sent together, none is lost and none is sent twice.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { joinDigests } from '../../src/record/join-digests.ts'
import type { DeferredDigest } from '../../src/record/settlement.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, poisonousAfter, rawOf, reported, statuses } from '../support/flow-scene.ts'
import { testQueue } from '../support/pipeline.ts'
import { environmentOf } from '../support/topic-scene.ts'
import { condition, digest, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

const minuteMs = 60_000
const windowMs = 5 * minuteMs
const list = '{{ step.total_count }}:{% for event in step.events %} {{ event.n }}{% endfor %}'
const digestOf = (metadata: object, more: object = {}) =>
  digest({ metadata: { type: 'regular', amount: 5, unit: 'minutes', ...metadata }, ...more })

test('the events of a window are sent together, in the order they came', async () => {
  const workflow = await scene.workflow([digest(), inApp(list)])
  const person = fresh('person')
  const transactions: string[] = []
  for (const n of [1, 2, 3]) {
    transactions.push(await scene.trigger(workflow, person, { payload: { n } }))
    await scene.advance(minuteMs)
  }
  assert.deepEqual(await scene.texts(person), [])
  await scene.advance(windowMs)
  assert.deepEqual(await scene.texts(person), ['3: 1 2 3'])
  const [first, second, third] = await Promise.all(transactions.map((id) => scene.notification(id)))
  assert.deepEqual(statuses(first), ['completed', 'completed'])
  assert.deepEqual(reported(first.jobs[0]), [
    ['Step queued', 'Pending'],
    ['Step digested', 'Pending'],
    ['Digest triggered events', 'Success'],
  ])
  assert.deepEqual(rawOf(first.jobs[0], 'Digest triggered events'), { total_count: 3 })
  assert.deepEqual(first.jobs[0].digest.events, [{ n: 1 }, { n: 2 }, { n: 3 }])
  assert.equal('_digestedNotificationId' in first, false)
  for (const merged of [second, third]) {
    assert.deepEqual(statuses(merged), ['merged', 'merged'])
    assert.equal(merged._digestedNotificationId, first._id)
    assert.deepEqual(reported(merged.jobs[0]).at(-1), ['Digest was merged with other digest', 'Success'])
    assert.deepEqual(await scene.messages(merged.transactionId), [])
  }
})

test('of events that are run together the first that was accepted speaks for the others, in whichever order they come', async () => {
  const workflow = await scene.workflow([digest(), inApp(list)])
  const person = fresh('person')
  for (const n of [1, 2, 3]) await scene.trigger(workflow, person, { payload: { n } })
  const environment = await environmentOf(app)
  const jobs = await scene.rows(sql`
    select j.id, j.event_id as "eventId", j.notification_id as "notificationId", j.subscriber_id as "subscriberId",
           null as "digestId", e.workflow_id as "workflowId"
    from jobs j join events e on e.environment_id = j.environment_id and e.id = j.event_id
    join subscribers s on s.environment_id = j.environment_id and s.id = j.subscriber_id
    where s.subscriber_id = ${person} order by e.seq`)
  const now = app.world.now()
  const join = { dueAt: new Date(now.getTime() + windowMs), details: [] }
  for (const order of [
    [2, 1, 0],
    [1, 0, 2],
  ]) {
    const stepId = app.world.newId(now)
    const deferred = order.map((place) => {
      const { workflowId, ...job } = jobs[place] ?? {}
      return { job, join: { ...join, stepId }, workflowId, now, nextStep: null, laterSteps: [] }
    }) as unknown as DeferredDigest[]
    const settled = await app.database.db.transaction((tx) =>
      joinDigests(tx, app.world, environment, testQueue(app.world), deferred),
    )
    assert.deepEqual(
      settled.map(({ job, status }) => [job.id, status]),
      jobs.map(({ id }, place) => [id, place === 0 ? 'delayed' : 'merged']),
    )
  }
  await scene.rows(sql`update jobs set due_at = null where id = any(${jobs.map(({ id }) => id)}::uuid[])`)
})

test('the window is fixed by its first event', async () => {
  const workflow = await scene.workflow([digest(), inApp(list)])
  const person = fresh('person')
  const first = await scene.run(workflow, person, { payload: { n: 1 } })
  assert.deepEqual(rawOf(first.jobs[0], 'Step digested').delay, windowMs)
  await scene.advance(windowMs - 1)
  await scene.trigger(workflow, person, { payload: { n: 2 } })
  await scene.work()
  await scene.advance(1)
  assert.deepEqual(await scene.texts(person), ['2: 1 2'])
})

test('an event after the window opens the next one', async () => {
  const workflow = await scene.workflow([digest(), inApp(list)])
  const person = fresh('person')
  await scene.run(workflow, person, { payload: { n: 1 } })
  await scene.advance(windowMs)
  await scene.run(workflow, person, { payload: { n: 2 } })
  assert.deepEqual(await scene.texts(person), ['1: 1'])
  await scene.advance(windowMs)
  assert.deepEqual(await scene.texts(person), ['1: 2', '1: 1'])
})

test('an event that comes the time the window closes is in it or in the next, and never lost', async () => {
  const workflow = await scene.workflow([digest(), inApp(list)])
  const person = fresh('person')
  await scene.run(workflow, person, { payload: { n: 1 } })
  app.world.advance(windowMs)
  // Claimed with the job that closes the window, in one batch.
  await scene.trigger(workflow, person, { payload: { n: 2 } })
  await scene.work()
  await scene.advance(windowMs)
  const reported = (await scene.texts(person)).map((text) => text.split(': ')[1]).sort()
  assert.ok(['1 2', '1,2'].includes(reported.join()), reported.join())
})

test('one run a window, however many events come in one call', async () => {
  const workflow = await scene.workflow([digest(), inApp(list)])
  const person = fresh('person')
  const events = Array.from({ length: 100 }, (_, n) => ({ name: workflow, to: person, payload: { n } }))
  await scene.results(events)
  await scene.results(events)
  await scene.work()
  await scene.advance(windowMs)
  const [text = ''] = await scene.texts(person)
  const numbers = text.split(': ')[1]?.split(' ') ?? []
  assert.match(text, /^200:/)
  assert.deepEqual(
    numbers,
    Array.from({ length: 100 }, (_, n) => `${n}`),
    'the first hundred are listed, in their order',
  )
})

test('people have windows of their own, and so have values of the digest key', async () => {
  const workflow = await scene.workflow([digestOf({ digestKey: 'post' }), inApp(list)])
  const [one, other] = [fresh('person'), fresh('person')]
  for (const [person, post, n] of [
    [one, 'a', 1],
    [one, 'b', 2],
    [one, 'a', 3],
    [other, 'a', 4],
    [one, undefined, 5],
    [one, undefined, 6],
  ] as const) {
    await scene.trigger(workflow, person, { payload: { n, ...(post && { post }) } })
  }
  await scene.work()
  await scene.advance(windowMs)
  assert.deepEqual((await scene.texts(one)).sort(), ['1: 2', '2: 1 3', '2: 5 6'])
  assert.deepEqual(await scene.texts(other), ['1: 4'])
})

test('two digests of one workflow lose no event', async () => {
  const workflow = await scene.workflow([
    digestOf({ digestKey: 'post' }),
    inApp(`post ${list}`),
    digestOf({ amount: 60 }),
    inApp(`all ${list}`),
  ])
  const person = fresh('person')
  for (const [post, n] of [
    ['a', 1],
    ['b', 2],
    ['a', 3],
  ] as const) {
    await scene.trigger(workflow, person, { payload: { n, post } })
    await scene.advance(1_000)
  }
  await scene.advance(windowMs)
  assert.deepEqual((await scene.texts(person)).sort(), ['post 1: 2', 'post 2: 1 3'])
  await scene.trigger(workflow, person, { payload: { n: 4, post: 'c' } })
  await scene.work()
  await scene.advance(60 * minuteMs, minuteMs)
  const all = (await scene.texts(person)).filter((text) => text.startsWith('all'))
  assert.deepEqual(all, ['all 4: 1 2 3 4'])
})

test('a digest whose conditions do not hold is skipped, and the event continues alone', async () => {
  const workflow = await scene.workflow([digest({ filters: [condition('gold')] }), inApp(`{{ step.digest }} ${list}`)])
  const person = fresh('person')
  const notification = await scene.run(workflow, person, { payload: { n: 1, plan: 'silver' } })
  assert.deepEqual(statuses(notification), ['skipped', 'completed'])
  assert.deepEqual(await scene.texts(person), ['false 1: 1'])
})

test('a window spans the versions of its workflow as long as the step stays the same', async () => {
  const { _id, triggers, steps } = await scene.created([digest(), inApp(list)])
  const name = triggers[0].identifier
  const person = fresh('person')
  await scene.run(name, person, { payload: { n: 1 } })
  const edited = [steps[0], { ...steps[1], template: { type: 'in_app', content: `new ${list}` } }]
  await scene.expect(200, 'PATCH', `/v1/workflows/${_id}`, { steps: edited })
  await scene.run(name, person, { payload: { n: 2 } })
  await scene.advance(windowMs)
  assert.deepEqual(await scene.texts(person), ['2: 1 2'])
})

test('two events that race for a window on two nodes open one', async () => {
  const node = await createTestApp({ nodeOf: app })
  const workflow = await scene.workflow([digest(), inApp(list)])
  const people = Array.from({ length: 40 }, () => fresh('person'))
  for (const n of [1, 2, 3]) {
    const events = people.map((to) => ({ name: workflow, to, payload: { n } }))
    await scene.results(events)
  }
  await Promise.all([app.pipeline.work(), node.pipeline.work()])
  await scene.advance(windowMs)
  for (const person of people) assert.deepEqual(await scene.texts(person), ['3: 1 2 3'])
  await node.close()
})

test('a window whose run was buried closes with it: later events are sent', async () => {
  const workflow = await scene.workflow([digest(), inApp(list)])
  const person = fresh('person')
  const { jobs } = await scene.run(workflow, person, { payload: { n: 1 } })
  await scene.rows(sql`update jobs set interruptions = ${poisonousAfter} where id = ${jobs[0]._id}`)
  await scene.advance(windowMs)
  await scene.run(workflow, person, { payload: { n: 2 } })
  await scene.advance(windowMs)
  assert.deepEqual(
    (await scene.texts(person)).filter((text) => text.includes('2')),
    ['1: 2'],
  )
})

test('a subscriber who was deleted in the meantime gets nothing, and one with the same id starts over', async () => {
  const workflow = await scene.workflow([digest(), inApp(list)])
  const person = fresh('person')
  const { transactionId } = await scene.run(workflow, person, { payload: { n: 1 } })
  await scene.expect(200, 'DELETE', `/v2/subscribers/${person}`)
  await scene.run(workflow, person, { payload: { n: 2 } })
  await scene.advance(windowMs)
  assert.deepEqual(await scene.texts(person), ['1: 2'])
  const [gone]: Json[] = await scene.notifications(transactionId)
  assert.deepEqual(statuses(gone), ['canceled', 'canceled'])
})
