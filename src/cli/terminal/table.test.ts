// Tables: columns that stand under each other, sentences that are broken, and nothing of others that moves the cursor.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableLines, widthOf, wrapped } from './table.ts'

test('columns stand under each other, and no line ends in spaces', () => {
  const lines = tableLines(
    ['STEP', 'WHY'],
    [
      ['Bell', 'It was sent'],
      ['A longer one', ''],
    ],
  )
  assert.deepEqual(lines, ['STEP          WHY', 'Bell          It was sent', 'A longer one'])
  assert.deepEqual(tableLines(['A', 'B'], []), [])
})

test('the last column is broken between words where the terminal ends, and stays under itself', () => {
  const lines = tableLines(['A', 'WHY'], [['x', 'one two three four five six seven']], { width: 30, indent: '  ' })
  assert.deepEqual(lines, ['  A  WHY', '  x  one two three four five', '     six seven'])
  for (const line of lines) assert.ok(line.length <= 30)
  assert.equal(tableLines(['A', 'WHY'], [['x', 'word '.repeat(50)]]).length, 2, 'a file has no end of line')
})

test('a word that is longer than a line stays whole', () => {
  assert.deepEqual(wrapped('a 0123456789 b', 5), ['a', '0123456789', 'b'])
})

test('what came from elsewhere can neither break the table nor move the cursor', () => {
  const lines = tableLines(['A', 'B'], [['one\ntwo\tthree', '\u001b[2Jx\u202e']])
  assert.deepEqual(lines, ['A              B', 'one two three  \\u001b[2Jx\\u202e'])
  const [, long = ''] = tableLines(['A', 'B'], [['x'.repeat(500), 'y']])
  assert.equal(long, `${'x'.repeat(59)}…  y`)
})

test('ideographs and emojis take two places, accents none', () => {
  assert.equal(widthOf('你好'), 4)
  assert.equal(widthOf('🎉'), 2)
  assert.equal(widthOf('e\u0301'), 1)
  const [first = '', second = ''] = tableLines(['NAME', 'X'], [['你好', 'y']])
  assert.equal(first.indexOf('X'), 6)
  assert.equal(second, '你好  y')
})
