// Texts that are meant to hurt: whoever parses, compiles, matches, sorts or prints them should notice.
import type { Random } from '../test/support/random.ts'

const odd = [
  '',
  ' ',
  '0',
  '-1',
  '1e999',
  'null',
  'true',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '__defineGetter__',
  '../../etc/passwd',
  "'; drop table subscribers; --",
  '" or 1=1 --',
  '%',
  '_%\\',
  '\\',
  '$1',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'a\udc00\ud800b',
  '\u202e',
  '\ufeff',
  '\u2028',
  '\r\nbcc: someone@example.com',
  '\t',
  'İ',
  'ﬀ',
  'e\u0301',
  '2026-02-30T25:61:61Z',
  '99999-01-01T00:00:00Z',
  '+275760-09-13T00:00:00Z',
  '0000-00-00',
  '00000000-0000-0000-0000-000000000000',
  'NaN',
  'Infinity',
  '9007199254740993',
  'https://127.0.0.1/',
  'https://user:password@169.254.169.254/latest/meta-data',
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  '<script>alert(1)</script>',
  '{{constructor.constructor("return 1")()}}',
]

export const templates = [
  '{{ payload.o.size }}',
  '{% for i in (1..100) %}{{ payload.o.size }}{% endfor %}',
  '{% for a in payload.items %}{% for b in payload.items %}{% for c in payload.items %}{{ a }}{% endfor %}{% endfor %}{% endfor %}',
  '{% for i in (1..1000000) %}x{% endfor %}',
  '{% for i in (1..5000) %}{% for e in payload.o limit:0 %}{% endfor %}{% endfor %}',
  '{% for i in payload.items %}{% if payload.items.size > 3 %}x{% endif %}{% endfor %}',
  '{% for i in payload.items %}{{ payload.items }}{% endfor %}',
  '{% for i in payload.items %}{{ payload.items | join: "," | split: "," | sort | reverse | uniq | size }}{% endfor %}',
  '{% assign s = "x" %}{% for i in (1..40) %}{% assign s = s | append: s %}{% endfor %}{{ s | size }}',
  '{% assign s = payload.long %}{% for i in (1..20) %}{% assign s = s | append: s | replace: "a", "aaaa" %}{% endfor %}{{ s }}',
  '{{ payload.long | split: "" | join: "," | split: "," | sort_natural | join: "" }}',
  '{{ payload.long | replace: "a", payload.long }}',
  '{{ payload.long | truncatewords: 1000000 }}',
  '{{ payload.long | strip_html | escape | url_encode | newline_to_br }}',
  '{{ "now" | date: payload.format }}',
  '{% for i in payload.items %}{{ "now" | date: payload.long }}{% endfor %}',
  '{{ payload.items | where: "a", "b" | map: "c" | concat: payload.items | sum }}',
  '{{ payload.items | sort: "a" | group_by: "a" | json }}',
  '{{ payload | json }}',
  '{% for i in payload.items %}{{ payload | json }}{% endfor %}',
  '{% capture x %}{% for i in payload.items %}{{ i }}{% endfor %}{% endcapture %}{% for i in payload.items %}{{ x }}{% endfor %}',
  `${'{% if payload.a %}'.repeat(200)}x${'{% endif %}'.repeat(200)}`,
  '{% if payload.a == 1 or payload.b == 2 %}'.repeat(30),
  '{{ '.repeat(200),
  '{{ payload.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p }}',
  '{{ payload["a"]["b"][payload.c[payload.d]] }}',
  '{{ payload.constructor.prototype }}{{ payload.__proto__ }}{{ subscriber.constructor }}',
  '{% raw %}{{ x }}{% endraw %}{% comment %}{% endcomment %}',
  '{% render "x" %}{% include "/etc/passwd" %}',
  '{% tablerow i in (1..100000) cols:1 %}{{ i }}{% endtablerow %}',
  '{% cycle 1,2 %}{% increment a %}{% decrement a %}',
  '{{ 99999999999999999999 | times: 99999999999999999999 | divided_by: 0 }}',
  '{{ "x" | slice: -1000000000, 1000000000 }}',
  '{{ payload.items | slice: 0, 1000000000 | size }}',
  '{{ "k" | t: name: payload.long }}',
  '{{ steps.a.events | json }}{{ step.digest.events.size }}{{ step.events }}',
  '{% unless payload.a contains payload.long %}x{% endunless %}',
  '{% case payload.a %}{% when 1 %}a{% else %}b{% endcase %}',
  'Hello {{ subscriber.firstName | default: "you" }}',
  '{%- liquid\nassign a = 1\nfor i in (1..100000)\necho i\nendfor -%}',
]

