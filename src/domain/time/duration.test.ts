// How long an amount of a unit is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { durationMs, durationMsMax } from './duration.ts'

test('a unit has its length; a month is thirty days', () => {
  assert.equal(durationMs(2, 'seconds'), 2_000)
  assert.equal(durationMs(2, 'minutes'), 120_000)
  assert.equal(durationMs(2, 'hours'), 7_200_000)
  assert.equal(durationMs(2, 'days'), 172_800_000)
  assert.equal(durationMs(2, 'weeks'), 1_209_600_000)
  assert.equal(durationMs(2, 'months'), 60 * 86_400_000)
})

test('a year fits the longest duration in every unit', () => {
  for (const [amount, unit] of [
    [12, 'months'],
    [52, 'weeks'],
    [366, 'days'],
  ] as const)
    assert.ok(durationMs(amount, unit) <= durationMsMax, unit)
  assert.ok(durationMs(367, 'days') > durationMsMax)
})
