// The list that flatMap makes, made another way.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom, fuzzRounds, fuzzSeed } from '../../test/support/random.ts'
import { fastFlatMap } from './fast-flat-map.ts'

test('items that give one, several or none are put together as flatMap does it', () => {
  const seed = fuzzSeed()
  const random = createRandom(seed)
  for (let round = 0; round < fuzzRounds(300); round += 1) {
    const given = Array.from({ length: random.integer(6) }, (): number | undefined | number[] => {
      if (random.chance(0.4)) return random.chance(0.2) ? undefined : random.integer(9)
      return Array.from({ length: random.integer(4) }, () => random.integer(9))
    })
    const places: number[] = []
    const found = fastFlatMap(given, (item, place) => {
      places.push(place)
      return item
    })
    assert.deepEqual(found, given.flat(), `POSTHORN_FUZZ_SEED=${seed}`)
    assert.deepEqual(places, [...given.keys()])
  }
})
