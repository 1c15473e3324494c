// What can never run in the settings of a delay or a digest.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { delayMistakes, digestMistakes, durationMistakes, isDuration } from './timing-mistakes.ts'

const digest = { type: 'regular', amount: 5, unit: 'minutes' }
const timed = (unit: string, config: unknown, amount: unknown = 1) => ({ type: 'timed', amount, unit, timed: config })
const paths = (mistakes: readonly { path: string }[]): string[] => mistakes.map(({ path }) => path)

test('settings that can run have no mistakes', () => {
  const good = [
    digest,
    { ...digest, digestKey: 'order.id', backoff: true, backoffAmount: 1, backoffUnit: 'hours', updateMode: true },
    { ...digest, type: 'backoff' },
    { ...digest, digestKey: '' },
    timed('seconds', undefined),
    timed('hours', { atTime: 'whenever' }),
    timed('days', { atTime: '09:00' }),
    timed('days', { atTime: '09:00', weekDays: [] }),
    timed('days', { atTime: '09:00:30', weekDays: ['monday'] }, 6),
    timed('weeks', { atTime: '09:00', weekDays: ['monday', 'sunday'] }),
    timed('months', { atTime: '09:00', monthDays: ['1', '31'] }, 12),
    timed('months', { atTime: '09:00', monthDays: [1, 15], monthlyType: 'each' }),
    timed('months', { atTime: '09:00', monthlyType: 'on', ordinal: 'last', ordinalValue: 'weekday' }, 12),
    timed('months', { atTime: '09:00', monthlyType: 'on', ordinal: '5', ordinalValue: 'monday' }, 11),
  ]
  for (const metadata of good) assert.deepEqual(digestMistakes(metadata), [], JSON.stringify(metadata))
  assert.deepEqual(delayMistakes({ type: 'regular', amount: 366, unit: 'days' }), [])
  assert.deepEqual(delayMistakes({ type: 'scheduled', delayPath: 'payload.meeting.at' }), [])
})

test('settings that are missing or of another kind are reported at once', () => {
  for (const metadata of [undefined, null, 'daily', 5, []]) {
    assert.deepEqual(paths(digestMistakes(metadata)), ['metadata'])
    assert.deepEqual(paths(delayMistakes(metadata)), ['metadata'])
  }
  for (const type of [undefined, 'scheduled', 'REGULAR', 1, '__proto__'])
    assert.deepEqual(paths(digestMistakes({ ...digest, type })), ['metadata.type'])
  for (const type of [undefined, 'weekly', 'backoff', null])
    assert.deepEqual(paths(delayMistakes({ ...digest, type })), ['metadata.type'])
})

test('an amount is a whole number from 1 up to a year', () => {
  for (const amount of [undefined, null, 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60, '5', [5]]) {
    assert.deepEqual(paths(digestMistakes({ ...digest, amount })), ['metadata.amount'], String(amount))
    assert.deepEqual(paths(delayMistakes({ ...digest, amount })), ['metadata.amount'], String(amount))
  }
  for (const [amount, unit] of [
    [367, 'days'],
    [53, 'weeks'],
    [13, 'months'],
    [366 * 86_400 + 1, 'seconds'],
  ] as const)
    assert.deepEqual(paths(delayMistakes({ type: 'regular', amount, unit })), ['metadata.amount'], unit)
})

test('a unit is one that is known', () => {
  for (const unit of [undefined, 'day', 'years', 5, 'constructor'])
    assert.deepEqual(paths(digestMistakes({ ...digest, unit })), ['metadata.unit'], String(unit))
  assert.deepEqual(digestMistakes({ ...digest, unit: 'day' }), [
    { path: 'metadata.unit', message: 'must be one of seconds, minutes, hours, days, weeks, months' },
  ])
})

test('every mistake is reported, not the first alone', () => {
  assert.deepEqual(paths(digestMistakes({ type: 'timed', unit: 'weeks', digestKey: 'a..b', timed: { atTime: '9' } })), [
    'metadata.amount',
    'metadata.timed.atTime',
    'metadata.timed.weekDays',
    'metadata.digestKey',
  ])
})

