// Conditions that ask the customer's own service: signed, only where it matters, tried again, and given up in the end.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import type { OutboundOptions } from '../../src/world/world.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, rawOf, reported, statuses } from '../support/flow-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
interface Asked {
  readonly url: string
  readonly body: Json
  readonly text: string
  readonly headers: Headers
  readonly options: OutboundOptions
}
const asked: Asked[] = []
/** What is answered next; the last one from then on. */
let answers: (Json | number | OutboundError)[] = []

before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  app.world.onFetch = async (request, options) => {
    const text = await request.text()
    asked.push({ url: request.url, text, body: JSON.parse(text), headers: request.headers, options })
    const answer = answers.length > 1 ? answers.shift() : answers[0]
    if (answer instanceof OutboundError) throw answer
    const [status, body] = typeof answer === 'number' ? [answer, ''] : [200, JSON.stringify(answer)]
    return { status, headers: new Headers(), body }
  }
})
after(() => app.close())
beforeEach(() => {
  asked.length = 0
  answers = [{ data: { allowed: 'yes' } }]
})

const retried = 'Webhook filter failed, retry will be executed'
const failed = 'Failed to get response from remote webhook filter on last retry'
const webhook = (more: object = {}) => ({
  on: 'webhook',
  webhookUrl: 'https://rules.example.com/secret-path',
  field: 'data.allowed',
  operator: 'EQUAL',
  value: '{{ payload.wanted }}',
  ...more,
})
const onPlan = (value: string) => ({ on: 'payload', field: 'plan', operator: 'EQUAL', value })
const group = (children: Json[], more: object = {}) => ({
  isNegated: false,
  type: 'GROUP',
  value: 'AND',
  children,
  ...more,
})
const payload = { wanted: 'yes', plan: 'gold' }
const run = (workflow: string) => scene.run(workflow, { subscriberId: fresh('person'), firstName: 'Ada' }, { payload })

test('the service gets the subscriber and the payload, signed, and its response decides', async () => {
  const workflow = await scene.workflow([inApp('Hello', { filters: [group([webhook()])] })])
  assert.deepEqual(statuses(await run(workflow)), ['completed'])
  const [call] = asked
  assert.equal(call?.url, 'https://rules.example.com/secret-path')
  assert.deepEqual(Object.keys(call?.body).sort(), ['channel', 'identifier', 'payload', 'subscriber'])
  assert.deepEqual([call?.body.identifier, call?.body.channel, call?.body.payload], [workflow, 'in_app', payload])
  assert.equal(call?.body.subscriber.firstName, 'Ada')
  assert.deepEqual(call?.options, { timeoutMs: 5_000 })
  const { signingSecret } = await scene.expect(200, 'GET', '/v1/environments/me')
  const [, seconds, signature] = /^t=(\d+),v1=(\w+)$/.exec(call?.headers.get('x-posthorn-signature') ?? '') ?? []
  const expected = createHmac('sha256', signingSecret).update(`${seconds}.${call?.text}`).digest('hex')
  assert.equal(signature, expected)

  answers = [{ data: { allowed: 'no' } }]
  const refused = await run(workflow)
  assert.deepEqual(statuses(refused), ['skipped'])
  assert.deepEqual(rawOf(refused.jobs[0], 'Step was skipped based on steps conditions').filter.conditions, [
    { filter: 'Webhook', field: 'data.allowed', expected: 'yes', actual: 'no', operator: 'EQUAL', passed: false },
  ])
})

test('no one is asked where the other conditions decide, and each address once', async () => {
  const decided = [
    [group([webhook(), onPlan('tin')])],
    [group([webhook(), onPlan('gold')], { value: 'OR' })],
    [group([webhook()]), group([onPlan('gold')])],
  ]
  for (const [filters, status] of decided.map((one, index) => [one, index === 0 ? 'skipped' : 'completed'] as const)) {
    assert.deepEqual(statuses(await run(await scene.workflow([inApp('x', { filters })]))), [status])
  }
  assert.equal(asked.length, 0)
  const twice = [group([webhook(), webhook({ field: 'data.gone', operator: 'NOT_EQUAL' })])]
  assert.deepEqual(statuses(await run(await scene.workflow([inApp('x', { filters: twice })]))), ['completed'])
  assert.equal(asked.length, 1)
})

