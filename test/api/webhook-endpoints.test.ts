// Webhook endpoints over the API: secrets, deliveries and sending them again, what is refused, what is kept for how long.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { sweep } from '../../src/manage/operate/housekeeping.ts'
import { createOutboundFetch } from '../../src/world/outbound/outbound-fetch.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { logOf } from '../support/audit-scene.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { filled, linkFor, look, oneClick, post } from '../support/unsubscribe-scene.ts'
import type { Endpoint, Receiver } from '../support/webhook-scene.ts'
import { isSignedWith, startReceiver, WebhookScene } from '../support/webhook-scene.ts'
import { email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let hooks: WebhookScene
let receiver: Receiver
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  receiver = await startReceiver(app)
  hooks = new WebhookScene(scene, receiver)
})
after(async () => {
  await receiver.close()
  await app.close()
})

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

test('during a rotation both secrets sign, after it the new one alone', async () => {
  const one = await hooks.endpoint()
  const again = await scene.expect(201, 'POST', hooks.at(one, '/rotate-secret'), { overlapSeconds: 3600 })
  assert.notEqual(again.secret, one.secret)
  await hooks.tested(one)
  const [during] = receiver.taken(one.path)
  assert.ok(during && isSignedWith(during, one.secret) && isSignedWith(during, again.secret))
  assert.ok((await hooks.shown(one)).previousSecretUntil !== null)
  app.world.advance(3_600_001)
  await hooks.tested(one)
  const [afterwards] = receiver.taken(one.path)
  assert.ok(afterwards && !isSignedWith(afterwards, one.secret) && isSignedWith(afterwards, again.secret))
  assert.equal((await hooks.shown(one)).previousSecretUntil, null)
  const texts = JSON.stringify([await hooks.shown(one), await logOf(app)])
  assert.ok(!texts.includes(one.secret) && !texts.includes(again.secret))
  const [row] = await scene.rows(sql`select sealed from webhook_endpoints where id = ${one.id}`)
  assert.ok(!row.sealed.toString('latin1').includes('whsec_') && !row.sealed.toString('latin1').includes('127.0.0.1'))
  await hooks.remove(one)
})

test('an endpoint that answers 410 is disabled at once', async () => {
  const one = await hooks.endpoint()
  receiver.answers.set(one.path, [410])
  const { answers } = await hooks.tested(one)
  assert.equal(answers[0].status, 410)
  assert.deepEqual([(await hooks.shown(one)).state, (await hooks.shown(one)).disabledBy], ['disabled', 'gone'])
  await hooks.remove(one)
})

test('an endpoint with another address has not failed yet', async () => {
  const one = await hooks.endpoint()
  receiver.answers.set(one.path, [500])
  await hooks.tested(one)
  assert.equal((await hooks.shown(one)).state, 'failing')
  await scene.expect(200, 'PATCH', hooks.at(one), { url: receiver.url(one.path) })
  assert.equal((await hooks.shown(one)).state, 'failing')
  await scene.expect(200, 'PATCH', hooks.at(one), { url: receiver.url('/other') })
  const { state, failures, lastError } = await hooks.shown(one)
  assert.deepEqual([state, failures, lastError], ['active', 0, null])
  await hooks.remove(one)
})

test('one delivery or those of a time are sent again, under their ids', async () => {
  const one = await hooks.endpoint({ eventTypes: ['message.sent'] })
  const workflow = await scene.workflow([inApp()])
  const from = app.world.now().toISOString()
  for (let count = 0; count < 3; count += 1) await hooks.belled(workflow)
  const ids = (await hooks.taken(one)).map(({ id }) => id)
  assert.equal(ids.length, 3)
  const again = await scene.expect(200, 'POST', hooks.at(one, `/deliveries/${ids[1]}/redrive`))
  assert.deepEqual([again.status, again.attempts], ['waiting', 0])
  assert.deepEqual(
    (await hooks.taken(one)).map(({ id }) => id),
    [ids[1]],
  )
  const none = await scene.expect(200, 'POST', hooks.at(one, '/redrive'), { from })
  assert.deepEqual(none, { redriven: 0, isCapped: false, nextFrom: null })
  const all = await scene.expect(200, 'POST', hooks.at(one, '/redrive'), { from, statuses: ['delivered'] })
  assert.equal(all.redriven, 3)
  assert.deepEqual(
    (await hooks.taken(one)).map(({ id }) => id),
    ids,
  )
  await scene.expect(404, 'POST', hooks.at(one, `/deliveries/${one.id}/redrive`))
  await scene.expect(422, 'POST', hooks.at(one, '/redrive'), { from: '2999-01-01T00:00:00Z' })
  await hooks.remove(one)
})

