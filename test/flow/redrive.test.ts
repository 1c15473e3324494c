// Redriving a notification: only what failed is sent again, under another name, and what came after it has its turn.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript, poisonousAfter, reported, statuses } from '../support/flow-scene.ts'
import { PostmarkScript } from '../support/postmark-script.ts'
import { assertStep, whyOf } from '../support/why-scene.ts'
import { delay, digest, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let mail: MailScript
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  mail = new MailScript(scene)
  // Else it would capture what no one sends.
  for (const one of await scene.expect(200, 'GET', '/v1/integrations')) {
    if (one.channel === 'email') await scene.expect(200, 'DELETE', `/v1/integrations/${one._id}`)
  }
})
beforeEach(() => mail.clear())
after(() => app.close())

const redrive = (notification: Json): Promise<TestReply> =>
  app.call('POST', `/v1/notifications/${notification._id}/redrive`)

async function redriven(notification: Json): Promise<Json> {
  const reply = await redrive(notification)
  assert.equal(reply.status, 202, reply.text)
  return reply.body
}

async function refused(notification: Json, reason: string, says: RegExp): Promise<void> {
  const reply = await redrive(notification)
  assert.equal(reply.status, 409, reply.text)
  assert.equal(reply.body.reason, reason)
  assert.match(reply.body.message, says)
}

const again = (notification: Json): Promise<Json> => scene.expect(200, 'GET', `/v1/notifications/${notification._id}`)

async function person(): Promise<string> {
  const name = fresh('person')
  await scene.subscribers(name)
  return name
}

test('a message that was refused is sent again as it was, and a later step that ran is not run twice', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const workflow = await scene.workflow([email('Order {{ payload.n }}'), inApp('after')])
  const name = await person()
  const failed = await scene.run(workflow, name, { payload: { n: 7 } })
  assert.deepEqual(statuses(failed), ['failed', 'completed'])
  mail.answers('one', 202)
  const { steps } = await redriven(failed)
  assert.deepEqual([steps.length, steps[0].way, steps[0].messages, steps[0].type], [1, 'send', 1, 'email'])
  const waiting = await whyOf(scene, failed)
  const { by } = assertStep(waiting, 0, { status: 'running', says: /^Redriven: the failed messages/, code: 'redriven' })
  assert.match(by, /^[0-9a-f-]{36}$/)
  await refused(failed, 'running', /still running/)
  await scene.work()
  const done = await again(failed)
  assert.deepEqual(statuses(done), ['completed', 'completed'])
  assert.deepEqual(
    mail.asked.map((one) => one.subject),
    ['Order 7', 'Order 7'],
  )
  assert.equal((await scene.texts(name)).length, 1)
  assertStep(await whyOf(scene, failed), 0, { status: 'completed', says: /Sent: .*Before that, one attempt failed/ })
  assert.equal((await scene.messages(failed.transactionId)).find((one) => one.channel === 'email').status, 'sent')
  await refused(failed, 'nothingFailed', /none of its steps failed/)
})

test('what was decided otherwise since then does not change a message that was made', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const { _id, triggers } = await scene.created([email('First words')])
  const failed = await scene.run(triggers[0].identifier, await person())
  const before = await scene.expect(200, 'GET', `/v1/workflows/${_id}`)
  await scene.expect(200, 'PUT', `/v1/workflows/${_id}`, {
    name: before.name,
    description: '',
    notificationGroupId: before._notificationGroupId,
    active: true,
    steps: [email('Second words')],
  })
  mail.answers('one', 202)
  await redriven(failed)
  await scene.work()
  assert.deepEqual(
    mail.asked.map((one) => one.subject),
    ['First words', 'First words'],
  )
})