test('a back-off has both its members or neither', () => {
  for (const [change, path] of [
    [{ backoff: 'yes' }, 'metadata.backoff'],
    [{ backoffAmount: 5 }, 'metadata.backoffUnit'],
    [{ backoffUnit: 'hours' }, 'metadata.backoffAmount'],
    [{ backoffAmount: 0, backoffUnit: 'hours' }, 'metadata.backoffAmount'],
    [{ backoffAmount: 13, backoffUnit: 'months' }, 'metadata.backoffAmount'],
  ] as const)
    assert.deepEqual(paths(digestMistakes({ ...digest, ...change })), [path])
})

test('a digest that looks back may leave its own length out', () => {
  const lookBack = { type: 'backoff', backoffAmount: 2, backoffUnit: 'hours' }
  for (const more of [{}, { amount: 0 }, { amount: 0, unit: 'minutes' }, { amount: null }])
    assert.deepEqual(digestMistakes({ ...lookBack, ...more }), [], JSON.stringify(more))
  assert.deepEqual(digestMistakes({ ...lookBack, type: 'regular', backoff: true }), [])
  assert.deepEqual(paths(digestMistakes({ ...lookBack, amount: -1, unit: 'hours' })), ['metadata.amount'])
  assert.deepEqual(paths(digestMistakes({ ...lookBack, amount: 5 })), ['metadata.unit'])
  assert.deepEqual(paths(digestMistakes({ ...lookBack, type: 'regular' })), ['metadata.amount', 'metadata.unit'])
  assert.deepEqual(paths(digestMistakes({ type: 'backoff' })), ['metadata.amount', 'metadata.unit'])
})

test('a cron line stands for amount, unit and time, and must come every year', () => {
  for (const mistakes of [digestMistakes, delayMistakes]) {
    assert.deepEqual(mistakes({ type: 'timed', cron: '0 9 * * MON-FRI' }), [])
    assert.deepEqual(mistakes({ type: 'timed', cron: '', amount: 1, unit: 'days', timed: { atTime: '09:00' } }), [])
    assert.deepEqual(paths(mistakes({ type: 'timed', cron: '' })), ['metadata.amount', 'metadata.unit'])
    for (const cron of ['0 9 * *', '0 0 31 2 *', '0 0 29 2 *', '99 * * * *', 5, {}])
      assert.deepEqual(paths(mistakes({ type: 'timed', cron })), ['metadata.cron'], JSON.stringify(cron))
  }
  assert.match(delayMistakes({ type: 'timed', cron: '0 0 31 2 *' })[0]?.message ?? '', /may never occur/)
})

test('a timed delay has the settings of a timed digest, a dynamic one a path', () => {
  assert.deepEqual(delayMistakes(timed('weeks', { atTime: '09:00', weekDays: ['monday'] })), [])
  assert.deepEqual(paths(delayMistakes(timed('weeks', {}))), ['metadata.timed.atTime', 'metadata.timed.weekDays'])
  assert.deepEqual(delayMistakes({ type: 'dynamic', dynamicKey: 'payload.release.at' }), [])
  for (const dynamicKey of [undefined, '', 'a..b', 5])
    assert.deepEqual(paths(delayMistakes({ type: 'dynamic', dynamicKey })), ['metadata.dynamicKey'])
})

test('whether a wait is extended to the schedule is true or false', () => {
  for (const extendToSchedule of [true, false]) {
    assert.deepEqual(digestMistakes({ ...digest, extendToSchedule }), [])
    assert.deepEqual(delayMistakes({ ...digest, extendToSchedule }), [])
  }
  assert.deepEqual(paths(digestMistakes({ ...digest, extendToSchedule: 'yes' })), ['metadata.extendToSchedule'])
  assert.deepEqual(paths(delayMistakes({ ...digest, extendToSchedule: 1 })), ['metadata.extendToSchedule'])
})

