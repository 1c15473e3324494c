// Slots and rests of integrations.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Limits } from './limits.ts'
import { createLimits } from './limits.ts'

const at = (ms: number): Date => new Date(1_000_000 + ms)

/** How many of so many wanted slots are there. */
function taken(limits: Limits, id: string, wanted: number, max: number, now = at(0)): number {
  return Array.from({ length: wanted }, () => limits.take(id, max, now)).filter((one) => one).length
}

function failing(limits: Limits, id: string, ms: number): Limits {
  for (let count = 0; count < 5; count += 1) limits.note(id, true, at(ms))
  return limits
}

test('no more slots are taken than there are, each integration for itself', () => {
  const limits = createLimits()
  assert.equal(taken(limits, 'a', 2, 3), 2)
  assert.equal(limits.has('a', 3, at(0)), true)
  assert.equal(taken(limits, 'a', 2, 3), 1)
  assert.equal(limits.has('a', 3, at(0)), false)
  assert.equal(taken(limits, 'b', 5, 3), 3)
})

test('a slot that is given back can be taken again', () => {
  const limits = createLimits()
  limits.take('a', 1, at(0))
  limits.free('a')
  assert.equal(limits.has('a', 1, at(0)), true)
  assert.equal(taken(limits, 'a', 1, 1), 1)
})

test('a slot that was not taken cannot be given back: it would let one call too many begin', () => {
  const limits = createLimits()
  limits.free('a')
  limits.free('a')
  assert.equal(taken(limits, 'a', 2, 1), 1)
})

test('a pause lasts until its time, and a shorter one does not cut it', () => {
  const limits = createLimits()
  assert.equal(limits.rest('a', at(0)), undefined)
  limits.pauseUntil('a', at(500))
  limits.pauseUntil('a', at(100))
  assert.deepEqual(limits.rest('a', at(499)), { until: at(500) })
  assert.equal(limits.rest('b', at(0)), undefined)
  assert.equal(limits.rest('a', at(500)), undefined)
})

test('one whose provider is down gives no slots, and says since when', () => {
  const limits = failing(createLimits(), 'a', 0)
  assert.equal(limits.take('a', 50, at(1_999)), false)
  assert.deepEqual(limits.rest('a', at(100)), { until: at(2_000), downSince: at(0) })
  assert.equal(limits.take('b', 50, at(0)), true)
})

test('a pause that is longer than the breaker is open holds, and the provider is down all the same', () => {
  const limits = failing(createLimits(), 'a', 0)
  limits.pauseUntil('a', at(9_000))
  assert.deepEqual(limits.rest('a', at(100)), { until: at(9_000), downSince: at(0) })
})

test('one call finds out whether it is back, and the others rest meanwhile', () => {
  const limits = failing(createLimits(), 'a', 0)
  assert.equal(limits.rest('a', at(2_000)), undefined)
  assert.equal(taken(limits, 'a', 10, 50, at(2_000)), 1)
  assert.deepEqual(limits.rest('a', at(2_000)), { until: at(7_000), downSince: at(0) })
  limits.free('a')
  limits.note('a', true, at(2_100))
  assert.deepEqual(limits.rest('a', at(2_100)), { until: at(6_100), downSince: at(0) })
  assert.equal(taken(limits, 'a', 10, 50, at(6_100)), 1)
  limits.free('a')
  limits.note('a', false, at(6_200))
  assert.equal(limits.rest('a', at(6_200)), undefined)
  assert.equal(taken(limits, 'a', 100, 50, at(6_200)), 50)
})

test('calls from before it went down count: none is let through beside them', () => {
  const limits = createLimits()
  assert.equal(taken(limits, 'a', 3, 50), 3)
  failing(limits, 'a', 0)
  assert.equal(limits.take('a', 50, at(2_000)), false)
  for (let count = 0; count < 3; count += 1) limits.free('a')
  assert.equal(limits.take('a', 50, at(2_000)), true)
})

test('however many integrations there are, the longest rests are kept, and so is what is taken', () => {
  const limits = createLimits()
  limits.take('taken', 1, at(0))
  failing(limits, 'down', 10_000_000)
  for (let one = 0; one < 1_500; one += 1) limits.pauseUntil(`i-${one}`, at(one + 1))
  assert.notEqual(limits.rest('i-1499', at(0)), undefined)
  assert.equal(limits.rest('i-0', at(0)), undefined)
  assert.notEqual(limits.rest('down', at(10_000_000)), undefined)
  assert.equal(limits.has('taken', 1, at(0)), false)
})
