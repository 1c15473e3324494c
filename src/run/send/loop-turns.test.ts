// How long turns of the event loop take.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLoopTurns } from './loop-turns.ts'

test('the mean follows the turns, one is measured at a time, and a single long one hardly counts', () => {
  let nowMs = 0
  const next: (() => void)[] = []
  const turns = createLoopTurns(
    () => nowMs,
    (go) => void next.push(go),
  )
  const pass = (ms: number): void => {
    turns.sample()
    turns.sample()
    next.shift()?.()
    nowMs += ms
    next.shift()?.()
    assert.equal(next.length, 0)
  }
  for (let count = 0; count < 20; count += 1) pass(40)
  assert.ok(turns.ms() > 39 && turns.ms() <= 40)
  for (let count = 0; count < 40; count += 1) pass(0)
  pass(100)
  assert.ok(turns.ms() > 24 && turns.ms() < 26)
})
