// Words from outside: what is left of them when they are stored.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storable } from './words.ts'

test('short words stay as they are', () => {
  for (const words of ['', 'no', 'Größe 🎺', 'x'.repeat(100)]) assert.equal(storable(words, 100), words)
})

test('characters that a database refuses are taken out or replaced', () => {
  assert.equal(storable('a\u0000b\ud800c', 100), 'ab\ufffdc')
})

test('long words are cut at whole characters, within the bytes allowed', () => {
  assert.equal(storable('x'.repeat(101), 100), 'x'.repeat(100))
  assert.equal(storable('é'.repeat(60), 101), 'é'.repeat(50))
  assert.equal(storable('🎺'.repeat(30), 103), '🎺'.repeat(25))
})
