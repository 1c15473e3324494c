// Calling one notification off, and taking back what was said: of one person, and of a whole event.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript, statuses } from '../support/flow-scene.ts'
import { addSubscribers } from '../support/topic-scene.ts'
import { assertStep, whyOf } from '../support/why-scene.ts'
import { delay, digest, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let mail: MailScript
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  mail = new MailScript(scene)
})
beforeEach(() => mail.clear())
after(() => app.close())

const minuteMs = 60_000
const list = '{{ step.total_count }}:{% for event in step.events %} {{ event.n }}{% endfor %}'

const cancel = (notification: Json, status = 200): Promise<Json> =>
  scene.expect(status, 'POST', `/v1/notifications/${notification._id}/cancel`)
const retract = (notification: Json, status = 200): Promise<Json> =>
  scene.expect(status, 'POST', `/v1/notifications/${notification._id}/retract`)
const again = (notification: Json): Promise<Json> => scene.expect(200, 'GET', `/v1/notifications/${notification._id}`)
const unread = async (subscriberId: string): Promise<number> =>
  (await scene.expect(200, 'GET', `/v1/subscribers/${subscriberId}/notifications/unseen?limit=100`)).count
const types = (steps: Json[]): string[] => steps.map((step) => `${step.type} ${step.was ?? ''}`.trim())

async function person(): Promise<string> {
  const name = fresh('person')
  await scene.subscribers(name)
  return name
}

test('one notification is cancelled, and the other recipients of its event are notified', async () => {
  const [one, other] = [fresh('person'), fresh('person')]
  const transactionId = await scene.trigger(await scene.workflow([inApp('now'), delay(), inApp('late')]), [one, other])
  await scene.work()
  const all = await scene.notifications(transactionId)
  const mine = all.find((notification) => notification.subscriber.subscriberId === one)
  const { canceled, onTheirWay } = await cancel(mine)
  assert.deepEqual([types(canceled), onTheirWay], [['delay delayed', 'in_app pending'], []])
  const why = await whyOf(scene, mine)
  assertStep(why, 0, { status: 'completed', says: /feed/ })
  assertStep(why, 1, { status: 'canceled', says: /the notification was canceled/, code: 'canceled' })
  const refused = await cancel(mine, 409)
  assert.match(refused.message, /all its steps have finished/)
  await scene.advance(3 * 60 * minuteMs)
  assert.deepEqual([await scene.texts(one), await scene.texts(other)], [['now'], ['late', 'now']])
})

test('a step that is being sent ends as it ends, and none comes after it', async () => {
  await mail.account('one')
  const name = await person()
  const transactionId = fresh('transaction')
  let reported: Json
  mail.meanwhile = async () => {
    const [notification] = await scene.notifications(transactionId)
    reported = await cancel(notification)
  }
  await scene.trigger(await scene.workflow([email('Hello'), inApp('after')]), name, { transactionId })
  await scene.work()
  assert.deepEqual([types(reported.canceled), types(reported.onTheirWay)], [['in_app pending'], ['email']])
  const done = await scene.notification(transactionId)
  assert.deepEqual(statuses(done), ['completed', 'canceled'])
  assertStep(await whyOf(scene, done), 1, { status: 'canceled', says: /canceled/ })
})

test('the last step, being sent, can no longer be cancelled', async () => {
  await mail.account('one')
  const name = await person()
  const transactionId = fresh('transaction')
  let reported: Json
  mail.meanwhile = async () => {
    const [notification] = await scene.notifications(transactionId)
    reported = await cancel(notification, 409)
  }
  await scene.trigger(await scene.workflow([email('Hello')]), name, { transactionId })
  await scene.work()
  assert.match(reported.message, /its last step is being sent/)
})

test('one that joined a digest leaves it', async () => {
  const name = fresh('person')
  const workflow = await scene.workflow([digest(), inApp(list)])
  await scene.run(workflow, name, { payload: { n: 1 } })
  const second = await scene.run(workflow, name, { payload: { n: 2 } })
  await cancel(second)
  await scene.advance(10 * minuteMs)
  assert.deepEqual(await scene.texts(name), ['1: 1'])
})

test('a redrive and a cancel at once: whichever comes last finds what the other left', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const failed = await scene.run(await scene.workflow([email('Hello')]), await person())
  mail.answers('one', 202)
  const [redriven, canceled] = await Promise.all([
    app.call('POST', `/v1/notifications/${failed._id}/redrive`),
    app.call('POST', `/v1/notifications/${failed._id}/cancel`),
  ])
  assert.equal(redriven.status, 202)
  await scene.work()
  const isCanceled = canceled.status === 200
  assert.deepEqual(statuses(await again(failed)), [isCanceled ? 'canceled' : 'completed'])
  assert.equal(mail.asked.length, isCanceled ? 1 : 2)
})

