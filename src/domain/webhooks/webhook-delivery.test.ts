// When deliveries are repeated, and for how long.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliveryAttemptsMax, disabledAfterMs, pauseAfterMs, retryWaitMs } from './webhook-delivery.ts'

test('attempts go on for three days and end soon after, whatever the jitter is', () => {
  for (const random of [0, 0.5, 0.999]) {
    let totalMs = 0
    for (let attempts = 1; attempts < deliveryAttemptsMax; attempts += 1) totalMs += retryWaitMs(attempts, random) ?? 0
    assert.ok(totalMs >= disabledAfterMs && totalMs <= disabledAfterMs * 1.15, String(totalMs))
    assert.equal(retryWaitMs(deliveryAttemptsMax, random), undefined)
  }
})

test('each wait is longer than the one before', () => {
  const waits = Array.from({ length: deliveryAttemptsMax - 1 }, (_, made) => retryWaitMs(made + 1, 0) ?? 0)
  assert.deepEqual(
    waits,
    [...waits].sort((a, b) => a - b),
  )
})

test('a pause of an endpoint doubles up to a minute', () => {
  assert.deepEqual([1, 2, 3, 7, 1_000].map(pauseAfterMs), [1_000, 2_000, 4_000, 60_000, 60_000])
})
