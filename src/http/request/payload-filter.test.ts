// The payload filter: what is read, and what is refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../../domain/problem.ts'
import { readPayloadFilter } from './payload-filter.ts'

const encoded = (value: unknown, encoding: 'base64' | 'base64url' = 'base64') =>
  Buffer.from(JSON.stringify(value)).toString(encoding)

test('an object is read from either alphabet of base64, and from one whose plus signs became blanks', () => {
  const filter = { name: 'Ünï ~~>>??', n: [1, { a: null }] }
  assert.deepEqual(readPayloadFilter(encoded(filter)), filter)
  assert.deepEqual(readPayloadFilter(encoded(filter, 'base64url')), filter)
  assert.match(encoded(filter), /\+/, 'the sample has no plus sign')
  assert.deepEqual(readPayloadFilter(encoded(filter).replaceAll('+', ' ')), filter)
  assert.deepEqual(readPayloadFilter(encoded({})), {})
})

test('an absent or empty filter is none', () => {
  assert.equal(readPayloadFilter(undefined), undefined)
  assert.equal(readPayloadFilter(''), undefined)
})

const nul = Buffer.from('{"a":"\\u0000"}').toString('base64')
const deep = Buffer.from(`{"a":${'['.repeat(200)}${']'.repeat(200)}}`).toString('base64')
const bad: Record<string, string> = {
  'not base64': '!!!',
  'padding in the middle': 'e30=e30=',
  'not JSON': Buffer.from('{a}').toString('base64'),
  'not UTF-8': Buffer.from([0x7b, 0xff, 0x7d]).toString('base64'),
  'an array': encoded([1]),
  'a text': encoded('x'),
  'a number': encoded(5),
  null: encoded(null),
  'nothing once decoded': 'a',
  'a NUL that no database holds': nul,
  'more levels than any payload has': deep,
}
for (const [what, text] of Object.entries(bad)) {
  test(`${what} is the caller’s mistake in payload`, () => {
    assert.throws(
      () => readPayloadFilter(text),
      (error) => error instanceof Problem && error.status === 422 && 'payload' in (error.members['errors'] as object),
    )
  })
}
