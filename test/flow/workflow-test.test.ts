// Tests of workflows: the real pipeline for one person, marked, and without touching what real runs share.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript, rawOf, reported, statuses } from '../support/flow-scene.ts'
import { condition, delay, digest, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let mail: MailScript
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  mail = new MailScript(scene)
})
after(() => app.close())
beforeEach(async () => {
  await mail.clear()
  await mail.account('good')
})

const me = () => ({ subscriberId: fresh('me'), email: `${fresh('me')}@example.org` })
const ask = (workflow: string, body: Json): Promise<TestReply> =>
  app.call('POST', `/v1/workflows/${workflow}/test`, { body })

/** Tests it and runs all that is due; the one notification of it. */
async function run(workflow: string, to: unknown, more: object = {}): Promise<Json> {
  app.world.advance(1_000)
  const reply = await ask(workflow, { to, ...more })
  assert.equal(reply.status, 201, reply.text)
  assert.equal(reply.body.status, 'processed')
  await scene.work()
  return scene.notification(reply.body.transactionId)
}
const last = (job: Json): string => reported(job).at(-1)?.[0] ?? ''
const windows = () => scene.rows(sql`select step_id, event_count, closed_at from digest_windows`)

test('everything that a test makes is marked, from the activity to the message, whatever comes of it', async () => {
  const workflow = await scene.workflow([inApp('Bell'), email('Order {{ payload.orderId }}')])
  mail.answers('good', 503, 202)
  const person = me()
  const first = await run(workflow, person, { payload: { orderId: '42' } })
  assert.deepEqual([first.isTest, first.to.subscriberId], [true, person.subscriberId])
  for (const job of first.jobs) for (const one of job.executionDetails) assert.equal(one.isTest, true, one.detail)
  assert.deepEqual(await testMarks(first.transactionId), [true, true])
  await scene.advance(120_000, 1_000)
  const sent = await scene.notification(first.transactionId)
  assert.deepEqual(statuses(sent), ['completed', 'completed'])
  assert.deepEqual(await testMarks(first.transactionId), [true, true])
  const messages = await scene.messages(first.transactionId)
  assert.deepEqual([messages.map((one) => one.isTest), mail.asked.length], [[true, true], 2])
  assert.deepEqual([mail.asked[0]?.subject, mail.asked[0]?.to], ['Order 42', [person.email]])
  const [list] = await scene.notifications(first.transactionId)
  assert.equal(list.isTest, true)
})

const testMarks = async (transactionId: string): Promise<boolean[]> => {
  const rows = await scene.rows(sql`
    select m.is_test from messages m join events e on e.id = m.event_id where e.transaction_id = ${transactionId}`)
  return rows.map((row) => row.is_test)
}

test('a real event is not marked, nor is what was sent for it', async () => {
  const workflow = await scene.workflow([email()])
  const real = await scene.run(workflow, me())
  assert.equal(real.isTest, false)
  assert.ok(real.jobs[0].executionDetails.every((one: Json) => one.isTest === false))
  assert.equal((await scene.message(real.transactionId)).isTest, false)
})

test('a workflow that is switched off can be tested, and cannot be triggered', async () => {
  const workflow = await scene.workflow([inApp('Off')], { active: false })
  assert.deepEqual(statuses(await run(workflow, me())), ['completed'])
  const reply = await scene.single({ name: workflow, to: me() })
  assert.equal(reply.body.status, 'trigger_not_active')
})

test('only the steps that are asked for run, by any of their names; the others say that they were left out', async () => {
  const made = await scene.created([inApp('One'), delay(), { ...email('Two'), uuid: 'the-mail' }, inApp('Three')])
  const workflow = made.triggers[0].identifier
  const [first, , mailStep] = made.steps
  const only = await run(workflow, me(), { steps: [mailStep.uuid] })
  assert.deepEqual(statuses(only), ['skipped', 'skipped', 'completed', 'skipped'])
  assert.equal(last(only.jobs[0]), 'Step was left out of the test')
  assert.deepEqual(
    mail.asked.map((one) => one.subject),
    ['Two'],
  )
  const two = await run(workflow, me(), { steps: [first._id, mailStep._id] })
  assert.deepEqual(statuses(two), ['completed', 'skipped', 'completed', 'skipped'])
  const why = await scene.expect(200, 'GET', `/v1/notifications/${two._id}/why`)
  assert.equal(why.steps[3].sentence, 'Skipped: the test was limited to other steps.')
  assert.equal((await scene.progress(two.transactionId)).state, 'completed')
})

test('a test does not wait in a delay, unless it is asked to', async () => {
  const workflow = await scene.workflow([delay(), inApp('After')])
  const quick = await run(workflow, me())
  assert.deepEqual(statuses(quick), ['completed', 'completed'])
  const until = new Date(app.world.now().getTime() + 2 * 3_600_000).toISOString()
  assert.deepEqual(rawOf(quick.jobs[0], 'Step did not wait, as it is a test'), { untilDate: until })
  const slow = await run(workflow, me(), { skipDelays: false })
  assert.deepEqual(statuses(slow), ['delayed', 'pending'])
  await scene.advance(2 * 3_600_000)
  assert.deepEqual(statuses(await scene.notification(slow.transactionId)), ['completed', 'completed'])
})

test('a delay that is set wrong fails in a test as it would for real', async () => {
  const metadata = { type: 'scheduled', delayPath: 'at' }
  const workflow = await scene.workflow([delay({ metadata }), inApp('After')])
  const failed = await run(workflow, me(), { payload: { at: 'never' } })
  assert.deepEqual(statuses(failed), ['failed', 'canceled'])
})

