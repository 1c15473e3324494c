// Text parts that are written beside the HTML: the same as those that are read from it, whatever is written and filled in.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom, fuzzRounds, fuzzSeed, type Random } from '../../../test/support/random.ts'
import { sceneNow, scopeWith } from '../../../test/support/render-scene.ts'
import { compileDocument, readDocument } from '../email/document.ts'
import { Budget } from '../limits.ts'
import { parse } from '../parse.ts'
import { textLengthMax } from './html-to-text.ts'
import { textPlanOf } from './text-plan.ts'

const seed = fuzzSeed()
const templatesTried = fuzzRounds(1_500)
const valuesTried = 4

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
  ['<div style="color:', gap, '">', gap, '</div>'],
  ['<a href="https://x.example/a ', gap, '">https://x.example/a ', gap, '</a>'],
  ['<a href="https://x.example/?a=1&amp;b=', gap, '&c=2">x</a>'],
  ["<a href='", gap, "' href='https://y.example/", gap, "'>y</a>"],
  ['<td class="', gap, '">', gap, '</td>'],
  ['<p>a', gap, '<p>b</p>'],
  ['<div>', gap],
  ['</div>'],
  ['<html lang="', gap, '"><body>', gap],
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

/** What stands in a gap: mostly a value, now and then a condition or a loop around one. */
function randomGap(random: Random): string {
  const value = `{{ v${random.integer(4)}${random.oneOf(['', '', '', '', '', ' | raw', ' | upcase', ' | newline_to_br'])} }}`
  switch (random.integer(12)) {
    case 0:
      return `{% if yes %}${value}{% else %}x{% endif %}`
    case 1:
      return `{% for i in list %}${value}, {{ i }}{% endfor %}`
    case 2:
      return `{% unless yes %}${random.oneOf(['a b', '"', '>', '&am', ' ', '<b>'])}{% endunless %}`
    case 3:
      return '{% capture c %}<i>{{ v0 }}</i>{% endcapture %}{% comment %}<b>{% endcomment %}{{ c }}'
    default:
      return value
  }
}

function randomDocument(random: Random, depth = 0): string {
  let html = ''
  for (let count = 1 + random.integer(5); count > 0; count -= 1) {
    if (depth < 3 && random.chance(0.25)) html += randomBlock(random, () => randomDocument(random, depth + 1))
    else for (const part of random.oneOf(parts)) html += part === gap ? randomGap(random) : part
  }
  return html
}

function randomBlock(random: Random, inner: () => string): string {
  switch (random.integer(5)) {
    case 0:
      return `{% if yes %}${inner()}{% else %}${inner()}{% endif %}`
    case 1:
      return `<ul>{% for i in list %}<li>${inner()}</li>{% else %}${inner()}{% endfor %}</ul>`
    case 2:
      return `{% case n %}{% when 1 %}${inner()}{% when 2 %}${inner()}{% endcase %}{% assign x = 1 %}`
    case 3:
      return `<table>{% for i in list %}<tr><td>{{ i }}</td><td>${inner()}{% if i == 2 %}{% break %}{% endif %}</td></tr>{% endfor %}</table>`
    default:
      return `{% for i in list limit: 2 %}${inner()}{% endfor %}`
  }
}

function randomScope(random: Random) {
  // Mostly plain ones, or next to none of those with several gaps would be written.
  const chosen = random.chance(0.7) ? values.slice(0, 13) : values
  return scopeWith({
    v0: random.oneOf(chosen),
    v1: random.oneOf(chosen),
    v2: random.oneOf(chosen),
    v3: random.oneOf(chosen),
    yes: random.chance(0.5),
    n: random.integer(3),
    list: Array.from({ length: random.integer(4) }, (_, index) => index),
  })
}

const budget = () => new Budget(() => sceneNow)

