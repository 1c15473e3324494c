// Arrays as bytes: which parameters they are for, and what is left to text.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { arrayBytes, listTypesIn } from './array-bytes.ts'

test('the lists of a statement are found by the type they are given', () => {
  const text = 'select unnest($1::uuid[], $2::jsonb[]), $3::text, $12::text[], $4::int[], $5::uuid, $6::json[]'
  assert.deepEqual(
    [...listTypesIn(text)],
    [
      [1, 'uuid'],
      [2, 'jsonb'],
      [12, 'text'],
      [6, 'json'],
    ],
  )
})

test('a list that the server may take for another type is left to text', () => {
  assert.deepEqual([...listTypesIn('select $1::uuid[], $1::text[], $2::text[], $2::text[]')], [[2, 'text']])
  assert.deepEqual([...listTypesIn('select $1::int[], $1::text[], x = any($2), $2::uuid[], $2::uuid[]')], [])
})

test('an element that is no uuid leaves the whole list to text, so that the server can say what is wrong', () => {
  const good = '01a1e06b-27f9-7615-b3a0-29b508447234'
  assert.equal(arrayBytes([good, null, good.toUpperCase()], 'uuid')?.length, 20 + 20 + 4 + 20)
  const broken = ['', 'x', `${good}0`, good.replaceAll('-', '0'), good.replace('a', 'g'), good.replace('a', 'é'), 5]
  for (const one of broken) assert.equal(arrayBytes([good, one], 'uuid'), undefined, String(one))
})

test('bytes go as they are, and what is none is left to text', () => {
  const bytes = arrayBytes([Buffer.from('ab'), null, Buffer.alloc(0)], 'bytea')
  assert.equal(bytes?.subarray(20).toString('hex'), '000000026162ffffffff00000000')
  assert.equal(bytes?.readInt32BE(4), 1)
  assert.equal(arrayBytes([Buffer.from('a')], 'bytea')?.readInt32BE(4), 0)
  assert.equal(arrayBytes([Buffer.from('a'), 'a'], 'bytea'), undefined)
})

test('what is not text, and a list of nothing, is left to text', () => {
  assert.equal(arrayBytes([], 'text'), undefined)
  assert.equal(arrayBytes(['1', 2], 'text'), undefined)
  assert.equal(arrayBytes([new Date()], 'jsonb'), undefined)
})
