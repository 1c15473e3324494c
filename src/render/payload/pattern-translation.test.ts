// Patterns in the linear engine mean what they mean in JavaScript, or are not taken.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linearPattern } from './linear-pattern.ts'

/** Characters about which engines differ, and some about which none does. */
const characters = [
  ...'ab9_-.^$\\/[](){}|é日😀',
  ...['\t', '\n', '\v', '\f', '\r', ' ', '\u00a0', '\u1680', '\u2003', '\u200b', '\u2028', '\u2029', '\u202f'],
  ...['\u205f', '\u3000', '\ufeff', '\u0085', '\u180e', '\0', '\b', '\x7f', '\u017f', '\u212a'],
]
const texts = ['', 'a\n', 'a\r\n', '\na', 'aa', 'ab', 'ak<x>', 'a-b', 'a b', 'x.y', '2024/a.b', ...characters]

const patterns = [
  ...['.', '^.$', '^.*$', '^$', '$', '^', '\\s', '\\S', '^\\s$', '^\\S+$', '\\w', '\\W', '\\d', '\\D', '\\b', 'a\\B'],
  ...[
    '[\\s]',
    '[^\\s]',
    '[\\S]',
    '[^\\S]',
    '[\\S\\n]',
    '[^\\S\\n]',
    '[\\w\\s]',
    '[^\\w\\s]',
    '[\\W]',
    '[^\\D]',
    '[\\d-]',
  ],
  ...['[]', '[^]', '[^^]', '[a^]', '[-a]', '[a-]', '[\\b]', '[\\]\\\\]', '[.$]', '[&&a]', '[a||b]', '[[:alpha:]'],
  ...[
    '\\x61',
    '\\u0061',
    '\\u{61}',
    '\\u{1F600}',
    '\\uD83D\\uDE00',
    '[\\uD83D\\uDE00]',
    '[😀-😂]',
    '\\cJ',
    '\\0',
    '[\\0-\\x1f]',
  ],
  ...['\\t', '\\n', '\\v', '\\f', '\\r', '\\/', '\\.', '\\$', '\\^', '\\|', '\\-'].filter((one) => one !== '\\-'),
  ...[
    '[\\-a]',
    'a|b',
    '^(?:a|b)$',
    '^(a)(b)?$',
    '^(?<x>a)b$',
    'a{2}',
    '^a{1,2}$',
    '^a{0}$',
    'a{2,}',
    'a??',
    'a*?b',
    '^a+?$',
  ],
  ...[
    '\\p{L}',
    '\\P{L}',
    '^\\p{Lu}',
    '[\\p{L}\\d]',
    '[^\\p{L}]',
    '\\p{gc=Nd}',
    '\\p{Script=Han}',
    '\\p{Zs}',
    '\\p{Cc}',
  ],
  ...['(?:)', '()', '|', 'a|', '(|a)+', '(a*)*$', '(a|b*)+$', '^(a|$)'],
]

test('every pattern matches what JavaScript matches', () => {
  for (const pattern of patterns) {
    const native = new RegExp(pattern, 'u')
    const linear = linearPattern(pattern)
    assert.ok(linear, pattern)
    for (const text of texts) {
      assert.equal(linear.test(text), native.test(text), `${pattern} on ${JSON.stringify(text)}`)
    }
  }
})

test('patterns of random pieces match what JavaScript matches', () => {
  let seed = 7
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor(seed / 65_536) % below
  }
  const pick = <One>(of: readonly One[]): One => of[random(of.length)] as One
  const pieces = [
    'a',
    'b',
    '.',
    '\\s',
    '\\S',
    '[^a]',
    '[\\s-]',
    '\\b',
    '^',
    '$',
    '(?:a|b)',
    '(a|\\s)',
    '\\n',
    '[^]',
    '-',
  ]
  const isAssertion = (piece: string): boolean => /^(?:\\b|\^|\$)$/.test(piece)
  for (let round = 0; round < 400; round += 1) {
    const pattern = Array.from({ length: 1 + random(5) }, () => {
      const piece = pick(pieces)
      return isAssertion(piece) ? piece : `${piece}${pick(['', '', '*', '+', '?', '{2}', '{0,2}', '*?'])}`
    }).join(pick(['', '', '|']))
    const native = new RegExp(pattern, 'u')
    const linear = linearPattern(pattern)
    assert.ok(linear, pattern)
    for (let text = 0; text < 10; text += 1) {
      const given = Array.from({ length: random(5) }, () => pick(characters)).join('')
      assert.equal(linear.test(given), native.test(given), `${pattern} on ${JSON.stringify(given)}`)
    }
  }
})

test('what has no counterpart is not taken', () => {
  for (const pattern of [
    ...[
      '^(?<x>[a-z])\\k<x>$',
      '(a)\\1',
      '(?=a)',
      '(?!a)',
      '(?<=a)b',
      '(?<!a)b',
      '\\p{Emoji}',
      '\\p{Script_Extensions=Greek}',
    ],
    ...['\\uD83D', '[\\uD83D]', 'a{1001}', '\\p{Any}', '\\p{Cn}'],
  ]) {
    assert.ok(new RegExp(pattern, 'u'))
    assert.equal(linearPattern(pattern), undefined, pattern)
  }
})