test('a private address is not called, and the log says why', async () => {
  const made = await scene.expect(201, 'POST', '/v1/webhook-endpoints', { url: 'http://127.0.0.2:9/in' })
  const hidden: Endpoint = { id: made._id, path: '', secret: made.secret }
  const scripted = app.world.onFetch
  app.world.onFetch = createOutboundFetch({ allow: [] })
  const { answers } = await hooks.tested(hidden)
  app.world.onFetch = scripted
  assert.equal(answers[0].status, null)
  assert.match(answers[0].error, /127\.0\.0\.2|private|not allowed/)
  await hooks.remove(hidden)
})

test('deliveries are swept after 30 days, those of deleted endpoints at once, and a subscriber’s go with them', async () => {
  const [kept, gone] = [
    await hooks.endpoint({ eventTypes: ['message.sent'] }),
    await hooks.endpoint({ eventTypes: ['message.sent'] }),
  ]
  const { to } = await hooks.belled(await scene.workflow([inApp()]))
  await scene.work()
  await hooks.belled(await scene.workflow([inApp()]))
  await scene.work()
  const count = async (one: Endpoint): Promise<number> => {
    const rows = await scene.rows(sql`select 1 from webhook_deliveries where endpoint_id = ${one.id}`)
    return rows.length
  }
  assert.deepEqual([await count(kept), await count(gone)], [2, 2])
  await hooks.remove(gone)
  await sweep(app.database.db, app.world)
  await sweep(app.database.db, app.world)
  assert.deepEqual([await count(kept), await count(gone)], [2, 0])
  assert.deepEqual(await scene.rows(sql`select 1 from webhook_endpoints where id = ${gone.id}`), [])
  const erasure = await scene.expect(202, 'POST', `/v1/subscribers/${to}/erase`)
  await scene.advance(3 * minuteMs, 10_000)
  const erased = await scene.expect(200, 'GET', `/v1/erasures/${erasure._id}`)
  assert.deepEqual(
    [erased.status, erased.removed.webhookDeliveries],
    ['completed', 1],
    JSON.stringify(app.world.logged.slice(-2)),
  )
  assert.equal(await count(kept), 1)
  app.world.advance(31 * dayMs)
  await sweep(app.database.db, app.world)
  assert.equal(await count(kept), 0)
  await hooks.remove(kept)
})

test('what cannot be right is refused, and the answer says how to fix it', async () => {
  const refused = async (body: Json, pattern: RegExp, path = '/v1/webhook-endpoints'): Promise<void> => {
    const reply = await app.call('POST', path, { body })
    assert.equal(reply.status, 422, reply.text)
    assert.match(reply.text, pattern)
  }
  await refused({}, /url/)
  await refused({ url: 'ftp://example.com' }, /http\(s\) address/)
  await refused({ url: 'https://me:secret@example.com' }, /must not hold a user/)
  await refused({ url: 'https://example.com', eventTypes: ['message.lost'] }, /eventTypes/)
  await refused({ url: 'https://example.com', workflows: ['unknown'] }, /workflow unknown does not exist/)
  await refused({ url: 'https://example.com', concurrency: 51 }, /concurrency/)
  const one = await hooks.endpoint()
  await refused({ overlapSeconds: 8 * 24 * 3600 }, /overlapSeconds/, hooks.at(one, '/rotate-secret'))
  await refused({ from: 'yesterday' }, /from/, hooks.at(one, '/redrive'))
  const made: string[] = [one.id]
  for (let count = 1; count < 20; count += 1) made.push((await hooks.endpoint()).id)
  const full = await app.call('POST', '/v1/webhook-endpoints', { body: { url: 'https://example.com' } })
  assert.equal(full.status, 409)
  assert.match(full.text, /at most 20 webhook endpoints/)
  const first = await scene.expect(200, 'GET', '/v1/webhook-endpoints?limit=12')
  const second = await scene.expect(200, 'GET', `/v1/webhook-endpoints?limit=12&after=${first.next}`)
  assert.deepEqual([first.data.length, second.data.length, second.next], [12, 8, null])
  for (const id of made) await scene.expect(204, 'DELETE', `/v1/webhook-endpoints/${id}`)
  await scene.expect(404, 'GET', hooks.at(one))
})