test('a vendor who knows repeats by their key is asked under another each time', async () => {
  await mail.webhook('hook')
  mail.answers('hook', 400)
  const failed = await scene.run(await scene.workflow([email('Hello')]), await person())
  await redriven(failed)
  await scene.work()
  mail.answers('hook', { status: 200, body: '{}' })
  await redriven(failed)
  await scene.work()
  const keys = mail.asked.map((one) => one.idempotencyKey)
  assert.equal(new Set(keys).size, 3)
  assert.deepEqual(
    keys.map((key) => key?.[14]),
    ['7', '8', '1'],
  )
  assert.deepEqual(statuses(await again(failed)), ['completed'])
})

test('steps that were canceled for a failure have their turn, and no other', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const steps = [email('Hello', { shouldStopOnFail: true }), inApp('then'), delay(), inApp('at last')]
  const name = await person()
  const failed = await scene.run(await scene.workflow(steps), name)
  assert.deepEqual(statuses(failed), ['failed', 'canceled', 'canceled', 'canceled'])
  mail.answers('one', 202)
  await redriven(failed)
  assert.deepEqual(statuses(await again(failed)), ['running', 'pending', 'pending', 'pending'])
  await scene.work()
  assert.deepEqual(statuses(await again(failed)), ['completed', 'completed', 'delayed', 'pending'])
  await scene.advance(3 * 60 * 60_000)
  const why = await whyOf(scene, failed)
  assertStep(why, 3, { status: 'completed', says: /feed/ })
  assert.deepEqual(await scene.texts(name), ['at last', 'then'])
})

test('a step that fails again is recorded as failed, and can be redriven again', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const failed = await scene.run(
    await scene.workflow([email('A', { shouldStopOnFail: true }), inApp('b')]),
    await person(),
  )
  await redriven(failed)
  await scene.work()
  const why = await whyOf(scene, failed)
  assertStep(why, 0, { status: 'failed', says: /rejected the e-mail/, code: 'redriven' })
  assertStep(why, 1, { status: 'canceled', says: /failed, and the workflow stops on failure/ })
  await redriven(failed)
  await scene.rows(sql`
    update jobs set state = state || '{"redrives": 20}', status = 'failed', due_at = null
    where notification_id = ${failed._id} and step = 0`)
  await refused(failed, 'tooOften', /the maximum number of times/)
})

test('a step without an integration had no message: it is decided and rendered again', async () => {
  const failed = await scene.run(await scene.workflow([email('To {{ subscriber.firstName }}')]), await person())
  assert.deepEqual(reported(failed.jobs[0]).at(-1), ['Subscriber does not have an active integration', 'Failed'])
  await mail.account('one')
  await scene.expect(200, 'PATCH', `/v2/subscribers/${failed.subscriber.subscriberId}`, { firstName: 'Ada' })
  const { steps } = await redriven(failed)
  assert.deepEqual([steps[0].way, steps[0].messages], ['decide', 0])
  assertStep(await whyOf(scene, failed), 0, { status: 'queued', says: /^Redriven/ })
  await scene.work()
  assert.deepEqual(
    mail.asked.map((one) => one.subject),
    ['To Ada'],
  )
  assertStep(await whyOf(scene, failed), 0, { status: 'completed', says: /^Sent/, code: 'redriven' })
})

test('a custom step is called again under another key', async () => {
  const keys: (string | null)[] = []
  let status = 400
  const before = app.world.onFetch
  app.world.onFetch = async (request) => {
    keys.push(request.headers.get('idempotency-key'))
    return { status, headers: new Headers(), body: '{"ok":true}' }
  }
  const custom = { template: { type: 'custom' }, metadata: { type: 'http', url: 'https://api.example.com/hook' } }
  const name = await person()
  const failed = await scene.run(await scene.workflow([custom, inApp('after')]), name)
  assert.deepEqual(statuses(failed), ['failed', 'canceled'])
  status = 200
  await redriven(failed)
  await scene.work()
  app.world.onFetch = before
  assert.deepEqual([keys.length, new Set(keys).size], [2, 2])
  assert.deepEqual(await scene.texts(name), ['after'])
  assertStep(await whyOf(scene, failed), 0, { status: 'completed', says: /responded/ })
})

