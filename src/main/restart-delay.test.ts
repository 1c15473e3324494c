// The pauses between the starts of a process that ends again and again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstDelayMs, longestDelayMs, restartDelayMs, steadyMs } from './restart-delay.ts'

test('the pauses double up to a bound, and begin again after a steady life', () => {
  const delays: number[] = []
  for (let death = 0; death < 12; death += 1) delays.push(restartDelayMs(delays.at(-1), 50))
  assert.deepEqual(delays.slice(0, 5), [100, 200, 400, 800, 1_600])
  assert.equal(delays.at(-1), longestDelayMs)
  assert.equal(restartDelayMs(longestDelayMs, steadyMs), firstDelayMs)
  assert.equal(restartDelayMs(longestDelayMs, steadyMs - 1), longestDelayMs)
})

test('the first death is not waited on, however young the process was', () => {
  assert.equal(restartDelayMs(undefined, 0), firstDelayMs)
})
