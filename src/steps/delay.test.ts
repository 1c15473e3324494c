// The delay step.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TimingScene } from '../../test/support/timing-step-scene.ts'
import { timingInput, timingStep } from '../../test/support/timing-step-scene.ts'
import { delay } from './delay.ts'

const now = '2024-02-28T10:00:00.500Z'
const regular = { type: 'regular', amount: 2, unit: 'days' }
const scheduled = { type: 'scheduled', delayPath: 'meeting.at' }
const decide = (scene: Partial<TimingScene>) =>
  delay.decide(timingInput({ type: 'delay', metadata: regular, now, ...scene }))

/** The details of a failure; undefined if there is none, or it does not stop what follows. */
function failure(scene: Partial<TimingScene>): { error: string; value?: string } | undefined {
  const decision = decide(scene)
  if (decision.kind !== 'fail' || !decision.stops || decision.details[0]?.code !== 'delayInvalid') return undefined
  return JSON.parse(decision.details[0].raw ?? '{}')
}

test('a regular delay waits for its duration and says until when', () => {
  assert.deepEqual(decide({}), {
    kind: 'wait',
    until: new Date('2024-03-01T10:00:00.500Z'),
    details: [{ code: 'delayed', at: now, raw: '{"delay":172800000,"untilDate":"2024-03-01T10:00:00.500Z"}' }],
    state: { until: '2024-03-01T10:00:00.500Z', amount: 2, unit: 'days' },
  })
})

test('a trigger may ask for another duration', () => {
  const decision = decide({ overrides: { delay: { amount: 30, unit: 'seconds' } } })
  assert.ok(decision.kind === 'wait')
  assert.equal(decision.until.toISOString(), '2024-02-28T10:00:30.500Z')
  assert.deepEqual(decision.state, { until: '2024-02-28T10:00:30.500Z', amount: 30, unit: 'seconds' })
})

test('a duration that is none fails the step and says why', () => {
  for (const given of [{ amount: 30 }, { amount: -1, unit: 'hours' }, { amount: 2, unit: 'years' }, 'soon', 5])
    assert.match(failure({ overrides: { delay: given } })?.error ?? '', /^overrides\.delay/, JSON.stringify(given))
})

test('a scheduled delay waits until the time in the payload, whatever the overrides', () => {
  for (const delayPath of ['meeting.at', 'payload.meeting.at'])
    assert.deepEqual(
      decide({
        metadata: { type: 'scheduled', delayPath },
        payload: { meeting: { at: '2024-02-29T09:00:00+05:30' } },
        overrides: { delay: { amount: 1, unit: 'seconds' } },
      }),
      {
        kind: 'wait',
        until: new Date('2024-02-29T03:30:00Z'),
        details: [{ code: 'delayed', at: now, raw: '{"delay":62999500,"untilDate":"2024-02-29T03:30:00.000Z"}' }],
        state: { until: '2024-02-29T03:30:00.000Z' },
      },
    )
})

test('a payload without the time fails the step', () => {
  for (const payload of [{}, { meeting: null }, { meeting: { at: null } }, { 'meeting.at': '2024-02-29T09:00:00Z' }])
    assert.deepEqual(failure({ metadata: scheduled, payload }), { error: 'The payload has no meeting.at' })
  const inherited = { type: 'scheduled', delayPath: 'constructor.name' }
  assert.equal(failure({ metadata: inherited })?.error, 'The payload has no constructor.name')
})

test('an invalid timestamp, or says no time or no zone, fails the step and is shown', () => {
  for (const at of [
    'tomorrow',
    '',
    '2024-02-29',
    '2024-02-29T09:00:00',
    '2023-02-29T09:00:00Z',
    1_709_200_000_000,
    {},
    [],
    true,
  ]) {
    const found = failure({ metadata: scheduled, payload: { meeting: { at } } })
    assert.match(found?.error ?? '', /^meeting\.at must be an ISO 8601 date-time with a time zone/, JSON.stringify(at))
    assert.equal(found?.value, typeof at === 'string' ? at : JSON.stringify(at))
  }
  const long = failure({ metadata: scheduled, payload: { meeting: { at: 'x'.repeat(100_000) } } })
  assert.equal(long?.value?.length, 256)
  const pairs = failure({ metadata: scheduled, payload: { meeting: { at: `x${'😀'.repeat(200)}` } } })
  assert.equal(pairs?.value?.isWellFormed(), true)
})

test('a time that was over when the event came, or is more than a year away, fails the step', () => {
  const at = (text: string) => failure({ metadata: scheduled, payload: { meeting: { at: text } } })?.error
  assert.equal(at('2024-02-28T10:00:00.499Z'), 'meeting.at is in the past')
  assert.equal(at('2024-02-28T10:00:00.500Z'), 'meeting.at is in the past')
  assert.equal(at('2024-02-28T10:00:00.501Z'), undefined)
  assert.equal(at('2025-02-28T10:00:00.500Z'), undefined)
  assert.equal(at('2025-02-28T10:00:00.501Z'), 'meeting.at is more than a year away')
  assert.equal(at('9999-12-31T23:59:59Z'), 'meeting.at is more than a year away')
})

