// How much a call writes, which decides what shares a commit with it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventRequest } from '../domain/delivery/event.ts'
import type { GivenEvent } from './judge-events.ts'
import { rowsAtOnce } from './write-events.ts'

const eventFor = (people: number, isExpandedLater = false): GivenEvent => {
  const recipients = Array.from({ length: people }, (_, index) => ({ subscriberId: `one-${index}` }))
  return { request: { recipients, isExpandedLater } as unknown as EventRequest } as GivenEvent
}

test('an event counts as many times as it has recipients, and once if it has none, or they are left to the worker', () => {
  assert.equal(rowsAtOnce([]), 0)
  assert.equal(rowsAtOnce([eventFor(1), eventFor(0)]), 2)
  assert.equal(rowsAtOnce([eventFor(100), eventFor(3)]), 103)
  assert.equal(rowsAtOnce([eventFor(101), eventFor(50, true), eventFor(2)]), 4)
})