test('a service that fails is asked again later, three times in all, and what it says then counts', async () => {
  answers = [503, new OutboundError('unsure', 'rules.example.com did not answer'), { data: { allowed: 'yes' } }]
  const workflow = await scene.workflow([inApp('Hello', { filters: [group([webhook()])] })])
  const begun = await run(workflow)
  assert.deepEqual([statuses(begun), asked.length], [['queued'], 1])
  assert.deepEqual(reported(begun.jobs[0]).at(-1), [retried, 'Pending'])
  const detail = begun.jobs[0].executionDetails.at(-1)
  assert.deepEqual([detail.source, detail.isRetry], ['Webhook', true])
  assert.equal(JSON.parse(detail.raw).message, 'rules.example.com answered 503')
  await scene.advance(1_000)
  assert.equal(asked.length, 2)
  await scene.advance(1_000)
  assert.equal(asked.length, 2)
  await scene.advance(1_000)
  const ended = await scene.notification(begun.transactionId)
  assert.deepEqual([statuses(ended), asked.length], [['completed'], 3])
})

test('after the last try the step fails, and the next one runs', async () => {
  answers = [new OutboundError('not-sent', 'Could not connect to rules.example.com')]
  const workflow = await scene.workflow([inApp('One', { filters: [group([webhook()])] }), inApp('Two')])
  const { transactionId } = await run(workflow)
  await scene.advance(10_000, 1_000)
  const ended = await scene.notification(transactionId)
  assert.deepEqual([statuses(ended), asked.length], [['failed', 'completed'], 3])
  const details = reported(ended.jobs[0]).map(([detail]) => detail)
  assert.deepEqual(details.slice(1), [retried, retried, failed])
  assert.equal(ended.jobs[0].executionDetails.at(-1).source, 'Webhook')
})

test('a private address, a refusal, and an answer that is no object fail at once', async () => {
  const workflow = await scene.workflow([inApp('One', { filters: [group([webhook()])] })])
  const final: [Json | number | OutboundError, RegExp][] = [
    [new OutboundError('refused-address', 'rules.example.com is a private address'), /private address/],
    [404, /answered 404/],
    [['a list'], /JSON object/],
  ]
  for (const [answer, words] of final) {
    answers = [answer]
    asked.length = 0
    const ended = await run(workflow)
    assert.deepEqual([statuses(ended), asked.length], [['failed'], 1])
    const raw = rawOf(ended.jobs[0], failed)
    assert.match(raw.message, words)
    assert.doesNotMatch(JSON.stringify(raw), /secret-path/)
  }
})

test('a silent service does not matter where another answer decides', async () => {
  answers = [503, { data: { allowed: 'no' } }]
  const other = webhook({ webhookUrl: 'https://other.example.com/' })
  const workflow = await scene.workflow([inApp('One', { filters: [group([webhook(), other])] })])
  assert.deepEqual([statuses(await run(workflow)), asked.length], [['skipped'], 2])
})

test('a variant is chosen by what the service answers, and jobs that ask hold up no one else', async () => {
  const variants = [inApp('Allowed', { filters: [group([webhook()])] })]
  const asking = await scene.workflow([inApp('Usual', { variants })])
  const plain = await scene.workflow([inApp('Plain')])
  const person = fresh('person')
  const order: string[] = []
  const events = [asking, plain, asking].map((name) => ({ name, to: person, payload }))
  const results = await scene.results(events)
  assert.deepEqual(
    results.map(({ status }) => status),
    ['processed', 'processed', 'processed'],
  )
  const answer = app.world.onFetch
  app.world.onFetch = async (request, options) => {
    order.push(...(await scene.texts(person)))
    return (await answer?.(request, options)) ?? assert.fail()
  }
  await scene.work()
  app.world.onFetch = answer
  assert.deepEqual(order[0], 'Plain')
  assert.deepEqual((await scene.texts(person)).sort(), ['Allowed', 'Allowed', 'Plain'])
})

test('many that ask are asked in turns, and whoever waits too long comes back', async () => {
  const workflow = await scene.workflow([inApp('Hello', { filters: [group([webhook()])] })])
  const answer = app.world.onFetch
  let [open, most] = [0, 0]
  app.world.onFetch = async (request, options) => {
    open += 1
    most = Math.max(most, open)
    await new Promise(setImmediate)
    // The first ones take so long that the others must not wait for them.
    if (asked.length === 0) app.world.advance(25_000)
    open -= 1
    return (await answer?.(request, options)) ?? assert.fail()
  }
  const events = Array.from({ length: 60 }, (_, index) => ({ name: workflow, to: `asker-${index}`, payload }))
  const results = await scene.results(events)
  await scene.work()
  assert.deepEqual([most, asked.length], [20, 20])
  await scene.advance(500)
  app.world.onFetch = answer
  assert.deepEqual([most, asked.length], [20, 60])
  for (const { transactionId } of results.slice(-3)) {
    assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed'])
  }
})
