// Hostile templates: each ends in a RenderError, after a bounded amount of work.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshKey, html, renderError, sceneRenderer, scopeWith } from '../../test/support/render-scene.ts'
import { cpuMsOf } from '../../test/support/turn-cpu.ts'

/** A test that hangs is one that fails. */
const options = { timeout: 20_000 }

const repeated = 'a'.repeat(250_000)
const payload = {
  long: repeated,
  // Boyer and Moore's worst case: looking for it takes seconds.
  pattern: `${'a'.repeat(60_000)}b${'a'.repeat(60_000)}`,
  list: Array.from({ length: 100_000 }, (_, index) => index),
  deep: JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`),
  low: 1e17,
  high: 1e17 + 100,
}
const grown = (start: string, again: string, end: string) => `${start}{% for i in (1..60) %}${again}{% endfor %}${end}`

const endless: Record<string, [template: string, message: RegExp]> = {
  'a range of a thousand million': ['{% for i in (1..1000000000) %}x{% endfor %}', /characters or list items/],
  'a loop that is long': ['{% for i in (1..1000000) %}{% endfor %}', /steps: does it loop forever/],
  'loops in loops': [
    '{% for a in (1..999) %}{% for b in (1..999) %}{% for c in (1..999) %}{{c}}{% endfor %}{% endfor %}{% endfor %}',
    /steps: does it loop forever/,
  ],
  'a table without end': ['{% tablerow i in (1..1000000) %}x{% endtablerow %}', /steps: does it loop forever/],
  'a range whose count stands still': ['{% for i in (low..high) %}x{% endfor %}', /too large a number/],
  'such a range in a filter': ['{{ "x" | append: (low..high) }}', /too large a number/],
  'such a range in an index': ['{{ list[(low..high)] }}', /too large a number/],
  'such a range in a cycle': ['{% cycle (low..high) %}', /too large a number/],
  'text that doubles': [
    grown('{% assign x = "ab" %}', '{% assign x = x | append: x %}', '{{ x }}'),
    /characters or list items/,
  ],
  'a capture that doubles': [
    grown('{% assign x = "ab" %}', '{% capture x %}{{x}}{{x}}{% endcapture %}', '{{ x }}'),
    /longer than 1000000|characters or list items/,
  ],
  'a list that holds itself': [
    grown('{% assign a = "x" | split: "" %}', '{% assign a = a | push: a %}', '{{ a }}'),
    /list of the template is longer/,
  ],
  'groups of groups': [
    grown(
      '{% assign a = "x" | split: "" %}',
      '{% assign g = a | group_by: "q" %}{% assign a = g | concat: g %}',
      '{{ a | json }}',
    ),
    /characters or list items/,
  ],
  'a search that takes for ever': ['{% if long contains pattern %}x{% endif %}', /characters or list items/],
  'a replacement that takes for ever': ['{{ long | replace: pattern, "x" }}', /characters or list items/],
  'a replacement of nothing by much': ['{{ long | replace: "", long }}', /characters or list items/],
  'comparisons of long lists': [`{% if ${'list == list or '.repeat(500)} 1 %}x{% endif %}`, /characters or list items/],
  'the same in a case': [
    '{% for i in (1..100) %}{% case list %}{% when list %}x{% endcase %}{% endfor %}',
    /characters or list items/,
  ],
  'sorting again and again': [
    '{% for i in (1..9999) %}{{ list | sort | first }}{% endfor %}',
    /characters or list items/,
  ],
  'a chain of filters': [`{{ long ${'| slugify: "latin" '.repeat(400)}}}`, /characters or list items/],
  'much output': ['{% for i in (1..1000) %}{{ long | raw }}{% endfor %}', /longer than 1000000 characters/],
  'much text of its own': [
    `{% for i in (1..9999) %}${'y'.repeat(9_999)}{% endfor %}`,
    /longer than 1000000 characters/,
  ],
  'a value nested deeply': ['{{ deep }}', /nested too deeply/],
  'such a value as JSON': ['{{ deep | json }}', /nested too deeply/],
  'blocks nested deeply': [`${'{% if 1 %}'.repeat(60)}${'{% endif %}'.repeat(60)}`, /nested more than 50 levels deep/],
  'blocks nested until the stack is full': ['{% if 1 %}'.repeat(2_999), /nested too deeply|not closed/],
  'a template that is long': [`{{x}}${'b'.repeat(300_000)}`, /at most 250000 are allowed/],
  'many outputs': ['{{a}}'.repeat(3_001), /more than 3000 outputs and tags/],
  'many lines in a liquid tag': [`{% liquid\n${'a\n'.repeat(4_000)}%}`, /more than 3000 outputs and tags/],
  'a long tag': [`{% if ${'a or '.repeat(5_000)} b %}{% endif %}`, /longer than 10000 characters/],
  'filters that read templates': ['{{ list | where_exp: "i", "(low..high)" }}', /unknown filter "where_exp"/],
  'our own filter for ranges': ['{{ low | range_end }}', /unknown filter "range_end"/],
}

for (const [name, [template, message]] of Object.entries(endless)) {
  test(`${name} is stopped`, options, () => {
    const error = renderError(() => html(template, payload))
    assert.equal(error.field, 'template.content')
    assert.match(error.message, message)
  })
}

test('what stands behind a loop or a captured text is not to be reached, nor changed', options, () => {
  const members = ['constructor', '__proto__', '__proto__.next', 'next', 'valueOf', 'liquidMethodMissing']
  const reads = members.map((name) => `{{ forloop.${name} }}{{ text.${name} }}`).join('')
  const template = `{% capture text %}b{% endcapture %}{% for i in (1..3) %}${reads}{{ forloop.index }}{% endfor %}`
  assert.equal(html(template), '123')
})

test('a long line of a text part costs about as much as many short ones', options, () => {
  const names = Array.from({ length: 5_000 }, (_, index) => `n${index}`)
  const fastestMs = (template: string): number => {
    const times = Array.from({ length: 3 }, () => cpuMsOf(() => html(template, { names })))
    return Math.min(...times)
  }
  const manyLines = fastestMs('{% for name in names %}{{ name }}<br>{% endfor %}')
  const oneLine = fastestMs('{% for name in names %}{{ name }}, {% endfor %}')
  // A hundred times as much, if each piece looked at all before it.
  assert.ok(oneLine < 10 * manyLines, `${oneLine} ms against ${manyLines}`)
})

test('a search for a list in a text is charged as one for its text', options, () => {
  const part = [`${'a'.repeat(5_000)}b${'a'.repeat(5_000)}`]
  const template = '{% for i in (1..50) %}{% if long contains part %}x{% endif %}{% endfor %}'
  const error = renderError(() => html(template, { long: 'a'.repeat(200_000), part }))
  assert.equal(error.field, 'template.content')
})

/** An object that counts how often all of it is enumerated. */
function watched(size: number): { object: object; timesRead: () => number } {
  let times = 0
  const entries = Object.fromEntries(Array.from({ length: size }, (_, index) => [`k${index}`, index]))
  const object = new Proxy(entries, {
    ownKeys(target) {
      times += 1
      return Reflect.ownKeys(target)
    },
  })
  return { object, timesRead: () => times }
}

for (const inner of [
  '{{ payload.o.size }}',
  '{{ payload.o | size }}',
  '{% if payload.o.size > 3 %}x{% endif %}',
  '{% if payload.o == empty %}x{% endif %}',
  '{% for e in payload.o limit: 0 %}{% endfor %}',
  '{% for e in payload.o %}{% break %}{% endfor %}',
  '{{ payload.o | has: "size", 3 }}',
]) {
  test(`a large object is gone through once, however often a template asks: ${inner}`, options, () => {
    const { object, timesRead } = watched(20_000)
    html(`{% for i in (1..500) %}${inner}{% endfor %}`, { o: object })
    assert.equal(timesRead(), 1)
  })
}

const regions = 'AT BE BR CA CH CL CN DE DK ES FI FR GB GR HU IE IN IT JP KR LU MX NL NO NZ PL PT RO SE TR UA US'
  .split(' ')
  .concat('AR AU BG BO CO CR CU CY CZ DO EC EE'.split(' '))

const charged: Record<string, [template: string, payload: object, message: RegExp]> = {
  'the sizes of many large objects': [
    '{% for o in list %}{{ o.size }}{% endfor %}',
    { list: Array.from({ length: 20 }, () => watched(20_000).object) },
    /characters or list items/,
  ],
  'lists that print nothing': [
    '{% for i in (1..100) %}{{ list }}{% endfor %}',
    { list: Array.from({ length: 50_000 }, () => null) },
    /characters or list items/,
  ],
  'short windows into a long list': [
    '{% for i in (1..500) %}{% for x in list offset: 1 limit: 1 %}{% endfor %}{% endfor %}',
    { list: Array.from({ length: 50_000 }, () => 1) },
    /characters or list items/,
  ],
  'a date with a format of many codes': [
    '{{ "now" | date: f }}',
    { f: '%c'.repeat(40_000) },
    /steps: does it loop forever/,
  ],
  'a date with a pattern of many letters': [
    '{{ "now" | date_format: f }}',
    { f: 'MMMM yyyy '.repeat(20_000) },
    /steps: does it loop forever/,
  ],
  'dates in many zones': [
    '{% for i in (1..2500) %}{{ "now" | date: "%H", "Europe/Berlin" }}{% endfor %}',
    {},
    /steps: does it loop forever/,
  ],
  'numbers in many languages': [
    '{% for language in languages %}{{ 1 | number_format: 2, language }}{% endfor %}',
    { languages: ['de', 'fr', 'it', 'es', 'sv'].flatMap((name) => regions.map((region) => `${name}-${region}`)) },
    /steps: does it loop forever/,
  ],
  'lists compared with numbers': [
    '{% for i in (1..5000) %}{% if 1 < list %}x{% endif %}{% endfor %}',
    { list: Array.from({ length: 50_000 }, () => 1) },
    /characters or list items/,
  ],
}

for (const [name, [template, given, message]] of Object.entries(charged)) {
  test(`what a step costs is charged: ${name}`, options, () => {
    assert.match(renderError(() => html(template, { ...given })).message, message)
  })
}

test('a property that a filter is given is a path, never an expression', options, () => {
  assert.equal(html('{{ list | where: "(low..high)" | size }}', payload), '0')
})

test('the limits count work, so the same template ends the same way every time', options, () => {
  const template = '{% for i in (1..9000) %}{{ i }}{% endfor %}'
  assert.equal(html(template), html(template))
  const tooMuch = '{% for i in (1..15000) %}{{ i }}{% endfor %}'
  assert.deepEqual(
    renderError(() => html(tooMuch)),
    renderError(() => html(tooMuch)),
  )
})

test('the texts of one e-mail share one budget', options, () => {
  const content = '{% for i in (1..9000) %}{% endfor %}'
  const email = (blocks: number) =>
    sceneRenderer.email(
      freshKey(),
      { type: 'email', subject: 's', content: Array.from({ length: blocks }, () => ({ type: 'text', content })) },
      scopeWith(),
    )
  assert.ok(email(2))
  assert.match(renderError(() => email(200)).message, /steps: does it loop forever/)
})

test('markup that parsers are slow with is refused, and much of the ordinary is not', options, () => {
  const inApp = (content: string) => sceneRenderer.inApp(freshKey(), { type: 'in_app', content }, scopeWith())
  const unmatched = '{% for i in (1..4000) %}<b>{% endfor %}{% for i in (1..4000) %}</i>{% endfor %}'
  assert.match(renderError(() => inApp(unmatched.replaceAll('4000', '2000'))).message, /nested elements/)
  assert.match(renderError(() => html(unmatched)).message, /nested elements/)
  assert.match(renderError(() => inApp('<'.repeat(5_001))).message, /more than 5000 tags/)
  assert.equal(inApp('{% for i in (1..2000) %}<b>x</b>{% endfor %}').content.length, 16_000)
})
