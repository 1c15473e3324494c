// The filters of templates.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { html, plain, renderError } from '../../test/support/render-scene.ts'

const people = [
  { name: 'Cy', team: 'b', age: 30 },
  { name: 'ann', team: 'a', age: 9 },
  { name: 'Bob', team: 'a' },
]

test('numbers have decimals and separators, manually or in a language', () => {
  const amount = { n: 1234567.891, text: '1234.5' }
  assert.equal(plain('{{ n | numberFormat }}', amount), '1,234,567.89')
  assert.equal(plain('{{ n | numberFormat: 1, ".", "," }}', amount), '1.234.567,9')
  assert.equal(plain('{{ n | numberFormat: 0, " " }}', amount), '1 234 568')
  assert.equal(plain('{{ -1234 | number_format: 1, "_" }}'), '-1_234.0')
  assert.equal(plain('{{ text | number_format }}', amount, { locale: 'de_DE' }), '1.234,50')
  assert.equal(plain('{{ text | number_format: 1, "fr" }}', amount).replace(/\s/u, ' '), '1 234,5')
  assert.equal(plain('{{ word | number_format }}|{{ none | number_format }}', { word: 'many' }), 'many|')
})

test('a plural is chosen by a number or by the length of a list', () => {
  const word = (n: unknown) => plain('{{ n | pluralize: "reply", "replies" }}', { n })
  assert.deepEqual([0, 1, 2, '1', ['x'], ['x', 'y'], undefined].map(word), [
    'replies',
    'reply',
    'replies',
    'reply',
    'reply',
    'replies',
    'replies',
  ])
  assert.equal(plain('{{ 2 | pluralize: "item" }}'), 'items')
})

test('lists are sorted by what lies at a path, with missing ones last', () => {
  assert.equal(plain('{{ people | sortBy: "age" | map: "name" | join: "," }}', { people }), 'ann,Cy,Bob')
  assert.equal(plain('{{ people | sort_by: "name" | map: "name" | join: "," }}', { people }), 'Bob,Cy,ann')
  assert.equal(plain('{{ people | sort: "name", "desc" | map: "name" | join: "," }}', { people }), 'ann,Cy,Bob')
  assert.equal(plain('{{ people | sort_natural: "name" | map: "name" | join: "," }}', { people }), 'ann,Bob,Cy')
  assert.equal(plain('{{ list | sort | join: "," }}', { list: [10, 9, '8', null, 'a'] }), '9,10,8,a,')
})

test('lists are grouped and made unique by what lies at a path', () => {
  const grouped =
    '{% for group in groups %}{{ group.key }}{{ group.name }}:{% for one in group.items %}{{ one.name }},{% endfor %};{% endfor %}'
  for (const filter of ['groupBy', 'group_by']) {
    assert.equal(plain(`{% assign groups = people | ${filter}: "team" %}${grouped}`, { people }), 'bb:Cy,;aa:ann,Bob,;')
  }
  for (const filter of ['unique', 'unique_by', 'uniq']) {
    assert.equal(plain(`{{ people | ${filter}: "team" | map: "name" | join: "," }}`, { people }), 'Cy,ann')
  }
  assert.equal(plain('{{ list | unique | join }}', { list: [1, 2, 1] }), '1 2')
})

test('members are found by what lies at a path', () => {
  assert.equal(plain('{{ people | where: "team", "a" | map: "name" | join }}', { people }), 'ann Bob')
  assert.equal(plain('{{ people | reject: "team", "a" | map: "name" | join }}', { people }), 'Cy')
  assert.equal(plain('{{ people | where: "age" | size }}', { people }), '2')
  assert.equal(plain('{% assign one = people | find: "name", "Bob" %}{{ one.team }}', { people }), 'a')
  assert.equal(plain('{{ people | find_index: "name", "Bob" }} {{ people | has: "age", 31 }}', { people }), '2 false')
  assert.equal(plain('{{ people | sum: "age" }}', { people }), '39')
})

test('names are reported as a sentence, the rest as a number', () => {
  const digest = (count: number, args = '2, "name"') =>
    plain(`{{ people | digest: ${args} }}`, { people: people.slice(0, count) })
  assert.deepEqual(
    [0, 1, 2, 3].map((count) => digest(count)),
    ['', 'Cy', 'Cy and ann', 'Cy, ann and 1 other'],
  )
  assert.equal(digest(3, '1, "name"'), 'Cy and 2 others')
  assert.equal(digest(3, '3, "payload.name", "; "'), 'Cy; ann and Bob')
  const sentence = (count: number) => plain('{{ people | toSentence: "name" }}', { people: people.slice(0, count) })
  assert.deepEqual([1, 2, 3].map(sentence), ['Cy', 'Cy and ann', 'Cy, ann, and 1 other'])
  assert.equal(plain('{{ people | to_sentence: "name", 5, "", "/", "", "/" }}', { people }), 'Cy/ann/Bob')
})

test('letters change case, whatever their script', () => {
  assert.equal(
    plain('{{ x | titlecase }}|{{ x | uppercase }}|{{ x | lowercase }}', { x: 'élan ÉTÉ 🎉' }),
    'Élan Été 🎉|ÉLAN ÉTÉ 🎉|élan été 🎉',
  )
})

test('json prints a value, and is escaped in HTML', () => {
  assert.equal(plain('{{ x | json }}', { x: { a: ['<b>', null] } }), '{"a":["<b>",null]}')
  assert.equal(html('{{ x | json }}', { x: ['<b>'] }), '[&#34;&lt;b&gt;&#34;]')
  assert.equal(plain('{{ missing | json }}'), '')
})

test('what Liquid brings along is still there', () => {
  assert.equal(plain('{{ "a-b" | split: "-" | reverse | join: "+" | upcase | append: "!" }}'), 'B+A!')
  assert.equal(plain('{{ nothing | default: "you" }} {{ 5 | times: 2 | minus: 1 }} {{ "abc" | slice: 1 }}'), 'you 9 b')
  assert.equal(plain('{% for i in (1..3) %}{% if forloop.last %}{{ i }}{% endif %}{% endfor %}'), '3')
  assert.equal(plain('{% case x %}{% when 1, 2 %}few{% else %}many{% endcase %}', { x: 2 }), 'few')
  assert.equal(
    plain('{% if list contains "b" and name contains "nn" %}yes{% endif %}', { list: ['b'], name: 'Ann' }),
    'yes',
  )
  assert.equal(plain('{% if list == empty %}none{% endif %}{% unless x %}no{% endunless %}', { list: [] }), 'noneno')
  assert.equal(plain('{% assign n = 2 %}{% for i in (n..3) %}{{ i }}{% endfor %}{{ (1..n) | join }}'), '231 2')
})

test('a zone that is none is reported', () => {
  assert.match(
    renderError(() => plain('{{ "now" | date: "%H", "Mars/Base" }}')).message,
    /unknown time zone "Mars\/Base"/,
  )
})
