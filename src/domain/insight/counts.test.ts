// The buckets of times to deliver, and what is read from them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayMs, deliveryBucketMax, deliveryBucketOf, deliveryMsOf, percentileMs } from './counts.ts'

test('a time is shown as the middle of its bucket, within 9 % of its value', () => {
  for (let ms = 1.01; ms < 40 * dayMs; ms *= 1.013) {
    const shown = deliveryMsOf(deliveryBucketOf(ms))
    assert.ok(Math.abs(shown - ms) / ms <= 0.0906, `${ms} is shown as ${shown}`)
  }
})

test('buckets rise with the time, hold nothing twice, and end', () => {
  let last = 0
  for (let ms = 1; ms < 100 * dayMs; ms *= 1.07) {
    const bucket = deliveryBucketOf(ms)
    assert.ok(bucket >= last)
    last = bucket
  }
  assert.equal(last, deliveryBucketMax)
  assert.equal(deliveryBucketOf(Number.MAX_SAFE_INTEGER), deliveryBucketMax)
})

test('what took no time, or less as clocks differ, is a millisecond at the most', () => {
  for (const ms of [-5_000, 0, 0.4, 1]) assert.equal(deliveryMsOf(deliveryBucketOf(ms)), 1)
})

test('a percentile is the time that so many took at the most', () => {
  const buckets = [
    { bucket: 40, count: 1 },
    { bucket: 8, count: 50 },
    { bucket: 20, count: 49 },
  ]
  assert.equal(percentileMs(buckets, 0.5), deliveryMsOf(8))
  assert.equal(percentileMs(buckets, 0.51), deliveryMsOf(20))
  assert.equal(percentileMs(buckets, 0.99), deliveryMsOf(20))
  assert.equal(percentileMs(buckets, 1), deliveryMsOf(40))
})

test('of nothing there is no percentile, and of one thing all are the same', () => {
  assert.equal(percentileMs([], 0.5), 0)
  for (const share of [0.01, 0.5, 0.99]) assert.equal(percentileMs([{ bucket: 12, count: 1 }], share), deliveryMsOf(12))
})
