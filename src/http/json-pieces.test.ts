// Writing in pieces: together they are what JSON.stringify writes, so that a repeated call is known whatever its size.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../test/support/random.ts'
import { jsonPieces } from './json-pieces.ts'

const random = createRandom(16)
const large = (): string => random.oneOf(['x', 'é', '"', '😀', 'a😀', '\n']).repeat(10 + random.integer(100_000))

function randomValue(depth: number): unknown {
  const kind = random.integer(depth > 4 ? 4 : 7)
  if (kind === 0) return random.oneOf([1, -2.5, null, true, ''])
  if (kind === 1) return random.chance(0.2) ? large() : 'small'
  if (kind === 2) return Array.from({ length: random.integer(50_000) }, (_, index) => index)
  if (kind === 3) return random.oneOf([[], {}, [[]], '\ud83d'])
  const size = random.integer(6)
  if (kind < 6) return Array.from({ length: size }, () => randomValue(depth + 1))
  return Object.fromEntries(Array.from({ length: size }, (_, index) => [`n"${index}`, randomValue(depth + 1)]))
}

test('the pieces of 300 values, small and large, are what is written at once', () => {
  let pieces = 0
  for (let count = 0; count < 300; count += 1) {
    const value = randomValue(0)
    const written = [...jsonPieces(value)]
    pieces = Math.max(pieces, written.length)
    assert.ok(written.join('') === JSON.stringify(value), `value ${count}`)
  }
  assert.ok(pieces > 20)
})