test('what is in the feed leaves it and its counts, what waits is canceled, and what was mailed is listed', async () => {
  await mail.account('one')
  const name = await person()
  const done = await scene.run(await scene.workflow([inApp('wrong'), email('Wrong'), delay(), inApp('late')]), name)
  assert.equal(await unread(name), 1)
  const { canceled, removed, sent } = await retract(done)
  assert.deepEqual(types(canceled), ['delay delayed', 'in_app pending'])
  assert.deepEqual([removed.length, removed[0].channel, sent.length, sent[0].channel], [1, 'in_app', 1, 'email'])
  assert.deepEqual([await scene.texts(name), await unread(name)], [[], 0])
  const why = await whyOf(scene, done)
  assertStep(why, 0, { status: 'completed', says: /removed from the feed/, code: 'retracted' })
  assertStep(why, 1, { status: 'completed', says: /retracted too late .* had already been sent/, code: 'retracted' })
  assertStep(why, 3, { status: 'canceled', says: /canceled/ })
  assert.equal(why.steps[0].messages[0].retractedAt, app.world.now().toISOString())
  assert.equal(why.steps[1].messages[0].retractedAt, undefined)
  assert.match(why.summary, /^The subscriber was notified by e-mail\./)
  const reported = (await again(done)).jobs[0].executionDetails.map((one: Json) => one.detail)
  assert.ok(reported.includes('Step was retracted by request'), reported)
  await scene.advance(3 * 60 * minuteMs)
  assert.deepEqual(await scene.texts(name), [])
})

test('what failed of something retracted is not redriven, and nothing is left to retract', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const name = await person()
  const failed = await scene.run(await scene.workflow([inApp('wrong'), email('Wrong')]), name)
  await retract(failed)
  const reply = await app.call('POST', `/v1/notifications/${failed._id}/redrive`)
  assert.deepEqual([reply.status, reply.body.reason], [409, 'retracted'])
  assert.match((await retract(failed, 409)).message, /Nothing is left to retract in notification/)
  assertStep(await whyOf(scene, failed), 1, { status: 'failed', says: /nothing more is sent/ })
})

test('a snoozed message does not come back', async () => {
  const name = fresh('person')
  const done = await scene.run(await scene.workflow([inApp('wrong')]), name)
  const [item] = await scene.feed(name)
  await scene.rows(
    sql`update messages set snoozed_until = ${new Date(app.world.now().getTime() + minuteMs)} where id = ${item._id}`,
  )
  await scene.rows(sql`
    insert into tasks (environment_id, id, kind, lane, due_at, claims, state, created_at)
    select environment_id, id, 'unsnooze', 0, snoozed_until, 0, '{}', ${app.world.now()} from messages where id = ${item._id}`)
  await retract(done)
  await scene.advance(2 * minuteMs)
  assert.deepEqual([await scene.texts(name), await scene.rows(sql`select 1 from tasks`)], [[], []])
})

test('a small event is taken back at once, for everyone', async () => {
  const names = [fresh('person'), fresh('person'), fresh('person')]
  const transactionId = await scene.trigger(await scene.workflow([inApp('wrong'), delay(), inApp('late')]), names)
  await scene.work()
  const { state, canceled, removed, sent } = await scene.expect(200, 'POST', `/v1/events/${transactionId}/retract`)
  assert.deepEqual([state, canceled, removed, sent], ['completed', 6, 3, {}])
  await scene.advance(3 * 60 * minuteMs)
  for (const name of names) assert.deepEqual([await scene.texts(name), await unread(name)], [[], 0])
  const [one] = await scene.notifications(transactionId)
  assertStep(await whyOf(scene, one), 0, { status: 'completed', says: /removed from the feed/ })
  assert.equal((await app.call('POST', `/v1/events/${transactionId}/redrive`)).status, 409)
})

test('a large event is taken back by a task, to the last, and reports how far it is', async () => {
  const names = Array.from({ length: 2_300 }, () => fresh('crowd'))
  await addSubscribers(app, names)
  const transactionId = await scene.trigger(await scene.workflow([inApp('wrong'), delay(), inApp('late')]), names)
  await scene.work()
  const begun = await scene.expect(202, 'POST', `/v1/events/${transactionId}/retract`)
  assert.equal(begun.state, 'running')
  await scene.work()
  const { state, canceled, removed } = await scene.expect(200, 'GET', `/v1/retractions/${begun._id}`)
  assert.deepEqual([state, canceled, removed], ['completed', 4_600, 2_300])
  assert.equal(await unread(names[1_234] ?? ''), 0)
  assert.deepEqual(await scene.rows(sql`select 1 from tasks`), [])
})

