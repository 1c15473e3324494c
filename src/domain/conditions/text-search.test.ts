// Searching in linear time finds what the engine's own search finds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnsOf } from '../../../test/support/turn-cpu.ts'
import { searchFor } from './text-search.ts'

const cases: [text: string, part: string][] = []
for (let seed = 1; seed <= 300; seed += 1) {
  // Two letters, so that beginnings repeat.
  const letters = (length: number, by: number) =>
    Array.from({ length }, (_, at) => (((at + seed) * by * seed) % 7 < 4 ? 'a' : 'b')).join('')
  cases.push(
    [letters(3_000, 3), letters(400 + seed, 5)],
    [letters(3_000, 3), letters(3_000, 3).slice(seed, seed + 500)],
  )
}

test('a long part is found where the engine finds it, and nowhere else', () => {
  for (const [text, part] of cases) assert.equal(searchFor(part)(text), text.includes(part))
  assert.equal(searchFor('')('abc'), true)
  assert.equal(searchFor('abcd')('abc'), false)
})

test('a part that looks like the text at every place takes no longer than reading both', () => {
  const text = 'a'.repeat(400_000)
  const part = `${'a'.repeat(100_000)}b${'a'.repeat(100_000)}`
  const turns = turnsOf(() => assert.equal(searchFor(part)(text), false))
  // 16 s with the engine's own.
  assert.ok(turns < 10, `${turns} turns`)
})
