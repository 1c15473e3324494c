// Steps one after the other: what is said, what is skipped and why, and what a failure costs.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, rawOf, reported, statuses } from '../support/flow-scene.ts'
import { condition, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

const newSubscriber = () => {
  const subscriberId = fresh('person')
  return { subscriberId, firstName: 'Ada', email: `${subscriberId}@example.org` }
}
const endless = '{% for i in (1..100000000) %}{{ i }}{% endfor %}'

test('an in-app step writes a message to the feed', async () => {
  const cta = { type: 'redirect', data: { url: 'https://example.com/{{ payload.id }}' } }
  const workflow = await scene.workflow([
    {
      template: { type: 'in_app', subject: 'Order {{ payload.id }}', content: 'Hello {{ subscriber.firstName }}', cta },
    },
  ])
  const person = newSubscriber()
  const notification = await scene.run(workflow, person, { payload: { id: 7 } })
  const [item] = await scene.feed(person.subscriberId)
  assert.equal(item.content, 'Hello Ada')
  assert.equal(item.subject, 'Order 7')
  assert.equal(item.cta.data.url, 'https://example.com/7')
  assert.deepEqual([item.read, item.seen, item.status], [false, false, 'sent'])
  assert.deepEqual((await scene.message(notification.transactionId)).deliveredAt, [app.world.now().toISOString()])
  assert.deepEqual(reported(notification.jobs[0]), [
    ['Step queued', 'Pending'],
    ['Message created', 'Pending'],
    ['Message sent', 'Success'],
  ])
})

test('an e-mail without a real provider is captured: rendered, kept, and reported as a test', async () => {
  const workflow = await scene.workflow([email('Order {{ payload.id }}')])
  const person = newSubscriber()
  const { jobs, transactionId } = await scene.run(workflow, person, { payload: { id: 7 } })
  assert.deepEqual(reported(jobs[0]).slice(0, 1), [['Step queued', 'Pending']])
  const [, selected, created, sent] = jobs[0].executionDetails
  assert.match(selected.detail, / provider was selected$/)
  assert.deepEqual([selected.status, selected.providerId], ['Pending', 'platform-email'])
  assert.equal(created.detail, 'Message created')
  assert.deepEqual([sent.detail, sent.status, sent.isTest, sent.isRetry], ['Message sent', 'Success', true, false])
  assert.deepEqual([jobs[0].status, jobs[0].providerId], ['completed', 'platform-email'])
  const message = await scene.message(transactionId)
  assert.deepEqual([message.subject, message.email, message.status], ['Order 7', person.email, 'sent'])
  assert.equal(message.content, '<p>Hello</p>')
})

test('steps run in their order, each when the one before it is over', async () => {
  const workflow = await scene.workflow([inApp('One'), email('Two'), inApp('Three', { active: false }), inApp('Four')])
  const person = newSubscriber()
  const notification = await scene.run(workflow, person)
  assert.deepEqual(statuses(notification), ['completed', 'completed', 'completed'])
  assert.equal((await scene.messages(notification.transactionId)).length, 3)
  assert.equal((await scene.progress(notification.transactionId)).state, 'completed')
})

test('a step whose conditions do not hold is skipped, and the detail shows what was compared', async () => {
  const workflow = await scene.workflow([inApp('For gold', { filters: [condition('gold')] }), inApp('For all')])
  const person = newSubscriber()
  const notification = await scene.run(workflow, person, { payload: { plan: 'silver' } })
  assert.deepEqual(statuses(notification), ['skipped', 'completed'])
  assert.deepEqual(reported(notification.jobs[0]), [
    ['Step queued', 'Pending'],
    ['Step was skipped based on steps conditions', 'Success'],
  ])
  assert.deepEqual(rawOf(notification.jobs[0], 'Step was skipped based on steps conditions'), {
    filter: {
      passed: false,
      conditions: [
        { filter: 'Payload', field: 'plan', expected: 'gold', actual: 'silver', operator: 'EQUAL', passed: false },
      ],
    },
  })
  assert.deepEqual(await scene.texts(person.subscriberId), ['For all'])
  await scene.run(workflow, person, { payload: { plan: 'gold' } })
  assert.deepEqual((await scene.texts(person.subscriberId)).sort(), ['For all', 'For all', 'For gold'])
})

test('the value of a condition is a template', async () => {
  const workflow = await scene.workflow([inApp('Same', { filters: [condition('{{ payload.wanted }}')] })])
  const same = await scene.run(workflow, newSubscriber(), { payload: { plan: 'gold', wanted: 'gold' } })
  const other = await scene.run(workflow, newSubscriber(), { payload: { plan: 'gold', wanted: 'silver' } })
  assert.deepEqual([statuses(same), statuses(other)], [['completed'], ['skipped']])
})

test('a condition whose value cannot be rendered fails its step only', async () => {
  const workflow = await scene.workflow([inApp('Never', { filters: [condition(endless)] }), inApp('After')])
  const notification = await scene.run(workflow, newSubscriber(), { payload: { plan: 'gold' } })
  assert.deepEqual(statuses(notification), ['failed', 'completed'])
  assert.deepEqual(reported(notification.jobs[0])[1], ['Processing step filter failed', 'Failed'])
})

test('the first active variant whose conditions hold says what the step says', async () => {
  const variant = (content: string, plan: string, more: object = {}) => ({
    template: { type: 'in_app', content },
    filters: [condition(plan)],
    ...more,
  })
  const workflow = await scene.workflow([
    inApp('Own', {
      variants: [variant('Asleep', 'gold', { active: false }), variant('Gold', 'gold'), variant('Gold again', 'gold')],
    }),
  ])
  const [gold, other] = [newSubscriber(), newSubscriber()]
  const { jobs } = await scene.run(workflow, gold, { payload: { plan: 'gold' } })
  const plain = await scene.run(workflow, other, { payload: { plan: 'silver' } })
  assert.deepEqual(await scene.texts(gold.subscriberId), ['Gold'])
  assert.deepEqual(await scene.texts(other.subscriberId), ['Own'])
  assert.deepEqual(reported(jobs[0])[1], ['Variant was chosen by the provided condition criteria', 'Pending'])
  assert.deepEqual(reported(plain.jobs[0])[1], ['Message created', 'Pending'])
})

test('a variant whose condition cannot be rendered fails its step only, at once', async () => {
  const variants = [{ template: { type: 'in_app', content: 'Never' }, filters: [condition(endless)] }]
  const workflow = await scene.workflow([inApp('Own', { variants }), inApp('After')])
  const notification = await scene.run(workflow, newSubscriber(), { payload: { plan: 'gold' } })
  assert.deepEqual(statuses(notification), ['failed', 'completed'])
  assert.deepEqual(reported(notification.jobs[0]).at(-1), ['Processing step filter failed', 'Failed'])
})

test('a channel that the workflow has switched off is skipped', async () => {
  const workflow = await scene.workflow([inApp('Hello'), email('Hello')], { preferenceSettings: { in_app: false } })
  const notification = await scene.run(workflow, newSubscriber())
  assert.deepEqual(statuses(notification), ['skipped', 'completed'])
  assert.deepEqual(reported(notification.jobs[0])[1], ['Step filtered by workflow preferences', 'Success'])
})

test('a template that cannot be rendered fails its step and says which field; the others continue', async () => {
  const workflow = await scene.workflow([inApp(endless), email(endless), inApp('After')])
  const person = newSubscriber()
  const notification = await scene.run(workflow, person)
  assert.deepEqual(statuses(notification), ['failed', 'failed', 'completed'])
  for (const job of notification.jobs.slice(0, 2)) {
    assert.deepEqual(reported(job)[1], ['Message content could not be generated', 'Failed'])
    assert.equal(job.executionDetails[1].source, 'Payload')
  }
  assert.equal(rawOf(notification.jobs[0], 'Message content could not be generated').field, 'template.content')
  assert.equal(rawOf(notification.jobs[1], 'Message content could not be generated').field, 'template.subject')
  assert.deepEqual(await scene.texts(person.subscriberId), ['After'])
})

test('a step that stops on failure cancels what comes after it', async () => {
  const workflow = await scene.workflow([inApp(endless, { shouldStopOnFail: true }), email('Two'), inApp('Three')])
  const person = newSubscriber()
  const notification = await scene.run(workflow, person)
  assert.deepEqual(statuses(notification), ['failed', 'canceled', 'canceled'])
  for (const job of notification.jobs.slice(1)) {
    assert.deepEqual(reported(job), [['Step was canceled because a previous step failed', 'Failed']])
  }
  assert.deepEqual(await scene.texts(person.subscriberId), [])
  const { state, counts } = await scene.progress(notification.transactionId)
  assert.deepEqual([state, counts.byOutcome.failed], ['completed', 1])
})

test('a step that is skipped stops nothing, whatever it would do on failure', async () => {
  const workflow = await scene.workflow([
    inApp('One', { filters: [condition('gold')], shouldStopOnFail: true }),
    email('Two', { shouldStopOnFail: true }),
    inApp('Three'),
  ])
  const notification = await scene.run(workflow, fresh('without-address'))
  assert.deepEqual(statuses(notification), ['skipped', 'skipped', 'completed'])
})

test('an e-mail to someone without an address is skipped, and a message warns of it', async () => {
  const workflow = await scene.workflow([email('Order {{ payload.id }}'), inApp('After')])
  const notification = await scene.run(workflow, fresh('without-address'), { payload: { id: 7 } })
  assert.deepEqual(statuses(notification), ['skipped', 'completed'])
  assert.deepEqual(reported(notification.jobs[0]), [
    ['Step queued', 'Pending'],
    ['Message created', 'Pending'],
    ['Subscriber missing email address', 'Failed'],
  ])
  const all = await scene.messages(notification.transactionId)
  const message = all.find((one) => one.channel === 'email')
  assert.deepEqual([message.status, message.errorId, message.subject], ['warning', 'mail_unexpected_error', 'Order 7'])
})

test('overrides of the event change the e-mail', async () => {
  const workflow = await scene.workflow([email('Usual')])
  const overrides = { email: { toRecipient: 'other@example.org', subject: 'Special' } }
  const { transactionId } = await scene.run(workflow, newSubscriber(), { overrides })
  const message = await scene.message(transactionId)
  assert.deepEqual([message.email, message.subject], ['other@example.org', 'Special'])
  const bad = await scene.run(workflow, newSubscriber(), { overrides: { email: { to: 'nowhere' } } })
  assert.deepEqual(statuses(bad), ['failed'])
  assert.equal(rawOf(bad.jobs[0], 'Message content could not be generated').field, 'overrides.email.to')
})

test('a workflow that was deleted runs no new events, but those that are under way continue', async () => {
  const { _id, triggers } = await scene.created([inApp('One'), inApp('Two')])
  const name = triggers[0].identifier
  const person = newSubscriber()
  await scene.trigger(name, person)
  await scene.expect(200, 'DELETE', `/v1/workflows/${_id}`)
  await scene.work()
  assert.deepEqual((await scene.texts(person.subscriberId)).sort(), ['One', 'Two'])
  assert.equal((await scene.single({ name, to: person })).status, 422)
})
