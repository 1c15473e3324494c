// Who is suspected of ending its process.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupMaxFor, interruptionsBeforeSolo, isPoisonous, soloDeathsMax } from './suspicion.ts'

test('the group in which a row runs is smaller after each death, and the row is alone after three', () => {
  assert.deepEqual([0, 1, 2, 3, 4, 100].map(groupMaxFor), [Number.POSITIVE_INFINITY, 50, 10, 1, 1, 1])
  assert.equal(interruptionsBeforeSolo, 3)
})

test('only deaths of solo runs accuse, and five of them are needed', () => {
  assert.equal(soloDeathsMax, 5)
  assert.deepEqual(
    [0, 3, 7, 8, 9].map((interruptions) => isPoisonous({ interruptions })),
    [false, false, false, true, true],
  )
})
