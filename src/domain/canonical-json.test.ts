// One text for one value.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalJson } from './canonical-json.ts'

test('the order of members does not count, at any depth; that of a list does', () => {
  assert.equal(canonicalJson({ b: [{ d: 1, c: 2 }], a: null }), '{"a":null,"b":[{"c":2,"d":1}]}')
  assert.equal(canonicalJson({ a: null, b: [{ c: 2, d: 1 }] }), canonicalJson({ b: [{ d: 1, c: 2 }], a: null }))
  assert.notEqual(canonicalJson([1, 2]), canonicalJson([2, 1]))
  assert.equal(canonicalJson('a'), '"a"')
})

test('a member called __proto__ is a member like any other', () => {
  assert.equal(canonicalJson(JSON.parse('{"b": 1, "__proto__": {"a": 1}}')), '{"__proto__":{"a":1},"b":1}')
})

test('what cannot be written gives undefined', () => {
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  let deep: unknown = 1
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep]
  for (const value of [circle, deep, undefined, 1n]) assert.equal(canonicalJson(value), undefined)
})
