// Outbound webhooks from what happened to what arrived: every type of event, filters, order, retries, disabling, crashes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { sql } from '../../src/db/sql.ts'
import { webhookEventTypes } from '../../src/domain/webhooks/webhook-event.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { logOf } from '../support/audit-scene.ts'
import { createFaultyDb } from '../support/faulty-db.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { inboxOf } from '../support/inbox-scene.ts'
import { createTestPipeline } from '../support/pipeline.ts'
import { PostmarkScript } from '../support/postmark-script.ts'
import { linkFor, oneClick } from '../support/unsubscribe-scene.ts'
import type { ReceivedEvent, Receiver } from '../support/webhook-scene.ts'
import { isSignedWith, startReceiver, WebhookScene } from '../support/webhook-scene.ts'
import { email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let hooks: WebhookScene
let receiver: Receiver
let postmark: PostmarkScript
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  postmark = new PostmarkScript(scene)
  await postmark.account()
  receiver = await startReceiver(app)
  hooks = new WebhookScene(scene, receiver)
})
after(async () => {
  await receiver.close()
  await app.close()
})

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const types = (events: readonly ReceivedEvent[]): string[] => events.map(({ body }) => body.type)

test('an environment without an endpoint writes nothing for webhooks, and runs no statement for them', async () => {
  const texts: string[] = []
  const recorded = createFaultyDb(app.database.db, ({ text }) => void texts.push(text))
  const workflow = await scene.workflow([inApp(), email('Hello')])
  await scene.trigger(workflow, { subscriberId: fresh('person'), email: 'plain@example.org' })
  await createTestPipeline(recorded, app.world).work()
  assert.ok(texts.some((text) => text.includes('insert into messages')))
  assert.deepEqual(
    texts.filter((text) => /webhook_(?:news|deliveries)/.test(text)),
    [],
  )
  // Whether there is an endpoint is part of the statement that reads the stamps.
  const asking = texts.filter((text) => text.includes('webhook_endpoints'))
  assert.ok(asking.length > 0 && asking.every((text) => text.includes('hasSuppressions')))
  const [row] = await scene.rows(sql`
    select (select count(*) from webhook_news) + (select count(*) from webhook_deliveries) as count,
      (select count(*) from tasks where kind in ('news', 'webhook')) as tasks`)
  assert.deepEqual([Number(row.count), Number(row.tasks)], [0, 0])
})

test('a message is sent, delivered, bounced or failed; seen and read: each event arrives, signed, and fits its schema', async () => {
  const all = await hooks.endpoint({ concurrency: 1 })
  const mail = await scene.workflow([email('Hello')])
  const bell = await scene.workflow([inApp('Ring')])
  const person = { subscriberId: fresh('person'), email: `${fresh('ada')}@example.org` }
  const { transactionId } = await scene.run(mail, person)
  const message = await scene.message(transactionId)
  const { identifier: MessageID } = message
  await postmark.reports({ RecordType: 'Delivery', MessageID, Recipient: person.email })
  await postmark.reports({
    RecordType: 'Bounce',
    Type: 'HardBounce',
    MessageID,
    Email: person.email,
    Description: 'Gone',
  })
  const mails = await hooks.taken(all)
  assert.deepEqual(types(mails), [
    'workflow.updated',
    'workflow.updated',
    'message.sent',
    'message.delivered',
    'message.bounced',
  ])
  const [, , sent, , bounced] = mails
  assert.equal(sent?.body.data.message._id, message._id)
  assert.equal(sent?.body.data.message.providerMessageId, MessageID)
  assert.equal(sent?.body.data.transactionId, transactionId)
  assert.equal(sent?.body.data.workflow.identifier, mail)
  assert.equal(sent?.body.data.subscriber.subscriberId, person.subscriberId)
  assert.deepEqual([bounced?.body.data.message.status, bounced?.body.data.message.error.text], ['error', 'Gone'])
  postmark.answer = () => ({ ErrorCode: 300, Message: 'Invalid email request' })
  await scene.run(mail, { subscriberId: fresh('person'), email: 'bad@example.org' })
  postmark.answer = undefined
  const { to, messageId } = await hooks.belled(bell)
  const page = await inboxOf(app, to)
  await page.data(200, 'PATCH', `/notifications/${messageId}/read`)
  await page.data(200, 'PATCH', `/notifications/${messageId}/read`)
  const rest = await hooks.taken(all)
  assert.deepEqual(types(rest), ['message.failed', 'message.sent', 'message.seen', 'message.read'])
  assert.equal(rest[2]?.body.data.message._id, messageId)
  for (const event of [...mails, ...rest]) assert.ok(isSignedWith(event, all.secret), event.text)
  assert.equal(new Set([...mails, ...rest].map(({ id }) => id)).size, 9)
  await assertSchemas([...mails, ...rest])
  await hooks.remove(all)
})

