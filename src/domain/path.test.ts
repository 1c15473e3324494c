// Dotted paths.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPath, pathLengthMax, payloadValueAt, valueAt } from './path.ts'

const order = { id: 7, items: [{ price: 1 }, { price: 0 }], empty: null, nothing: undefined, '': { a: 1 } }

test('a path goes through objects, and through arrays by index', () => {
  assert.equal(valueAt(order, 'id'), 7)
  assert.equal(valueAt(order, 'items.1.price'), 0)
  assert.equal(valueAt(order, 'items.length'), 2)
  assert.equal(valueAt(order, 'empty'), null)
  assert.equal(valueAt(order, '.a'), 1)
})

test('a path that leads nowhere gives undefined', () => {
  for (const path of ['gone', 'id.x', 'items.2', 'items.-1', 'items.01', 'empty.x', 'nothing.x', 'items..price', 'id.'])
    assert.equal(valueAt(order, path), undefined, path)
  for (const value of [undefined, null, 1, 'text', true]) assert.equal(valueAt(value, 'length'), undefined)
})

test('no path reaches a prototype', () => {
  for (const path of ['constructor', '__proto__', 'toString', 'items.map', 'constructor.name', 'items.__proto__'])
    assert.equal(valueAt(order, path), undefined, path)
  assert.equal(valueAt(JSON.parse('{"__proto__": {"a": 1}}'), '__proto__.a'), 1)
})

test('a path of any length is followed quickly', () => {
  assert.equal(valueAt(order, 'items.'.repeat(200_000)), undefined)
})

test('a path may name the payload first, and a member of that name wins', () => {
  assert.equal(payloadValueAt({ a: { b: 1 } }, 'payload.a.b'), 1)
  assert.equal(payloadValueAt({ a: { b: 1 } }, 'a.b'), 1)
  assert.equal(payloadValueAt({ a: 1, payload: { a: 2 } }, 'payload.a'), 2)
  assert.equal(payloadValueAt({ a: 1 }, 'payload'), undefined)
})

test('a path has names between its dots and an end', () => {
  for (const path of ['a', 'a.b.0', 'payload.user-id', 'größe', 'with space.in', 'x'.repeat(pathLengthMax)])
    assert.equal(isPath(path), true, path)
  for (const path of ['', '.', 'a.', '.a', 'a..b', ' a', 'a. b', 'x'.repeat(pathLengthMax + 1), 1, null, undefined, {}])
    assert.equal(isPath(path), false, String(path))
})
