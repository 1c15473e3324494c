// CSS inlined, once for a template where that is the same.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { html } from '../../../test/support/render-scene.ts'
import { inlineCss, inlineTemplateCss } from './inline-css.ts'

const style = '<style>p{color:red} .big{font-size:20px} @media (max-width:9px){p{color:blue}}</style>'

test('CSS goes into the elements, and what cannot stays in a style', () => {
  const inlined = inlineCss(`${style}<p class="big">x</p>`)
  assert.match(inlined, /<p class="big" style="color: red; font-size: 20px;">x<\/p>/)
  assert.match(inlined, /<style>\s*@media/)
  assert.doesNotMatch(inlined, /\.big\s*\{/)
})

/** Inlined once or each time: what comes out must be the same. */
const equivalent = [
  '<p>{{ a }}</p>',
  '{% for i in list %}<p class="big">{{ i }}</p>{% endfor %}',
  '{% if a %}<p>{{ a }}</p>{% else %}<p class="big">none</p>{% endif %}',
  '<p><a href="{{ url }}" title=\'{{ a }}\'>{{ a | upcase }}</a><br></p>',
]

for (const body of equivalent) {
  test(`the CSS of ${body} is inlined into the template`, () => {
    const payload = { a: '<1>', list: [1, 2], url: 'https://x.example/?a=1&b=2' }
    assert.ok(inlineTemplateCss(style + body))
    // A raw output keeps it from being done beforehand.
    assert.equal(html(style + body, payload), html(`${style}${body}{{ "" | raw }}`, payload))
    assert.match(html(style + body, payload), /style="color: red;/)
  })
}

const different: Record<string, string> = {
  'a class is only known then': `${style}<p class="{{ kind }}">x</p>`,
  'an attribute is only known then': `${style}<p {% if a %}style="color:blue"{% endif %}>x</p>`,
  'the CSS is only known then': '<style>p{color:{{ color }}}</style><p>x</p>',
  'it depends on the neighbours': '<style>p + p{color:red}</style>{% for i in list %}<p>x</p>{% endfor %}',
  'it depends on the place': '<style>p:first-child{color:red}</style>{% for i in list %}<p>x</p>{% endfor %}',
  'a branch opens what another closes': `${style}{% if a %}<div class="big">{% endif %}<p>x</p>{% if a %}</div>{% endif %}`,
  'branches open alternatives': `${style}{% if a %}<p>{% else %}<p class="big">{% endif %}x</p>`,
  'markup comes from outside': `${style}{{ body | raw }}`,
  'an end is left out': `${style}<ul><li class="big">a<li>{{ a }}</ul>`,
}

for (const [why, template] of Object.entries(different)) {
  test(`CSS is inlined each time where ${why}`, () => {
    assert.equal(inlineTemplateCss(template), undefined)
    const payload = { kind: 'big', a: 1, color: 'red', list: [1, 2], body: '<p class="big">x</p>' }
    assert.match(html(template, payload), /style="/)
  })
}

test('a document that would take long keeps its style', () => {
  for (const large of [
    `<style>${'p a b i{color:red}'.repeat(900)}</style>${'<p>x</p>'.repeat(500)}`,
    `<style>p p{color:red}</style>${'<p>'.repeat(101)}`,
    '<style>'.repeat(5_000),
    // Without an element around them each is compared with each, for every selector.
    `<style>b{color:red}</style>${'<b></b>'.repeat(2_900)}`,
    `<style>${'b{color:red}'.repeat(12)}</style>${'<b></b>'.repeat(1_200)}`,
    `${'<style>b{color:red}</style>'.repeat(101)}<b></b>`,
  ]) {
    assert.equal(inlineCss(large), large)
  }
})

test('as many elements within another are inlined', () => {
  const list = `<style>b{color:red}</style><div>${'<b></b>'.repeat(2_900)}</div>`
  assert.match(inlineCss(list), /<b style="color: red;">/)
})

test('CSS that no one understands does not stop the mail', () => {
  assert.match(html('<style>p { color: } } @{ ( </style><p>x</p>'), /<p[^>]*>x<\/p>/)
})
