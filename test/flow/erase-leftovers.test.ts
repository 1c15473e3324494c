// Where an erase could overlook someone: calls that were under way, words that need escaping, what others keep of an
// event.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, MailScript, statuses } from '../support/flow-scene.ts'
import { email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let flow: FlowScene
before(async () => {
  app = await createTestApp()
  flow = new FlowScene(app)
})
after(() => app.close())

const path = (subscriberId: string): string => `/v1/subscribers/${encodeURIComponent(subscriberId)}/erase`
const erase = async (subscriberId: string): Promise<string> => (await flow.expect(202, 'POST', path(subscriberId)))._id
const receiptOf = (id: string): Promise<Json> => flow.expect(200, 'GET', `/v1/erasures/${id}`)

async function erased(subscriberId: string): Promise<Json> {
  const id = await erase(subscriberId)
  await flow.advance(70_000, 5_000)
  const receipt = await receiptOf(id)
  assert.equal(receipt.status, 'completed')
  return receipt
}

test('a trigger that had looked the person up when the erase began is waited for', async () => {
  const name = await flow.workflow([inApp('{{ payload.word }}')])
  await flow.subscribers('hurried')
  const id = await erase('hurried')
  await flow.work()
  // As a call finds the person that began before: it knows their internal id, and writes slightly later.
  const known = sql`environment_id in (select environment_id from erasures) and subscriber_id = 'hurried'`
  assert.equal((await flow.rows(sql`update subscribers set deleted_at = null where ${known} returning 1`)).length, 1)
  await flow.trigger(name, { subscriberId: 'hurried', firstName: 'Hurried-One' }, { payload: { word: 'too-late' } })
  await flow.rows(sql`update subscribers set deleted_at = now() where ${known}`)
  await flow.advance(70_000, 5_000)
  const { status, removed } = await receiptOf(id)
  assert.equal(status, 'completed')
  assert.deepEqual([removed.notifications, removed.events, removed.subscribers], [1, 1, 1])
  assert.deepEqual(await flow.rows(sql`select 1 from events where payload->>'word' = 'too-late'`), [])
})

test('a warning is found whatever the id is made of', async () => {
  const name = await flow.workflow([inApp('Hello')])
  const subscriberId = 'o"neil\\ %_'
  const channels = [{ providerId: 'fcm', integrationIdentifier: 'no-such', credentials: { deviceTokens: ['x'] } }]
  const transactionId = await flow.trigger(name, ['other', { subscriberId, channels }])
  await flow.work()
  const warnings = sql`select warnings from events where transaction_id = ${transactionId}`
  assert.match((await flow.rows(warnings))[0].warnings[0], /^Channels of o"neil/)
  const { removed } = await erased(subscriberId)
  assert.deepEqual(await flow.rows(warnings), [{ warnings: [] }])
  assert.equal(removed.mentionsInEvents, 1)
})

test('the call that took back what was for the person alone goes too, and others stay', async () => {
  const name = await flow.workflow([inApp('Oops')])
  for (const [to, transactionId] of [
    ['taken-back', 'secret-order-of-zoe'],
    [['taken-back', 'also'], 'order-of-two'],
  ] as const) {
    await flow.trigger(name, to, { transactionId })
    await flow.work()
    const reply = await app.call('POST', `/v1/events/${transactionId}/retract`)
    assert.ok([200, 202].includes(reply.status), reply.text)
    await flow.work()
  }
  const kept = sql`select transaction_id from retractions order by transaction_id`
  assert.equal((await flow.rows(kept)).length, 2)
  const { removed } = await erased('taken-back')
  assert.deepEqual(await flow.rows(kept), [{ transaction_id: 'order-of-two' }])
  assert.equal(removed.retractions, 1)
})

test('one that is set going again reports what it removed again', async () => {
  await flow.subscribers('twice-made')
  await flow.topic('of-twice', ['twice-made'])
  const id = await erase('twice-made')
  await flow.rows(sql`update tasks set due_at = null, error = 'broken' where id = ${id}`)
  await flow.subscribers('twice-made')
  await flow.topic('of-twice', ['twice-made'])
  assert.equal((await receiptOf(id)).removed.topicSubscriptions, 1)
  assert.equal((await erased('twice-made')).removed.topicSubscriptions, 2)
})

test('an address that is kept as a hash is not written to by a redrive either', async () => {
  const mail = new MailScript(flow)
  for (const one of await flow.expect(200, 'GET', '/v1/integrations')) {
    if (one.channel === 'email') await flow.expect(200, 'DELETE', `/v1/integrations/${one._id}`)
  }
  await mail.account('one')
  mail.answers('one', 400)
  const address = 'shared@example.org'
  const name = await flow.workflow([email('For you')])
  const failed = await flow.run(name, { subscriberId: 'second', email: address })
  assert.deepEqual(statuses(failed), ['failed'])
  await flow.expect(201, 'POST', '/v2/subscribers', { subscriberId: 'first', email: address })
  await flow.expect(201, 'POST', '/v1/suppressions', { channel: 'email', address })
  await erased('first')
  const [listed] = (await flow.expect(200, 'GET', '/v1/suppressions')).data
  assert.match(listed.address, /^#/)
  mail.asked.length = 0
  mail.answers('one', 202)
  const reply = await app.call('POST', `/v1/notifications/${failed._id}/redrive`)
  assert.deepEqual([reply.status, reply.body.reason], [409, 'suppressed'])
  await flow.work()
  assert.deepEqual(mail.asked, [])
})
