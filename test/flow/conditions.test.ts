// Conditions in a run: on the tenant, on what became of an earlier step, on who is online; and rules that skip a step.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, rawOf, statuses } from '../support/flow-scene.ts'
import { delay, digest, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

const skipped = 'Step was skipped based on steps conditions'
const filters = (...children: Json[]) => [{ isNegated: false, type: 'GROUP', value: 'AND', children }]
const hour = 3_600_000

test('a condition on the tenant looks at the tenant of the event', async () => {
  const gold = { on: 'tenant', field: 'data.plan', operator: 'EQUAL', value: 'gold' }
  const workflow = await scene.workflow([inApp('Hello', { filters: filters(gold) })])
  const [rich, poor] = [fresh('tenant'), fresh('tenant')]
  await scene.expect(201, 'POST', '/v1/tenants', { identifier: rich, name: 'Rich', data: { plan: 'gold' } })
  await scene.expect(201, 'POST', '/v1/tenants', { identifier: poor, name: 'Poor', data: { plan: 'tin' } })
  assert.deepEqual(statuses(await scene.run(workflow, fresh('person'), { tenant: rich })), ['completed'])
  const refused = await scene.run(workflow, fresh('person'), { tenant: poor })
  assert.deepEqual(statuses(refused), ['skipped'])
  assert.deepEqual(rawOf(refused.jobs[0], skipped), {
    filter: {
      passed: false,
      conditions: [
        { filter: 'Tenant', field: 'data.plan', expected: 'gold', actual: 'tin', operator: 'EQUAL', passed: false },
      ],
    },
  })
  assert.deepEqual(statuses(await scene.run(workflow, fresh('person'))), ['skipped'])
})

/** In-app, an hour, then an e-mail if that step's messages are as asked. */
const afterwards = (stepType: string, first: Json = inApp('Look', { name: 'The bell', uuid: 'bell' })) =>
  scene.workflow([
    first,
    delay({ metadata: { type: 'regular', amount: 1, unit: 'hours' } }),
    email('You missed it', { filters: filters({ on: 'previousStep', step: 'bell', stepType }) }),
  ])

async function markAll(subscriberId: string, markAs: string): Promise<void> {
  await scene.expect(201, 'POST', `/v1/subscribers/${subscriberId}/messages/mark-all`, { markAs })
}

test('a subscriber who read the first message in the meantime is not notified again', async () => {
  const workflow = await afterwards('unread')
  const [reader, other] = [fresh('reader'), fresh('other')]
  await scene.subscribers(reader, other)
  const read = await scene.run(workflow, reader)
  const unread = await scene.run(workflow, other)
  await markAll(reader, 'read')
  await scene.advance(hour)
  const ended = await scene.notification(read.transactionId)
  assert.deepEqual(statuses(ended), ['completed', 'completed', 'skipped'])
  assert.deepEqual(rawOf(ended.jobs[2], skipped).filter.conditions, [
    {
      filter: 'Previous step',
      field: 'bell',
      expected: 'unread',
      actual: '1 of 1 read',
      operator: 'EQUAL',
      passed: false,
    },
  ])
  assert.deepEqual(statuses(await scene.notification(unread.transactionId)), ['completed', 'completed', 'completed'])
})

test('seen and read are distinguished, and so is what was sent from what was not', async () => {
  const seenBy = async (stepType: string, markAs: string | undefined): Promise<string> => {
    const person = fresh('person')
    await scene.subscribers(person)
    const { transactionId } = await scene.run(await afterwards(stepType), person)
    if (markAs !== undefined) await markAll(person, markAs)
    await scene.advance(hour)
    return (await scene.notification(transactionId)).jobs[2].status
  }
  assert.equal(await seenBy('seen', 'seen'), 'completed')
  assert.equal(await seenBy('seen', undefined), 'skipped')
  assert.equal(await seenBy('unseen', 'seen'), 'skipped')
  assert.equal(await seenBy('read', 'seen'), 'skipped')
  assert.equal(await seenBy('read', 'read'), 'completed')
  assert.equal(await seenBy('sent', undefined), 'completed')
  assert.equal(await seenBy('unsent', undefined), 'skipped')
})

test('an e-mail that no one could get counts as unsent, and a step that never ran holds nothing back', async () => {
  const unsent = await scene.workflow([
    email('First', { name: 'The mail' }),
    inApp('Instead', { filters: filters({ on: 'previousStep', step: 'the-mail', stepType: 'unsent' }) }),
  ])
  assert.deepEqual(statuses(await scene.run(unsent, fresh('nobody'))), ['skipped', 'completed'])
  const reachable = { subscriberId: fresh('person'), email: 'ada@example.org' }
  assert.deepEqual(statuses(await scene.run(unsent, reachable)), ['completed', 'skipped'])
  const never = filters({ on: 'payload', field: 'never', operator: 'EQUAL', value: 'x' })
  const workflow = await scene.workflow([
    inApp('First', { uuid: 'first', filters: never }),
    inApp('Second', { filters: filters({ on: 'previousStep', step: 'first', stepType: 'read' }) }),
  ])
  assert.deepEqual(statuses(await scene.run(workflow, fresh('person'))), ['skipped', 'completed'])
})

async function setOnline(subscriberId: string, isOnline: boolean): Promise<void> {
  await scene.expect(200, 'PATCH', `/v1/subscribers/${subscriberId}/online-status`, { isOnline })
}

test('who is online is notified differently from who is not', async () => {
  const workflow = await scene.workflow([
    inApp('Now', { filters: filters({ on: 'isOnline', value: true }) }),
    inApp('Away', { filters: filters({ on: 'isOnline', value: false }) }),
    inApp('Of late', { filters: filters({ on: 'isOnlineInLast', value: 5, timeOperator: 'minutes' }) }),
  ])
  const person = fresh('person')
  await scene.subscribers(person)
  assert.deepEqual(statuses(await scene.run(workflow, person)), ['skipped', 'skipped', 'skipped'])
  await setOnline(person, true)
  assert.deepEqual(statuses(await scene.run(workflow, person)), ['completed', 'skipped', 'completed'])
  await setOnline(person, false)
  assert.deepEqual(statuses(await scene.run(workflow, person)), ['skipped', 'completed', 'completed'])
  await scene.advance(6 * 60_000)
  assert.deepEqual(statuses(await scene.run(workflow, person)), ['skipped', 'completed', 'skipped'])
})

test('a rule that holds skips its step, and reports what it compared', async () => {
  const skip = { and: [{ '==': [{ var: 'payload.plan' }, 'free'] }, { '>': [{ var: 'payload.count' }, 2] }] }
  const workflow = await scene.workflow([inApp('Paid', { skip }), inApp('All')])
  const free = await scene.run(workflow, fresh('person'), { payload: { plan: 'free', count: 3 } })
  assert.deepEqual(statuses(free), ['skipped', 'completed'])
  assert.deepEqual(rawOf(free.jobs[0], skipped), {
    skip: {
      passed: true,
      conditions: [
        { filter: 'Skip', field: 'payload.plan', expected: 'free', actual: 'free', operator: '==', passed: true },
        { filter: 'Skip', field: 'payload.count', expected: '2', actual: '3', operator: '>', passed: true },
      ],
    },
  })
  const few = await scene.run(workflow, fresh('person'), { payload: { plan: 'free', count: 2 } })
  assert.deepEqual(statuses(few), ['completed', 'completed'])
})

test('rules and templates see what became of the steps before', async () => {
  const workflow = await scene.workflow([
    inApp('Look', { name: 'The bell' }),
    delay({ metadata: { type: 'regular', amount: 1, unit: 'hours' } }),
    inApp('Bell {{ steps.the-bell.status }}, read {{ steps.the-bell.read }}{{ steps.gone.read }}', {
      skip: { '!': { var: 'steps.the-bell.seen' } },
    }),
  ])
  const [one, other] = [fresh('person'), fresh('person')]
  await scene.subscribers(one, other)
  const seen = await scene.run(workflow, one)
  const unseen = await scene.run(workflow, other)
  await markAll(one, 'seen')
  await scene.advance(hour)
  assert.deepEqual(statuses(await scene.notification(seen.transactionId)), ['completed', 'completed', 'completed'])
  assert.deepEqual(await scene.texts(one), ['Bell completed, read false', 'Look'])
  assert.deepEqual(statuses(await scene.notification(unseen.transactionId)), ['completed', 'completed', 'skipped'])
})

test('a step after a digest sees its events by the name of the digest', async () => {
  const workflow = await scene.workflow([
    digest({ name: 'Bundle' }),
    inApp('{{ steps.bundle.eventCount }}: {% for event in steps.bundle.events %}{{ event.payload.n }}.{% endfor %}', {
      skip: { '<': [{ var: 'steps.bundle.eventCount' }, 2] },
    }),
  ])
  const [one, other] = [fresh('person'), fresh('person')]
  for (const n of [1, 2, 3]) await scene.trigger(workflow, one, { payload: { n } })
  await scene.trigger(workflow, other, { payload: { n: 1 } })
  await scene.work()
  await scene.advance(5 * 60_000)
  assert.deepEqual(await scene.texts(one), ['3: 1.2.3.'])
  assert.deepEqual(await scene.texts(other), [])
})

test('a rule that makes too much of its payload fails its own step alone', async () => {
  const skip = { some: [{ var: 'payload.list' }, { some: [{ var: 'payload.list' }, { '==': [{ var: '' }, 1] }] }] }
  const endless = { containsAny: [{ var: 'payload.list' }, { var: 'payload.list' }] }
  const workflow = await scene.workflow([inApp('One', { skip: endless }), inApp('Two', { skip })])
  const list = Array.from({ length: 5_000 }, (_, index) => `member ${index}`)
  const { jobs } = await scene.run(workflow, fresh('person'), { payload: { list } })
  assert.deepEqual([jobs[0].status, jobs[1].status], ['failed', 'completed'])
  assert.match(rawOf(jobs[0], 'Processing step filter failed').message, /too large/)
})

test('a variant is chosen by every kind of condition', async () => {
  const variant = inApp('Welcome back', { filters: filters({ on: 'isOnline', value: true }) })
  const workflow = await scene.workflow([inApp('Hello', { variants: [variant] })])
  const person = fresh('person')
  await scene.subscribers(person)
  await scene.run(workflow, person)
  await setOnline(person, true)
  await scene.run(workflow, person)
  assert.deepEqual(await scene.texts(person), ['Welcome back', 'Hello'])
})