test('what was perhaps sent is not failed', async () => {
  await mail.account('one')
  mail.answers('one', 'cut', 400)
  const failed = await scene.run(await scene.workflow([email('Hello')]), await person())
  await scene.advance(600_000)
  assert.deepEqual(statuses(await again(failed)), ['failed'])
  assert.equal(mail.asked.length, 2)
  await refused(failed, 'perhapsSent', /may have been sent/)
  assertStep(await whyOf(scene, failed), 0, { status: 'failed', says: /rejected/ })
})

test('nothing is sent to an address that came on the suppression list since', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const name = await person()
  const failed = await scene.run(await scene.workflow([email('Hello')]), name)
  await scene.expect(201, 'POST', '/v1/suppressions', { channel: 'email', address: `${name}@EXAMPLE.org` })
  await refused(failed, 'suppressed', /suppression list/)
  await scene.expect(204, 'DELETE', `/v1/suppressions/email/${name}@example.org`)
  mail.answers('one', 202)
  await redriven(failed)
  await scene.work()
  assert.deepEqual(statuses(await again(failed)), ['completed'])
})

test('whoever is the first choice now sends it, also where the one that was asked is gone', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const failed = await scene.run(await scene.workflow([email('Hello')]), await person())
  await mail.account('two')
  await mail.remove('one')
  await redriven(failed)
  await scene.work()
  assert.deepEqual(mail.accounts(), ['one', 'two'])
  assert.deepEqual(statuses(await again(failed)), ['completed'])
})

/** As if whoever ran what is open had died of it again and again. */
async function bury(transactionId: string): Promise<Json> {
  await scene.rows(sql`update jobs set interruptions = ${poisonousAfter} where due_at is not null`)
  await scene.work()
  return scene.notification(transactionId)
}

test('a step that was buried is decided again, and leaves the list of what was', async () => {
  const name = fresh('person')
  const transactionId = await scene.trigger(await scene.workflow([inApp('one'), inApp('two')]), name)
  const buried = await bury(transactionId)
  assert.deepEqual(statuses(buried), ['failed', 'canceled'])
  const { data } = await scene.expect(200, 'GET', '/v1/buried')
  assert.deepEqual(
    [data[0].kind, data[0]._id, data[0].notificationId, data[0].transactionId, data[0].claims],
    ['job', buried.jobs[0]._id, buried._id, transactionId, poisonousAfter],
  )
  assert.match(data[0].reason, /crashed \d times while it ran only this step/)
  await redriven(buried)
  assert.equal((await scene.expect(200, 'GET', '/v1/buried')).data.length, 0)
  await scene.work()
  assert.deepEqual((await scene.texts(name)).sort(), ['one', 'two'])
  assertStep(await whyOf(scene, buried), 1, { status: 'completed', says: /feed/ })
})

test('a digest that was buried at its end reports all that it had gathered', async () => {
  const name = fresh('person')
  const list = '{{ step.total_count }}:{% for event in step.events %} {{ event.n }}{% endfor %}'
  const workflow = await scene.workflow([digest(), inApp(list)])
  const first = await scene.trigger(workflow, name, { payload: { n: 1 } })
  await scene.trigger(workflow, name, { payload: { n: 2 } })
  await scene.work()
  app.world.advance(5 * 60_000)
  const buried = await bury(first)
  assert.deepEqual(statuses(buried), ['failed', 'canceled'])
  assert.equal((await redriven(buried)).steps[0].way, 'wait')
  await scene.work()
  assert.deepEqual(await scene.texts(name), ['2: 1 2'])
  assertStep(await whyOf(scene, buried), 0, { status: 'completed', says: /collected 2 events/ })
})

