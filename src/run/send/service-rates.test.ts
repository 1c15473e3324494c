// How fast a service takes calls: measured while others wait for it, and what follows for those that find its queue full.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServiceRates } from './service-rates.ts'
import { createServiceRates } from './service-rates.ts'

const at = (ms: number): Date => new Date(1_000_000 + ms)

/** One call after the other, while others wait. */
function calls(rates: ServiceRates, count: number, fromMs: number, eachMs: number, isWanted = true): number {
  for (let index = 0; index <= count; index += 1) rates.served('key', isWanted, at(fromMs + index * eachMs))
  return fromMs + count * eachMs
}

const waitMs = (rates: ServiceRates, waiting: number, nowMs: number): number =>
  rates.turnAt('key', waiting, at(nowMs), 0.5).getTime() - at(nowMs).getTime()

test('a job that finds the queue full comes back when those before it may be served: at twice the measured rate', () => {
  const rates = createServiceRates()
  const nowMs = calls(rates, 20, 0, 500)
  assert.equal(waitMs(rates, 10, nowMs), 2_500)
  assert.equal(waitMs(rates, 10, nowMs), 2_750, 'each has a turn of its own')
})

test('no one comes back sooner than half a second from now, or later than a minute', () => {
  const rates = createServiceRates()
  assert.equal(waitMs(rates, 0, 0), 500)
  calls(rates, 3, 0, 10_000)
  const late = waitMs(rates, 1_000, 30_000)
  assert.ok(late >= 30_000 && late <= 60_000, `${late} ms`)
})

test('a service that is seldom asked, or was left alone for an hour, is not taken for a slow one', () => {
  const rates = createServiceRates()
  calls(rates, 200, 0, 10)
  calls(rates, 20, 10_000, 1_000, false)
  const nowMs = calls(rates, 3, 3_600_000, 100)
  assert.equal(waitMs(rates, 200, nowMs), 1_000, 'a hundred a second, as before')
})

test('a service that becomes faster is found out within a second', () => {
  const rates = createServiceRates()
  const slowMs = calls(rates, 20, 0, 500)
  const nowMs = calls(rates, 300, slowMs, 5)
  assert.ok(waitMs(rates, 1_250, nowMs) <= 3_200)
})

test('so many are served soon as two seconds of calls; before anything is measured, any number is', () => {
  const rates = createServiceRates()
  const at = (ms: number) => new Date(1_000_000 + ms)
  assert.equal(rates.isSoonServed('key', 10_000, at(0)), true)
  for (let call = 0; call <= 100; call += 1) rates.served('key', true, at(call * 10))
  assert.equal(rates.isSoonServed('key', 200, at(1_000)), true)
  assert.equal(rates.isSoonServed('key', 202, at(1_000)), false)
})

test('no one waits for a service that does not answer, whatever it did before', () => {
  const rates = createServiceRates()
  const at = (ms: number) => new Date(1_000_000 + ms)
  assert.equal(rates.isSoonServed('new', 1, at(0)), true)
  assert.equal(rates.isSoonServed('new', 1, at(501)), false)
  for (let call = 0; call <= 100; call += 1) rates.served('key', true, at(call * 10))
  assert.equal(rates.isSoonServed('key', 1, at(1_500)), true)
  assert.equal(rates.isSoonServed('key', 1, at(1_501)), false)
})