const selectors = [
  `${':has('.repeat(20)}a${')'.repeat(20)}`,
  'div:has(div:has(div:has(div)))',
  `${':not('.repeat(50)}a${')'.repeat(50)}`,
  ':is(a,b):is(a,b):is(a,b):is(a,b)',
  'div '.repeat(100),
  '* > * + * ~ * '.repeat(20),
  ':nth-child(2n+1) '.repeat(20),
  '[a*="x"][b^="y"]',
  'a::before',
  '{'.repeat(500),
  '@media '.repeat(100),
  '@import url(https://169.254.169.254/);',
]

export function css(random: Random, size: number): string {
  const rules = 1 + random.integer(Math.min(size, 3_000))
  const selector = random.oneOf(selectors)
  return Array.from({ length: rules }, (_, at) => `${selector} .c${at % 7}{color:red;background:url(x${at})}`).join('')
}

export function html(random: Random, size: number): string {
  const count = 1 + random.integer(size)
  const kind = random.integer(12)
  if (kind === 0) return '<div>'.repeat(count)
  if (kind === 1) return '<div>'.repeat(count) + '</div>'.repeat(count)
  if (kind === 2) return `<a ${'x="1" '.repeat(count)}>`
  if (kind === 3) return '<!--'.repeat(count)
  if (kind === 4) return '&amp;&#x10FFFF;&#0;&notanentity'.repeat(count)
  if (kind === 5) return `<style>${css(random, count)}</style>${'<div><p class="c1">x</p></div>'.repeat(count)}`
  if (kind === 6) return '<table>'.repeat(count) + '<td>'.repeat(count)
  if (kind === 7) return '<'.repeat(count * 5)
  if (kind === 8) return `<p style="${'color:red;'.repeat(count)}">x</p>`
  if (kind === 9) return '<a href="javascript:alert(1)" onclick=alert(1)>x</a>'.repeat(count)
  if (kind === 10) return `<style>${css(random, count)}</style>${'<div>'.repeat(count)}`
  return '<![CDATA[<b>]]><svg><script>x</script></svg><!DOCTYPE x [<!ENTITY a "b">]>'.repeat(count)
}

export const patterns = [
  '(a+)+$',
  '^(a|aa)+$',
  '^(\\w+\\s?)*$',
  '(x+x+)+y',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '(a{1000}){1000}',
  '((a{100}){100}){100}',
  '\\p{L}{1000}',
  '(?=a)b',
  '(a)\\1',
  '(?<!a)b',
  '['.repeat(100),
  '('.repeat(5_000),
  '(?:a?){500}a{500}',
  '.*'.repeat(500),
  '[\\u0000-\\uffff]*'.repeat(100),
]

export const crons = [
  '* * * * *',
  '*/1 * * * *',
  '0 0 30 2 *',
  '0 0 29 2 1',
  '0 0 31 4,6,9,11 *',
  '61 * * * *',
  '* * * * * *',
  '1-5/0 * * * *',
  '*/0 * * * *',
  '0-59/1,0-59/1,0-59/1 0-23 1-31 1-12 0-7',
  '0 0 L * *',
  '0 0 * * 5#6',
  '@yearly',
  '59 23 31 12 6',
  '1,'.repeat(100),
  '-1 * * * *',
  '99999999999999999999 * * * *',
  '0 2 29 2 *',
]

export const cursors = [
  '["_id","x","00000000-0000-0000-0000-000000000000"]',
  '["updatedAt","2026-99-99T00:00:00.000Z","00000000-0000-0000-0000-000000000000"]',
  '["createdAt","0000-01-01T00:00:00.000Z","00000000-0000-0000-0000-000000000000"]',
  '["key","\\u0000","00000000-0000-0000-0000-000000000000"]',
  '[[[[]]]]',
  '{"__proto__":1}',
  '[1e999]',
].map((text) => Buffer.from(text).toString('base64url'))

/** A text for a place whose name says what it is for; `size` bounds the count of its pieces. */
export function hostileText(random: Random, name: string, size: number): string {
  if (/cron/i.test(name)) return random.oneOf(crons)
  if (/pattern/i.test(name)) return random.oneOf(patterns)
  if (/^(after|before)$/.test(name)) return random.oneOf(cursors)
  if (/content|body|subject|title|label|html|text|preheader/i.test(name)) {
    const kind = random.integer(4)
    if (kind === 0) return html(random, size)
    if (kind === 1) return `${random.oneOf(templates)}${html(random, Math.min(size, 50))}`
    return random.oneOf(templates)
  }
  const kind = random.integer(10)
  if (kind === 0) return random.oneOf(templates)
  if (kind === 1)
    return random.oneOf(['x', 'é', '😀', 'a ', '%', '\\', '"', '\u0000', '\ud800']).repeat(1 + random.integer(size * 4))
  if (kind === 2) return random.oneOf(patterns)
  return random.oneOf(odd)
}