test('a send that was buried with its call under way is not repeated: what comes after it has its turn', async () => {
  await mail.account('one')
  const name = await person()
  const transactionId = fresh('transaction')
  const workflow = await scene.workflow([email('Hello'), inApp('after')])
  mail.answers('one', 'cut')
  await scene.trigger(workflow, name, { transactionId })
  await scene.work()
  await scene.rows(sql`update messages set state = 'calling' where state = 'ready'`)
  app.world.advance(600_000)
  const over = await bury(transactionId)
  assert.deepEqual(statuses(over), ['failed', 'canceled'])
  const calls = mail.asked.length
  const { way, messages } = (await redriven(over)).steps[0]
  assert.deepEqual([way, messages], ['send', 0])
  await scene.work()
  assertStep(await whyOf(scene, over), 0, {
    status: 'completed',
    says: /may have been sent|buried|Redriven/,
    code: 'redriven',
  })
  assert.equal(mail.asked.length, calls)
  assert.deepEqual(await scene.texts(name), ['after'])
})

test('of two concurrent requests one redrives it, the other is answered that it is running', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const failed = await scene.run(await scene.workflow([email('Hello')]), await person())
  const replies = await Promise.all([redrive(failed), redrive(failed), redrive(failed)])
  assert.deepEqual(replies.map((reply) => reply.status).sort(), [202, 409, 409])
  mail.answers('one', 202)
  await scene.work()
  assert.equal(mail.asked.length, 2)
})

test('an event that was cancelled is not redriven; a cancel and a redrive at once leave nothing half done', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const failed = await scene.run(await scene.workflow([email('Hello')]), await person())
  mail.answers('one', 202)
  const [reply] = await Promise.all([
    redrive(failed),
    scene.expect(200, 'DELETE', `/v1/events/trigger/${failed.transactionId}`),
  ])
  await scene.work()
  const expected = reply.status === 202 ? 'canceled' : 'failed'
  assert.deepEqual(statuses(await again(failed)), [expected])
  assert.equal(mail.asked.length, 1)
  await refused(failed, 'canceled', /canceled/)
})

test('what the data no longer hold cannot be redriven', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const failed = await scene.run(await scene.workflow([email('Hello')]), await person())
  await scene.rows(sql`update messages set envelope = null where notification_id = ${failed._id}`)
  await refused(failed, 'contentGone', /no longer kept/)
  await scene.rows(sql`update events set attachments = 1 where transaction_id = ${failed.transactionId}`)
  await refused(failed, 'filesGone', /files/)
  await scene.rows(sql`delete from events where transaction_id = ${failed.transactionId}`)
  await refused(failed, 'gone', /no longer kept/)
})

test('a notification no one knows, and another environment’s, is not found', async () => {
  await mail.account('one')
  mail.answers('one', 400)
  const failed = await scene.run(await scene.workflow([email('Hello')]), await person())
  for (const id of ['nobody', '019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21']) {
    assert.equal((await app.call('POST', `/v1/notifications/${id}/redrive`)).status, 404)
  }
  const path = `/v1/notifications/${failed._id}/redrive`
  assert.equal((await app.call('POST', path, { key: app.productionKey })).status, 404)
})

test('a report that names the message by the id it was redriven under is still its own', async () => {
  const postmark = new PostmarkScript(scene)
  await postmark.account()
  postmark.answer = () => ({ ErrorCode: 300, Message: 'Invalid', MessageID: '', To: '', SubmittedAt: '' })
  const failed = await scene.run(await scene.workflow([email('Hello')]), await person())
  assert.deepEqual(statuses(failed), ['failed'])
  postmark.answer = undefined
  await redriven(failed)
  await scene.work()
  const [first, second] = postmark.calls.map((call) => call.mails[0].Metadata.message_id)
  assert.notEqual(first, second)
  await postmark.reports({
    RecordType: 'Delivery',
    MessageID: 'pm-unknown',
    Recipient: '',
    Details: '',
    Metadata: { message_id: second },
  })
  const why = await whyOf(scene, failed)
  assertStep(why, 0, { status: 'completed', says: /was delivered or forwarded/, code: 'receiptGood' })
  await postmark.remove()
  mail = new MailScript(scene)
})
