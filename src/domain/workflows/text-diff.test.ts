// Differences of texts: what stays, what goes, what comes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textDiff } from './text-diff.ts'

test('equal texts have none', () => {
  assert.deepEqual(textDiff('a\nb\n', 'a\nb\n'), [])
})

test('a line that is new, one that is gone and one that is another', () => {
  assert.deepEqual(textDiff('a\nb\nc\n', 'a\nb\nnew\nc\n'), ['  a', '  b', '+ new', '  c'])
  assert.deepEqual(textDiff('a\nb\nc\n', 'a\nc\n'), ['  a', '- b', '  c'])
  assert.deepEqual(textDiff('a\nb\nc\n', 'a\nB\nc\n'), ['  a', '- b', '+ B', '  c'])
})

test('all is new beside nothing', () => {
  assert.deepEqual(textDiff('', 'a\nb\n'), ['+ a', '+ b'])
})

test('lines far from a change are left out', () => {
  const before = Array.from({ length: 20 }, (_, line) => `line ${line}`)
  const after = before.map((line, place) => (place === 10 ? 'another' : line))
  const shown = ['  line 8', '  line 9', '- line 10', '+ another', '  line 11', '  line 12', '  …']
  assert.deepEqual(textDiff(before.join('\n'), after.join('\n')), shown)
})

test('whatever is shown makes one text of the other', () => {
  const random = (seed: number) => (Math.imul(seed, 48_271) >>> 0) % 4
  for (let round = 1; round < 300; round += 1) {
    const text = (from: number) =>
      Array.from({ length: random(round + from) * 3 }, (_, n) => `l${random(round * n + from)}`)
    const [before, after] = [text(1), text(7)]
    const lines = textDiff(before.join('\n'), after.join('\n'))
    if (lines.some((line) => line.endsWith('…'))) continue
    const side = (sign: string) => lines.filter((line) => line[0] !== sign).map((line) => line.slice(2))
    if (before.join() === after.join()) continue
    assert.deepEqual([side('+'), side('-')], [before, after], `round ${round}`)
  }
})

test('texts of many thousand lines are reported without comparing each with each', () => {
  const many = (word: string) => Array.from({ length: 3_000 }, (_, line) => `${word} ${line}`).join('\n')
  const lines = textDiff(many('a'), many('b'))
  assert.equal(lines.length, 6_000)
})
