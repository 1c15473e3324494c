// The digest step.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TimingScene } from '../../test/support/timing-step-scene.ts'
import { timingInput, timingStep } from '../../test/support/timing-step-scene.ts'
import type { JoinDigest } from '../domain/delivery/decision.ts'
import { digest } from './digest.ts'

const now = '2024-03-30T12:00:00.000Z'
const regular = { type: 'regular', amount: 10, unit: 'minutes' }
const daily = { type: 'timed', amount: 1, unit: 'days', timed: { atTime: '09:00' } }
const decide = (scene: Partial<TimingScene>) =>
  digest.decide(timingInput({ type: 'digest', metadata: regular, now, ...scene }))

function joined(scene: Partial<TimingScene>): JoinDigest {
  const decision = decide(scene)
  assert.ok(decision.kind === 'joinDigest', JSON.stringify(decision))
  return decision
}

/** The details of a failure; undefined if there is none, or it does not stop what follows. */
function failure(scene: Partial<TimingScene>): string | undefined {
  const decision = decide(scene)
  if (decision.kind !== 'fail' || !decision.stops || decision.details[0]?.code !== 'digestInvalid') return undefined
  return JSON.parse(decision.details[0].raw ?? '{}').error
}

test('an event joins the window of its step, which closes after the duration', () => {
  const input = timingInput({ type: 'digest', metadata: regular, now })
  assert.deepEqual(digest.decide(input), {
    kind: 'joinDigest',
    stepId: input.step._id,
    dueAt: new Date('2024-03-30T12:10:00.000Z'),
    details: [],
  })
})

test('a trigger may ask for another duration, but not of a timed digest', () => {
  const overrides = { delay: { amount: 1, unit: 'hours' } }
  assert.equal(joined({ overrides }).dueAt.toISOString(), '2024-03-30T13:00:00.000Z')
  assert.equal(joined({ overrides, metadata: daily }).dueAt.toISOString(), '2024-03-31T09:00:00.000Z')
  assert.match(failure({ overrides: { delay: { amount: 1 } } }) ?? '', /^overrides\.delay\.unit/)
  assert.equal(
    joined({ overrides: { delay: 'soon' }, metadata: daily }).dueAt.toISOString(),
    '2024-03-31T09:00:00.000Z',
  )
})

test('a timed window closes by the clocks of the subscriber, over a change of clocks too', () => {
  const at = (timezone?: string) => joined({ metadata: daily, ...(timezone && { timezone }) }).dueAt.toISOString()
  assert.equal(at(), '2024-03-31T09:00:00.000Z')
  assert.equal(at('Europe/Berlin'), '2024-03-31T07:00:00.000Z')
  assert.equal(at('America/New_York'), '2024-03-30T13:00:00.000Z')
  assert.equal(at('Asia/Kolkata'), '2024-03-31T03:30:00.000Z')
})

test('events are kept apart by the text of the value at the key', () => {
  const metadata = { ...regular, digestKey: 'post.id' }
  const value = (id: unknown, digestKey = 'post.id') =>
    joined({ metadata: { ...metadata, digestKey }, payload: { post: { id } } }).digestValue
  assert.equal(value('a'), 'a')
  assert.equal(value('a', 'payload.post.id'), 'a')
  assert.equal(value(5), '5')
  assert.equal(value(false), 'false')
  assert.equal(value(''), '')
  assert.equal(value({ b: [1], a: null }), '{"a":null,"b":[1]}')
  assert.equal(value({ a: null, b: [1] }), '{"a":null,"b":[1]}')
})

test('a value that is long is distinguished by its hash', () => {
  const value = (id: string) => joined({ metadata: { ...regular, digestKey: 'id' }, payload: { id } }).digestValue
  assert.equal(value('x'.repeat(1024)), 'x'.repeat(1024))
  assert.match(value('x'.repeat(1025)) ?? '', /^sha256:[0-9a-f]{64}$/)
  assert.equal(value('x'.repeat(9000)), value('x'.repeat(9000)))
  assert.notEqual(value('x'.repeat(9000)), value('x'.repeat(9001)))
})