test('a path is dotted and not too long', () => {
  for (const path of ['a..b', '.', 'x'.repeat(256), 5, null]) {
    assert.deepEqual(paths(digestMistakes({ ...digest, digestKey: path })), ['metadata.digestKey'], String(path))
    assert.deepEqual(paths(delayMistakes({ type: 'scheduled', delayPath: path })), ['metadata.delayPath'])
  }
  assert.deepEqual(paths(delayMistakes({ type: 'scheduled' })), ['metadata.delayPath'])
  assert.deepEqual(paths(delayMistakes({ type: 'scheduled', delayPath: '' })), ['metadata.delayPath'])
})

test('a timed digest of days or more says at which time, and on which days', () => {
  const at = { atTime: '09:00' }
  const cases: readonly (readonly [metadata: unknown, path: string])[] = [
    [timed('days', undefined), 'metadata.timed.atTime'],
    [timed('days', 'at nine'), 'metadata.timed'],
    [timed('days', { atTime: '24:00' }), 'metadata.timed.atTime'],
    [timed('days', { atTime: 900 }), 'metadata.timed.atTime'],
    [timed('days', { ...at, weekDays: 'monday' }), 'metadata.timed.weekDays'],
    [timed('weeks', at), 'metadata.timed.weekDays'],
    [timed('weeks', { ...at, weekDays: [] }), 'metadata.timed.weekDays'],
    [timed('weeks', { ...at, weekDays: ['monday', 'Tuesday'] }), 'metadata.timed.weekDays.1'],
    [timed('weeks', { ...at, weekDays: Array(32).fill('monday') }), 'metadata.timed.weekDays'],
    [timed('months', at), 'metadata.timed.monthDays'],
    [timed('months', { ...at, monthDays: [] }), 'metadata.timed.monthDays'],
    [timed('months', { ...at, monthDays: ['1', '32'] }), 'metadata.timed.monthDays.1'],
    [timed('months', { ...at, monthDays: ['0'] }), 'metadata.timed.monthDays.0'],
    [timed('months', { ...at, monthDays: [1.5] }), 'metadata.timed.monthDays.0'],
    [timed('months', { ...at, monthDays: [null] }), 'metadata.timed.monthDays.0'],
    [timed('months', { ...at, monthDays: ['1e1'] }), 'metadata.timed.monthDays.0'],
    [timed('months', { ...at, monthlyType: 'some' }), 'metadata.timed.monthlyType'],
    [timed('months', { ...at, monthlyType: 'on', ordinalValue: 'day' }), 'metadata.timed.ordinal'],
    [timed('months', { ...at, monthlyType: 'on', ordinal: 1, ordinalValue: 'day' }), 'metadata.timed.ordinal'],
    [timed('months', { ...at, monthlyType: 'on', ordinal: '1' }), 'metadata.timed.ordinalValue'],
  ]
  for (const [metadata, path] of cases)
    assert.deepEqual(paths(digestMistakes(metadata)), [path], JSON.stringify(metadata))
})

test('what may not come for years is refused', () => {
  const at = { atTime: '09:00' }
  for (const [metadata, path] of [
    [timed('months', { ...at, monthDays: ['29', '31'] }, 12), 'metadata.timed.monthDays'],
    [timed('months', { ...at, monthlyType: 'on', ordinal: '5', ordinalValue: 'monday' }, 12), 'metadata.timed.ordinal'],
    [timed('days', { ...at, weekDays: ['monday'] }, 14), 'metadata.timed.weekDays'],
  ] as const)
    assert.deepEqual(paths(digestMistakes(metadata)), [path], JSON.stringify(metadata))
})

test('a duration by itself is judged under the path it has', () => {
  assert.deepEqual(paths(durationMistakes({ amount: 0 }, 'overrides.delay')), [
    'overrides.delay.amount',
    'overrides.delay.unit',
  ])
  assert.deepEqual(paths(durationMistakes('5 minutes', 'overrides.delay')), ['overrides.delay'])
  assert.equal(isDuration({ amount: 5, unit: 'minutes' }), true)
  assert.equal(isDuration({ amount: 5 }), false)
})