test('a key that only reads sees the origin of an address, without what may be a token', async () => {
  const url = `${receiver.url('/q')}?token=hush`
  const { _id } = await scene.expect(201, 'POST', '/v1/webhook-endpoints', { url })
  const { key } = await scene.expect(201, 'POST', '/v1/environments/api-keys', { scopes: ['read'] })
  const read = await app.call('GET', `/v1/webhook-endpoints/${_id}`, { key })
  assert.equal(read.body.url, receiver.url(''))
  assert.equal((await scene.expect(200, 'GET', `/v1/webhook-endpoints/${_id}`)).url, url)
  assert.equal((await app.call('DELETE', `/v1/webhook-endpoints/${_id}`, { key })).status, 403)
  await scene.expect(204, 'DELETE', `/v1/webhook-endpoints/${_id}`)
})

test('the preference page and links of deleted workflows are reported; so is what a snooze through the API shows', async () => {
  const made = await scene.created([email('Hello'), inApp()])
  const other = await scene.workflow([inApp()])
  const person = { subscriberId: fresh('person'), email: 'reader@example.org' }
  const { transactionId } = await scene.run(made.triggers[0].identifier, person)
  const messages = await scene.rows(sql`
    select m.id from messages m join events e on e.id = m.event_id
    where e.transaction_id = ${transactionId} and m.channel = 'in_app'`)
  const eventTypes = ['subscriber.unsubscribed', 'message.seen']
  const all = await hooks.endpoint({ eventTypes, concurrency: 1 })
  const filtered = await hooks.endpoint({ eventTypes, workflows: [other] })
  const snooze = `/v2/subscribers/${person.subscriberId}/notifications/${messages[0].id}/snooze`
  const snoozeUntil = new Date(app.world.now().getTime() + dayMs).toISOString()
  const reply = await app.call('PATCH', snooze, { body: { snoozeUntil } })
  assert.ok(reply.status < 300, reply.text)
  const { _id } = await scene.subscriber(person.subscriberId)
  const link = await linkFor(app, _id, made._id)
  const page = await look(app, link)
  assert.equal((await post(app, link, filled(page.text, ['workflow/email']))).status, 200)
  await scene.expect(200, 'DELETE', `/v1/workflows/${made._id}`)
  await scene.expect(200, 'PATCH', `/v2/subscribers/${person.subscriberId}/preferences`, { channels: { sms: false } })
  const events = await hooks.taken(all)
  assert.deepEqual(
    events.map(({ body }) => body.type),
    ['message.seen', 'subscriber.unsubscribed'],
  )
  assert.equal(events[1]?.body.data.workflow._id, made._id)
  const later = { subscriberId: fresh('person'), email: 'later@example.org' }
  await scene.run(other, later)
  const gone = await linkFor(app, (await scene.subscriber(later.subscriberId))._id, made._id)
  assert.equal((await oneClick(app, gone)).status, 200)
  const [left] = await hooks.taken(all)
  assert.deepEqual([left?.body.type, left?.body.data.workflow], ['subscriber.unsubscribed', null])
  assert.equal(left?.body.data.deletedWorkflowId, undefined)
  assert.deepEqual(await hooks.taken(filtered), [])
  await hooks.remove(all)
  await hooks.remove(filtered)
})

test('attempts and what waits are counted', async () => {
  const reply = await app.call('GET', '/metrics', { key: null })
  assert.match(reply.text, /^posthorn_webhook_attempts_total\{outcome="delivered"\} [1-9]/m)
  assert.match(reply.text, /^posthorn_webhook_attempts_total\{outcome="failed"\} [1-9]/m)
  assert.match(reply.text, /^posthorn_webhook_deliveries_waiting \d+$/m)
})
