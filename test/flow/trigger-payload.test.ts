// Triggers: the payload and its schema, tenants, contexts, severity.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, reported } from '../support/flow-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let hello: string
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  hello = await scene.workflow([inApp('Hello')])
})
after(() => app.close())

const payloadSchema = {
  type: 'object',
  properties: { orderId: { type: 'integer' }, currency: { type: 'string', default: 'EUR' } },
  required: ['orderId'],
}

test('a payload that does not fit the schema is an error that says why, and nothing runs', async () => {
  const order = await scene.workflow([inApp('{{ payload.orderId }}')], { payloadSchema })
  const person = fresh('person')
  const events = [{}, { orderId: 'seven' }, { orderId: 7 }].map((payload) => ({ name: order, to: person, payload }))
  const results = await scene.results(events)
  assert.deepEqual(
    results.map((result) => result.status),
    ['error', 'error', 'processed'],
  )
  assert.match(results[0].error.join(), /orderId/)
  assert.match(results[1].error.join(), /orderId/)
  await scene.work()
  assert.deepEqual(await scene.texts(person), ['7'])
  const single = await scene.single({ name: order, to: person, payload: {} })
  assert.equal(single.status, 422)
  assert.match(single.text, /orderId/)
})

test('the schema’s defaults are filled in, and stored with the event', async () => {
  const order = await scene.workflow([inApp('{{ payload.orderId }} {{ payload.currency }}')], { payloadSchema })
  const person = fresh('person')
  const notification = await scene.run(order, person, { payload: { orderId: 7 } })
  assert.deepEqual(notification.payload, { orderId: 7, currency: 'EUR' })
  await scene.run(order, person, { payload: { orderId: 8, currency: 'USD' } })
  assert.deepEqual(await scene.texts(person), ['8 USD', '7 EUR'])
})

const withVariables = (variables: object[], content: string) => ({ template: { type: 'in_app', content, variables } })

test('variables of templates are filled in by default, and missed where they are required', async () => {
  const variables = [
    { name: 'greeting', type: 'String', defaultValue: 'Hello' },
    { name: 'name', type: 'String', required: true },
    { name: 'both', type: 'Boolean', required: true, defaultValue: false },
  ]
  const workflow = await scene.workflow([withVariables(variables, '{{ greeting }} {{ name }} {{ both }}')])
  const person = fresh('person')
  const [missing, fine] = await scene.results([
    { name: workflow, to: person },
    { name: workflow, to: person, payload: { name: 'Ada' } },
  ])
  assert.equal(missing.status, 'error')
  assert.deepEqual(missing.error, ['payload is missing name (String)'])
  assert.equal(fine.status, 'processed')
  await scene.trigger(workflow, person, { payload: { name: 'Bob', greeting: 'Bye', both: true } })
  await scene.work()
  assert.deepEqual((await scene.texts(person)).sort(), ['Bye Bob true', 'Hello Ada false'])
})

test('a declared name with dots is a path: found, filled and missed there', async () => {
  const variables = [
    { name: 'order.id', type: 'String', required: true },
    { name: 'order.currency', type: 'String', defaultValue: 'EUR' },
    { name: 'order.items', type: 'Array', required: true, defaultValue: [] },
  ]
  const workflow = await scene.workflow([withVariables(variables, '{{ order.id }} {{ order.currency }}')])
  const person = fresh('person')
  const trigger = { name: workflow, to: person }
  const [fine, missing, flat, unfit] = await scene.results([
    { ...trigger, payload: { order: { id: 7 } } },
    { ...trigger, payload: { order: {} } },
    { ...trigger, payload: { 'order.id': 7 } },
    { ...trigger, payload: { order: { id: 7, items: 'none' } } },
  ])
  assert.equal(fine.status, 'processed', fine.error)
  assert.deepEqual([missing.status, missing.error], ['error', ['payload is missing order.id (String)']])
  assert.deepEqual(flat.error, missing.error)
  assert.deepEqual(unfit.error, ['payload.order.items must be an array'])
  await scene.work()
  assert.deepEqual(await scene.texts(person), ['7 EUR'])
  const { payload } = await scene.notification(fine.transactionId)
  assert.deepEqual(payload, { order: { id: 7, currency: 'EUR', items: [] } })
})

test('files count apart from the event, which stays small without them', async () => {
  const [person, file] = [fresh('person'), { file: Buffer.from('Hello').toString('base64'), name: 'hello.txt' }]
  const [small, large, empty] = await scene.results([
    { name: hello, to: person, payload: { attachments: [file] } },
    { name: hello, to: person, payload: { attachments: [{ ...file, file: 'A'.repeat(1024 * 1024) }] } },
    { name: hello, to: person, payload: { attachments: [] } },
  ])
  assert.deepEqual([small.status, large.status, empty.status], ['processed', 'processed', 'processed'])
  await scene.work()
  assert.equal((await scene.feed(person)).length, 3)
})

test('without a payload and overrides there are empty ones', async () => {
  const notification = await scene.run(hello, fresh('person'))
  assert.deepEqual(notification.payload, {})
  assert.deepEqual(notification.jobs[0].overrides, {})
})

