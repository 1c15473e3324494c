// When deliveries are repeated, and for how long.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { disabledAfterMs, pauseAfterMs, retryWaitMs } from './webhook-delivery.ts'

/** The waits after failed attempts, until there is no other: the first hundred are far more than there are. */
function waitsMs(random: number): number[] {
  const waits = Array.from({ length: 100 }, (_, made) => retryWaitMs(made + 1, random))
  const count = waits.indexOf(undefined)
  assert.ok(count > 0 && waits.slice(count).every((wait) => wait === undefined))
  return waits.slice(0, count).map((wait) => wait ?? 0)
}

test('attempts go on for three days and end soon after, whatever the jitter is', () => {
  for (const random of [0, 0.5, 0.999]) {
    const totalMs = waitsMs(random).reduce((sum, wait) => sum + wait, 0)
    assert.ok(totalMs >= disabledAfterMs && totalMs <= disabledAfterMs * 1.15, String(totalMs))
  }
})

test('each wait is longer than the one before', () => {
  const waits = waitsMs(0)
  assert.deepEqual(
    waits,
    [...waits].sort((a, b) => a - b),
  )
})

test('a pause of an endpoint doubles up to a minute', () => {
  assert.deepEqual([1, 2, 3, 7, 1_000].map(pauseAfterMs), [1_000, 2_000, 4_000, 60_000, 60_000])
})
