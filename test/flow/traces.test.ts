// Traces: spans from the trigger to the provider, handed to a collector, and nothing of it where no one asks.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { createOtlpExport, stopWithinMs } from '../../src/world/otlp-export.ts'
import type { Sampler, Tracer } from '../../src/world/tracer.ts'
import { createTracer } from '../../src/world/tracer.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { Collector } from '../support/collector.ts'
import { FlowScene, fresh, MailScript } from '../support/flow-scene.ts'
import { delay, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let mail: MailScript
let endpoint: string
const collector = new Collector()
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  mail = new MailScript(scene)
  endpoint = await collector.start()
})
after(async () => {
  await collector.stop()
  await app.close()
})
beforeEach(async () => {
  app.world.tracer = undefined
  await mail.clear()
  await mail.account('good')
  collector.clear()
})

function traced(sampler: Sampler = 'parentbased_always_on', ratio = 1): Tracer {
  const sink = createOtlpExport({
    endpoint,
    headers: { 'x-team': 'blue' },
    serviceName: 'notify',
    log: app.world.log,
    stopWithinMs,
  })
  app.world.tracer = createTracer({ sink, sampler, ratio })
  return app.world.tracer
}
const newSubscriber = () => ({ subscriberId: fresh('person'), email: `${fresh('person')}@example.org` })
const storedTraces = async (transactionId: string) =>
  (await scene.rows(sql`select traceparent from events where transaction_id = ${transactionId}`))[0]?.traceparent

test('a trace continues from the trigger to the provider, each span below the one that led to it', async () => {
  const tracer = traced()
  const workflow = await scene.workflow([inApp('Bell'), email('Mail')])
  const transactionId = await scene.trigger(workflow, newSubscriber())
  await scene.work()
  await tracer.flush()
  const accept = collector.span('POST /v1/events/trigger')
  assert.deepEqual(
    [accept.parentSpanId, accept.kind, accept.attributes['http.response.status_code']],
    [undefined, 2, 201],
  )
  assert.equal(await storedTraces(transactionId), `00-${accept.traceId}-${accept.spanId}-01`)
  const [bell, decided] = [collector.span('decide in_app'), collector.span('decide email')]
  assert.deepEqual([bell.parentSpanId, decided.parentSpanId], [accept.spanId, accept.spanId])
  assert.deepEqual(
    [
      bell.attributes['posthorn.decision'],
      decided.attributes['posthorn.decision'],
      bell.attributes['posthorn.workflow'],
    ],
    ['completed', 'send', workflow],
  )
  const call = collector.span('send email')
  assert.deepEqual([call.parentSpanId, call.kind, call.status], [decided.spanId, 3, undefined])
  assert.deepEqual(call.attributes, {
    'posthorn.channel': 'email',
    'posthorn.provider': 'sendgrid',
    'posthorn.outcome': 'sent',
    'posthorn.attempts': 1,
    'posthorn.messages': 1,
  })
  assert.equal(collector.span('record outcome').parentSpanId, decided.spanId)
  const records = collector.spans.filter((span) => span.name === 'record decision')
  assert.deepEqual(records.map((span) => span.parentSpanId).sort(), [bell.spanId, decided.spanId].sort())
  assert.deepEqual(new Set(collector.spans.map((span) => span.traceId)), new Set([accept.traceId]))
  for (const span of collector.spans) assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano))
})

test('the collector is called where it says, with its headers and the service’s name', async () => {
  const tracer = traced()
  await scene.run(await scene.workflow([inApp('Bell')]), newSubscriber())
  await tracer.flush()
  const [request] = collector.requests
  assert.deepEqual(
    [request?.path, request?.headers['x-team'], request?.headers['content-type']],
    ['/v1/traces', 'blue', 'application/json'],
  )
  const [first] = request?.body.resourceSpans[0].resource.attributes ?? []
  assert.deepEqual(first, { key: 'service.name', value: { stringValue: 'notify' } })
})

const given = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

