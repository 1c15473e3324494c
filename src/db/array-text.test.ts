// Arrays as text: what goes in comes out of the database the same.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { arrayText } from './array-text.ts'

test('elements are quoted, nulls are not', () => {
  assert.equal(arrayText(['a', null, undefined, 'NULL', '']), '{"a",NULL,NULL,"NULL",""}')
})

test('quotes, backslashes, commas and braces inside an element stay inside it', () => {
  assert.equal(arrayText(['a"b', 'c\\d', '{e,f}']), '{"a\\"b","c\\\\d","{e,f}"}')
})

test('numbers, booleans, timestamps and bytes are written as the database reads them', () => {
  const at = new Date('2026-01-02T03:04:05.678Z')
  assert.equal(arrayText([1, -2.5, true]), '{1,-2.5,true}')
  assert.equal(arrayText([at]), '{2026-01-02T03:04:05.678Z}')
  assert.equal(arrayText([Buffer.from('ab')]), '{"\\\\x6162"}')
})