test('the text that is written beside the HTML is the text that is read from it', () => {
  const random = createRandom(seed)
  let planned = 0
  for (let count = 0; count < templatesTried; count += 1) {
    const source = `x${randomDocument(random)}`
    const mode = random.chance(0.8) ? 'html' : 'plain'
    const document = compileDocument('content', source, mode, false)
    if (textPlanOf(parse(source, mode)) !== undefined) planned += 1
    for (let time = 0; time < valuesTried; time += 1) {
      const scope = randomScope(random)
      const rendered = document.render(scope, budget())
      const read = readDocument('content', rendered.content, false)
      assert.deepEqual(rendered, read, `seed ${seed}: ${JSON.stringify({ mode, source, payload: scope.payload })}`)
    }
  }
  assert.ok(planned > templatesTried / 5, `only ${planned} had a plan`)
})

const hasPlan = (source: string): boolean => textPlanOf(parse(source, 'html')) !== undefined

test('loops, conditions, links with values and styles with values have a plan', () => {
  for (const source of [
    '<title>{{ a }}</title><p>Hello {{ a }},</p><ul><li>{{ b }}<li>{{ c }}</ul>',
    '<table>{% for i in list %}<tr><td>{{ i.name }}</td></tr>{% endfor %}</table>',
    '{% if a %}<p>{{ a }}</p>{% elsif b %}<div>{{ b }}</div>{% else %}none{% endif %}',
    '<a href="https://x.example/{{ a }}?b={{ b }}">{{ c }}</a><img alt="{{ d }}" src=\'{{ e }}\'>',
    '<a href="{% if a %}https://x.example/a{% else %}{{ b }}{% endif %}">see</a>',
    '<td style="color:{{ color }}" class="{% if a %}b{% endif %}">{{ a }}</td>',
    '{% capture x %}<b>{{ a }}{% endcapture %}<p>{{ x }}</p>',
  ]) {
    assert.ok(hasPlan(source), source)
  }
})

test('what changes more than its own place has none', () => {
  for (const source of [
    '{% if a %}<div>{% endif %}x{% if a %}</div>{% endif %}',
    '<ul>{% for i in list %}<li>{{ i }}{% endfor %}</ul>',
    '<div>{% if a %}</div>{% endif %}',
    '<a href={{ a }}>x</a>',
    '<{{ a }}>x',
    '<h{{ a }}>x</h{{ a }}>',
    '<!-- {{ a }} -->',
    '<tr {% if a %}class="b"{% endif %}>',
    'a <{{ b }}>',
    'a &{{ b }};',
    'a &am{% if b %}p;{% endif %}',
    '<p title="{% if a %}" hidden id="{% endif %}">x</p>',
    '\u0001{{ a }}',
    '&#1;{{ a }}',
    '<svg>{{ a }}</svg>',
    '{% tablerow i in list %}{{ i }}{% endtablerow %}',
    `${'<b>'.repeat(1_001)}{{ a }}`,
  ]) {
    assert.ok(!hasPlan(source), source)
  }
})

test('a value that brings markup is read with the whole', () => {
  const text = (source: string, a: string) =>
    compileDocument('content', source, 'html', false).render(scopeWith({ a }), budget()).text
  assert.equal(text('<p>{{ a | raw }}</p>', 'x<br>y &amp; &eacute;'), 'x\ny & é')
  assert.equal(text('<p>{{ a | newline_to_br }}</p>', '<\ny'), '<\ny')
  assert.equal(text('<div style="{{ a }}">x</div>y', 'display:none'), 'y')
  assert.equal(text('{% capture c %}{{ a }}{% endcapture %}<p>{{ c }}</p>', "Tom & 'Ann'"), "Tom & 'Ann'")
})

test('a text that could become too long is read from the HTML, and cut', () => {
  const document = compileDocument('content', '<p>{{ a }}</p>', 'html', false)
  const lengthWith = (length: number) => document.render(scopeWith({ a: 'x'.repeat(length) }), budget()).text.length
  assert.equal(lengthWith(textLengthMax - 1), textLengthMax - 1)
  assert.equal(lengthWith(textLengthMax + 10), textLengthMax)
})