const known = new Set<string>()

async function assertSchemas(events: readonly ReceivedEvent[]): Promise<void> {
  const catalogue: Json[] = await scene.expect(200, 'GET', '/v1/webhook-endpoints/event-types')
  const ajv = new Ajv2020({ strict: false })
  formats.default(ajv)
  for (const { body } of events) {
    const { schema } = catalogue.find(({ type }) => type === body.type) ?? assert.fail(body.type)
    const check = ajv.compile(schema)
    known.add(body.type)
    assert.ok(check(body), JSON.stringify([check.errors, body]))
  }
}

test('subscribers unsubscribe and change their preferences, workflows change, integrations fail', async () => {
  const eventTypes = webhookEventTypes.filter((type) => !type.startsWith('message.'))
  // One at a time: events about different subjects have no order otherwise.
  const all = await hooks.endpoint({ eventTypes, concurrency: 1 })
  const made = await scene.created([email('Hello')])
  const person = { subscriberId: fresh('person'), email: 'reader@example.org' }
  await scene.run(made.triggers[0].identifier, person)
  const { _id } = await scene.subscriber(person.subscriberId)
  assert.equal((await oneClick(app, await linkFor(app, _id, made._id))).status, 200)
  assert.equal((await oneClick(app, await linkFor(app, _id, made._id))).status, 200)
  const preferences = `/v2/subscribers/${person.subscriberId}/preferences`
  await scene.expect(200, 'PATCH', preferences, { channels: { sms: false } })
  await scene.expect(200, 'PATCH', preferences, { workflowId: made._id, channels: { in_app: false } })
  await scene.expect(200, 'DELETE', `/v1/workflows/${made._id}`)
  const events = await hooks.taken(all)
  assert.deepEqual(types(events), [
    ...[
      'workflow.updated',
      'subscriber.unsubscribed',
      'preference.updated',
      'preference.updated',
      'preference.updated',
    ],
    'workflow.updated',
  ])
  const changes = events.map(({ body }) => body.data.change ?? body.data.level ?? body.data.source)
  assert.deepEqual(changes, ['created', 'link', 'workflow', 'global', 'workflow', 'deleted'])
  postmark.answer = () => ({ ErrorCode: 10, Message: 'No Account or Server API tokens were supplied' })
  const other = await scene.workflow([email('Hello')])
  const failing = { status: 401, headers: new Headers(), body: '{"ErrorCode":10,"Message":"Bad token"}' }
  const scripted = app.world.onFetch
  app.world.onFetch = (request, options) =>
    new URL(request.url).hostname === '127.0.0.1' ? (scripted?.(request, options) ?? failing) : failing
  await scene.run(other, person)
  await scene.run(other, person)
  app.world.onFetch = scripted
  postmark.answer = undefined
  const failed = await hooks.taken(all)
  assert.deepEqual(types(failed), ['workflow.updated', 'integration.failing'])
  assert.deepEqual(
    [failed[1]?.body.data.reason, failed[1]?.body.data.integration.providerId],
    ['misconfigured', 'postmark'],
  )
  await assertSchemas([...events, ...failed])
  await hooks.remove(all)
})

test('every type of the catalogue has arrived once, and the catalogue has a schema and an example of each', async () => {
  assert.deepEqual([...known].sort(), [...webhookEventTypes].sort())
  const catalogue: Json[] = await scene.expect(200, 'GET', '/v1/webhook-endpoints/event-types')
  const ajv = new Ajv2020({ strict: false })
  formats.default(ajv)
  for (const { type, schema, example } of catalogue) assert.ok(ajv.validate(schema, example), type)
  assert.deepEqual(
    catalogue.map(({ type }) => type),
    [...webhookEventTypes, 'webhook.test'],
  )
})

test('an endpoint gets the types and the workflows it asks for', async () => {
  const [wanted, other] = [await scene.workflow([inApp()]), await scene.workflow([inApp()])]
  const filtered = await hooks.endpoint({ eventTypes: ['message.sent', 'preference.updated'], workflows: [wanted] })
  assert.deepEqual((await hooks.shown(filtered)).workflows, [wanted])
  const { to } = await hooks.belled(wanted)
  await hooks.belled(other)
  await scene.expect(200, 'PATCH', `/v2/subscribers/${to}/preferences`, { channels: { sms: false } })
  const events = await hooks.taken(filtered)
  assert.deepEqual(types(events), ['message.sent', 'preference.updated'])
  assert.equal(events[0]?.body.data.workflow.identifier, wanted)
  await hooks.remove(filtered)
})

