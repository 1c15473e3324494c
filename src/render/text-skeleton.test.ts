// Text parts that are filled in: the same as those that are read from the HTML, whatever it is and whatever is put into it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom, fuzzSeed, type Random } from '../../test/support/random.ts'
import { freshKey, sceneRenderer, scopeWith } from '../../test/support/render-scene.ts'
import { htmlToText, textLengthMax } from './html-to-text.ts'
import { joined } from './template.ts'
import { filledText, textSkeletonOf } from './text-skeleton.ts'

const seed = fuzzSeed()
const templatesTried = 4_000
const valuesTried = 6

/** Where a value goes. */
const gap = Symbol('gap')
type Part = string | typeof gap

/** What templates are made of; each may have gaps in places where a value matters, and where it must not. */
const parts: readonly (readonly Part[])[] = [
  ...['p', 'div', 'h1', 'h3', 'b', 'i', 'span', 'li', 'td', 'th', 'tr', 'pre', 'blockquote', 'title', 'script'].map(
    (name): Part[] => [`<${name}>`, gap, `</${name}>`],
  ),
  ...['ul', 'ol', 'table', 'textarea', 'select', 'noscript', 'style', 'svg', 'template'].map((name): Part[] => [
    `<${name}>a`,
    gap,
    `b</${name}>`,
  ]),
  ...[' ', '\n', '\t ', '\u00a0', 'word', 'two words', ',', '.', '<br>', '<hr>', '<p>', '</p>', '<li>', '</ul>'].map(
    (text): Part[] => [text],
  ),
  ...['&amp;', '&lt;', '&nbsp;', '& ', '&', '&am', '&#', '&#x4', '&not', '<', '< ', '</', '<!', '<b', '<?', ']]>'].map(
    (text): Part[] => [text, gap],
  ),
  ['<a href="https://x.example/">', gap, '</a>'],
  ['<a href="https://x.example/', gap, '">see</a>'],
  ['<a href="', gap, '">see</a>'],
  ['<a href="mailto:x@x.example">write</a>', gap],
  ['<img alt="', gap, '">'],
  ['<img title=', gap, ' alt="a > b ', gap, '">'],
  ['<div style="', gap, '">x</div>'],
  ['<div style="display:none">', gap, '</div>'],
  ['<p hidden>', gap, '</p>'],
  ['<ol start="', gap, '"><li>x<li>', gap, '</ol>'],
  ['<!-- ', gap, ' -->'],
  ['<!-- > ', gap, ' -->'],
  ['<img alt="a > ', gap, '">'],
  ['<a href="https://x.example/>', gap, '">see</a>'],
  ['<div title=">" style="a>', gap, '">x</div>'],
  ['<![CDATA[', gap, ']]>'],
  ['&#1;'],
  ['<img alt="&#1;0&#x1;">'],
  ['<pre>a\n', gap, '\n b</pre>'],
  ['<ul><li>', gap, '<ul><li>', gap, '</ul></ul>'],
  ['<table><tr><td>', gap, '</td><td>', gap, '</td></tr></table>'],
  ['Hello ', gap, ', '],
  [gap],
  [gap, gap],
]

const values: readonly string[] = [
  ...[
    'Ann',
    '7',
    '19.90',
    'Ann Lee',
    'a b c',
    'ü',
    '日本',
    '😀',
    'https://x.example/',
    'x@x.example',
    'lt',
    'amp;',
    '#38;',
  ],
  ...[
    '',
    ' ',
    ' a',
    'a ',
    'a  b',
    'a\nb',
    '\n',
    '\ta',
    'a\u00a0b',
    '\u2028',
    '\ufeff',
    '<b>x</b>',
    '<',
    '>',
    '&lt;',
    '&',
  ],
  ...['"', "'", 'a"b', 'display:none', 'b>', '/b>', '/title', '!--', '--', 'title>', 'script', 'x'.repeat(300), '3'],
  ...['\u0001', '\u00010\u0001', '\u001c/title x', '\u0000', '\u007f', '\ud800', '\ue000', '- x', '----------', '| '],
]

function randomFixed(random: Random): string[] {
  const fixed = ['']
  for (let count = 1 + random.integer(7); count > 0; count -= 1) {
    for (const part of random.oneOf(parts)) {
      if (part === gap) fixed.push('')
      else fixed[fixed.length - 1] += part
    }
  }
  return fixed
}

