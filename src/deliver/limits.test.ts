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
  assert.equal(taken(limits, 'a', 2, 3), 1)
  assert.equal(limits.underWay('a'), 3)
  assert.equal(taken(limits, 'b', 5, 3), 3)
})

test('a slot that is given back can be taken again', () => {
  const limits = createLimits()
  limits.take('a', 1, at(0))
  limits.free('a')
  assert.equal(limits.underWay('a'), 0)
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
  assert.equal(limits.underWay('taken'), 1)
})

/** So many calls to one provider, of which none is given back, have it grow to `max`: it takes 100 ms for each. */
function grown(limits: Limits, id: string, max: number): void {
  for (let ms = 0; ms < 10_000; ms += 100) {
    while (limits.take(id, max, at(ms)));
    for (let count = 0; count < max; count += 1) limits.ended(id, { beganAt: at(ms), ending: 'answered' }, at(ms + 100))
  }
}

test('an account has the usual calls at first, and more once its answers were quick', () => {
  const limits = createLimits()
  assert.equal(taken(limits, 'a', 1_000, 500), 50)
  grown(limits, 'b', 500)
  assert.equal(limits.take('b', 500, at(10_000)), false)
  limits.free('b')
  assert.equal(taken(limits, 'b', 1_000, 500), 1)
})

test('what one account has beyond the usual calls takes nothing from the others', () => {
  const limits = createLimits()
  const ids = ['a', 'b', 'c', 'd']
  for (const id of ids) grown(limits, id, 500)
  assert.deepEqual(ids.map(limits.underWay), [500, 500, 150, 50], '1,000 beyond the usual ones')
  assert.equal(taken(limits, 'e', 1_000, 500), 50)
})

test('beyond the usual calls, messages in flight come to a bounded number of bytes on one node', () => {
  const mega = 1024 * 1024
  const limits = createLimits()
  grown(limits, 'a', 500)
  for (let count = 0; count < 500; count += 1) limits.free('a')
  let count = 0
  while (limits.take('a', 500, at(10_000), mega / 2)) count += 1
  assert.equal(count, 64, '32 MiB')
  limits.free('a', mega / 2)
  limits.join(mega)
  assert.equal(limits.take('a', 500, at(10_000), mega / 2), false)
  assert.equal(limits.take('b', 500, at(10_000), mega / 2), true, 'the usual calls are always there')
})
