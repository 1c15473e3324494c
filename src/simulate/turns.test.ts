// Turns of computing: others come in between, and what takes too long is refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../domain/problem.ts'
import { createTurns } from './turns.ts'

test('a turn is over when it took long, and others have theirs before the next', async () => {
  let nowMs = 0
  const turns = createTurns(() => nowMs)
  nowMs = 19
  assert.equal(turns.over(), undefined)
  let isOthersTurn = false
  setImmediate(() => {
    isOthersTurn = true
  })
  nowMs = 21
  await turns.over()
  assert.ok(isOthersTurn)
  assert.equal(turns.over(), undefined)
})

test('waiting for others is no computing', async () => {
  let nowMs = 0
  const turns = createTurns(() => nowMs, 100)
  for (let time = 1; time < 20; time += 1) {
    nowMs = time * 1_000
    turns.begin()
    assert.equal(turns.over(), undefined)
  }
})

test('what takes too long in all is refused, with what to do about it', async () => {
  let nowMs = 0
  const turns = createTurns(() => nowMs, 100)
  nowMs += 60
  await turns.over()
  nowMs += 60
  await assert.rejects(
    async () => turns.over(),
    (error) => error instanceof Problem && error.status === 422 && 'limit' in (error.members['errors'] as object),
  )
})
