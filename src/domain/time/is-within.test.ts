// What is recent enough, also by a clock that was set back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWithin } from './is-within.ts'

test('it is recent until so long after, and no longer where the clock went back', () => {
  assert.deepEqual(
    [1_000, 1_899, 1_900, 9_000].map((nowMs) => isWithin(1_000, nowMs, 900)),
    [true, true, false, false],
  )
  assert.equal(isWithin(3_600_000, 0, 900), false)
  assert.equal(isWithin(undefined, 0, 900), false)
})
