// What hostile templates and payloads cost: each is stopped, or comes to its end, within a small part of a second.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { html } from '../../test/support/render-scene.ts'
import { turnsOf } from '../../test/support/turn-cpu.ts'

/** The longest take not even one. */
const turnsMax = 2.5
/** Stopped by a limit: a template that cannot be read at all would cost nothing either, and show nothing. */
const stopped = /more than \d+|longer than \d+|too large a number/

const repeated = (count: number, of: (index: number) => unknown) =>
  Array.from({ length: count }, (_, index) => of(index))
const regions = 'AT BE BR CA CH CL CN DE DK ES FI FR GB GR HU IE IN IT JP KR LU MX NL NO NZ PL PT RO SE TR UA US'.split(
  ' ',
)

const payload = {
  object: Object.fromEntries(repeated(50_000, (index) => [`k${index}`, index]) as [string, number][]),
  numbers: repeated(50_000, (index) => index),
  nulls: repeated(100_000, () => null),
  objects: repeated(20_000, (index) => ({ a: index })),
  names: repeated(20_000, (index) => `n${index}`),
  alike: repeated(400, (index) => `${'a'.repeat(1_000)}${(index * 7_919) % 400}`),
  digits: '1'.repeat(400_000),
  blanks: ' '.repeat(400_000),
  long: 'a'.repeat(400_000),
  longer: `${'a'.repeat(399_999)}b`,
  path: 'a.'.repeat(200_000),
  sizes: 'size.'.repeat(50),
  separator: 's'.repeat(200_000),
  quotes: "''".repeat(100_000),
  lines: '\n'.repeat(300_000),
  words: 'a '.repeat(200_000),
  less: '<'.repeat(100_000),
  punctuation: '!'.repeat(300_000),
  nested: JSON.parse('['.repeat(3_000) + ']'.repeat(3_000)),
  languages: ['de', 'fr', 'it', 'es', 'sv', 'pl'].flatMap((name) => regions.map((region) => `${name}-${region}`)),
  zones: Intl.supportedValuesOf('timeZone'),
  // A text in the place of a number, which would make the sum of all work a text.
  poison: '1 ',
}

const again = (inner: string) => `{% for i in (1..2000) %}${inner}{% endfor %}`

/** Without the charges that each of them stands for, most took more than 10 s. */
const hostile: Record<string, string> = {
  'the size of an object': again('{% if object.size > 3 %}{% endif %}'),
  'no turn over an object': again('{% for entry in object limit: 0 %}{% endfor %}'),
  'a list as the name of a member': again('{% if object[numbers] %}{% endif %}'),
  'a list as an index': again('{% if numbers[numbers] %}{% endif %}'),
  'a list as the name of a variable': again('{{ [numbers] }}'),
  'a list as a limit': again('{% for name in names limit: numbers %}{% endfor %}'),
  'a list as an offset': again('{% for name in names offset: numbers limit: 0 %}{% endfor %}'),
  'a list as a number of columns': again('{% tablerow name in names limit: 1 cols: numbers %}{% endtablerow %}'),
  'lists as all of them': again(
    '{% tablerow n in names offset: numbers limit: numbers cols: numbers %}{% endtablerow %}',
  ),
  'a list as the end of a range': again('{% assign r = (numbers..5) %}'),
  'a long number as the end of a range': again('{% assign r = (digits..5) %}'),
  'a list as the group of a cycle': again('{% cycle numbers: 1, 2 %}'),
  'arithmetic with a long number': again('{% assign r = digits | plus: 1 %}'),
  'arithmetic with a list': again('{% assign r = numbers | plus: numbers %}'),
  'the sum of a long number': again('{% assign r = digits | sum %}'),
  'a comparison with a long number': again('{% if digits > 5 %}{% endif %}'),
  'a comparison of long texts': again('{% if long == longer %}{% endif %}{% if long < longer %}{% endif %}'),
  'a long text that is blank': again('{% if blanks == blank %}{% endif %}'),
  'a slice by lists': again('{% assign r = "abc" | slice: numbers, numbers %}'),
  'a text for a number, and work after it': `{% assign r = "abc" | slice: 0, poison %}${again('{% assign r = numbers | sort %}')}`,
  'a truncation by a list': again('{% assign r = "abc" | truncate: numbers %}'),
  'a long path in map': '{% assign r = objects | map: path %}',
  'a long path in sum': '{% assign r = objects | sum: path %}',
  'a long path in where': '{% assign r = objects | where: path, 1 %}',
  'a path of many names': again('{% assign r = numbers | map: sizes %}'),
  'the sizes of many objects': again('{% assign r = objects | map: "size" %}'),
  'the order of long texts': again('{% assign r = alike | sort | first %}'),
  'their order without capitals': again('{% assign r = alike | sort_natural | first %}'),
  'a long separator in digest': '{% assign r = names | digest: 20000, "", separator %}',
  'a long separator in to_sentence': '{% assign r = names | to_sentence: "", 20000, "x", separator %}',
  'a long separator in join': '{% assign r = names | join: separator %}',
  'a date pattern of quotes': again('{% assign r = "now" | date_format: quotes %}'),
  'the date of blanks': again('{% assign r = blanks | date: "%Y" %}'),
  'dates in many zones': '{% for z in zones %}{% assign r = "now" | date: "%c %Z", z %}{% endfor %}',
  'dates in words': '{% for i in (1..9999) %}{% assign r = "now" | date: "%c %Z" %}{% endfor %}',
  'numbers in many languages': '{% for l in languages %}{% assign r = 1 | number_format: 2, l %}{% endfor %}',
  'a list that prints nothing': again('{{ nulls }}'),
  'a list drawn by lot': again('{% assign r = numbers | sample %}'),
  'lists without doubles': again('{% assign r = numbers | uniq %}'),
  'groups of one': again('{% assign r = objects | group_by: "a" %}'),
  'a search in a list': again('{% assign r = numbers | has: "a" %}'),
  'slugs of nothing': again('{% assign r = punctuation | slugify: "latin" %}'),
  'words in capitals': again('{% assign r = words | titlecase %}'),
  'few of many words': again('{% assign r = words | truncatewords: 1 %}'),
  'line breaks': again('{% assign r = lines | newline_to_br %}'),
  escapes: again('{% assign r = less | escape %}'),
  'JSON that is mostly indents': again('{% assign r = nested | json: 4 %}'),
}

for (const [name, template] of Object.entries(hostile)) {
  test(`${name}: costs little`, { timeout: 60_000 }, () => {
    const turns = turnsOf(() => {
      try {
        html(template, payload)
      } catch (error) {
        assert.match((error as Error).message, stopped)
      }
    })
    assert.ok(turns < turnsMax, `${turns} turns`)
  })
}