test('a time that came while the event waited for its turn ends the delay at once', () => {
  const late = { metadata: scheduled, payload: { meeting: { at: '2024-02-28T09:30:00Z' } } }
  assert.deepEqual(decide({ ...late, acceptedAt: '2024-02-28T09:00:00Z' }), {
    kind: 'complete',
    details: [{ code: 'delayFinished', at: now, raw: '{"delay":0,"untilDate":"2024-02-28T09:30:00.000Z"}' }],
    state: { until: '2024-02-28T09:30:00.000Z' },
  })
  assert.equal(failure({ ...late, acceptedAt: '2024-02-28T09:31:00Z' })?.error, 'meeting.at is in the past')
})

const dynamic = { type: 'dynamic', dynamicKey: 'payload.release' }

test('a timed delay ends when the clocks of the subscriber show its time', () => {
  const until = (metadata: unknown, timezone?: string) => {
    const decision = decide({ metadata, ...(timezone && { timezone }) })
    return decision.kind === 'wait' ? decision.until.toISOString() : assert.fail(JSON.stringify(decision))
  }
  const weekdays = { type: 'timed', cron: '30 9 * * MON-FRI' }
  assert.equal(until(weekdays), '2024-02-29T09:30:00.000Z')
  assert.equal(until(weekdays, 'America/New_York'), '2024-02-28T14:30:00.000Z')
  assert.equal(until(weekdays, 'Nowhere/Land'), '2024-02-29T09:30:00.000Z')
  const monthly = { type: 'timed', amount: 1, unit: 'months', timed: { atTime: '08:00', monthDays: ['31'] } }
  assert.equal(until(monthly, 'Europe/Berlin'), '2024-03-31T06:00:00.000Z')
  assert.deepEqual(decide({ metadata: weekdays, overrides: { delay: { amount: 1, unit: 'seconds' } } }), {
    kind: 'wait',
    until: new Date('2024-02-29T09:30:00.000Z'),
    details: [{ code: 'delayed', at: now, raw: '{"delay":84599500,"untilDate":"2024-02-29T09:30:00.000Z"}' }],
    state: { until: '2024-02-29T09:30:00.000Z' },
  })
})

test('a dynamic delay takes a time or a duration from the payload', () => {
  const endsAt = decide({ metadata: dynamic, payload: { release: '2024-03-01T00:00:00Z' } })
  assert.ok(endsAt.kind === 'wait')
  assert.equal(endsAt.until.toISOString(), '2024-03-01T00:00:00.000Z')
  const duration = decide({ metadata: dynamic, payload: { release: { amount: 3, unit: 'hours' } } })
  assert.ok(duration.kind === 'wait')
  assert.deepEqual(duration.state, { until: '2024-02-28T13:00:00.500Z', amount: 3, unit: 'hours' })
})

test('a dynamic delay without a time or a duration that can be waited for fails and says why', () => {
  const wrong = (release: unknown) => failure({ metadata: dynamic, payload: { release } })
  assert.deepEqual(failure({ metadata: dynamic }), { error: 'The payload has no payload.release' })
  assert.equal(wrong('2024-02-28T10:00:00Z')?.error, 'payload.release is in the past')
  assert.equal(wrong('2030-01-01T00:00:00Z')?.error, 'payload.release is more than a year away')
  assert.match(wrong('soon')?.error ?? '', /^payload\.release must be an ISO 8601/)
  assert.match(wrong(5)?.error ?? '', /^payload\.release must be an ISO 8601 .* or an object with amount and unit$/)
  assert.match(wrong({ amount: 5 })?.error ?? '', /^payload\.release\.unit must be one of/)
  assert.match(wrong({ amount: 367, unit: 'days' })?.error ?? '', /^payload\.release\.amount must not be longer/)
  assert.equal(wrong({ amount: -1, unit: 'days' })?.value, '{"amount":-1,"unit":"days"}')
})

test('settings that an older version let through fail the step, not the worker', () => {
  for (const metadata of [undefined, null, {}, { type: 'regular' }, { type: 'timed', amount: 1, unit: 'days' }, 'soon'])
    assert.match(failure({ metadata })?.error ?? '', /^metadata/, JSON.stringify(metadata))
})

test('a delay that was woken is finished, whatever the payload says now', () => {
  assert.deepEqual(decide({ metadata: scheduled, job: { status: 'delayed', state: { until: now } } }), {
    kind: 'complete',
    details: [{ code: 'delayFinished', at: now }],
  })
})

test('what can never run is reported when it is saved', () => {
  assert.equal(delay.type, 'delay')
  assert.deepEqual(delay.mistakes(timingStep('delay', regular)), [])
  assert.deepEqual(delay.mistakes(timingStep('delay', { type: 'regular', amount: 0, unit: 'days' })), [
    { path: 'metadata.amount', message: 'must be a whole number, 1 or more' },
  ])
  assert.equal(delay.mistakes(timingStep('delay', undefined))[0]?.path, 'metadata')
})
