// The distance of two clocks, and how often it is reported.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeWorld } from '../../../test/support/fake-world.ts'
import { createSkewReport, isTooFar, skewOf } from './clock-skew.ts'

const at = (ms: number): Date => new Date(1_700_000_000_000 + ms)

test('the skew is measured from the middle of the exchange', () => {
  const skew = skewOf({ askedAt: at(5_000), answeredAt: at(5_100), databaseNow: at(0) })
  assert.deepEqual(skew, { aheadMs: 5_050, uncertainMs: 50 })
  assert.equal(skewOf({ askedAt: at(0), answeredAt: at(0), databaseNow: at(7_000) }).aheadMs, -7_000)
})

test('more than two seconds are too far, unless a slow answer may explain them', () => {
  assert.equal(isTooFar({ aheadMs: 2_000, uncertainMs: 0 }), false)
  assert.equal(isTooFar({ aheadMs: 2_001, uncertainMs: 0 }), true)
  assert.equal(isTooFar({ aheadMs: -2_001, uncertainMs: 0 }), true)
  const slow = skewOf({ askedAt: at(0), answeredAt: at(8_000), databaseNow: at(7_900) })
  assert.equal(slow.aheadMs, -3_900)
  assert.equal(isTooFar(slow), false)
})

test('it is reported at once and then every ten minutes at the most, and not while the clocks agree', () => {
  const world = createFakeWorld()
  const report = createSkewReport(world.log)
  const [far, near] = [
    { aheadMs: 9_000, uncertainMs: 1 },
    { aheadMs: 9, uncertainMs: 1 },
  ]
  report(near, 0)
  assert.equal(world.logged.length, 0)
  for (const atMs of [1_000, 3_000, 600_999]) report(far, atMs)
  assert.deepEqual(
    world.logged.map(({ level, facts }) => [level, facts]),
    [['warn', { aheadMs: 9_000 }]],
  )
  report(near, 700_000)
  report(far, 700_001)
  assert.equal(world.logged.length, 2)
})
