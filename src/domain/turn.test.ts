// Turns of long work: others have theirs in between.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Turn } from './turn.ts'

test('a turn is over after 20 ms, and what waits is done before the next', async () => {
  let nowMs = 0
  const turn = new Turn(() => nowMs)
  nowMs = 20
  assert.equal(turn.isOver(), false)
  nowMs = 21
  assert.equal(turn.isOver(), true)
  let hadTurn = false
  setImmediate(() => {
    hadTurn = true
  })
  await turn.next()
  assert.equal(hadTurn, true)
  assert.equal(turn.isOver(), false)
})
