// Batch slots: how many messages a call carries, and when it is free again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BatchSlot, Sharing } from './batch-slots.ts'
import { callOfSlot, createBatchPlan } from './batch-slots.ts'
import { createLimits } from './limits.ts'

const now = new Date(1_000_000)

const sharing = (change: Partial<Sharing> = {}): Sharing => ({ key: '', max: 3, ...change })

test('messages that may share a call take one slot, up to as many as the provider takes', () => {
  const limits = createLimits()
  const plan = createBatchPlan(limits, now)
  const slots = Array.from({ length: 7 }, () => plan.take('a', 2, 1, sharing()))
  assert.equal(slots.filter((slot) => slot !== undefined).length, 6)
  assert.equal(new Set(slots.slice(0, 3).map((slot) => callOfSlot(slot as BatchSlot))).size, 1)
  assert.notEqual(callOfSlot(slots[2] as BatchSlot), callOfSlot(slots[3] as BatchSlot))
  assert.equal(limits.underWay('a'), 2)
})

test('without sharing, with another key, at another integration or beyond the bytes each has a call of its own', () => {
  const plan = createBatchPlan(createLimits(), now)
  const mega = 1024 * 1024
  const slots = [
    plan.take('a', 50, 1),
    plan.take('a', 50, 1),
    plan.take('a', 50, 1, sharing()),
    plan.take('a', 50, 1, sharing({ key: 'other' })),
    plan.take('b', 50, 1, sharing()),
    plan.take('c', 50, 3 * mega, sharing()),
    plan.take('c', 50, 2 * mega, sharing()),
  ]
  assert.equal(new Set(slots.map((slot) => callOfSlot(slot as BatchSlot))).size, slots.length)
})

test('a slot is free when the last message has left, and not before', () => {
  const limits = createLimits()
  const plan = createBatchPlan(limits, now)
  const [first, second] = [plan.take('a', 1, 1, sharing()), plan.take('a', 1, 1, sharing())]
  first?.leave()
  first?.leave()
  assert.equal(limits.underWay('a'), 1)
  second?.leave()
  assert.equal(limits.underWay('a'), 0)
  assert.deepEqual([limits.take('a', 1, now), limits.take('a', 1, now)], [true, false])
})

test('no message joins a call of another batch', () => {
  const limits = createLimits()
  assert.notEqual(createBatchPlan(limits, now).take('a', 1, 1, sharing()), undefined)
  assert.equal(createBatchPlan(limits, now).take('a', 1, 1, sharing()), undefined)
})