test('an event does not name the address that is on the suppression list', async () => {
  const one = await hooks.endpoint({ eventTypes: ['message.failed'] })
  const address = `${fresh('ada')}@example.org`
  await scene.expect(201, 'POST', '/v1/suppressions', { channel: 'email', address, reason: 'manual' })
  await scene.run(await scene.workflow([email('Hello')]), { subscriberId: fresh('person'), email: address })
  const [event] = await hooks.taken(one)
  assert.equal(event?.body.data.message.error.text, 'The address is on the suppression list (manual)')
  assert.ok(!event?.text.includes(address))
  await hooks.remove(one)
})

test('what is not accepted is sent again later, with the same id and body; the log has each answer', async () => {
  const one = await hooks.endpoint({ eventTypes: ['message.sent'] })
  receiver.answers.set(one.path, [500, 'cut', 302])
  await hooks.belled(await scene.workflow([inApp()]))
  await scene.work()
  assert.equal(receiver.received.filter(({ path }) => path === one.path).length, 1)
  const [waiting] = await hooks.deliveries(one, '&status=waiting')
  assert.deepEqual([waiting.attempts, waiting.answers[0].status], [1, 500])
  assert.ok(waiting.answers[0].answer.startsWith('answer 500') && waiting.answers[0].answer.length === 1_000)
  assert.equal((await hooks.shown(one)).state, 'failing')
  await scene.advance(10 * minuteMs, 1_000)
  const attempts = receiver.taken(one.path)
  assert.equal(attempts.length, 4)
  assert.deepEqual([new Set(attempts.map(({ id }) => id)).size, new Set(attempts.map(({ text }) => text)).size], [1, 1])
  assert.ok(attempts.every((event) => isSignedWith(event, one.secret)))
  const [done] = await hooks.deliveries(one)
  assert.deepEqual([done.status, done.attempts, done._id], ['delivered', 4, attempts[0]?.id])
  assert.deepEqual(
    done.answers.map(({ status, error }: Json) => [status, error === null]),
    [
      [500, false],
      [null, false],
      [302, false],
      [200, true],
    ],
  )
  assert.deepEqual([(await hooks.shown(one)).state, (await hooks.shown(one)).failures], ['active', 0])
  await hooks.remove(one)
})

test('events about one message keep their order while one is repeated; others pass', async () => {
  const one = await hooks.endpoint({ eventTypes: ['message.sent', 'message.seen'] })
  const workflow = await scene.workflow([inApp()])
  receiver.answers.set(one.path, [503])
  const first = await hooks.belled(workflow)
  const page = await inboxOf(app, first.to)
  await page.data(200, 'PATCH', `/notifications/${first.messageId}/read`)
  await scene.advance(2_000, 1_000)
  const second = await hooks.belled(workflow)
  await scene.advance(minuteMs, 1_000)
  const order = receiver.taken(one.path).map(({ body }) => [body.type, body.data.message._id])
  assert.deepEqual(order, [
    ['message.sent', first.messageId],
    ['message.sent', second.messageId],
    ['message.sent', first.messageId],
    ['message.seen', first.messageId],
  ])
  await hooks.remove(one)
})

test('an endpoint that accepts nothing for three days is disabled: audited, logged and shown; enabling resumes', async () => {
  const one = await hooks.endpoint({ eventTypes: ['message.sent'] })
  const workflow = await scene.workflow([inApp()])
  receiver.answers.set(one.path, Array<number>(100).fill(500))
  await hooks.belled(workflow)
  await scene.advance(2.5 * dayMs, 20 * minuteMs)
  assert.equal((await hooks.shown(one)).state, 'failing')
  await hooks.belled(workflow)
  await scene.advance(1.2 * dayMs, 20 * minuteMs)
  const disabled = await hooks.shown(one)
  assert.deepEqual(
    [disabled.state, disabled.disabledBy, disabled.lastError],
    ['disabled', 'failures', 'It answered 500'],
  )
  const entry = (await logOf(app)).at(-1)
  assert.deepEqual(
    [entry.resourceKind, entry.resourceId, entry.keyId, entry.action, entry.after.disabledBy],
    ['webhook-endpoint', one.id, 'worker', 'change', 'failures'],
  )
  assert.ok(
    app.world.logged.some(
      ({ level, message }) => level === 'warn' && message.includes('webhook endpoint was disabled'),
    ),
  )
  receiver.taken(one.path)
  await hooks.belled(workflow)
  assert.deepEqual(await hooks.taken(one), [])
  await scene.expect(409, 'POST', hooks.at(one, '/test'))
  receiver.answers.delete(one.path)
  await scene.expect(200, 'PATCH', hooks.at(one), { enabled: true })
  await scene.advance(2 * dayMs, 60 * minuteMs)
  const resumed = receiver.taken(one.path)
  assert.equal(resumed.length, 1, 'the second event still waited')
  assert.deepEqual([(await hooks.shown(one)).state, (await hooks.shown(one)).failures], ['active', 0])
  await hooks.remove(one)
})

