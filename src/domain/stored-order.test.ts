// The order of members that the database keeps.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inStoredOrder } from './stored-order.ts'

const textOf = (value: unknown): string => JSON.stringify(inStoredOrder(value))

test('shorter names first, those of one length by their bytes, at any depth', () => {
  assert.equal(
    textOf({ zebra: 1, bb: { b: 1, a: 2 }, a: [{ dd: 1, c: 2 }] }),
    '{"a":[{"c":2,"dd":1}],"bb":{"a":2,"b":1},"zebra":1}',
  )
  // Two bytes are longer than one, though both are one character; and a character of four bytes comes after one of three.
  assert.equal(textOf({ é: 1, z: 2 }), '{"z":2,"é":1}')
  assert.equal(textOf({ '🦆': 1, '\uffeea': 2, Aaaa: 3 }), '{"Aaaa":3,"\uffeea":2,"🦆":1}')
})

test('what is in that order already is returned as it is', () => {
  for (const value of ['text', 7, null, [], [1, { a: 1, b: { a: [], bb: 1 } }], { a: 1, b: 2, aa: 3 }])
    assert.equal(inStoredOrder(value), value)
})

test('a list stays in its order, and its given items as they are', () => {
  const given = [{ b: 1, a: 2 }, 3, 1]
  assert.equal(textOf(given), '[{"a":2,"b":1},3,1]')
  assert.equal(JSON.stringify(given), '[{"b":1,"a":2},3,1]')
})

test('a negative zero is a zero', () => {
  assert.ok(Object.is(inStoredOrder(-0), 0))
  assert.ok(Object.is(inStoredOrder({ a: [-0] }).a[0], 0))
})

test('a member called __proto__ is a member like any other', () => {
  assert.equal(textOf(JSON.parse('{"__proto__": {"b": 1, "a": 2}, "z": 1}')), '{"z":1,"__proto__":{"a":2,"b":1}}')
})
