// Trying workflows over the API: what is asked for, what is refused, and what a step would say to someone.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { email, inApp, refusals } from '../support/workflow-scene.ts'

let app: TestApp
let workflow: Json
before(async () => {
  app = await createTestApp()
  const off = inApp('Off', { active: false })
  const steps = [inApp('Hi {{ subscriber.firstName }}, {{ payload.order.id }}'), email('{{ payload.order.id }}'), off]
  workflow = await expect(201, '/v1/workflows', { name: 'Orders', workflowId: 'orders', active: true, steps })
  await expect(201, '/v2/subscribers', { subscriberId: 'ada', email: 'ada@example.org', locale: 'de', data: { n: 7 } })
})
after(() => app.close())

async function expect(status: number, path: string, body: Json): Promise<Json> {
  const reply = await app.call('POST', path, { body })
  assert.equal(reply.status, status, reply.text)
  return reply.body
}
const ask = (body: Json, name = 'orders', more: object = {}): Promise<TestReply> =>
  app.call('POST', `/v1/workflows/${name}/test`, { body, ...more })
const eventOf = (transactionId: string): Promise<TestReply> =>
  app.call('GET', `/v1/notifications?transactionId=${transactionId}`)

test('a test is answered as a trigger is, by the workflow’s id and by its identifier', async () => {
  for (const name of ['orders', workflow._id]) {
    const reply = await ask({ to: 'ada' }, name)
    assert.equal(reply.status, 201, reply.text)
    assert.deepEqual(Object.keys(reply.body).sort(), ['acknowledged', 'status', 'transactionId'])
    assert.deepEqual([reply.body.acknowledged, reply.body.status], [true, 'processed'])
    const { data } = (await eventOf(reply.body.transactionId)).body
    assert.deepEqual([data.length, data[0].isTest, data[0].subscriber.subscriberId], [1, true, 'ada'])
  }
})

test('a payload that is left out is made up by the names that templates use, or by the schema', async () => {
  const named = await ask({ to: 'ada' })
  const [first] = (await eventOf(named.body.transactionId)).body.data
  assert.equal(first.payload.order.id, 'id')
  const schema = { type: 'object', required: ['total'], properties: { total: { type: 'integer', minimum: 3 } } }
  const more = { payloadSchema: schema, validatePayload: true }
  await expect(201, '/v1/workflows', {
    name: 'Sum',
    workflowId: 'sum',
    active: true,
    steps: [inApp('{{ total }}')],
    ...more,
  })
  const described = await ask({ to: 'ada' }, 'sum')
  const [second] = (await eventOf(described.body.transactionId)).body.data
  assert.deepEqual(second.payload, { total: 3 })
  const unfit = await ask({ to: 'ada', payload: { total: 'many' } }, 'sum')
  assert.equal(unfit.status, 422, unfit.text)
  assert.match(unfit.text, /total/)
})

test('someone who is given whole is written first, as by a trigger', async () => {
  const reply = await ask({ to: { subscriberId: 'me', email: 'me@example.org', firstName: 'Me' } })
  assert.equal(reply.status, 201, reply.text)
  const me = await app.call('GET', '/v2/subscribers/me')
  assert.deepEqual([me.body.email, me.body.firstName], ['me@example.org', 'Me'])
})

test('what is not there is 404: the workflow, or someone who is only named', async () => {
  assert.equal((await ask({ to: 'ada' }, 'nothing')).status, 404)
  const unknown = await ask({ to: 'missing' })
  assert.equal(unknown.status, 404)
  assert.match(unknown.body.message, /Subscriber missing was not found/)
  assert.equal((await app.call('GET', '/v2/subscribers/missing')).status, 404)
  assert.equal((await ask({ to: 'ada' }, 'orders', { key: app.productionKey })).status, 404)
})