test('templates see the payload, at the top level too, where no root has the name', async () => {
  const workflow = await scene.workflow([inApp('{{ payload.x }}{{ x }} {{ subscriber.firstName }}')])
  const subscriberId = fresh('person')
  const payload = { x: 1, subscriber: { firstName: 'Mallory' } }
  await scene.run(workflow, { subscriberId, firstName: 'Ada' }, { payload })
  assert.deepEqual(await scene.texts(subscriberId), ['11 Ada'])
})

test('a tenant is named by text or as an object, which changes it', async () => {
  const workflow = await scene.workflow([inApp('{{ tenant.identifier }} {{ tenant.name }} {{ tenant.data.plan }}')])
  const [identifier, person] = [fresh('tenant'), fresh('person')]
  await scene.expect(201, 'POST', '/v1/tenants', { identifier, name: 'Old', data: { plan: 'free' } })
  await scene.run(workflow, person, { tenant: identifier })
  await scene.run(workflow, person, { tenant: { identifier, name: 'New' } })
  await scene.run(workflow, person, { tenant: { identifier, data: { plan: 'paid' } } })
  assert.deepEqual(await scene.texts(person), [
    `${identifier} New paid`,
    `${identifier} New free`,
    `${identifier} Old free`,
  ])
  const { name, data } = await scene.expect(200, 'GET', `/v1/tenants/${identifier}`)
  assert.deepEqual([name, data], ['New', { plan: 'paid' }])
})

test('several events of a call change their tenants, each what it gives; the last of two for one thing counts', async () => {
  const [one, other, gone] = [fresh('tenant'), fresh('tenant'), fresh('tenant')]
  for (const identifier of [one, other]) {
    await scene.expect(201, 'POST', '/v1/tenants', { identifier, name: 'Old', data: { plan: 'free' } })
  }
  const tenants = [
    { identifier: other, name: 'First' },
    { identifier: one, name: 'New' },
    { identifier: one, data: { plan: 'paid' } },
    { identifier: other, name: 'Last' },
    { identifier: gone, name: 'Nobody' },
    one,
  ]
  const results = await scene.results(tenants.map((tenant) => ({ name: hello, to: fresh('person'), tenant })))
  assert.deepEqual(
    results.map((result) => result.status),
    ['processed', 'processed', 'processed', 'processed', 'no_tenant_found', 'processed'],
  )
  const reported = async (identifier: string) => {
    const { name, data } = await scene.expect(200, 'GET', `/v1/tenants/${identifier}`)
    return [name, data]
  }
  assert.deepEqual(await reported(one), ['New', { plan: 'paid' }])
  assert.deepEqual(await reported(other), ['Last', { plan: 'free' }])
  await scene.expect(404, 'GET', `/v1/tenants/${gone}`)
})

test('the job of an event with a tenant says so', async () => {
  const identifier = fresh('tenant')
  await scene.expect(201, 'POST', '/v1/tenants', { identifier, name: 'Tenant' })
  const { jobs } = await scene.run(hello, fresh('person'), { tenant: identifier })
  assert.deepEqual(reported(jobs[0]), [
    ['Step queued', 'Pending'],
    ['Tenant context selected', 'Pending'],
    ['Message created', 'Pending'],
    ['Message sent', 'Success'],
  ])
})

test('a tenant that an event does not run for is not changed by it', async () => {
  const identifier = fresh('tenant')
  await scene.expect(201, 'POST', '/v1/tenants', { identifier, name: 'Old' })
  const [refused] = await scene.results([{ name: hello, to: [], tenant: { identifier, name: 'New' } }])
  assert.equal(refused.status, 'invalid_recipients')
  assert.equal((await scene.expect(200, 'GET', `/v1/tenants/${identifier}`)).name, 'Old')
})

test('contexts are kept as sorted keys, found or made, and a trigger does not change their data', async () => {
  const workflow = await scene.workflow([inApp('{{ context.project.id }} {{ context.project.data.title }}')])
  const [id, person] = [fresh('project'), fresh('person')]
  const first = await scene.run(workflow, person, {
    context: { project: { id, data: { title: 'Moon' } }, app: 'web' },
  })
  assert.deepEqual(first.contextKeys, ['app:web', `project:${id}`])
  await scene.run(workflow, person, { context: { project: { id, data: { title: 'Mars' } } } })
  assert.deepEqual(await scene.texts(person), [`${id} Moon`, `${id} Moon`])
  const [message] = await scene.messages(first.transactionId)
  assert.deepEqual(message.contextKeys, ['app:web', `project:${id}`])
})

test('an event without a context has none', async () => {
  const notification = await scene.run(hello, fresh('person'))
  assert.deepEqual(notification.contextKeys, [])
})

test('the severity is the workflow’s, and the event’s where it says one', async () => {
  const workflow = await scene.workflow([inApp('Hello')], { severity: 'medium' })
  const usual = await scene.run(workflow, fresh('person'))
  const severe = await scene.run(workflow, fresh('person'), { overrides: { severity: 'high' } })
  const unknown = await scene.run(workflow, fresh('person'), { overrides: { severity: 'huge' } })
  assert.deepEqual([usual.severity, severe.severity, unknown.severity], ['medium', 'high', 'medium'])
  assert.deepEqual(reported(severe.jobs[0])[1], ['Severity for the message was overridden', 'Pending'])
  assert.deepEqual(reported(usual.jobs[0])[1], ['Message created', 'Pending'])
})
