// Traceparents and sampling.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTraceparent, writeTraceparent } from './traceparent.ts'
import type { FinishedSpan, Sampler } from './tracer.ts'
import { createTracer } from './tracer.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'
const good = `00-${traceId}-${spanId}-01`

test('a traceparent is read and written as the recommendation has it', () => {
  assert.deepEqual(readTraceparent(good), { traceId, spanId, isSampled: true })
  assert.equal(writeTraceparent({ traceId, spanId, isSampled: true }), good)
  assert.equal(readTraceparent(`00-${traceId}-${spanId}-02`)?.isSampled, false)
  assert.equal(readTraceparent(`01-${traceId}-${spanId}-03-more`)?.isSampled, true)
})

test('what is no traceparent is none', () => {
  const bad = [
    undefined,
    '',
    [good],
    good.toUpperCase(),
    `ff${good.slice(2)}`,
    `${good}-more`,
    `${good} `,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    good.slice(0, -1),
    `01-${traceId}-${spanId}-01-${'x'.repeat(600)}`,
  ]
  for (const header of bad) assert.equal(readTraceparent(header), undefined, String(header))
})

function scene(sampler: Sampler, ratio = 1) {
  const ended: FinishedSpan[] = []
  const idle = async (): Promise<void> => {}
  const sink = {
    add: (span: FinishedSpan) => void ended.push(span),
    counts: () => ({ sent: 0, dropped: 0 }),
    flush: idle,
    stop: idle,
  }
  return { tracer: createTracer({ sink, sampler, ratio }), ended }
}

test('a sampler decides alone, or leaves it to the caller who has decided', () => {
  const decisions = (sampler: Sampler, ratio?: number): boolean[] => {
    const { tracer } = scene(sampler, ratio)
    return [undefined, good, `00-${traceId}-${spanId}-00`].map((header) => tracer.request('x', header) !== undefined)
  }
  assert.deepEqual(decisions('always_on'), [true, true, true])
  assert.deepEqual(decisions('always_off'), [false, false, false])
  assert.deepEqual(decisions('parentbased_always_on'), [true, true, false])
  assert.deepEqual(decisions('parentbased_always_off'), [false, true, false])
  assert.deepEqual(decisions('parentbased_traceidratio', 0), [false, true, false])
  assert.deepEqual(decisions('traceidratio', 0), [false, false, false])
  assert.deepEqual(decisions('traceidratio', 1), [true, true, true])
})

test('a ratio keeps its part of all traces, the same ones on every node', () => {
  const [one, other] = [scene('traceidratio', 0.25).tracer, scene('traceidratio', 0.25).tracer]
  let kept = 0
  for (let index = 0; index < 4_000; index += 1) {
    const id = (BigInt(index + 1) * 0x9e3779b97f4a7c15n) % 2n ** 64n
    const header = `00-${id.toString(16).padStart(32, '0')}-${spanId}-00`
    const isKept = one.request('x', header) !== undefined
    assert.equal(other.request('x', header) !== undefined, isKept)
    if (isKept) kept += 1
  }
  assert.ok(kept > 800 && kept < 1_200, `${kept} of 4000`)
})

test('a span ends once, and one below it names it', () => {
  const { tracer, ended } = scene('always_on')
  const span = tracer.request('outer', undefined)
  const below = tracer.begin('inner', span?.traceparent ?? '', { kind: 'client' })
  below?.end({ attributes: { a: 1 }, failed: true })
  below?.end()
  span?.end()
  assert.deepEqual(
    ended.map(({ name, kind, failed, attributes }) => ({ name, kind, failed, attributes })),
    [
      { name: 'inner', kind: 'client', failed: true, attributes: { a: 1 } },
      { name: 'outer', kind: 'server', failed: false, attributes: {} },
    ],
  )
  const [inner, outer] = ended
  assert.deepEqual([inner?.parentSpanId, inner?.traceId], [outer?.spanId, outer?.traceId])
  assert.equal(tracer.begin('x', 'nonsense'), undefined)
})