test('a body that asks for what cannot be is 422, and names it', async () => {
  assert.deepEqual(Object.keys(refusals(await ask({}))), ['to'])
  assert.deepEqual(Object.keys(refusals(await ask({ to: ['ada'] }))), ['to'])
  assert.match(refusals(await ask({ to: { type: 'Topic', topicKey: 't' } }))['to'] ?? '', /one recipient/)
  assert.deepEqual(Object.keys(refusals(await ask({ to: 'ada', steps: [] }))), ['steps'])
  const [, , off] = workflow.steps
  const errors = refusals(await ask({ to: 'ada', steps: [workflow.steps[0]._id, 'nothing', off._id] }))
  assert.deepEqual(errors, {
    'steps.1': 'steps.1 is not a step of this workflow',
    'steps.2': 'steps.2 is switched off',
  })
  assert.deepEqual(Object.keys(refusals(await ask({ to: 'ada', skipDelays: 'soon' }))), ['skipDelays'])
  const bad = await ask({ to: { subscriberId: 'x', email: 'none' } })
  assert.equal(bad.status, 422)
  assert.match(bad.text, /to: .*email/)
})

test('a test with an idempotency key runs once', async () => {
  const more = { headers: { 'idempotency-key': 'once' } }
  const first = await ask({ to: 'ada' }, 'orders', more)
  const second = await ask({ to: 'ada' }, 'orders', more)
  assert.equal(second.headers['idempotency-replay'], 'true')
  assert.deepEqual(second.body, first.body)
})

test('whoever may only trigger or read cannot test: it would run what is switched off, past throttles and quiet hours', async () => {
  for (const [scope, status] of [
    ['full', 201],
    ['trigger', 403],
    ['read', 403],
  ] as const) {
    const { key } = await expect(201, '/v1/environments/api-keys', { name: scope, scopes: [scope] })
    assert.equal((await ask({ to: 'ada' }, 'orders', { key })).status, status)
  }
})

const preview = (body: Json, step = workflow.steps[0].uuid, name = 'orders'): Promise<TestReply> =>
  app.call('POST', `/v1/workflows/${name}/steps/${step}/preview`, { body })

test('a step is shown as someone who is known would see it: their own data, and nothing made up of them', async () => {
  const reply = await preview({ subscriberId: 'ada', payload: { order: { id: 42 } } })
  assert.equal(reply.status, 201, reply.text)
  assert.equal(reply.body.result.preview.body, 'Hi , 42')
  const { subscriber } = reply.body.previewPayloadExample
  assert.deepEqual([subscriber.locale, subscriber.data, subscriber.firstName], ['de', { n: 7 }, null])
})

test('a step is shown to someone who is given, in the language that is theirs', async () => {
  const steps = [{ template: { type: 'sms', content: "{{ 'hi' | t }} {{ subscriber.firstName }}" } }]
  await expect(201, '/v1/workflows', { name: 'Hello', workflowId: 'hello', active: true, steps })
  for (const [locale, hi] of [
    ['de', 'Hallo'],
    ['en', 'Hello'],
  ]) {
    assert.equal((await app.call('PUT', `/v1/translations/${locale}`, { body: { texts: { hi } } })).status, 200)
  }
  const made = (await app.call('GET', '/v1/workflows/hello')).body.steps[0]
  const given = await preview({ subscriber: { firstName: 'Bo', locale: 'en' } }, made._id, 'hello')
  assert.equal(given.body.result.preview.body, 'Hello Bo')
  const known = await preview({ subscriberId: 'ada' }, made._id, 'hello')
  assert.equal(known.body.result.preview.body, 'Hallo')
})

test('a preview of what is not there is 404, and one that asks for two people is 422', async () => {
  assert.equal((await preview({}, 'nothing')).status, 404)
  assert.equal((await preview({}, workflow.steps[0].uuid, 'nothing')).status, 404)
  assert.equal((await preview({ subscriberId: 'missing' })).status, 404)
  assert.deepEqual(Object.keys(refusals(await preview({ subscriberId: 'ada', subscriber: {} }))), ['subscriber'])
  assert.deepEqual(Object.keys(refusals(await preview({ payload: [] }))), ['payload'])
})

test('a payload that makes a step fail is refused under the name it has here', async () => {
  const steps = [{ template: { type: 'delay' }, metadata: { type: 'scheduled', delayPath: 'at' } }]
  await expect(201, '/v1/workflows', { name: 'Late', workflowId: 'late', active: true, steps })
  const made = (await app.call('GET', '/v1/workflows/late')).body.steps[0]
  assert.deepEqual(Object.keys(refusals(await preview({ payload: { at: 'never' } }, made._id, 'late'))), ['payload'])
})
