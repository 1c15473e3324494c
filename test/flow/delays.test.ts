// Delays: a run waits and goes on at its time, as the workflow was and to whoever is still there.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, rawOf, reported, statuses } from '../support/flow-scene.ts'
import { condition, delay, digest, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

const hourMs = 3_600_000
const later = (ms: number): string => new Date(app.world.now().getTime() + ms).toISOString()
const scheduled = (more: object = {}) => delay({ metadata: { type: 'scheduled', delayPath: 'at' }, ...more })

test('a delay lets the next step run when its time has come, and not before', async () => {
  const workflow = await scene.workflow([inApp('Before'), delay(), inApp('After')])
  const person = fresh('person')
  const waiting = await scene.run(workflow, person)
  const until = later(2 * hourMs)
  assert.deepEqual(statuses(waiting), ['completed', 'delayed', 'pending'])
  assert.deepEqual(rawOf(waiting.jobs[1], 'Step delayed'), { delay: 2 * hourMs, untilDate: until })
  assert.equal((await scene.progress(waiting.transactionId)).state, 'running')
  await scene.advance(2 * hourMs - 1)
  assert.deepEqual(await scene.texts(person), ['Before'])
  await scene.advance(1)
  assert.deepEqual(await scene.texts(person), ['After', 'Before'])
  const over = await scene.notification(waiting.transactionId)
  assert.deepEqual(statuses(over), ['completed', 'completed', 'completed'])
  assert.deepEqual(reported(over.jobs[1]), [
    ['Step queued', 'Pending'],
    ['Step delayed', 'Pending'],
    ['Delay is finished', 'Success'],
  ])
})

test('an event may ask for another duration', async () => {
  const workflow = await scene.workflow([delay(), inApp('After')])
  const person = fresh('person')
  await scene.run(workflow, person, { overrides: { delay: { amount: 5, unit: 'seconds' } } })
  await scene.advance(4_999)
  assert.deepEqual(await scene.texts(person), [])
  await scene.advance(1)
  assert.deepEqual(await scene.texts(person), ['After'])
})

test('a scheduled delay waits until the time in the payload', async () => {
  const workflow = await scene.workflow([scheduled(), inApp('After')])
  const person = fresh('person')
  await scene.run(workflow, person, { payload: { at: later(hourMs + 1_000) } })
  await scene.advance(hourMs - 1)
  assert.deepEqual(await scene.texts(person), [])
  await scene.advance(1)
  assert.deepEqual(await scene.texts(person), ['After'])
})

test('a delay that cannot be computed fails and stops what comes after it', async () => {
  const workflow = await scene.workflow([scheduled(), inApp('After')])
  const person = fresh('person')
  for (const at of ['tomorrow', later(-hourMs)]) {
    const notification = await scene.run(workflow, person, { payload: { at } })
    assert.deepEqual(statuses(notification), ['failed', 'canceled'])
    assert.deepEqual(reported(notification.jobs[0])[1], ['Invalid delay configuration', 'Failed'])
    assert.equal(notification.jobs[0].executionDetails[1].source, 'Payload')
  }
  await scene.advance(hourMs)
  assert.deepEqual(await scene.texts(person), [])
})

test('a delay whose conditions do not hold is skipped; conditions are not asked again when it ends', async () => {
  const workflow = await scene.workflow([delay({ filters: [condition('gold')] }), inApp('After')])
  const [one, other] = [fresh('person'), fresh('person')]
  const skipped = await scene.run(workflow, one, { payload: { plan: 'silver' } })
  assert.deepEqual(statuses(skipped), ['skipped', 'completed'])
  const waiting = await scene.run(workflow, other, { payload: { plan: 'gold' } })
  assert.deepEqual(statuses(waiting), ['delayed', 'pending'])
  await scene.advance(2 * hourMs)
  assert.deepEqual(await scene.texts(other), ['After'])
})

test('a run keeps the version it started with', async () => {
  const { _id, triggers, steps } = await scene.created([delay(), inApp('Old')])
  const name = triggers[0].identifier
  const person = fresh('person')
  await scene.trigger(name, person)
  await scene.work()
  const edited = [steps[0], { ...steps[1], template: { type: 'in_app', content: 'New' } }]
  await scene.expect(200, 'PATCH', `/v1/workflows/${_id}`, { steps: edited })
  await scene.trigger(name, person)
  await scene.work()
  await scene.advance(2 * hourMs)
  assert.deepEqual((await scene.texts(person)).sort(), ['New', 'Old'])
})

test('a run continues when its workflow is switched off or deleted meanwhile', async () => {
  const { _id, triggers } = await scene.created([delay(), inApp('After')])
  const person = fresh('person')
  await scene.run(triggers[0].identifier, person)
  await scene.expect(200, 'PUT', `/v1/workflows/${_id}/status`, { active: false })
  await scene.expect(200, 'DELETE', `/v1/workflows/${_id}`)
  await scene.advance(2 * hourMs)
  assert.deepEqual(await scene.texts(person), ['After'])
})

test('a subscriber who was deleted in the meantime gets nothing more', async () => {
  const workflow = await scene.workflow([delay(), inApp('After'), inApp('Last')])
  const person = fresh('person')
  const { transactionId } = await scene.run(workflow, person)
  await scene.expect(200, 'DELETE', `/v2/subscribers/${person}`)
  await scene.advance(2 * hourMs)
  const [notification] = await scene.notifications(transactionId)
  assert.deepEqual(statuses(notification), ['canceled', 'canceled', 'canceled'])
  assert.deepEqual(reported(notification.jobs[0]).at(-1), ['Subscriber was deleted before the step ran', 'Failed'])
  assert.deepEqual(await scene.messages(transactionId), [])
})

test('someone who was changed meanwhile is notified by what is known of them now', async () => {
  const workflow = await scene.workflow([delay(), inApp('Hello {{ subscriber.firstName }}')])
  const subscriberId = fresh('person')
  await scene.run(workflow, { subscriberId, firstName: 'Old' })
  await scene.expect(200, 'PATCH', `/v2/subscribers/${subscriberId}`, { firstName: 'New' })
  await scene.advance(2 * hourMs)
  assert.deepEqual(await scene.texts(subscriberId), ['Hello New'])
})

test('many delays that end together all continue', async () => {
  const workflow = await scene.workflow([delay(), inApp('After')])
  const people = Array.from({ length: 250 }, () => fresh('crowd'))
  const transactionId = await scene.trigger(workflow, people)
  await scene.work()
  assert.equal((await scene.progress(transactionId)).counts.byOutcome.delayed, 250)
  await scene.advance(2 * hourMs)
  const { state, counts } = await scene.progress(transactionId)
  assert.deepEqual([state, counts.byOutcome.completed], ['completed', 250])
})

test('a digest after a delay gathers those whose delays have ended', async () => {
  const workflow = await scene.workflow([delay(), digest(), inApp('{{ step.total_count }}')])
  const person = fresh('person')
  await scene.trigger(workflow, person)
  await scene.advance(60_000)
  await scene.trigger(workflow, person)
  await scene.work()
  await scene.advance(3 * hourMs, 30_000)
  assert.deepEqual(await scene.texts(person), ['2'])
})
