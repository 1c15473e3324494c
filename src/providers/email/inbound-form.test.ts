// Forms with files: names in every way vendors write them, bytes as they are, and nothing of what is no form.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldsOf } from './inbound-form.ts'

const formOf = (...parts: (string | Buffer)[]) => ({
  headers: { 'content-type': 'multipart/form-data; charset=utf-8; boundary="x Y"' },
  body: Buffer.concat([...parts, '--x Y--\r\n'].map((part) => Buffer.from(part))),
})
const part = (disposition: string, value = 'v') =>
  `--x Y\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${value}\r\n`

test('names come quoted, plain, or encoded', () => {
  const form = formOf(
    part('name="a b"'),
    part('name=c'),
    part('name="f"; filename="x.txt"'),
    part('name="f"; filename="x.txt"; filename*=utf-8\'\'gr%C3%B6%C3%9Fe.txt'),
    part('name="f"; filename*=utf-8\'\'%E2%28'),
    part('name="f"; filename="a\\"b%22c"'),
    part('filename="unused.txt"'),
  )
  assert.deepEqual(
    fieldsOf(form).map(({ name, filename }) => [name, filename]),
    [
      ['a b', undefined],
      ['c', undefined],
      ['f', 'x.txt'],
      ['f', 'größe.txt'],
      ['f', undefined],
      ['f', 'a"b"c'],
    ],
  )
})

test('a file is kept to the byte, line breaks and what looks like a boundary included', () => {
  const bytes = Buffer.from([0, 13, 10, 255, ...Buffer.from('--x Z\r\n')])
  const head =
    '--x Y\r\nContent-Type: image/png; name="p"\r\nContent-Disposition: form-data; name="f"; filename="p"\r\n\r\n'
  const [file] = fieldsOf(formOf(head, bytes, '\r\n'))
  assert.deepEqual([file?.mime, file?.bytes], ['image/png', bytes])
})

test('a cut body, another type and endless boundaries end well', () => {
  const { headers } = formOf()
  assert.deepEqual(fieldsOf({ headers, body: Buffer.from(part('name="a"').slice(0, -3)) }), [])
  assert.deepEqual(fieldsOf({ headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') }), [])
  assert.deepEqual(fieldsOf({ headers: {}, body: Buffer.from('x') }), [])
  assert.equal(fieldsOf({ headers, body: Buffer.from(part('name="a"').repeat(5_000)) }).length, 1_000)
})
