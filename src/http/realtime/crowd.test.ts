// Places for connections that are being opened: for all, and for each caller.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCrowd } from './crowd.ts'

test('a crowd has places for all and for each, and gives back one at a time', () => {
  const crowd = createCrowd({ allMax: 3, eachMax: 2 })
  const first = crowd.enter('a')
  crowd.enter('a')
  assert.equal(crowd.enter('a'), undefined)
  const other = crowd.enter('b')
  assert.equal(crowd.enter('c'), undefined)
  other?.()
  other?.()
  assert.ok(crowd.enter('c'))
  assert.equal(crowd.enter('d'), undefined)
  first?.()
  assert.ok(crowd.enter('a'))
})