test('without a key, or with nothing at it, there is no value', () => {
  for (const payload of [{}, { id: null }, { id: undefined }])
    assert.equal('digestValue' in joined({ metadata: { ...regular, digestKey: 'id' }, payload }), false)
  assert.equal('digestValue' in joined({ metadata: { ...regular, digestKey: '' }, payload: { '': 1 } }), false)
  assert.equal('digestValue' in joined({ metadata: { ...regular, digestKey: 'toString' } }), false)
})

test('a back-off has its own silence, or that of the digest', () => {
  const backoff = (change: object) => joined({ metadata: { ...regular, ...change } }).backoffMs
  assert.equal(backoff({}), undefined)
  assert.equal(backoff({ backoff: false, backoffAmount: 5, backoffUnit: 'seconds' }), undefined)
  assert.equal(backoff({ backoff: true, backoffAmount: 5, backoffUnit: 'seconds' }), 5_000)
  assert.equal(backoff({ type: 'backoff', backoffAmount: 1, backoffUnit: 'hours' }), 3_600_000)
  assert.equal(backoff({ type: 'backoff' }), 600_000)
  const overrides = { delay: { amount: 1, unit: 'hours' } }
  const overridden = joined({ metadata: { ...regular, type: 'backoff' }, overrides })
  assert.equal(overridden.backoffMs, 600_000)
  assert.equal(overridden.dueAt.toISOString(), '2024-03-30T13:00:00.000Z')
})

test('a cron line closes the window by the clocks of the subscriber', () => {
  const metadata = { type: 'timed', cron: '0 8 * * *' }
  assert.equal(joined({ metadata }).dueAt.toISOString(), '2024-03-31T08:00:00.000Z')
  assert.equal(joined({ metadata, timezone: 'Europe/Berlin' }).dueAt.toISOString(), '2024-03-31T06:00:00.000Z')
  assert.match(failure({ metadata: { type: 'timed', cron: '0 0 30 2 *' } }) ?? '', /^metadata\.cron may never occur/)
})

test('a digest that looks back and has no length gathers as long as it looks back', () => {
  const lookBack = { type: 'backoff', backoffAmount: 2, backoffUnit: 'hours' }
  for (const more of [{}, { amount: 0, unit: 'minutes' }]) {
    const { dueAt, backoffMs } = joined({ metadata: { ...lookBack, ...more } })
    assert.equal(dueAt.toISOString(), '2024-03-30T14:00:00.000Z')
    assert.equal(backoffMs, 7_200_000)
  }
  const own = joined({ metadata: { ...lookBack, amount: 5, unit: 'minutes' } })
  assert.equal(own.dueAt.toISOString(), '2024-03-30T12:05:00.000Z')
  const overridden = joined({ metadata: lookBack, overrides: { delay: { amount: 1, unit: 'minutes' } } })
  assert.equal(overridden.dueAt.toISOString(), '2024-03-30T12:01:00.000Z')
})

test('settings that cannot be computed fail the step, not the worker', () => {
  for (const metadata of [undefined, null, {}, { type: 'timed' }, { ...regular, amount: 0 }, { ...daily, timed: null }])
    assert.match(failure({ metadata }) ?? '', /^metadata/, JSON.stringify(metadata))
})

test('a digest that was woken closes the window it remembers', () => {
  assert.deepEqual(decide({ job: { status: 'delayed', state: { windowId: 'window', until: now } } }), {
    kind: 'closeDigest',
    windowId: 'window',
    details: [{ code: 'digestTriggered', at: now }],
  })
  assert.throws(() => decide({ job: { status: 'delayed', state: null } }), /is waiting without a window/)
})

test('what can never run is reported when it is saved', () => {
  assert.equal(digest.type, 'digest')
  assert.deepEqual(digest.mistakes(timingStep('digest', daily)), [])
  assert.deepEqual(
    digest.mistakes(timingStep('digest', { type: 'timed', amount: 1, unit: 'weeks' })).map(({ path }) => path),
    ['metadata.timed.atTime', 'metadata.timed.weekDays'],
  )
})