test('a traceparent that the caller gives is gone on with, across the expansion of a topic and a wait', async () => {
  const tracer = traced('parentbased_always_off')
  const [first, second] = [newSubscriber(), newSubscriber()]
  await scene.subscribers(first.subscriberId, second.subscriberId)
  const topic = fresh('topic')
  await scene.topic(topic, [first.subscriberId, second.subscriberId])
  const workflow = await scene.workflow([delay(), email('Mail')])
  const reply = await scene.single({ name: workflow, to: { type: 'Topic', topicKey: topic } }, { traceparent: given })
  assert.equal(reply.status, 201, reply.text)
  await scene.work()
  await scene.advance(2 * 3_600_000)
  await tracer.flush()
  const accept = collector.span('POST /v1/events/trigger')
  assert.deepEqual([accept.traceId, accept.parentSpanId], ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'])
  const page = collector.span('expand page')
  assert.deepEqual([page.parentSpanId, page.attributes['posthorn.notifications']], [accept.spanId, 2])
  const steps = collector.spans.filter((span) => span.name === 'decide email')
  const calls = collector.spans.filter((span) => span.name === 'send email')
  assert.deepEqual(
    steps.map((span) => span.parentSpanId),
    [accept.spanId, accept.spanId],
  )
  assert.deepEqual(calls.map((span) => span.parentSpanId).sort(), steps.map((span) => span.spanId).sort())
  assert.ok(collector.spans.every((span) => span.traceId === accept.traceId))
})

test('a call that fails says so, and the next try is of the same trace', async () => {
  const tracer = traced()
  mail.answers('good', 503, 202)
  await scene.trigger(await scene.workflow([email('Mail')]), newSubscriber())
  await scene.work()
  await scene.advance(120_000, 1_000)
  await tracer.flush()
  const calls = collector.spans.filter((span) => span.name === 'send email')
  assert.deepEqual(
    calls.map(({ status, attributes }) => [
      status?.code,
      attributes['posthorn.outcome'],
      attributes['posthorn.attempts'],
    ]),
    [
      [2, 'busy', 1],
      [undefined, 'sent', 2],
    ],
  )
  assert.equal(calls[1]?.parentSpanId, collector.span('resume email').spanId)
})

test('of a large fan-out only some are traced', async () => {
  const tracer = traced()
  const people = Array.from({ length: 101 }, () => fresh('one'))
  const workflow = await scene.workflow([inApp('Bell')])
  await scene.trigger(workflow, people)
  await scene.work()
  await tracer.flush()
  assert.equal(collector.span('expand page').attributes['posthorn.notifications'], 101)
  const steps = collector.spans.filter((span) => span.name === 'decide in_app')
  assert.equal(steps.length, 5, 'four of the first hundred, and the one that is left')
})

test('nothing personal, no content and no secret is in any span', async () => {
  const tracer = traced()
  mail.answers('good', { status: 400, body: '{"errors":[{"message":"marker-answer"}]}' })
  const workflow = await scene.workflow([inApp('marker-content'), email('marker-subject')])
  const to = {
    subscriberId: 'marker-id',
    email: 'marker-mail@example.org',
    firstName: 'marker-name',
    phone: '+15550001',
  }
  await scene.trigger(workflow, to, { payload: { secret: 'marker-payload' }, transactionId: 'marker-transaction' })
  await scene.work()
  await tracer.flush()
  assert.ok(collector.spans.some((span) => span.name === 'send email' && span.status?.code === 2))
  assert.doesNotMatch(collector.text, /marker|example\.org|15550001|SG\.|test-key/)
})

test('with a ratio of nothing no span is sent or stored, and a caller’s trace that is not sampled stays so', async () => {
  const workflow = await scene.workflow([email('Mail')])
  const none = traced('parentbased_traceidratio', 0)
  const unsampled = await scene.trigger(workflow, newSubscriber())
  await scene.work()
  await none.flush()
  assert.deepEqual([collector.requests.length, await storedTraces(unsampled)], [0, null])
  const all = traced('parentbased_traceidratio', 1)
  const reply = await scene.single({ name: workflow, to: newSubscriber() }, { traceparent: given.replace(/01$/, '00') })
  assert.equal(reply.status, 201)
  await scene.work()
  await all.flush()
  assert.equal(collector.requests.length, 0)
})

test('a traceparent that is none begins a trace of its own, and costs the event nothing', async () => {
  const tracer = traced()
  const workflow = await scene.workflow([inApp('Bell')])
  for (const traceparent of [
    'nonsense',
    given.replace('4bf92f3577b34da6a3ce929d0e0e4736', '0'.repeat(32)),
    `ff${given.slice(2)}`,
  ]) {
    const reply = await scene.single({ name: workflow, to: newSubscriber() }, { traceparent })
    assert.equal(reply.status, 201)
  }
  await tracer.flush()
  const accepted = collector.spans.filter((span) => span.name === 'POST /v1/events/trigger')
  assert.deepEqual([accepted.length, accepted.some((span) => span.parentSpanId !== undefined)], [3, false])
})

test('where no one traces, no collector is called and nothing is stored, whatever the caller sends', async () => {
  const reply = await scene.single(
    { name: await scene.workflow([inApp('Bell')]), to: newSubscriber() },
    { traceparent: given },
  )
  await scene.work()
  assert.deepEqual([collector.requests.length, await storedTraces(reply.body.transactionId)], [0, null])
})

test('a test of a workflow and a bulk call are traced too', async () => {
  const tracer = traced()
  const workflow = await scene.workflow([inApp('Bell')])
  await scene.expect(201, 'POST', `/v1/workflows/${workflow}/test`, { to: newSubscriber() })
  await scene.results([
    { name: workflow, to: newSubscriber() },
    { name: workflow, to: newSubscriber() },
  ])
  await scene.work()
  await tracer.flush()
  const tested = collector.span('POST /v1/workflows/{workflowId}/test')
  const bulk = collector.span('POST /v1/events/trigger/bulk')
  const parents = collector.spans.filter((span) => span.name === 'decide in_app').map((span) => span.parentSpanId)
  assert.deepEqual(parents.sort(), [tested.spanId, bulk.spanId, bulk.spanId].sort())
})

test('a collector that is gone slows nothing and breaks nothing: what it cannot take is dropped and counted', async () => {
  const sink = createOtlpExport({
    endpoint: 'http://127.0.0.1:1',
    headers: {},
    serviceName: 'x',
    log: app.world.log,
    stopWithinMs,
  })
  app.world.tracer = createTracer({ sink, sampler: 'always_on', ratio: 1 })
  const workflow = await scene.workflow([email('Mail')])
  const run = await scene.run(workflow, newSubscriber())
  assert.equal(run.jobs[0].status, 'completed')
  await app.world.tracer.stop()
  const { sent, dropped } = app.world.tracer.counts()
  assert.deepEqual([sent, dropped > 0], [0, true])
  assert.equal((await scene.run(workflow, newSubscriber())).jobs[0].status, 'completed')
})
