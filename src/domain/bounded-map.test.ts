// The bounded map: its size, its weight, and who makes room.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BoundedMap } from './bounded-map.ts'

test('what was set first makes room, and what is set again is the newest', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 2).set('a', 3).set('c', 4)
  assert.deepEqual(
    [...map],
    [
      ['a', 3],
      ['c', 4],
    ],
  )
  assert.equal(map.set('c', 5).size, 2)
  assert.deepEqual([...map.keys()], ['a', 'c'])
})

test('what is read stays where it is', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 2)
  assert.equal(map.get('a'), 1)
  assert.deepEqual([...map.set('c', 3).keys()], ['b', 'c'])
})

test('a weight bounds it as well, up to the very bound, and what is set again weighs once', () => {
  const map = new BoundedMap<string, string>(9, { max: 10, of: (text) => text.length })
  map.set('a', 'xxxxx').set('b', 'xxxxx').set('b', 'xxxxx')
  assert.deepEqual([...map.keys()], ['a', 'b'])
  assert.deepEqual([...map.set('c', 'xxxxxx').keys()], ['c'])
  assert.deepEqual([...map.set('d', 'xxxx').keys()], ['c', 'd'])
})

test('what weighs more than all may is not held, is no longer known, and pushes nothing out', () => {
  const map = new BoundedMap<string, string>(9, { max: 3, of: (text) => text.length })
  map.set('a', 'x').set('b', 'x').set('b', 'xxxx')
  assert.deepEqual([...map.keys()], ['a'])
})

test('what is deleted, or cleared, weighs nothing any more', () => {
  const map = new BoundedMap<string, string>(9, { max: 3, of: (text) => text.length })
  map.set('a', 'xx')
  assert.equal(map.delete('a'), true)
  assert.equal(map.delete('a'), false)
  assert.equal(map.set('b', 'xxx').size, 1)
  map.clear()
  assert.equal(map.set('c', 'xxx').size, 1)
})
