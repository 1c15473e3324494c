// How fast a service takes calls: measured while it is called, and what follows for those that find its queue full.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServiceRates } from './service-rates.ts'
import { createServiceRates } from './service-rates.ts'

const at = (ms: number): Date => new Date(1_000_000 + ms)

/** One call after the other. */
function calls(rates: ServiceRates, count: number, fromMs: number, eachMs: number): number {
  for (let index = 0; index < count; index += 1) {
    rates.began('key', at(fromMs + index * eachMs))
    rates.served('key', at(fromMs + (index + 1) * eachMs))
  }
  return fromMs + count * eachMs
}

const waitMs = (rates: ServiceRates, waiting: number, nowMs: number): number =>
  rates.turnAt('key', waiting, at(nowMs), 0.5).getTime() - at(nowMs).getTime()

test('a job that finds the queue full comes back when those before it are served, at the rate that was measured', () => {
  const rates = createServiceRates()
  const nowMs = calls(rates, 20, 0, 500)
  assert.equal(waitMs(rates, 10, nowMs), 5_000)
  assert.equal(waitMs(rates, 10, nowMs), 5_500, 'each has a turn of its own')
})

test('nobody comes back sooner than half a second from now, or later than a minute', () => {
  const rates = createServiceRates()
  assert.equal(waitMs(rates, 0, 0), 500)
  calls(rates, 3, 0, 10_000)
  const late = waitMs(rates, 1_000, 30_000)
  assert.ok(late >= 30_000 && late <= 60_000, `${late} ms`)
})

test('a service that was left alone for an hour is not taken for a slow one', () => {
  const rates = createServiceRates()
  calls(rates, 100, 0, 100)
  const nowMs = calls(rates, 3, 3_600_000, 100)
  assert.equal(waitMs(rates, 20, nowMs), 2_000, 'ten a second, as before')
})
