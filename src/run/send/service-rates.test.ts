// How fast services take calls, and when a job that finds their queue full comes back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServiceRates } from './service-rates.ts'
import { createServiceRates } from './service-rates.ts'

const at = (ms: number): Date => new Date(1_000_000 + ms)
const afterMs = (rates: ServiceRates, waiting: number, nowMs = 0, random = 0): number =>
  rates.turnAt('a', waiting, at(nowMs), random).getTime() - at(nowMs).getTime()

/** So many calls at a time, each of so long, for so long. */
function serve(rates: ServiceRates, { callMs, atOnce, forMs, fromMs = 0 }: Record<string, number>): number {
  let nowMs = fromMs ?? 0
  const until = nowMs + (forMs as number)
  for (let count = 0; count < (atOnce as number); count += 1) rates.began('a', at(nowMs))
  while (nowMs < until) {
    nowMs += callMs as number
    for (let count = 0; count < (atOnce as number); count += 1) {
      // A slot that comes free is taken at once.
      rates.began('a', at(nowMs))
      rates.served('a', at(nowMs))
    }
  }
  for (let count = 0; count < (atOnce as number); count += 1) rates.served('a', at(nowMs))
  return nowMs
}

test('before anything is known a service takes twenty a second', () => {
  assert.equal(afterMs(createServiceRates(), 100), 5_000)
})

test('a job comes back when those before it have had their turn, at the rate that was measured', () => {
  const rates = createServiceRates()
  const nowMs = serve(rates, { callMs: 100, atOnce: 10, forMs: 10_000 })
  assert.equal(Math.round(afterMs(rates, 1_000, nowMs) / 1_000), 10)
})

test('time in which there was nothing to do does not make a service slow', () => {
  const rates = createServiceRates()
  const idleFromMs = serve(rates, { callMs: 100, atOnce: 10, forMs: 10_000 })
  const nowMs = serve(rates, { callMs: 100, atOnce: 10, forMs: 200, fromMs: idleFromMs + 3_600_000 })
  assert.equal(Math.round(afterMs(rates, 1_000, nowMs) / 1_000), 10)
})

test('a service that becomes slow is noticed although its calls are far apart', () => {
  const rates = createServiceRates()
  const nowMs = serve(rates, { callMs: 20_000, atOnce: 2, forMs: 60_000 })
  assert.ok(afterMs(rates, 3, nowMs) > 20_000)
})

test('each has a turn of its own, half a second away at the least', () => {
  const rates = createServiceRates()
  assert.deepEqual([afterMs(rates, 0), afterMs(rates, 0), afterMs(rates, 0)], [500, 550, 600])
})

test('turns are given out for a minute ahead, and those beyond come back spread over the later half', () => {
  const rates = createServiceRates()
  assert.equal(afterMs(rates, 10_000, 0, 0), 60_000)
  assert.equal(afterMs(rates, 10_000, 0, 1), 30_000)
  assert.equal(afterMs(rates, 10_000, 0, 0.5), 45_000)
})

test('services are told apart', () => {
  const rates = createServiceRates()
  for (let count = 0; count < 100; count += 1) rates.turnAt('other', 0, at(0), 0)
  assert.equal(afterMs(rates, 0), 500)
})
