// Seats: how many messages a slot carries, and when it is free again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Seat, Sharing } from './seats.ts'
import { callOfSeat, createSeating } from './seats.ts'
import { createSlots } from './slots.ts'

const sharing = (change: Partial<Sharing> = {}): Sharing => ({ key: '', max: 3, bytes: 1, ...change })

test('messages that may share a call take one slot, up to as many as the provider takes', () => {
  const slots = createSlots({ perIntegrationMax: 2 })
  const seating = createSeating(slots)
  const seats = Array.from({ length: 7 }, () => seating.take('a', sharing()))
  assert.equal(seats.filter((seat) => seat !== undefined).length, 6)
  assert.equal(new Set(seats.slice(0, 3).map((seat) => callOfSeat(seat as Seat))).size, 1)
  assert.notEqual(callOfSeat(seats[2] as Seat), callOfSeat(seats[3] as Seat))
  assert.equal(slots.has('a'), false)
})

test('without sharing, with another key, at another integration or beyond the bytes each has a call of its own', () => {
  const seating = createSeating(createSlots({ perIntegrationMax: 50 }))
  const mega = 1024 * 1024
  const seats = [
    seating.take('a'),
    seating.take('a'),
    seating.take('a', sharing()),
    seating.take('a', sharing({ key: 'other' })),
    seating.take('b', sharing()),
    seating.take('c', sharing({ bytes: 3 * mega })),
    seating.take('c', sharing({ bytes: 2 * mega })),
  ]
  assert.equal(new Set(seats.map((seat) => callOfSeat(seat as Seat))).size, seats.length)
})

test('a slot is free when the last message has left, and not before', () => {
  const slots = createSlots({ perIntegrationMax: 1 })
  const seating = createSeating(slots)
  const [first, second] = [seating.take('a', sharing()), seating.take('a', sharing())]
  first?.leave()
  first?.leave()
  assert.equal(slots.has('a'), false)
  second?.leave()
  assert.equal(slots.has('a'), true)
  assert.equal(slots.take('a', 5), 1)
})

test('nobody joins a call of another seating', () => {
  const slots = createSlots({ perIntegrationMax: 1 })
  assert.notEqual(createSeating(slots).take('a', sharing()), undefined)
  assert.equal(createSeating(slots).take('a', sharing()), undefined)
})
