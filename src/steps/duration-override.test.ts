// The duration a trigger asks for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeErrors, durationOverrideOf } from './duration-override.ts'

test('a duration in the overrides is taken, and none is none', () => {
  const duration = { amount: 5, unit: 'minutes' }
  assert.deepEqual(durationOverrideOf({ delay: duration }), { duration })
  for (const overrides of [{}, { delay: null }, { delay: undefined }, { email: {} }, JSON.parse('{"__proto__": {}}')])
    assert.deepEqual(durationOverrideOf(overrides), {})
})

test('what is no duration is reported with its path', () => {
  for (const given of [
    '5 minutes',
    5,
    [],
    {},
    { amount: 5 },
    { unit: 'minutes' },
    { amount: 0, unit: 'minutes' },
    false,
  ]) {
    const override = durationOverrideOf({ delay: given })
    assert.ok('mistakes' in override && override.mistakes.length > 0, JSON.stringify(given))
    assert.ok(override.mistakes.every(({ path }) => path.startsWith('overrides.delay')))
  }
  const override = durationOverrideOf({ delay: { amount: 0, unit: 'minute' } })
  assert.equal(
    'mistakes' in override && describeErrors(override.mistakes),
    'overrides.delay.amount must be a whole number, 1 or more; overrides.delay.unit must be one of seconds, minutes, hours, days, weeks, months',
  )
})
