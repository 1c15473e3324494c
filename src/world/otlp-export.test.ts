// Handing spans to a collector: batches, bounds, failures, and the end.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { Collector } from '../../test/support/collector.ts'
import { createFakeWorld } from '../../test/support/fake-world.ts'
import { createOtlpExport, stopWithinMs } from './otlp-export.ts'
import type { SpanSink } from './tracer.ts'

const collector = new Collector()
let endpoint: string
before(async () => {
  endpoint = await collector.start()
})
after(() => collector.stop())
beforeEach(() => {
  collector.clear()
  collector.answer = 200
})

const world = createFakeWorld()
const exportTo = (address: string, stopMs = stopWithinMs): SpanSink =>
  createOtlpExport({ endpoint: address, headers: {}, serviceName: 'x', log: world.log, stopWithinMs: stopMs })

function add(sink: SpanSink, count: number): void {
  for (let index = 0; index < count; index += 1) {
    sink.add({
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      spanId: '00f067aa0ba902b7',
      parentSpanId: undefined,
      name: `span ${index}`,
      kind: 'internal',
      startMs: 1_700_000_000_000.25,
      endMs: 1_700_000_000_001.5,
      attributes: { text: 'x'.repeat(300), whole: 3, part: 0.5, yes: true, none: undefined },
      failed: false,
    })
  }
}

test('a span is written as the protocol has it', async () => {
  const sink = exportTo(`${endpoint}/`)
  add(sink, 1)
  await sink.flush()
  const [span] = collector.requests[0]?.body.resourceSpans[0].scopeSpans[0].spans ?? []
  assert.deepEqual(span, {
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    spanId: '00f067aa0ba902b7',
    name: 'span 0',
    kind: 1,
    startTimeUnixNano: '1700000000000250000',
    endTimeUnixNano: '1700000000001500000',
    attributes: [
      { key: 'text', value: { stringValue: 'x'.repeat(256) } },
      { key: 'whole', value: { intValue: '3' } },
      { key: 'part', value: { doubleValue: 0.5 } },
      { key: 'yes', value: { boolValue: true } },
    ],
  })
})

test('spans go in batches, and nothing is sent where there is nothing', async () => {
  const sink = exportTo(endpoint)
  await sink.flush()
  assert.equal(collector.requests.length, 0)
  add(sink, 1_025)
  await sink.flush()
  assert.equal(collector.spans.length, 1_025)
  assert.ok(collector.requests.every(({ body }) => body.resourceSpans[0].scopeSpans[0].spans.length <= 512))
  assert.deepEqual(sink.counts(), { sent: 1_025, dropped: 0 })
})

test('what a collector cannot take for now is sent when it can; what comes beyond the bound is dropped and counted', async () => {
  const sink = exportTo(endpoint)
  collector.answer = 503
  add(sink, 5_000)
  await sink.flush()
  assert.deepEqual(sink.counts(), { sent: 0, dropped: 904 })
  collector.clear()
  collector.answer = 200
  await sink.flush()
  assert.deepEqual(sink.counts(), { sent: 4_096, dropped: 904 })
  const line = world.logged.find(({ message }) => message.includes('does not accept spans'))
  assert.match(JSON.stringify(line?.facts), /it answered 503/)
})

test('a batch that is refused for good is dropped, and those after it continue', async () => {
  const sink = exportTo(endpoint)
  for (const [index, status] of [400, 408, 413, 500].entries()) {
    collector.answer = status
    add(sink, 1)
    await sink.flush()
    assert.deepEqual(sink.counts(), { sent: 0, dropped: index + 1 }, `${status}`)
  }
  collector.answer = 200
  add(sink, 1)
  await sink.flush()
  assert.deepEqual(sink.counts(), { sent: 1, dropped: 4 })
})

test('a stop hands on what is left, and takes nothing after it', async () => {
  const sink = exportTo(endpoint)
  add(sink, 3)
  await sink.stop()
  assert.deepEqual(sink.counts(), { sent: 3, dropped: 0 })
  add(sink, 1)
  await sink.flush()
  assert.deepEqual(sink.counts(), { sent: 3, dropped: 1 })
})

test('a stop does not wait for a collector that never answers', async () => {
  const sink = exportTo(endpoint, 20)
  collector.answer = 'never'
  add(sink, 2)
  await sink.stop()
  assert.deepEqual(sink.counts(), { sent: 0, dropped: 2 })
})