test('a crash between sending and recording repeats the delivery with the same id', async () => {
  const one = await hooks.endpoint({ eventTypes: ['message.sent'] })
  const workflow = await scene.workflow([inApp()])
  let die: () => void = () => {}
  const dead = new Promise<void>((resolve) => {
    die = resolve
  })
  // Its process ends when the answer is about to be recorded.
  const faulty = createFaultyDb(app.database.db, ({ text }) => {
    if (!text.includes('update webhook_deliveries')) return undefined
    die()
    return 'silent'
  })
  const dying = createTestPipeline(faulty, app.world)
  await scene.trigger(workflow, fresh('person'))
  void dying.work()
  await dead
  assert.equal((await hooks.deliveries(one))[0].attempts, 0)
  await dying.died()
  await scene.work()
  const attempts = receiver.taken(one.path)
  assert.equal(attempts.length, 2)
  assert.deepEqual([attempts[0]?.id, attempts[0]?.text], [attempts[1]?.id, attempts[1]?.text])
  const [delivery] = await hooks.deliveries(one)
  assert.deepEqual([delivery.status, delivery.attempts], ['delivered', 1])
  await hooks.remove(one)
})

test('a result is recorded once where the task has passed to another node meanwhile', async () => {
  const one = await hooks.endpoint({ eventTypes: ['message.sent'] })
  receiver.meanwhile = async ({ path }) => {
    if (path !== one.path) return
    receiver.meanwhile = undefined
    await scene.rows(sql`update tasks set lease = null, due_at = ${app.world.now()} where id = ${one.id}`)
    await scene.rows(sql`update webhook_deliveries set attempts = attempts + 1 where endpoint_id = ${one.id}`)
  }
  await hooks.belled(await scene.workflow([inApp()]))
  await scene.work()
  assert.equal(receiver.taken(one.path).length, 2)
  const [delivery] = await hooks.deliveries(one)
  assert.deepEqual([delivery.status, delivery.attempts, delivery.answers.length], ['delivered', 2, 1])
  await hooks.remove(one)
})

test('an endpoint made by one node gets the next event of another, also of events decided with their acceptance', async () => {
  const node = await createTestApp({ nodeOf: app, works: true })
  const workflow = await scene.workflow([inApp()])
  const warm = await node.call('POST', '/v1/events/trigger', { body: { name: workflow, to: fresh('person') } })
  assert.equal(warm.status, 201)
  const one = await hooks.endpoint({ eventTypes: ['message.sent'] })
  const reply = await node.call('POST', '/v1/events/trigger', { body: { name: workflow, to: fresh('person') } })
  assert.equal(reply.status, 201)
  await scene.inNobodysHands(reply.body.transactionId)
  const events = await hooks.taken(one)
  assert.deepEqual(
    events.map(({ body }) => body.data.transactionId),
    [reply.body.transactionId],
  )
  await node.close()
  await hooks.remove(one)
})

test('a slow endpoint delays no other, and no more calls are made at a time than it allows', async () => {
  const slow = await hooks.endpoint({ eventTypes: ['message.sent'], concurrency: 2 })
  const quick = await hooks.endpoint({ eventTypes: ['message.sent'] })
  const workflow = await scene.workflow([inApp()])
  let [atOnce, most] = [0, 0]
  const quickOnes: string[] = []
  let letGo: () => void = () => {}
  const held = new Promise<void>((done) => {
    letGo = done
  })
  receiver.meanwhile = async ({ path, id }) => {
    if (path === quick.path) quickOnes.push(id)
    if (path === slow.path) {
      atOnce += 1
      most = Math.max(most, atOnce)
    }
    if (quickOnes.length === 5 && most === 2) letGo()
    if (path !== slow.path) return
    await held
    atOnce -= 1
  }
  const people = Array.from({ length: 5 }, () => fresh('person'))
  await scene.results(people.map((to) => ({ name: workflow, to })))
  await scene.work()
  receiver.meanwhile = undefined
  assert.deepEqual([receiver.taken(slow.path).length, receiver.taken(quick.path).length, most], [5, 5, 2])
  await hooks.remove(slow)
  await hooks.remove(quick)
})
