// Seats: how many messages a slot carries, and when it is free again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLimits } from './limits.ts'
import type { Seat, Sharing } from './seats.ts'
import { callOfSeat, createSeating } from './seats.ts'

const now = new Date(1_000_000)

const sharing = (change: Partial<Sharing> = {}): Sharing => ({ key: '', max: 3, ...change })

test('messages that may share a call take one slot, up to as many as the provider takes', () => {
  const limits = createLimits()
  const seating = createSeating(limits, now)
  const seats = Array.from({ length: 7 }, () => seating.take('a', 2, 1, sharing()))
  assert.equal(seats.filter((seat) => seat !== undefined).length, 6)
  assert.equal(new Set(seats.slice(0, 3).map((seat) => callOfSeat(seat as Seat))).size, 1)
  assert.notEqual(callOfSeat(seats[2] as Seat), callOfSeat(seats[3] as Seat))
  assert.equal(limits.has('a', 2, now), false)
})

test('without sharing, with another key, at another integration or beyond the bytes each has a call of its own', () => {
  const seating = createSeating(createLimits(), now)
  const mega = 1024 * 1024
  const seats = [
    seating.take('a', 50, 1),
    seating.take('a', 50, 1),
    seating.take('a', 50, 1, sharing()),
    seating.take('a', 50, 1, sharing({ key: 'other' })),
    seating.take('b', 50, 1, sharing()),
    seating.take('c', 50, 3 * mega, sharing()),
    seating.take('c', 50, 2 * mega, sharing()),
  ]
  assert.equal(new Set(seats.map((seat) => callOfSeat(seat as Seat))).size, seats.length)
})

test('a slot is free when the last message has left, and not before', () => {
  const limits = createLimits()
  const seating = createSeating(limits, now)
  const [first, second] = [seating.take('a', 1, 1, sharing()), seating.take('a', 1, 1, sharing())]
  first?.leave()
  first?.leave()
  assert.equal(limits.has('a', 1, now), false)
  second?.leave()
  assert.equal(limits.has('a', 1, now), true)
  assert.deepEqual([limits.take('a', 1, now), limits.take('a', 1, now)], [true, false])
})

test('no message joins a call of another seating', () => {
  const limits = createLimits()
  assert.notEqual(createSeating(limits, now).take('a', 1, 1, sharing()), undefined)
  assert.equal(createSeating(limits, now).take('a', 1, 1, sharing()), undefined)
})