test('whatever is filled in gives the text that is read from the whole', () => {
  const random = createRandom(seed)
  let filled = 0
  for (let count = 0; count < templatesTried; count += 1) {
    const fixed = randomFixed(random)
    const skeleton = textSkeletonOf(fixed)
    if (skeleton === undefined) continue
    for (let time = 0; time < valuesTried; time += 1) {
      // Mostly plain ones, or next to none of those with several gaps would be filled.
      const plain = random.chance(0.7)
      const given = fixed.slice(1).map(() => random.oneOf(plain ? values.slice(0, 13) : values))
      const text = filledText(skeleton, given)
      if (text === undefined) continue
      const html = joined(fixed, given)
      assert.equal(text, htmlToText(html), `seed ${seed}: ${JSON.stringify({ fixed, given })}`)
      filled += 1
    }
  }
  assert.ok(filled > templatesTried, `only ${filled} were filled in`)
})

test('a rendered e-mail has the text of its HTML, whichever way it was made', () => {
  const random = createRandom(seed + 1)
  for (let count = 0; count < templatesTried / 10; count += 1) {
    const fixed = randomFixed(random)
    const content = `x${fixed.map((text, index) => (index === 0 ? text : `{{ v${index} }}${text}`)).join('')}`
    const key = freshKey()
    for (let time = 0; time < valuesTried; time += 1) {
      const payload = Object.fromEntries(fixed.map((_, index) => [`v${index}`, random.oneOf(values)]))
      const template = { type: 'email', subject: 's', contentType: 'customHtml', layoutId: null, content } as const
      const email = sceneRenderer.email(key, template, scopeWith(payload))
      assert.equal(email.text, htmlToText(email.html), `seed ${seed}: ${JSON.stringify({ content, payload })}`)
    }
  }
})

test('values between tags, in lists and in what is not shown can be filled in', () => {
  const skeleton = textSkeletonOf(['<title>', '</title><p>Hello ', ',</p><ul><li>', '<li>', '</ul>'])
  assert.deepEqual(skeleton, { pieces: ['Hello ', ',\n\n- ', '\n- ', ''], gaps: [1, 2, 3], length: skeleton?.length })
  assert.ok(skeleton !== undefined)
  assert.equal(filledText(skeleton, ['t', 'Ann Lee', 'a', 'b']), 'Hello Ann Lee,\n\n- a\n- b')
})

test('what changes more than its own place is read anew', () => {
  const unfit = [
    ['<a href="https://x.example/">', '</a>'],
    ['<a href="', '">x</a>'],
    ['<img alt="', '">'],
    ['<!-- ', ' -->'],
    ['a <', '>'],
    ['a &', ';'],
    ['a &am', 'p;'],
    ['\u0001', ''],
    ['&#1; <!-- > ', ' -->'],
    ['<title>', '</title><img alt="&#x01;0&#001;">'],
    ['<title>', '</title><a href="https://x.example/&#1;0&#1;">x</a>&#1'],
    ['<style>p{color:red}</style><p>', '</p>'],
    [`${'<b>'.repeat(1_001)}`, ''],
  ]
  for (const fixed of unfit) assert.equal(textSkeletonOf(fixed), undefined, fixed[0]?.slice(0, 40))
  for (const text of ['&#10;', '&#160;', '&#x1f;', '&#21;']) assert.ok(textSkeletonOf([text, '']), text)
  const skeleton = textSkeletonOf(['<p>', '</p>'])
  assert.ok(skeleton !== undefined)
  for (const value of ['', ' a', 'a ', 'a  b', 'a\nb', 'a\tb', '<b>', '&amp;', '"', "'", '\u001c', 'a\u00a0b']) {
    assert.equal(filledText(skeleton, [value]), undefined, JSON.stringify(value))
  }
})

test('a text that could become too long is read anew, and cut', () => {
  const skeleton = textSkeletonOf(['<p>', '</p>'])
  assert.ok(skeleton !== undefined)
  const length = textLengthMax - skeleton.length
  assert.equal(filledText(skeleton, ['x'.repeat(length)]), undefined)
  assert.equal(filledText(skeleton, ['x'.repeat(length - 1)])?.length, length - 1)
})
