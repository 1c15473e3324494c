// Writing in pieces: together they are what JSON.stringify writes, so that a repeated call is known whatever its size.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom, fuzzRounds } from '../../test/support/random.ts'
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

test('the pieces of values, small and large, are what is written at once', () => {
  let pieces = 0
  for (let count = 0; count < fuzzRounds(100); count += 1) {
    const value = randomValue(0)
    const written = [...jsonPieces(value)]
    pieces = Math.max(pieces, written.length)
    assert.ok(written.join('') === JSON.stringify(value), `value ${count}`)
  }
  assert.ok(pieces > 20)
})

const nested = (value: unknown, depth: number): unknown => {
  let nest = value
  for (let level = 0; level < depth; level += 1) nest = level % 2 === 0 ? [nest] : { a: nest }
  return nest
}

const many = (length: number, element: unknown): unknown[] => Array.from({ length }, () => element)

const bounded: Readonly<Record<string, () => unknown>> = {
  'below many levels': () => nested({ a: many(200_000, { b: 1 }) }, 900),
  'on every one of many levels': () => {
    let nest: unknown = 1
    for (let level = 0; level < 500; level += 1) nest = { text: 'x'.repeat(2_000), nest, list: many(100, 0.1) }
    return nest
  },
  'of long numbers': () => many(500_000, -1e-300 / 7),
  'of numbers in an object': () => Object.fromEntries(many(50_000, 0).map((_, index) => [`name ${index}`, index / 7])),
  'of a name': () => ({ ['x'.repeat(1_000_000)]: 1 }),
  'of nothing': () => many(400_000, []),
}

for (const [name, make] of Object.entries(bounded)) {
  test(`a large value ${name} is written in pieces that are all small`, () => {
    const value = make()
    const written = [...jsonPieces(value)]
    assert.ok(written.join('') === JSON.stringify(value))
    const largest = Math.max(...written.map((piece) => piece.length))
    assert.ok(largest < 400_000, `${largest}`)
    assert.ok(written.length > 5, `${written.length}`)
  })
}
