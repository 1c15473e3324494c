// Conditions over the API: every kind is taken and shown again where clients of the interface can read it; mistakes are
// reported.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Novu } from '@novu/api'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { create, inApp, refused } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let novu: Novu
before(async () => {
  app = await createTestApp({ vendor: 'novu' })
  scene = new FlowScene(app)
  const serverURL = await app.app.listen({ port: 0, host: '127.0.0.1' })
  novu = new Novu({ secretKey: app.developmentKey, serverURL, retryConfig: { strategy: 'none' } })
})
after(() => app.close())

const onPayload = { on: 'payload', field: 'plan', operator: 'EQUAL', value: 'gold' }
const onSubscriber = { on: 'subscriber', field: 'data.age', operator: 'LARGER', value: '17' }
const others: Json[] = [
  { on: 'tenant', field: 'data.plan', operator: 'IN', value: 'gold, silver' },
  { on: 'webhook', webhookUrl: 'https://rules.example.com/', field: 'ok', operator: 'EQUAL', value: 'true' },
  { on: 'isOnline', value: false },
  { on: 'isOnlineInLast', value: 5, timeOperator: 'hours' },
  { on: 'previousStep', step: 'first', stepType: 'unread' },
]
const group = (children: Json[], more: object = {}) => ({
  isNegated: false,
  type: 'GROUP',
  value: 'OR',
  children,
  ...more,
})
const first = () => inApp('First', { uuid: 'first' })
/** Refused as the conditions of a second step. */
const wrong = (...filters: Json[]) => refused(app, { name: 'x', steps: [first(), inApp('x', { filters })] })

test('every kind is taken among the children, and shown where clients can read it; what was shown is taken as well', async () => {
  const children = [others[0], onPayload, ...others.slice(1), onSubscriber].map((one) => ({ ...one, unknown: 1 }))
  const made = await create(app, { name: 'x', steps: [first(), inApp('x', { filters: [group(children)] })] })
  const shown = [group([onPayload, onSubscriber], { moreChildren: others })]
  assert.deepEqual(made.steps[1].filters, shown)
  const again = await scene.expect(200, 'PUT', `/v1/workflows/${made._id}`, { name: 'x', steps: made.steps })
  assert.deepEqual(again.steps[1].filters, shown)
  const read = await scene.expect(200, 'GET', `/v1/workflows/${made._id}`)
  assert.deepEqual(read.steps[1].filters, shown)
})

test('without another kind there is no other list', async () => {
  const made = await create(app, { name: 'x', steps: [inApp('x', { filters: [group([onPayload])] })] })
  assert.deepEqual(made.steps[0].filters, [group([onPayload])])
})

test('what a kind needs and does not have is reported by its place, in either list', async () => {
  const errors = await wrong(
    group([{ on: 'payload' }, { on: 'webhook', webhookUrl: 'https://a.example.com/' }, { on: 'isOnline' }]),
    group([], { moreChildren: [{ on: 'isOnlineInLast' }, { on: 'previousStep' }] }),
  )
  const place = 'steps.1.filters'
  assert.deepEqual(Object.keys(errors).sort(), [
    `${place}.0.children.0.field`,
    `${place}.0.children.0.operator`,
    `${place}.0.children.0.value`,
    `${place}.0.children.1.field`,
    `${place}.0.children.1.operator`,
    `${place}.0.children.1.value`,
    `${place}.0.children.2.value`,
    `${place}.1.moreChildren.0.timeOperator`,
    `${place}.1.moreChildren.0.value`,
    `${place}.1.moreChildren.1.step`,
    `${place}.1.moreChildren.1.stepType`,
  ])
})

test('values that a kind cannot have are reported', async () => {
  const bad: readonly [Json, string][] = [
    [{ ...onPayload, value: 5 }, 'value'],
    [{ ...onPayload, value: '{{ a' }, 'value'],
    [{ on: 'isOnline', value: 'true' }, 'value'],
    [{ on: 'isOnlineInLast', value: 0, timeOperator: 'hours' }, 'value'],
    [{ on: 'isOnlineInLast', value: '5', timeOperator: 'hours' }, 'value'],
    [{ on: 'isOnlineInLast', value: 5, timeOperator: 'years' }, 'timeOperator'],
    [{ on: 'previousStep', step: 'first', stepType: 'eaten' }, 'stepType'],
    [{ ...others[1], webhookUrl: 'ftp://a.example.com/' }, 'webhookUrl'],
    [{ ...others[1], webhookUrl: 'http://169.254.169.254/latest' }, 'webhookUrl'],
    [{ ...others[1], webhookUrl: 'https://user:word@a.example.com/' }, 'webhookUrl'],
    [{ ...others[1], webhookUrl: `https://a.example.com/${'x'.repeat(2048)}` }, 'webhookUrl'],
  ]
  for (const [child, member] of bad) {
    const paths = Object.keys(await wrong(group([child])))
    assert.deepEqual(paths, [`steps.1.filters.0.children.0.${member}`], JSON.stringify(child))
  }
})

