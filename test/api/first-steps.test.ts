// What newcomers meet first: misspelt names, names that are taken, repeats, an empty change, and the address itself.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { create, inApp, refusals } from '../support/workflow-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp({ docs: 'on' })
  await create(app, { name: 'Order shipped', workflowId: 'order-shipped', active: true, steps: [inApp()] })
})
after(() => app.close())

const trigger = (body: Json): Promise<TestReply> => app.call('POST', '/v1/events/trigger', { body })
const bulk = (events: Json): Promise<TestReply> => app.call('POST', '/v1/events/trigger/bulk', { body: { events } })

test('an unknown workflow names itself and the nearest', async () => {
  const { status, body } = await trigger({ name: 'order-shiped', to: 'ann' })
  assert.equal(status, 422)
  assert.deepEqual(body.errors.event.messages, [
    'workflow_not_found',
    'there is no workflow order-shiped in this environment; did you mean order-shipped?',
  ])
  const far = await bulk([{ name: 'something-else', to: 'ann' }])
  assert.deepEqual(far.body[0].error, ['workflow_not_found', 'there is no workflow something-else in this environment'])
})

test('a topic without a type is understood, and a topic key says which characters are allowed', async () => {
  assert.equal((await trigger({ name: 'order-shipped', to: { topicKey: 'news' } })).body.status, 'processed')
  const words = 'must be 1 to 100 letters, digits, hyphens, underscores or colons, or a valid email address'
  const refused = await trigger({ name: 'order-shipped', to: { topicKey: 'my news' } })
  assert.deepEqual(refused.body.errors.event.messages, [`to: topicKey ${words}`])
  const made = await app.call('POST', '/v2/topics', { body: { key: 'my news' } })
  assert.equal(refusals(made)['key'], `key ${words}`)
})

test('a repeated transactionId is answered as the first time, and says that it was a repeat', async () => {
  const event = { name: 'order-shipped', to: 'ann', transactionId: 'once' }
  const first = await trigger(event)
  assert.equal(first.headers['idempotency-replay'], undefined)
  const again = await trigger(event)
  assert.deepEqual(again.body, first.body)
  assert.equal(again.headers['idempotency-replay'], 'true')
  const all = await bulk([event, event])
  assert.equal(all.headers['idempotency-replay'], 'true')
  const fresh = { ...event, transactionId: 'fresh' }
  const some = await bulk([fresh, event, fresh, { ...event, transactionId: undefined }])
  assert.equal(some.headers['idempotency-replay'], undefined)
  assert.equal(
    some.headers['posthorn-warnings'],
    'repeated;path="events.1.transactionId", repeated;path="events.2.transactionId"',
  )
  assert.deepEqual(new Set(some.body.map(({ status }: Json) => status)), new Set(['processed']))
})

test('of calls that race with one transactionId one runs, and the others say that they are repeats', async () => {
  const event = { name: 'order-shipped', to: 'ann', transactionId: 'raced' }
  const replies = await Promise.all(Array.from({ length: 5 }, () => trigger(event)))
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([201]))
  assert.equal(replies.filter(({ headers }) => headers['idempotency-replay'] === 'true').length, 4)
})

test('an identifier that is taken is a 409 in both APIs; a name that is taken gets a suffix, and a warning', async () => {
  const steps = [inApp()]
  for (const member of ['workflowId', 'identifier']) {
    const body = { name: 'Another', [member]: 'order-shipped', steps }
    assert.equal((await app.call('POST', '/v1/workflows', { body })).status, 409, member)
  }
  const v2 = { name: 'Another', workflowId: 'order-shipped', steps: [] }
  assert.equal((await app.call('POST', '/v2/workflows', { body: v2 })).status, 409)
  const named = await app.call('POST', '/v1/workflows', { body: { name: 'Order shipped', steps } })
  assert.equal(named.status, 201)
  const { identifier } = named.body.triggers[0]
  assert.match(identifier, /^order-shipped-[0-9a-f]{8}$/)
  assert.equal(named.headers['posthorn-warnings'], `name-taken;name="order-shipped";used="${identifier}"`)
})

test('suggestions stay within the channel', async () => {
  const refused = async (body: Json): Promise<string | undefined> =>
    refusals(await app.call('POST', '/v1/integrations', { body }))['providerId']
  assert.match((await refused({ providerId: 'sendgird', channel: 'email' })) ?? '', /did you mean sendgrid/)
  assert.equal(await refused({ providerId: 'twillio', channel: 'email' }), 'providerId is unknown')
  assert.equal(
    await refused({ providerId: 'twilio', channel: 'email' }),
    'providerId is a provider of the channel sms, not email: set channel to sms',
  )
  const redrive = await app.call('POST', '/v1/redrives', {
    body: { filter: { providerId: 'twillio', channel: 'email' } },
  })
  assert.equal(refusals(redrive)['filter.providerId'], 'Unknown provider twillio')
})

test('an update of an integration without a change answers with the integration as it is; check asks the provider', async () => {
  const [{ _id }] = (await app.call('GET', '/v1/integrations')).body
  const before = await app.call('GET', `/v1/integrations/${_id}`)
  for (const body of [{}, { check: false }, { check: true }]) {
    const reply = await app.call('PUT', `/v1/integrations/${_id}`, { body })
    assert.equal(reply.status, 200, JSON.stringify(body))
    assert.deepEqual(reply.body, before.body)
  }
})

test('GET / leads somewhere', async () => {
  const program = await app.call('GET', '/', { key: null })
  assert.equal(program.status, 200)
  assert.deepEqual(program.body, {
    ...{ name: 'Posthorn', docs: '/docs', openapi: '/openapi.json', health: '/health', ready: '/ready' },
  })
  const browser = await app.call('GET', '/', { key: null, headers: { accept: 'text/html' } })
  assert.equal(browser.status, 302)
  assert.equal(browser.headers['location'], '/docs')
})