test('a test sees its own event in a digest, and neither joins nor opens the window of real ones', async () => {
  const workflow = await scene.workflow([digest(), inApp('{{ step.total_count }}: {{ step.events[0].n }}')])
  const person = me()
  await scene.run(workflow, person, { payload: { n: 1 } })
  const tested = await run(workflow, person, { payload: { n: 2 } })
  assert.deepEqual(statuses(tested), ['completed', 'completed'])
  assert.deepEqual(await scene.texts(person.subscriberId), ['1: 2'])
  await scene.run(workflow, person, { payload: { n: 3 } })
  await scene.advance(300_000)
  assert.deepEqual((await scene.texts(person.subscriberId)).sort(), ['1: 2', '2: 1'])
})

test('a test that waits in a digest has a window of its own', async () => {
  const workflow = await scene.workflow([digest(), inApp('{{ step.total_count }}: {{ step.events[0].n }}')])
  const person = me()
  const tested = await run(workflow, person, { payload: { n: 1 }, skipDelays: false })
  const real = await scene.run(workflow, person, { payload: { n: 2 } })
  assert.deepEqual(statuses(tested), ['delayed', 'pending'])
  assert.deepEqual(statuses(real), ['delayed', 'pending'])
  await scene.advance(301_000)
  assert.deepEqual((await scene.texts(person.subscriberId)).sort(), ['1: 1', '1: 2'])
})

test('a test ends no silence that a back-off digest waits for', async () => {
  const metadata = {
    type: 'backoff',
    amount: 5,
    unit: 'minutes',
    backoff: true,
    backoffAmount: 5,
    backoffUnit: 'minutes',
  }
  const workflow = await scene.workflow([digest({ metadata }), inApp('x')])
  const person = me()
  await run(workflow, person)
  const real = await scene.run(workflow, person)
  assert.equal(last(real.jobs[0]), 'Digest was skipped, first backoff event')
})

test('a test is not counted by a throttle, and not held up by it', async () => {
  const throttle = { template: { type: 'throttle' }, metadata: { type: 'fixed', amount: 1, unit: 'hours' } }
  const workflow = await scene.workflow([throttle, inApp('x')])
  const person = me()
  const before = await run(workflow, person)
  assert.equal(last(before.jobs[0]), 'Throttle let the test through and did not count it')
  const real = await scene.run(workflow, person)
  assert.deepEqual(statuses(real), ['completed', 'completed'])
  assert.deepEqual(statuses(await run(workflow, person)), ['completed', 'completed'])
  assert.deepEqual(statuses(await scene.run(workflow, person)), ['skipped', 'skipped'])
})

test('conditions and preferences apply in a test', async () => {
  const workflow = await scene.workflow([inApp('Gold', { filters: [condition('gold')] }), inApp('All'), email('Mail')])
  const person = me()
  await scene.subscribers(person.subscriberId)
  const off = { channels: { email: false } }
  await scene.expect(200, 'PATCH', `/v2/subscribers/${person.subscriberId}/preferences`, off)
  const tested = await run(workflow, person.subscriberId, { payload: { plan: 'tin' } })
  assert.deepEqual(statuses(tested), ['skipped', 'completed', 'skipped'])
  assert.equal(last(tested.jobs[0]), 'Step was skipped based on steps conditions')
  assert.equal(last(tested.jobs[2]), 'Step filtered by subscriber global preferences')
  assert.equal(mail.asked.length, 0)
})

test('a test reaches a subscriber at once despite do not disturb, and says so; it is not bundled with others', async () => {
  const workflow = await scene.workflow([email('Quiet')])
  const person = me()
  await scene.subscribers(person.subscriberId)
  const doNotDisturbUntil = new Date(app.world.now().getTime() + 3_600_000).toISOString()
  await scene.expect(200, 'PATCH', `/v2/subscribers/${person.subscriberId}/preferences`, { doNotDisturbUntil })
  const opened = (await windows()).length
  const tested = await run(workflow, person.subscriberId)
  assert.deepEqual(statuses(tested), ['completed'])
  assert.deepEqual(rawOf(tested.jobs[0], 'Step did not wait, as it is a test'), { untilDate: doNotDisturbUntil })
  assert.equal((await windows()).length, opened)
  const waiting = await run(workflow, person.subscriberId, { skipDelays: false })
  const real = await scene.run(workflow, person.subscriberId)
  assert.deepEqual([statuses(waiting), statuses(real)], [['delayed'], ['delayed']])
  await scene.advance(3_600_000)
  assert.equal(mail.asked.length, 3)
})

test('a suppressed address is not written to, in a test either', async () => {
  const person = me()
  await scene.expect(201, 'POST', '/v1/suppressions', { channel: 'email', address: person.email, reason: 'bounced' })
  const workflow = await scene.workflow([email('Mail')])
  const tested = await run(workflow, person)
  assert.deepEqual([statuses(tested), mail.asked], [['skipped'], []])
  assert.deepEqual(await testMarks(tested.transactionId), [true])
})

test('a service that is asked by conditions of a step that is left out is not asked', async () => {
  app.world.onFetch = () => assert.fail('someone was asked')
  const webhook = {
    on: 'webhook',
    webhookUrl: 'https://rules.example.com/',
    field: 'ok',
    value: 'yes',
    operator: 'EQUAL',
  }
  const filters = [{ isNegated: false, type: 'GROUP', value: 'AND', children: [webhook] }]
  const made = await scene.created([inApp('Asks', { filters }), inApp('Runs')])
  const tested = await run(made.triggers[0].identifier, me(), { steps: [made.steps[1]._id] })
  assert.deepEqual(statuses(tested), ['skipped', 'completed'])
  mail = new MailScript(scene)
})