test('an event that is still finding its people reports no one else', async () => {
  const names = Array.from({ length: 150 }, () => fresh('crowd'))
  const transactionId = await scene.trigger(await scene.workflow([inApp('wrong')]), names)
  await scene.expect(200, 'POST', `/v1/events/${transactionId}/retract`)
  await scene.work()
  const { state, counts } = await scene.progress(transactionId)
  assert.deepEqual([state, counts.notifications], ['completed', 0])
})

test('what no one knows, and what is another environment’s, is not found', async () => {
  const done = await scene.run(await scene.workflow([inApp('said')]), fresh('person'))
  for (const id of ['nobody', '019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21']) {
    for (const verb of ['cancel', 'retract']) {
      assert.equal((await app.call('POST', `/v1/notifications/${id}/${verb}`)).status, 404)
    }
    assert.equal((await app.call('POST', `/v1/events/${id}/retract`)).status, 404)
    assert.equal((await app.call('GET', `/v1/retractions/${id}`)).status, 404)
  }
  const key = app.productionKey
  assert.equal((await app.call('POST', `/v1/notifications/${done._id}/retract`, { key })).status, 404)
  assert.equal((await app.call('POST', `/v1/events/${done.transactionId}/retract`, { key })).status, 404)
  assert.equal((await scene.texts(done.subscriber.subscriberId)).length, 1)
})

test('what is on its way while it is retracted is reported, and not redriven should it fail', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const name = await person()
  const transactionId = fresh('transaction')
  let reported: Json
  mail.meanwhile = async () => {
    const [notification] = await scene.notifications(transactionId)
    reported = await retract(notification)
  }
  await scene.trigger(await scene.workflow([email('Wrong')]), name, { transactionId })
  await scene.work()
  assert.deepEqual([types(reported.onTheirWay), reported.canceled, reported.sent], [['email'], [], []])
  const failed = await scene.notification(transactionId)
  assert.deepEqual(statuses(failed), ['failed'])
  const reply = await app.call('POST', `/v1/notifications/${failed._id}/redrive`)
  assert.deepEqual([reply.status, reply.body.reason], [409, 'retracted'])
  assertStep(await whyOf(scene, failed), 0, { status: 'failed', says: /rejected/, code: 'retracted' })
})

test('what is on its way while it is retracted and was certainly not sent is not tried again', async () => {
  await mail.account('one')
  mail.answers('one', 503, 202)
  const name = await person()
  const transactionId = fresh('transaction')
  mail.meanwhile = async () => {
    mail.meanwhile = undefined
    const [notification] = await scene.notifications(transactionId)
    const { onTheirWay } = await retract(notification)
    assert.deepEqual(types(onTheirWay), ['email'])
  }
  await scene.trigger(await scene.workflow([email('Wrong'), inApp('after')]), name, { transactionId })
  await scene.work()
  await scene.advance(60 * minuteMs)
  assert.equal(mail.asked.length, 1)
  const over = await scene.notification(transactionId)
  assert.deepEqual(statuses(over), ['canceled', 'canceled'])
  assertStep(await whyOf(scene, over), 0, { status: 'canceled', says: /canceled/, code: 'canceled' })
  assert.deepEqual(await scene.rows(sql`select 1 from messages where state <> 'done'`), [])
})

test('an event cancelled while its e-mail is on its way: what was certainly not sent is not tried again', async () => {
  await mail.account('one')
  mail.answers('one', 503, 202)
  const name = await person()
  const transactionId = fresh('transaction')
  mail.meanwhile = async () => {
    mail.meanwhile = undefined
    await scene.expect(200, 'POST', `/v1/events/${transactionId}/retract`)
  }
  await scene.trigger(await scene.workflow([email('Wrong')]), name, { transactionId })
  await scene.work()
  await scene.advance(60 * minuteMs)
  assert.equal(mail.asked.length, 1)
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['canceled'])
  assert.deepEqual((await scene.progress(transactionId)).counts.byOutcome.canceled, 1)
})

test('one of which all failed is retracted: nothing of it is sent by a later redrive', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const failed = await scene.run(await scene.workflow([email('Wrong')]), await person())
  const { canceled, onTheirWay, removed, sent } = await retract(failed)
  assert.deepEqual([canceled, onTheirWay, removed, sent], [[], [], [], []])
  const reply = await app.call('POST', `/v1/notifications/${failed._id}/redrive`)
  assert.deepEqual([reply.status, reply.body.reason], [409, 'retracted'])
  await retract(failed, 409)
})

test('an event retracted while its e-mail is on its way counts it as perhaps sent', async () => {
  await mail.account('one')
  const name = await person()
  const transactionId = fresh('transaction')
  let reported: Json
  mail.meanwhile = async () => {
    reported = await scene.expect(200, 'POST', `/v1/events/${transactionId}/retract`)
  }
  await scene.trigger(await scene.workflow([email('Wrong')]), name, { transactionId })
  await scene.work()
  assert.deepEqual([reported.state, reported.sent], ['completed', { email: 1 }])
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed'])
})
