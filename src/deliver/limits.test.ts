// Slots and pauses of integrations.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSlots } from './slots.ts'

const at = (ms: number): Date => new Date(1_000_000 + ms)

test('no more slots are taken than there are, each integration for itself', () => {
  const slots = createSlots({ perIntegrationMax: 3 })
  assert.equal(slots.take('a', 2), 2)
  assert.equal(slots.has('a'), true)
  assert.equal(slots.take('a', 2), 1)
  assert.equal(slots.has('a'), false)
  assert.equal(slots.take('a', 1), 0)
  assert.equal(slots.take('b', 5), 3)
})

test('a slot that is given back can be taken again', () => {
  const slots = createSlots({ perIntegrationMax: 1 })
  slots.take('a', 1)
  slots.free('a')
  assert.equal(slots.has('a'), true)
  assert.equal(slots.take('a', 1), 1)
})

test('a slot nobody had taken cannot be given back: it would let one call too many begin', () => {
  const slots = createSlots({ perIntegrationMax: 1 })
  slots.free('a')
  slots.free('a')
  assert.equal(slots.take('a', 2), 1)
})

test('without a limit of its own an integration has fifty, and nothing is taken for nothing', () => {
  const slots = createSlots()
  assert.equal(slots.take('a', 0), 0)
  assert.equal(slots.take('a', -1), 0)
  assert.equal(slots.take('a', 100), 50)
})

test('a pause lasts until its moment, and a shorter one does not cut it', () => {
  const slots = createSlots()
  assert.equal(slots.isPaused('a', at(0)), false)
  slots.pauseUntil('a', at(500))
  slots.pauseUntil('a', at(100))
  assert.deepEqual(slots.pausedUntil('a', at(499)), at(500))
  assert.equal(slots.isPaused('b', at(0)), false)
  assert.equal(slots.isPaused('a', at(500)), false)
  assert.equal(slots.pausedUntil('a', at(500)), undefined)
})

test('however many integrations are paused, the longest pauses are kept', () => {
  const slots = createSlots()
  for (let one = 0; one < 1_500; one += 1) slots.pauseUntil(`i-${one}`, at(one + 1))
  assert.equal(slots.isPaused('i-1499', at(0)), true)
  assert.equal(slots.isPaused('i-0', at(0)), false)
})
