// Who is suspected of ending its process.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupMaxFor, interruptionsBeforeSolo, isPoisonous, soloDeathsMax, soloWaitsMs } from './suspicion.ts'

test('the group in which a row runs is smaller after each death, and the row is alone after three', () => {
  assert.deepEqual([0, 1, 2, 3, 4, 100].map(groupMaxFor), [Number.POSITIVE_INFINITY, 50, 10, 1, 1, 1])
  assert.equal(interruptionsBeforeSolo, 3)
})

test('only deaths of solo runs accuse, and the five that bury a row are a minute apart', () => {
  assert.deepEqual(soloWaitsMs.slice(-5), Array(5).fill(60_000))
  const first = interruptionsBeforeSolo + soloDeathsMax
  const counts = [0, interruptionsBeforeSolo, first - 1, first, first + 1]
  assert.deepEqual(
    counts.map((interruptions) => isPoisonous({ interruptions })),
    [false, false, false, true, true],
  )
})
