// Calling an event off: what waits is canceled, what runs ends with its step, and a digest goes on without it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript, reported, statuses } from '../support/flow-scene.ts'
import { addSubscribers } from '../support/topic-scene.ts'
import { delay, digest, email, inApp } from '../support/workflow-scene.ts'

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

const cancel = (transactionId: string): Promise<unknown> =>
  scene.expect(200, 'DELETE', `/v1/events/trigger/${encodeURIComponent(transactionId)}`)

test('a step that waits is canceled with those after it, once', async () => {
  const workflow = await scene.workflow([delay(), inApp('late'), inApp('later')])
  const person = fresh('person')
  const { transactionId } = await scene.run(workflow, person)
  assert.equal(await cancel(transactionId), true)
  const canceled = await scene.notification(transactionId)
  assert.deepEqual(statuses(canceled), ['canceled', 'canceled', 'canceled'])
  assert.deepEqual(reported(canceled.jobs[0]).at(-1), ['Step was canceled by request', 'Success'])
  assert.equal(await cancel(transactionId), false)
  await scene.advance(3 * 60 * minuteMs)
  assert.deepEqual(await scene.texts(person), [])
  const { state, counts } = await scene.progress(transactionId)
  assert.deepEqual([state, counts.byOutcome.canceled], ['completed', 1])
})

test('a run that is over, and a transaction no one knows, have nothing left to cancel', async () => {
  const workflow = await scene.workflow([inApp('said')])
  const person = fresh('person')
  const { transactionId } = await scene.run(workflow, person)
  assert.equal(await cancel(transactionId), false)
  assert.equal(await cancel('nobody'), false)
  assert.deepEqual(await scene.texts(person), ['said'])
})

test('another environment cannot call it off', async () => {
  const workflow = await scene.workflow([delay(), inApp('late')])
  const { transactionId } = await scene.run(workflow, fresh('person'))
  const reply = await app.call('DELETE', `/v1/events/trigger/${transactionId}`, { key: 'test-key-of-production' })
  assert.deepEqual([reply.status, reply.body], [200, false])
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['delayed', 'pending'])
})

test('the first event of a digest is cancelled: the others are notified, at the time that was set', async () => {
  const workflow = await scene.workflow([digest(), inApp(list)])
  const person = fresh('person')
  const transactions: string[] = []
  for (const n of [1, 2, 3]) {
    transactions.push(await scene.trigger(workflow, person, { payload: { n } }))
    await scene.work()
    await scene.advance(minuteMs)
  }
  assert.equal(await cancel(transactions[0] ?? ''), true)
  const [first, second, third] = await Promise.all(transactions.map((id) => scene.notification(id)))
  assert.deepEqual(statuses(first), ['canceled', 'canceled'])
  assert.deepEqual(statuses(second), ['delayed', 'pending'])
  assert.deepEqual(statuses(third), ['merged', 'merged'])
  await scene.advance(windowMs - 3 * minuteMs - 1)
  assert.deepEqual(await scene.texts(person), [])
  await scene.advance(1)
  assert.deepEqual(await scene.texts(person), ['2: 2 3'])
})

test('an event that joined a digest is cancelled: the digest reports the others', async () => {
  const workflow = await scene.workflow([digest(), inApp(list)])
  const person = fresh('person')
  await scene.trigger(workflow, person, { payload: { n: 1 } })
  const second = await scene.trigger(workflow, person, { payload: { n: 2 } })
  await scene.work()
  assert.equal(await cancel(second), true)
  assert.deepEqual(statuses(await scene.notification(second)), ['canceled', 'canceled'])
  await scene.advance(windowMs)
  assert.deepEqual(await scene.texts(person), ['1: 1'])
  assert.equal(await cancel(second), false)
})

test('the only event of a digest is cancelled: the next one opens a new window', async () => {
  const workflow = await scene.workflow([digest(), inApp(list)])
  const person = fresh('person')
  const first = await scene.trigger(workflow, person, { payload: { n: 1 } })
  await scene.work()
  assert.equal(await cancel(first), true)
  await scene.advance(minuteMs)
  await scene.trigger(workflow, person, { payload: { n: 2 } })
  await scene.work()
  await scene.advance(windowMs - 1)
  assert.deepEqual(await scene.texts(person), [])
  await scene.advance(1)
  assert.deepEqual(await scene.texts(person), ['1: 2'])
})

test('what was merged into a digest that has gone out stays as sent', async () => {
  const workflow = await scene.workflow([digest(), inApp(list)])
  const person = fresh('person')
  await scene.trigger(workflow, person, { payload: { n: 1 } })
  const second = await scene.trigger(workflow, person, { payload: { n: 2 } })
  await scene.work()
  await scene.advance(windowMs)
  assert.equal(await cancel(second), false)
  assert.deepEqual(statuses(await scene.notification(second)), ['merged', 'merged'])
})

test('a message that waits for another try is not sent again', async () => {
  const mail = new MailScript(scene)
  const account = fresh('mail')
  await mail.account(account)
  const workflow = await scene.workflow([email('Hello'), inApp('after')])
  const person = fresh('person')
  await scene.subscribers(person)
  mail.answers(account, 503)
  const { transactionId } = await scene.run(workflow, person)
  assert.equal(await cancel(transactionId), true)
  await scene.advance(60 * minuteMs)
  assert.equal(mail.asked.length, 1)
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['canceled', 'canceled'])
})

test('a step that is being sent ends as it ends, and none comes after it', async () => {
  const mail = new MailScript(scene)
  await mail.account(fresh('mail'))
  const workflow = await scene.workflow([email('Hello'), inApp('after')])
  const person = fresh('person')
  await scene.subscribers(person)
  const transactionId = fresh('transaction')
  mail.meanwhile = async () => {
    await cancel(transactionId)
  }
  await scene.trigger(workflow, person, { transactionId })
  await scene.work()
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'canceled'])
  assert.deepEqual(await scene.texts(person), [])
})

test('a large audience is cancelled to the last, those still to be found included', async () => {
  const names = Array.from({ length: 2_600 }, () => fresh('crowd'))
  await addSubscribers(app, names)
  const workflow = await scene.workflow([delay(), inApp('late')])
  const transactionId = await scene.trigger(workflow, names)
  await scene.work()
  assert.equal(await cancel(transactionId), true)
  await scene.work()
  const { counts } = await scene.progress(transactionId)
  assert.equal(counts.byOutcome.canceled, 2_600)
  const open = await scene.rows(sql`
    select 1 from jobs j join events e on e.id = j.event_id where e.transaction_id = ${transactionId} and j.due_at is not null`)
  assert.equal(open.length, 0)
  assert.deepEqual(await scene.rows(sql`select 1 from tasks`), [])
})

test('an event that has not begun to find its people reports no one', async () => {
  const names = Array.from({ length: 150 }, () => fresh('crowd'))
  const workflow = await scene.workflow([inApp('said')])
  const transactionId = await scene.trigger(workflow, names)
  assert.equal(await cancel(transactionId), true)
  await scene.work()
  const { state, counts } = await scene.progress(transactionId)
  assert.deepEqual([state, counts.notifications], ['completed', 0])
})
