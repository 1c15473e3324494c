// The throttle step.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TimingScene } from '../../test/support/timing-step-scene.ts'
import { timingInput, timingStep } from '../../test/support/timing-step-scene.ts'
import { throttle } from './throttle.ts'

const now = '2024-05-10T10:00:00.000Z'
const fixed = { type: 'fixed', amount: 1, unit: 'hours' }
const dynamic = { type: 'dynamic', dynamicKey: 'payload.window' }
const input = (scene: Partial<TimingScene>) => timingInput({ type: 'throttle', metadata: fixed, now, ...scene })
const decide = (scene: Partial<TimingScene>) => throttle.decide(input(scene))

function taken(scene: Partial<TimingScene>) {
  const decision = decide(scene)
  assert.ok(decision.kind === 'takeThrottle', JSON.stringify(decision))
  return decision
}

/** Its code and its data; undefined if it does not fail, or does not stop what follows. */
function failure(scene: Partial<TimingScene>): [code: string, error: string] | undefined {
  const decision = decide(scene)
  if (decision.kind !== 'fail' || !decision.stops || decision.details[0] === undefined) return undefined
  return [decision.details[0].code, JSON.parse(decision.details[0].raw ?? '{}').error]
}

test('a fixed window ends after its duration, and lets one through by default', () => {
  const given = input({})
  assert.deepEqual(throttle.decide(given), {
    kind: 'takeThrottle',
    stepId: given.step._id,
    threshold: 1,
    until: new Date('2024-05-10T11:00:00.000Z'),
    openMs: 3_600_000,
    details: [],
  })
  assert.equal(taken({ metadata: { ...fixed, threshold: 3 } }).threshold, 3)
})

test('windows are distinguished by the text of the value at the key', () => {
  const value = (payload: Record<string, unknown>, throttleKey = 'order.id') =>
    taken({ metadata: { ...fixed, throttleKey }, payload }).throttleValue
  assert.equal(value({ order: { id: 7 } }), '7')
  assert.equal(value({ order: { id: { b: 1, a: 2 } } }), '{"a":2,"b":1}')
  assert.equal(value({}), undefined)
  assert.equal(value({ order: { id: 7 } }, ''), undefined)
  assert.match(value({ order: { id: 'x'.repeat(2_000) } }) ?? '', /^sha256:/)
})

test('a dynamic window has its end or its length in the payload', () => {
  const until = (window: unknown) => taken({ metadata: dynamic, payload: { window } }).until.toISOString()
  assert.equal(until('2024-05-11T00:00:00Z'), '2024-05-11T00:00:00.000Z')
  assert.equal(until({ amount: 30, unit: 'minutes' }), '2024-05-10T10:30:00.000Z')
  const openMs = (window: unknown) => taken({ metadata: dynamic, payload: { window } }).openMs
  assert.equal(openMs('2024-05-11T00:00:00Z'), undefined)
  assert.equal(openMs({ amount: 30, unit: 'minutes' }), 1_800_000)
})

test('a dynamic window in the past, or none, fails the step and says which', () => {
  const wrong = (window?: unknown) => failure({ metadata: dynamic, payload: window === undefined ? {} : { window } })
  assert.deepEqual(wrong('2024-05-10T09:59:59Z'), ['throttlePast', 'payload.window is in the past'])
  assert.deepEqual(wrong(), ['throttleInvalid', 'The payload has no payload.window'])
  assert.deepEqual(wrong('2030-01-01T00:00:00Z'), ['throttleInvalid', 'payload.window is more than a year away'])
  assert.equal(wrong('soon')?.[0], 'throttleInvalid')
  assert.equal(wrong({ amount: 0, unit: 'days' })?.[0], 'throttleInvalid')
})

test('a window that ended while the event waited for its turn lets it through', () => {
  const late = { metadata: dynamic, payload: { window: '2024-05-10T09:30:00Z' } }
  assert.equal(decide({ ...late, acceptedAt: '2024-05-10T09:00:00Z' }).kind, 'complete')
  assert.equal(failure({ ...late, acceptedAt: '2024-05-10T09:45:00Z' })?.[0], 'throttlePast')
})

test('settings that cannot be computed fail the step, not the worker', () => {
  for (const metadata of [undefined, null, {}, { type: 'fixed' }, { type: 'dynamic' }, { ...fixed, threshold: 0 }])
    assert.match(failure({ metadata })?.[1] ?? '', /^metadata/, JSON.stringify(metadata))
})

test('what can never run is reported when it is saved', () => {
  const paths = (metadata: unknown) => throttle.mistakes(timingStep('throttle', metadata)).map(({ path }) => path)
  assert.deepEqual(paths({ ...fixed, threshold: 5, throttleKey: 'order.id' }), [])
  assert.deepEqual(paths({ ...dynamic, throttleKey: '' }), [])
  for (const [metadata, path] of [
    [undefined, 'metadata'],
    [{ ...fixed, type: 'sliding' }, 'metadata.type'],
    [{ ...fixed, amount: 0 }, 'metadata.amount'],
    [{ ...fixed, unit: 'years' }, 'metadata.unit'],
    [{ type: 'dynamic' }, 'metadata.dynamicKey'],
    [{ type: 'dynamic', dynamicKey: 'a..b' }, 'metadata.dynamicKey'],
    [{ ...fixed, threshold: 0 }, 'metadata.threshold'],
    [{ ...fixed, threshold: 1.5 }, 'metadata.threshold'],
    [{ ...fixed, threshold: '3' }, 'metadata.threshold'],
    [{ ...fixed, threshold: 1_000_001 }, 'metadata.threshold'],
    [{ ...fixed, throttleKey: 5 }, 'metadata.throttleKey'],
  ] as const)
    assert.deepEqual(paths(metadata), [path], JSON.stringify(metadata))
})
