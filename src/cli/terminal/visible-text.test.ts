// What a terminal is given to show.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visible, visibleJson, visibleLines } from './visible-text.ts'

test('what moves the cursor or turns a line around is shown as an escape', () => {
  assert.equal(visible('a\u001b[1Ab'), 'a\\u001b[1Ab')
  assert.equal(visible('\u0000\b\r\n\u007f\u0085\u009b'), '\\u0000\\u0008\\u000d\\u000a\\u007f\\u0085\\u009b')
  for (const code of [0x061c, 0x200e, 0x200f, 0x2028, 0x202a, 0x202e, 0x2066, 0x2069])
    assert.equal(visible(String.fromCharCode(code)), `\\u${code.toString(16).padStart(4, '0')}`)
})

test('what people write stays as it is', () => {
  const text = 'tab\tß שלום 你好 👩‍💻 {{ payload.x }} \\u001b'
  assert.equal(visible(text), text)
})

test('JSON stays the same JSON, whatever it holds', () => {
  const value = { subject: 'a\u001b[1A\u009b2J\u202eb\u2028\n\t"\\' }
  const text = visibleJson(value)
  assert.deepEqual(JSON.parse(text), value)
  assert.equal(text, visible(text))
})

test('lines stay lines', () => {
  assert.equal(visibleLines('a\n\u001bb\n'), 'a\n\\u001bb\n')
})