test('an earlier step is named by its uuid, its id or its name; others cannot be asked for', async () => {
  const on = (step: string) => ({ filters: [group([{ on: 'previousStep', step, stepType: 'read' }])] })
  const steps = [inApp('1', { uuid: 'one', name: 'The first' }), inApp('2', on('one')), inApp('3', on('the-first'))]
  const made = await create(app, { name: 'x', steps })
  const byId = [...made.steps, inApp('4', { _parentId: made.steps[2]._id, ...on(made.steps[0]._id) })]
  await scene.expect(200, 'PUT', `/v1/workflows/${made._id}`, { name: 'x', steps: byId })
  const variants = [inApp('y', on('gone'))]
  const errors = await refused(app, {
    name: 'x',
    steps: [inApp('1', on('two')), inApp('2', { uuid: 'two', ...on('two') }), inApp('3', { ...on('gone'), variants })],
  })
  const child = 'filters.0.children.0.step'
  assert.deepEqual(Object.keys(errors).sort(), [
    `steps.0.${child}`,
    `steps.1.${child}`,
    `steps.2.${child}`,
    `steps.2.variants.0.${child}`,
  ])
})

test('a step may ask five addresses, and not six', async () => {
  const asks = (count: number) => [
    group(
      Array.from({ length: count }, (_, index) => ({ ...others[1], webhookUrl: `https://a${index}.example.com/` })),
    ),
  ]
  await create(app, { name: 'x', steps: [inApp('x', { filters: asks(5) })] })
  assert.deepEqual(Object.keys(await wrong(...asks(6))), ['steps.1.filters'])
})

test('a rule with an unknown operator is refused by its place', async () => {
  const skip = { and: [{ '==': [1, 1] }, { soundsLike: ['a', 'b'] }] }
  const errors = await refused(app, { name: 'x', steps: [inApp('x', { skip })] })
  assert.deepEqual(Object.keys(errors), ['steps.0.skip.and.1.soundsLike'])
})

test('an integration has conditions on fields alone, the tenant’s among them', async () => {
  const mail = (conditions: Json[]) => ({ providerId: 'sendgrid', channel: 'email', name: fresh('mail'), conditions })
  const made = await scene.expect(201, 'POST', '/v1/integrations', mail([group([others[0], onPayload])]))
  assert.deepEqual(made.conditions, [group([onPayload], { moreChildren: [others[0]] })])
  const changed = await scene.expect(200, 'PUT', `/v1/integrations/${made._id}`, { conditions: made.conditions })
  assert.deepEqual(changed.conditions, made.conditions)
  const reply = await app.call('POST', '/v1/integrations', { body: mail([group(others.slice(1, 3))]) })
  assert.equal(reply.status, 422, reply.text)
  assert.ok('conditions.0.children.0.on' in reply.body.errors, reply.text)
})

test('the public client reads integrations and activities whose conditions it does not know', async () => {
  const { result: integrations } = await novu.integrations.list()
  const tenantOnly = integrations.find(({ conditions }) => conditions?.length === 1)
  assert.deepEqual(tenantOnly?.conditions?.[0]?.children, [onPayload])
  const workflow = await scene.workflow([first(), inApp('x', { filters: [group(others.slice(2))] })])
  const { _id } = await scene.run(workflow, fresh('person'))
  const { result } = await novu.notifications.retrieve(_id)
  assert.deepEqual(result.jobs?.[1]?.step.filters?.[0]?.children, [])
  const raw = await scene.expect(200, 'GET', `/v1/notifications/${_id}`)
  assert.deepEqual(raw.jobs[1].step.filters[0].moreChildren, others.slice(2))
})
